"""What is spoilt and tried, by kind.  A mutant is a kind and a number: the number is the seed of all that is random."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import simt
import simt.devices
from simt import machine, runtime
from simt.devices import Gpu
from simt.devices.device import parse
from simt.devices.occupancy import occupancy
from simt.machine.early import ENGINE
from simt.ops.table import MICRO_OPS
from simt.options import Timing
from simt.profile.compare import WAYS, compare, load
from simt.program import Instruction, Program
from simt.sass import bank_image, inner_arrays, modifiers
from simt.sass.opcodes import OPCODES
from simt.timing import TimedRun
from simt.timing.simulate import CLOCK
from tests.fuzz import doors, seeds
from tests.fuzz.mutators import NUMBERS, several, spoil_bytes, spoil_lines, spoil_numbers, spoil_tree

BUDGET = 3000
"""Warp instructions of a block: mutants may never end."""
ORDERS = (None, None, None, "then_first", "else_first", "interleaved", "random:7")


@dataclass(frozen=True)
class Mutant:
    """A spoilt input: ``suffix`` and ``data`` of the file that has it, and the trial, which gets the file."""

    suffix: str
    data: bytes
    trial: Callable[[Path], object]


def mutant(kind: str, number: int) -> Mutant:
    """The mutant of a kind of :data:`KINDS` with this number."""
    return KINDS[kind](Random(f"{kind} {number}"))


def warm_up() -> None:
    """Load the engine and the timing model, or compile them: in plain Python a mutant would seem to hang."""
    ENGINE.elsewhere = CLOCK.elsewhere = False
    launch = machine.Launch((1, 1, 1), (64, 1, 1), seeds.source_arguments())
    _run(seeds.source_program(), launch, simt.devices.get("h200"))


def _run(program: Program, launch: machine.Launch, device: Gpu | None, context: Any = None, **options: Any) -> None:
    """Run a launch, and with *device* cycle by cycle, too."""
    timed = device and TimedRun(program, launch, device, None, Timing(max_host_seconds=60, **options))
    runtime.run(program, launch, context, timed)


def _launch_all(random: Random, kernels: Any, sizes: dict[str, tuple[int, ...]]) -> None:
    """Launch one kernel of a file, with the arguments that the sound one takes, or that this one asks for."""
    names = list(kernels)
    if not names:
        return
    kernel = kernels[random.choice(names)]
    given = sizes.get(kernel.name) or [parameter.size for parameter in kernel.parameters or ()]
    if len(given) > 64 or any(size > 1 << 16 for size in given):
        given = ()
    timing = random.random() < 0.4
    simt.launch(
        kernel,
        random.choice((1, 2, (2, 2))),
        random.choice((1, 32, 48, 64, (8, 8), 128)),
        *seeds.arguments(kernel.name, given),
        max_instructions=BUDGET,
        order=None if timing else random.choice(ORDERS),
        shared_bytes=random.choice((0, 0, 1024)),
        trace=(0, 0) if not timing and random.random() < 0.1 else False,
        threads=1,
        timing=timing,
    ).annotate()


def _elf(random: Random) -> Mutant:
    """Bytes of a cubin, with the listing of the sound one: quick, because nvdisasm does not run."""
    cubin = random.choice(seeds.cubins())
    sizes = cubin.sizes

    def trial(path: Path) -> None:
        listing = path.with_suffix(".sass")
        listing.write_text(cubin.listing)
        _launch_all(random, simt.load_cubin(path, listing=listing), sizes)

    return Mutant(".cubin", spoil_bytes(random, cubin.data, cubin.places), trial)


def _cubin(random: Random) -> Mutant:
    """Bytes of a cubin, its code among them, which nvdisasm reads."""
    cubin = random.choice([each for each in seeds.cubins() if "sm_61" not in str(each.path)])
    sizes = cubin.sizes
    return Mutant(
        ".cubin",
        spoil_bytes(random, cubin.data, (*cubin.places, *3 * cubin.places[-1:])),
        lambda path: _launch_all(random, simt.load_cubin(path), sizes),
    )


def _fatbin(random: Random) -> Mutant:
    """Bytes of a fat binary."""
    data = seeds.fatbin()

    def trial(path: Path) -> None:
        simt.sass.architectures(path)
        _launch_all(random, simt.load_cubin(path, architecture=random.choice((None, "sm_90", "sm_80"))), {})

    return Mutant(".fatbin", spoil_bytes(random, data, (range(80), range(len(data)))), trial)


def _text(random: Random, listing: seeds.Listing, text: str) -> Mutant:
    sizes = {listing.name: listing.sizes}
    return Mutant(
        ".sass",
        text.encode("utf-8", "surrogatepass"),
        lambda path: _launch_all(random, simt.load_cubin(path, parameters=sizes), sizes),
    )


def _listing(random: Random) -> Mutant:
    """Lines, words and characters of a listing."""
    listing = random.choice(seeds.listings())
    return _text(random, listing, spoil_lines(random, listing.text))


_OPERAND = re.compile(r"(?<![\w.])(?:U?R|U?P|SB|B)(?:\d+|Z|T)(?=[^/\n]*;)|-?\b0x[0-9a-f]+(?=[^/\n]*;)")


def _operand(random: Random) -> Mutant:
    """Numbers of operands: registers, predicates, barriers, scoreboards, immediates, offsets, banks."""
    listing = random.choice(seeds.listings())

    def number(text: str) -> str:
        value = random.choice(NUMBERS)
        name = re.match(r"U?R|U?P|SB|B", text)
        if name is None:
            return random.choice(("", "-")) + hex(value)
        letters = name[0] if random.random() < 0.85 else random.choice(("R", "UR", "P", "UP", "B", "SB"))
        return f"{letters}{value}"

    return _text(random, listing, spoil_numbers(random, listing.text, _OPERAND, number))


_FORM = re.compile(r"(?<=/)\s+(?P<guard>@!?\w+\s+)?(?P<words>[A-Z][\w.]*)(?P<operands>(?: [^;\n]*)?)(?=;)")
_WORDS = sorted(
    {
        member.value
        for kind in vars(modifiers).values()
        if isinstance(kind, type) and issubclass(kind, Enum)
        for member in kind
    }
)
_OPERANDS = (
    "R3", "RZ", "R254", "UR4", "URZ", "P2", "!P0", "PT", "UP3", "0x10", "-0x1", "1.5", "+INF", "c[0x0][0x210]",
    "[R2.64]", "[UR4]", "[R2+UR4+0x8]", "desc[UR4][R2.64]", "B0", "SB0", "`(.L_x_1)", "SR_TID.X", "|R3|",
    "-R5.H1_H1", "~R4", "R5.H0_H0", "2D", "PR", "UPR", "R2 0x10", "gdesc[UR4]",
)  # fmt: skip


def _form(random: Random) -> Mutant:
    """Opcodes, modifiers, and the kinds and number of operands: forms that no compiler writes."""
    listing = random.choice(seeds.listings())

    def form(text: str) -> str:
        match = _FORM.match(f"/{text};", 1)
        assert match
        words = match["words"].split(".")
        operands = [operand.strip() for operand in match["operands"].split(", ") if operand.strip()]
        for _ in several(random, 3):
            way = random.random()
            if way < 0.1:
                words[0] = random.choice(list(OPCODES))
            elif way < 0.3:
                words.insert(random.randint(1, len(words)), random.choice(_WORDS))
            elif way < 0.5 and len(words) > 1:
                del words[random.randrange(1, len(words))]
            elif way < 0.65:
                operands.insert(random.randint(0, len(operands)), random.choice(_OPERANDS))
            elif way < 0.8 and operands:
                del operands[random.randrange(len(operands))]
            elif operands:
                operands[random.randrange(len(operands))] = random.choice(_OPERANDS)
        return f" {match['guard'] or ''}{'.'.join(words)} {', '.join(operands)} "

    return _text(random, listing, spoil_numbers(random, listing.text, _FORM, form))


_ENCODING = re.compile(r"/\* 0x[0-9a-f]{16} \*/")


def _control(random: Random) -> Mutant:
    """Bits of encodings, those that control the issue more often than others."""
    listing = random.choice(seeds.listings())

    def number(text: str) -> str:
        word = int(text[5:21], 16)
        for _ in several(random, 8):
            word ^= 1 << random.choice((random.randrange(64), random.randrange(41, 62)))
        return f"/* {word:#018x} */"

    return _text(random, listing, spoil_numbers(random, listing.text, _ENCODING, number))


def _profile(random: Random) -> Mutant:
    """A saved profile, compared with a sound one."""
    found = copy.deepcopy(random.choice(seeds.profiles()))
    if random.random() < 0.7:
        text = json.dumps(spoil_tree(random, found)).encode()
    else:
        text = spoil_bytes(random, json.dumps(found).encode())

    def trial(path: Path) -> None:
        pair = [load(path), random.choice(seeds.profiles())]
        random.shuffle(pair)
        difference = compare(*pair, random.choice((None, None, *WAYS)))
        str(difference)
        json.dumps(difference.to_dict())

    return Mutant(".json", text, trial)


_QUANTITY = re.compile(r"(?<=value = )-?[\d.e+_]+")


def _device(random: Random) -> Mutant:
    """A device file, for which a small launch is timed."""
    text = random.choice(seeds.devices())
    if random.random() < 0.75:
        text = spoil_numbers(random, text, _QUANTITY, lambda _: _quantity(random))
    else:
        text = spoil_lines(random, text)

    def trial(path: Path) -> None:
        device = parse(path.read_bytes().decode("utf-8", "replace"), "mutant")
        json.dumps(device.to_dict())
        occupancy(device, 128, 40, 4096)
        _time(random, device)

    return Mutant(".toml", text.encode("utf-8", "replace"), trial)


def _quantity(random: Random) -> str:
    value = random.choice((*NUMBERS[:-1], 0.5, 1e-9, -1, 1e308, 3))
    return random.choice((str(value), str(value), str(value), "nan", "inf", f'"{value}"', "true", "1979-05-27"))


def _time(random: Random, device: Gpu) -> None:
    launch = machine.Launch((4, 1, 1), (64, 1, 1), seeds.source_arguments(), max_instructions=BUDGET)
    window = (0, 100) if random.random() < 0.2 else None
    sms = random.choice(("one", "one", 2))
    _run(seeds.source_program(), launch, device, sms=sms, window=window)


def _program(random: Random) -> Mutant:
    """Numbers in the micro-ops of a Program, in both views."""
    source = random.random() < 0.3
    kernel = None if source else random.choice(seeds.kernels())
    program = copy.deepcopy(seeds.source_program() if kernel is None else kernel.program)
    program.encoded = None  # what the sound one was made into
    changes = [_spoil_program(random, program) for _ in several(random, 3)]
    shape = (2, 1, 1), (random.choice((32, 64, 96)), 1, 1)
    order = random.choice(("hardware", "profiler"))

    def trial(_: Path) -> None:
        if kernel is None:
            launch = machine.Launch(*shape, seeds.source_arguments(), max_instructions=BUDGET, threads=1)
        else:
            given = seeds.arguments(kernel.name, [parameter.size for parameter in kernel.parameters])
            launch = machine.Launch(
                *shape,
                [*given, *inner_arrays(given)],
                order=order,
                max_instructions=BUDGET,
                threads=1,
                bank_image=partial(bank_image, kernel, *shape, given),
            )
        device = simt.devices.default_for(program.view) if random.random() < 0.4 else None
        _run(program, launch, device, kernel and kernel.module.memory.context)

    return Mutant(".txt", "\n".join(changes).encode(), trial)


_NUMERIC = [field.name for field in fields(Instruction) if field.name in ("dst", "a", "b", "c", "guard", "imm", "mod")]


def _spoil_program(random: Random, program: Program) -> str:
    """Change one number of a Program; what was changed."""
    at = random.randrange(len(program.instructions))
    before = program.instructions[at]
    if random.random() < 0.15:
        name = random.choice(("n_registers", "n_predicates", "n_barriers", "shared_bytes", "local_bytes"))
        setattr(program, name, random.choice((0, 1, random.choice(NUMBERS))))
        return f"{name} = {getattr(program, name)}"
    if random.random() < 0.1:
        changed = replace(before, op=random.choice(list(MICRO_OPS)))
    else:
        value = random.choice(
            (-1, -2, *NUMBERS, program.n_registers, 2 * program.n_predicates, len(program.instructions))
        )
        changed = replace(before, **{random.choice(_NUMERIC): value})
    program.instructions[at] = changed
    return f"{at}: {before!r} -> {changed!r}"


def _door(make: Callable[[Random], tuple[str, bytes, Callable[[Path], object]]]) -> Callable[[Random], Mutant]:
    return lambda random: Mutant(*make(random))


KINDS: dict[str, Callable[[Random], Mutant]] = {
    "elf": _elf,
    "cubin": _cubin,
    "fatbin": _fatbin,
    "listing": _listing,
    "operand": _operand,
    "form": _form,
    "control": _control,
    "profile": _profile,
    "device": _device,
    "program": _program,
    "source": _door(doors.source),
    "raw": _door(doors.raw),
    "message": _door(doors.messages),
    "format": _door(doors.formats),
}
"""What is spoilt, by name."""
