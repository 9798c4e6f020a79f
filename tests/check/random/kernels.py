"""Random kernels whose threads talk to each other, and have every barrier, fence and mask that they need.

A kernel is made statement by statement.  For each array that threads share the maker keeps what was accessed since
the last barriers; a statement that would race with that gets the barrier first that is just wide enough.  Some kernels
end in a conversation of blocks: the last block, a chain of flags, a lock, or a barrier of the grid.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

BARRIER, FENCE, MASK = "barrier", "fence", "mask"
FULL = 0xFFFFFFFF


@dataclass(frozen=True)
class Line:
    """A line of a kernel.

    ``needs``: what it is, if it can be spoilt (BARRIER, ...).  ``without``: the line with another mask.
    ``store`` and ``publish``: of a fence, the distance in lines of the store that it publishes, and the distance
    behind which the store may come where the fence is missing.
    """

    text: str
    needs: str = ""
    without: str = ""
    store: int = 0
    publish: int = 0


@dataclass(frozen=True)
class Kernel:
    """A kernel's lines and its launch."""

    lines: Sequence[Line]
    grid: int
    block: int

    @property
    def source(self) -> str:
        """The kernel as Python."""
        return HEAD + textwrap.indent("\n".join(line.text for line in self.lines), "    ") + "\n    y[i] = v\n"

    @property
    def spoilable(self) -> list[int]:
        """The lines with a barrier, fence or mask."""
        return [number for number, line in enumerate(self.lines) if line.needs]

    def spoilt(self, number: int) -> Kernel:
        """The kernel without the barrier, fence or mask of a line."""
        line = self.lines[number]
        indent = line.text[: len(line.text) - len(line.text.lstrip())]
        return self._with(number, replace(line, text=line.without or f"{indent}pass"))

    def delayed(self, number: int) -> Kernel:
        """The kernel without a fence, and with the store that it publishes as late as a GPU may make it visible.

        Schedules run stores in the order of the program, so they cannot show what a missing fence does; this can.
        """
        line, lines = self.lines[number], list(self.spoilt(number).lines)
        if line.needs != FENCE:
            return self._with(number, lines[number])
        store = lines[number + line.store]
        lines.insert(number + line.publish + 1, store)
        del lines[number + line.store]
        return replace(self, lines=tuple(lines))

    def _with(self, number: int, line: Line) -> Kernel:
        return replace(self, lines=(*self.lines[:number], line, *self.lines[number + 1 :]))


HEAD = """\
def kernel(x, g, acc, flags, y):
    s = cuda.shared.array(THREADS, int32)
    u = cuda.shared.array(THREADS, int32)
    c = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
    lane = t % 32
    v = x[i]
"""

ARRAYS = ("s", "u", "g")
"""Shared arrays of an element a thread, and the block's part of a global one."""


@dataclass(frozen=True)
class Access:
    """What all threads do, or some: thread t the element *pattern* (t) of an array.

    ``kind``: ``"read"``, ``"write"`` or ``"atomic"``.  ``pattern``: ``("own", 0)``, ``("xor", k)``: within the warp, or
    ``("any", k)``.  ``met``: a barrier of the warp came since.
    """

    kind: str
    pattern: tuple[str, int]
    met: bool = False

    def conflicts(self, other: Access) -> bool:
        """Whether both may access one element from two threads, one of them writing."""
        if self.kind == other.kind and self.kind in ("read", "atomic"):
            return False
        return self.pattern != other.pattern or self.pattern[0] == "any"

    @property
    def in_warp(self) -> bool:
        """Whether each element is accessed by the warp that it belongs to."""
        return self.pattern[0] != "any"


@dataclass
class Maker:
    """Makes one kernel.  ``lanes``: of each warp that execute what is made now; ``depth``: of indentation."""

    dice: random.Random
    grid: int
    block: int
    lines: list[Line] = field(default_factory=list)
    pending: dict[str, list[Access]] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    lanes: int = FULL
    uniform: bool = True  # whether whole blocks come here
    depth: int = 0

    def add(self, text: str, needs: str = "", without: str = "", store: int = 0, publish: int = 0) -> None:
        """Add a line."""
        indent = "    " * self.depth
        self.lines.append(Line(indent + text, needs, without and indent + without, store, publish))

    # Barriers

    def meet_block(self) -> None:
        """A barrier of the block."""
        self.add("cuda.syncthreads()", BARRIER)
        self.pending.clear()

    def meet_warp(self) -> None:
        """A barrier of the lanes that execute."""
        spoilt = self.dice.choice(["", "cuda.syncwarp(1 << lane)", "cuda.syncwarp()"][: 2 + (self.lanes != FULL)])
        self.add(f"cuda.syncwarp({self.lanes:#x})", MASK if spoilt else BARRIER, spoilt)
        for accesses in self.pending.values():
            accesses[:] = [replace(each, met=True) for each in accesses]

    def access(self, array: str, kind: str, pattern: tuple[str, int]) -> None:
        """Note an access, after the barrier that it needs."""
        new = Access(kind, pattern)
        found = [each for each in self.pending.get(array, ()) if each.conflicts(new)]
        if any(not each.in_warp or not new.in_warp for each in found):
            self.meet_block()
        elif any(not each.met for each in found):
            self.meet_warp()
        self.pending.setdefault(array, []).append(new)

    # Statements

    def pattern(self) -> tuple[str, int]:
        """Which element a thread takes, that others may take, too."""
        kinds = ["own"]
        if self.block % 32 == 0:
            kinds += ["xor", "xor"]
        if self.uniform:
            kinds += ["any", "any"]
        kind = self.dice.choice(kinds)
        most = 16 if self.lanes != FULL else 32
        return (kind, self.dice.randrange(1, most) if kind == "xor" else self.dice.randrange(self.block))

    def element(self, array: str, pattern: tuple[str, int]) -> str:
        """The element, in Python."""
        kind, k = pattern
        index = {"own": "t", "xor": f"t ^ {k}", "any": f"(t + {k}) % {self.block}"}[kind]
        return f"g[b * {self.block} + ({index})]" if array == "g" else f"{array}[{index}]"

    def value(self) -> str:
        """A value that differs between threads and statements."""
        k = self.dice.randrange(1, 90)
        return self.dice.choice([f"v + {k}", f"(v * {k} + t) % 1009", f"v ^ {k}", f"t * {k} + b"])

    def store(self) -> None:
        """Every thread writes an element."""
        array, pattern = self.dice.choice(ARRAYS), self.pattern()
        self.access(array, "write", pattern)
        self.add(f"{self.element(array, pattern)} = {self.value()}")
        if self.uniform:
            self.written.add(array)

    def load(self) -> None:
        """Every thread reads an element."""
        if not self.written:
            return self.store()
        array, pattern = self.dice.choice(sorted(self.written)), self.pattern()
        self.access(array, "read", pattern)
        self.add(f"v = (v + {self.element(array, pattern)}) % 1013")
        return None

    def some(self) -> None:
        """Some threads read or write their own elements, or compute."""
        statement = f"v = {self.value()}"
        if self.written and self.dice.random() < 0.6:
            array, kind = self.dice.choice(sorted(self.written)), self.dice.choice(["read", "write"])
            self.access(array, kind, ("own", 0))
            element = self.element(array, ("own", 0))
            statement = f"{element} = {self.value()}" if kind == "write" else f"v += {element}"
        condition = self.dice.choice(["t % 3 == 0", "v % 2", f"t < {self.dice.randrange(1, self.block)}", "v > 500"])
        self.add(f"if {condition}:")
        self.add(f"    {statement}")

    def count(self) -> None:
        """Atomics on a few words of shared memory, and their sum."""
        if not self.uniform:
            return self.atomics()
        self.access("c", "write", ("any", 0))
        self.add("if t < 4:")
        self.add("    c[t] = t")
        self.access("c", "atomic", ("any", 0))
        operation = self.dice.choice(["add", "max", "xor"])
        self.add(f"cuda.atomic.{operation}(c, (t + {self.dice.randrange(4)}) % 4, v % 64)")
        self.access("c", "read", ("any", 0))
        self.add(f"v += c[{self.dice.randrange(4)}]")
        return None

    def atomics(self) -> None:
        """Atomics on words that all blocks share, and that nobody reads before the end."""
        operation = self.dice.choice(["add", "max", "xor"])
        self.add(f"cuda.atomic.{operation}(acc, {('add', 'max', 'xor').index(operation)}, v % 128)")

    def shuffle(self) -> None:
        """A shuffle or vote of the lanes that execute."""
        if self.block % 32:
            return self.some()
        source = self.dice.randrange(1, 16) if self.lanes != FULL else self.dice.randrange(1, 32)
        from_lane = source + (16 if self.lanes == 0xFFFF0000 else 0)
        statement = self.dice.choice(
            [
                f"v = (v + cuda.shfl_xor_sync(MASK, v, {source})) % 1021",
                f"v = (v + cuda.shfl_sync(MASK, v, {from_lane})) % 1021",
                "v += cuda.popc(cuda.ballot_sync(MASK, v % 3 > 0))",
                "v += 1 if cuda.all_sync(MASK, v % 3 > 0) else 0",
            ]
        )
        if self.lanes == FULL:
            self.add(statement.replace("MASK", f"{FULL:#x}"))
        else:  # a mask that names all lanes waits for those that are elsewhere
            self.add(statement.replace("MASK", f"{self.lanes:#x}"), MASK, statement.replace("MASK", f"{FULL:#x}"))
        return None

    def tree(self) -> None:
        """A reduction of a shared array in rounds."""
        if not self.uniform or self.block & (self.block - 1):
            return self.load()
        array = self.dice.choice(["s", "u"])
        self.access(array, "write", ("own", 0))
        self.add(f"{array}[t] = v")
        self.written.add(array)
        self.meet_block()
        self.add(f"d = {self.block // 2}")
        self.add("while d > 0:")
        self.depth += 1
        self.add("if t < d:")
        self.add(f"    {array}[t] = ({array}[t] + {array}[t + d]) % 1019")
        self.meet_block()
        self.add("d //= 2")
        self.depth -= 1
        self.access(array, "read", ("any", 0))
        self.add(f"v = (v + {array}[0]) % 997")
        return None

    def scan(self) -> None:
        """A scan of a shared array, which reads and writes the same places."""
        if not self.uniform:
            return self.load()
        array = self.dice.choice(["s", "u"])
        self.access(array, "write", ("own", 0))
        self.add(f"{array}[t] = v % 50")
        self.written.add(array)
        self.meet_block()
        self.add("d = 1")
        self.add(f"while d < {self.block}:")
        self.depth += 1
        self.add("w = 0")
        self.add("if t >= d:")
        self.add(f"    w = {array}[t - d]")
        self.meet_block()
        self.add(f"{array}[t] = ({array}[t] + w) % 1019")
        self.meet_block()
        self.add("d *= 2")
        self.depth -= 1
        self.access(array, "read", ("any", 0))
        self.add(f"v = (v + {array}[{self.dice.randrange(self.block)}]) % 997")
        return None

    # Structure

    def body(self, size: int) -> None:
        """Some statements."""
        for _ in range(size):
            simple = [self.store, self.store, self.load, self.load, self.some, self.shuffle, self.count, self.atomics]
            nested = [self.loop, self.branch, self.half, self.tree, self.scan]
            self.dice.choice(simple + (nested if self.depth < 2 else []))()

    def loop(self) -> None:
        """Rounds, each of which begins where the barrier at the end of the last one left."""
        name = f"r{len(self.lines)}"
        self.add(f"for {name} in range({self.dice.randrange(1, 4)}):")
        self.depth += 1
        self.add(f"v += {name}")
        before = set(self.written)
        self.body(self.dice.randrange(1, 4))
        if self.uniform:
            self.meet_block()
        else:
            self.meet_warp()
        self.depth -= 1
        self.written = before

    def branch(self) -> None:
        """Something that some blocks, or some warps, do."""
        whole = self.uniform and self.dice.random() < 0.5
        if not whole:
            if self.block % 32:
                return
            self.leave_block()
        self._inside(f"if {'b' if whole else '(t // 32)'} % 2 == {self.dice.randrange(2)}:", whole)

    def half(self) -> None:
        """Something that half of the lanes do."""
        if self.block % 32 or self.lanes != FULL:
            return
        self.leave_block()
        if any(not each.met for accesses in self.pending.values() for each in accesses):
            self.meet_warp()
        low = self.dice.random() < 0.5
        self.lanes = 0xFFFF if low else 0xFFFF0000
        self._inside(f"if lane {'<' if low else '>='} 16:", uniform=False)
        self.lanes = FULL

    def leave_block(self) -> None:
        """Before a branch in which no barrier of the block may stand: have what would need one."""
        if any(not each.in_warp for accesses in self.pending.values() for each in accesses):
            self.meet_block()

    def _inside(self, condition: str, uniform: bool) -> None:
        self.add(condition)
        self.depth += 1
        self.add("v += 3")
        was = self.uniform, set(self.written), {name: list(accesses) for name, accesses in self.pending.items()}
        self.uniform = uniform
        self.body(self.dice.randrange(1, 4))
        self.depth -= 1
        self.uniform, self.written, before = was
        # What was accessed before is pending still for those that did not come here.
        for name, accesses in self.pending.items():
            before.setdefault(name, []).extend(replace(each, met=False) for each in accesses)
        self.pending = before

    # Conversations of blocks

    def last_block(self) -> None:
        """The last block to end reads what all have written."""
        self.access("g", "write", ("own", 0))
        self.add("g[i] = v")
        self.add("cuda.threadfence()", FENCE, store=-1, publish=3)
        self.meet_block()
        self.access("c", "write", ("any", 0))
        self.add("if t == 0:")
        self.add(f"    c[0] = cuda.atomic.add(flags, 0, 1) == {self.grid - 1}")
        self.access("c", "read", ("any", 0))
        self.add("if c[0]:")
        self.add(f"    for k in range({self.grid}):")
        self.add(f"        cuda.atomic.add(acc, 3, g[k * {self.block} + (t + 1) % {self.block}])")

    def chain(self) -> None:
        """Each block goes on from what the one before it has written."""
        self.meet_block()
        self.add("if b > 0:")
        self.add("    if t == 0:")
        self.add("        while cuda.atomic.add(flags, b - 1, 0) == 0:")
        self.add("            pass")
        self.depth += 1
        self.meet_block()
        self.add(f"v = (v + g[(b - 1) * {self.block} + (t + 3) % {self.block}]) % 1031")
        self.depth -= 1
        self.add("g[i] = v")
        self.add("cuda.threadfence()", FENCE, store=-1, publish=3)
        self.meet_block()
        self.add("if t == 0:")
        self.add("    cuda.atomic.exch(flags, b, 1)")

    def lock(self) -> None:
        """One thread of each block changes a word that a lock guards."""
        self.add("if t == 0:")
        self.add("    while cuda.atomic.cas(flags, 0, 0, 1) != 0:")
        self.add("        pass")
        self.add("    acc[3] += v + b")
        self.depth += 1
        self.add("cuda.threadfence()", FENCE, store=-1, publish=1)
        self.depth -= 1
        self.add("    cuda.atomic.exch(flags, 0, 0)")

    def whole_grid(self) -> None:
        """A barrier of the grid."""
        self.access("g", "write", ("own", 0))
        self.add("g[i] = v")
        self.add("cuda.cg.this_grid().sync()", BARRIER)
        self.add(f"v += g[(i + {self.dice.randrange(1, self.block)}) % {self.grid * self.block}]")


def make(seed: int) -> Kernel:
    """The kernel of a number."""
    dice = random.Random(seed)
    maker = Maker(dice, dice.choice([1, 2, 2, 3]), dice.choice([20, 32, 32, 64, 64, 64, 72, 96]))
    maker.body(dice.randrange(2, 6))
    if maker.grid > 1:
        dice.choice([maker.last_block, maker.chain, maker.lock, maker.whole_grid, lambda: None])()
    return Kernel(tuple(maker.lines), maker.grid, maker.block)
