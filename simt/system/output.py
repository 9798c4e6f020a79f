"""``printf`` and ``assert``: what kernels write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simt.check import AssertError, KernelError, OutOfBoundsError, TrapError
from simt.machine.services import SystemCall
from simt.system.grid import Grid
from simt.system.printf import CannotFormatError, printf

MOST_ARGUMENTS = 32
"""What ``printf`` counts at most (CUDA C++ Programming Guide, "Formatted Output"); an H200 returns no more."""


class _Packed:
    """The arguments of ``vprintf``: one behind the other in memory, each aligned to its size."""

    def __init__(self, call: SystemCall, lane: int, address: int) -> None:
        self._call, self._lane, self._at = call, lane, address
        self.count = 0

    def _take(self, size: int) -> int:
        self._at = -(-self._at // size) * size
        data = self._call.read(self._lane, self._at, size)
        if data is None:
            raise self._call.error(
                OutOfBoundsError,
                f"printf has no argument {self.count + 1}",
                [self._lane],
                [f"it would stand at address {self._at:#x}, {size} bytes"],
                "the format has more conversions than the call has arguments",
            )
        self._at += size
        self.count += 1
        return int.from_bytes(data, "little")

    def word(self) -> int:
        """The next 32 bits."""
        return self._take(4)

    def double_word(self) -> int:
        """The next 64 bits."""
        return self._take(8)

    def text(self, address: int) -> bytes:
        """A string in memory, as the C library shows a null pointer."""
        return b"(null)" if address == 0 else _text(self._call, self._lane, address, f"argument {self.count} of printf")


def _text(call: SystemCall, lane: int, address: int, what: str) -> bytes:
    found = call.text(lane, address)
    if found is None:
        raise call.error(
            OutOfBoundsError,
            f"{what} is no string",
            [lane],
            [f"no zero-terminated text stands at address {address:#x}"],
            "on hardware this is an illegal address",
        )
    return found


def vprintf(grid: Grid, call: SystemCall, arguments: Sequence[Sequence[int]]) -> list[int]:
    """``int vprintf(const char *format, void *arguments)``: the number of arguments, -1 without a format (H200)."""
    results = []
    for lane, (template, packed) in zip(call.lanes, arguments, strict=True):
        if template == 0:
            results.append(-1)
            continue
        taken = _Packed(call, lane, packed)
        try:
            text = printf(_text(call, lane, template, "the format of printf"), taken)
        except CannotFormatError as problem:
            raise call.error(KernelError, f"printf does not take {problem}", [lane], help=problem.help) from None
        grid.print(call.block, text)
        results.append(min(taken.count, MOST_ARGUMENTS))
    return results


class _Slots:
    """The arguments of ``print``: 64 bits each; those that are texts give the number of one of the Program's."""

    def __init__(self, strings: Sequence[str], slots: Iterable[int]) -> None:
        self._strings, self._slots = strings, iter(slots)

    def word(self) -> int:
        """The low half of the next slot."""
        return next(self._slots) & (1 << 32) - 1

    def double_word(self) -> int:
        """The next slot."""
        return next(self._slots)

    def text(self, address: int) -> bytes:
        """The text with this number."""
        return self._strings[address].encode()


def print_slots(grid: Grid, call: SystemCall, arguments: Sequence[Sequence[int]]) -> None:
    """``print`` of Python kernels: the number of a format, then what fills it in."""
    for template, *slots in arguments:
        grid.print(call.block, printf(call.strings[template].encode(), _Slots(call.strings, slots)))


def assertfail(grid: Grid, call: SystemCall, arguments: Sequence[Sequence[int]]) -> None:
    """``__assertfail(message, file, line, function, size of a character)``: ends the launch."""
    lines = []
    for lane, (message, file, line, function, _) in zip(call.lanes, arguments, strict=True):
        texts = [(call.text(lane, address) or b"?").decode("utf-8", "replace") for address in (message, file, function)]
        block, thread = (str(list(index)).replace(" ", "") for index in (call.block_index(), call.thread_index(lane)))
        lines.append(f"{texts[1]}:{line}: {texts[2]}: block: {block}, thread: {thread} Assertion `{texts[0]}` failed.")
        title = f"assertion failed: {texts[0]} ({texts[1]}:{line})"
    raise AssertError.of(call.error(TrapError, title, call.lanes), "\n".join(lines) + "\n")
