"""Textures and surfaces: which registers hold coordinates, handle and results, and in which order.

A texture instruction writes the components of its mask, in order, to two registers from its second operand on and
then to those of its first.  Its coordinates are the layer (if any), x, y and z; then come, as far as there are any,
the handle, a level of detail and texel offsets.  Most forms have the coordinates in one run of registers and the rest
in another (TXD the handle first, the layer last); the ``.SCR`` form splits all in two runs of up to two.  The handle
is a uniform register since sm_90, before a constant of bank 0 (``0x0, 0x58``: word 0x58) or, with ``.B``, a register.
Only its low 32 bits matter.  Found in the code that nvcc 13 makes for sm_75 to sm_120 of
``tests/data/sass/textures.cu``.

Textures have no mipmaps here: whatever its level of detail or gradients, an instruction reads the one level.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from simt.ops.encoding import (
    ATOMIC_TYPES,
    ATOMICS,
    CUBE,
    MEMORY_TYPES,
    Boundary,
    surface_form,
    texture_form,
)
from simt.program import RZ
from simt.sass.lowering import Lowering
from simt.sass.modifiers import Atomic, Combine, Flag, Float, Hint, Integer, Lanes, MinMax, Round, Width
from simt.sass.opcodes.memory import access_type, atomic_operation, atomic_type
from simt.sass.operands import Address, Immediate, Operand, Register, Special
from simt.sass.table import Source, opcode

_SHAPES = {
    "1D": (1, False),
    "2D": (2, False),
    "3D": (3, False),
    "ARRAY_1D": (1, True),
    "ARRAY_2D": (2, True),
    "CUBE": (CUBE, False),
    "ARRAY_CUBE": (CUBE, True),
}
_EVERYTHING = 0xF


class Component(Enum):
    """Which component TLD4 gathers; an additional ``B`` says that the handle is in a register."""

    R = "R"
    G = "G"
    B = "B"
    A = "A"


class Level(Enum):
    """Where a texture instruction has its level of detail from; L and B are followed by a register operand."""

    LZ = "LZ"  # 0
    LL = "LL"  # an operand
    LB = "LB"  # computed, plus an operand
    NDV = "NDV"  # computed, also where lanes of a quad are idle


class Texture(Enum):
    """Other modifiers of texture instructions."""

    SCR = "SCR"  # operands in two runs of registers
    B = "B"  # the handle is in a register
    AOFFI = "AOFFI"  # offsets in texels, four bits a dimension
    NODEP = "NODEP"


class Surface(Enum):
    """Modifiers of surface instructions."""

    D = "D"  # bytes as they are
    P = "P"  # in the surface's format
    BA = "BA"  # x counts bytes


class Shape(Enum):
    """Dimensions of a surface instruction."""

    D1 = "1D"
    D2 = "2D"
    D3 = "3D"
    LAYERED_1D = "1D_ARRAY"
    LAYERED_2D = "2D_ARRAY"

    @property
    def dims(self) -> int:
        return int(self.value[0])

    @property
    def layered(self) -> bool:
        return self.value.endswith("ARRAY")


class Outside(Enum):
    """What a surface instruction does outside the surface, unless it clamps."""

    TRAP = "TRAP"
    IGN = "IGN"


# Texture instructions


def _take_handle(x: Lowering, in_register: int | None) -> int:
    """Row of the handle; ``in_register`` is its row if it is among the register operands."""
    if in_register is not None:
        return in_register
    operand = x.take()
    if isinstance(operand, Register):
        if x.operands and x.operands[0] == Immediate(0):
            x.take()
        return x.row(operand)
    word = x.take()
    if not isinstance(operand, Immediate) or not isinstance(word, Immediate):
        raise x.unsupported(f"operand {word} where the word of a texture's handle is expected")
    return x.rows.bank(operand.value, 4 * word.value, 4)


def _take_sources(x: Lowering) -> list[Register]:
    """The registers that come next, up to a uniform one."""
    found = []
    while x.operands and isinstance(x.operands[0], Register) and not x.operands[0].uniform:
        found.append(x.take_register())
    return found


def _shape_of(operands: Sequence[Operand]) -> str:
    return next((operand.name for operand in operands if isinstance(operand, Special)), "")


def _take_shape(x: Lowering) -> tuple[int, bool, int]:
    """Dimensions, whether layered, and the mask of components."""
    name = str(x.take())
    if name not in _SHAPES:
        raise x.unsupported(f"operand {name} is not understood")
    mask = x.take() if x.operands else Immediate(_EVERYTHING)
    x.done()
    if not isinstance(mask, Immediate) or not 0 < mask.value <= _EVERYTHING:
        raise x.unsupported(f"operand {mask} where a mask of components is expected")
    return *_SHAPES[name], mask.value


def _assign(x: Lowering, coordinates: list[str], rest: list[str], registers: list[Register]) -> dict[str, int]:
    """Rows of the named operands, by the form of the instruction."""
    groups = [coordinates, rest]
    if Texture.SCR in x.modifiers:
        together = coordinates + rest
        first = (len(together) + 1) // 2
        groups = [together[:first], together[first:]]
    groups = [group for group in groups if group]
    if len(groups) != len(registers):
        raise x.unsupported(f"{len(registers)} source registers for {', '.join(coordinates + rest)}")
    return {
        name: x.row(register.next(k))
        for group, register in zip(groups, registers, strict=True)
        for k, name in enumerate(group)
    }


def _texture(x: Lowering, op: str, bindless: bool, *, component: int = 0, gradients: bool = False) -> None:
    """``hi, lo, coordinates, ..., handle, shape, mask``."""
    high, low = x.take_register(), x.take_register()
    registers = _take_sources(x)
    name = _shape_of(x.operands)
    dims, layered = _SHAPES.get(name, (CUBE, False))
    directions = ["x", "y", "z"][: 3 if dims == CUBE else dims]
    coordinates = ["layer"] * layered + directions
    handle_in = ["handle"] * bindless
    rest = ["level"] * (Level.LL in x.modifiers or Level.LB in x.modifiers) + ["gradients"] * gradients
    rest += ["offsets"] * (Texture.AOFFI in x.modifiers)
    if gradients:  # the layer comes last here
        coordinates = handle_in + directions + ["layer"] * layered
    else:
        rest = handle_in + rest
    in_register = None
    if name in _SHAPES:
        rows = _assign(x, coordinates, rest, registers)
        in_register = rows.get("handle")
    handle = _take_handle(x, in_register)
    dims, layered, mask = _take_shape(x)
    form = texture_form(mask, dims, layered, component)
    at = x.rows.texture()
    for k, coordinate in enumerate(("x", "y", "z", "layer")):
        if coordinate in rows:
            x.emit("mov", at + k, rows[coordinate])
    _write(x, op, high, low, at, handle, rows.get("offsets", RZ), form, mask.bit_count())


def _write(x: Lowering, op: str, high: Register, low: Register, a: int, b: int, c: int, form: int, count: int) -> None:
    """Emit the micro-op and bring its *count* results to their registers."""
    targets = [(low if k < 2 else high).next(k % 2) for k in range(count)]
    straight = all(t.index is not None and t.index == (targets[0].index or 0) + k for k, t in enumerate(targets))
    rows = x.row(targets[0]) if straight else x.rows.texture() + 4
    x.emit(op, rows, a, b, c, imm=form, retires=True, shows=targets[0])
    if not straight:
        for k, target in enumerate(targets):
            if target.index is not None:
                x.emit("mov", x.destination(target), rows + k)


_TEXTURE = (Texture, Level)


@opcode("TEX", source=Source.H200_VALUES, takes=_TEXTURE)
def sample(x: Lowering) -> None:
    _texture(x, "tex", Texture.B in x.modifiers)


@opcode("TXD", source=Source.H200_VALUES, takes=_TEXTURE)
def sample_with_gradients(x: Lowering) -> None:
    _texture(x, "tex", Texture.B in x.modifiers, gradients=True)


@opcode("TLD", source=Source.H200_VALUES, takes=_TEXTURE)
def fetch(x: Lowering) -> None:
    _texture(x, "tld", Texture.B in x.modifiers)


@opcode("TLD4", source=Source.H200_VALUES, takes=(Component, Texture.SCR, Texture.AOFFI, Texture.NODEP))
def gather(x: Lowering) -> None:
    components = x.modifiers.all(Component)
    if len(components) not in (1, 2):
        raise x.unsupported("TLD4 without one component")
    _texture(x, "tld4", len(components) == 2, component=list(Component).index(components[-1]))


@opcode("TXQ", source=Source.H200_VALUES, takes=_TEXTURE)
def query(x: Lowering) -> None:
    """``hi, lo, level, question, handle, mask``: width, height, depth (of layered ones the layers), levels."""
    high, low = x.take_register(), x.take_register()
    registers = _take_sources(x)
    question = str(x.take())
    in_register = x.row(registers[0]) if Texture.B in x.modifiers else None
    handle = _take_handle(x, in_register)
    mask = x.take() if x.operands else Immediate(_EVERYTHING)
    x.done()
    if question != "TEX_HEADER_DIMENSION" or not isinstance(mask, Immediate):
        raise x.unsupported(f"only the dimensions of a texture can be asked for, not {question}")
    form = texture_form(mask.value, 1, False)
    _write(x, "txq", high, low, RZ, handle, RZ, form, mask.value.bit_count())


# Surface instructions

_SURFACE = (Surface, Shape, Outside, Integer, Width, Hint)


def _place(x: Lowering) -> tuple[int, int]:
    """Row of the coordinates of ``[R4]``, which are in consecutive registers, and their form."""
    address = x.take()
    if not isinstance(address, Address) or address.base is None or address.offset or address.uniform is not None:
        raise x.unsupported(f"operand {address} where the coordinates of a surface are expected")
    shape = x.modifiers.maybe(Shape)
    if shape is None:
        raise x.unsupported("a surface instruction without its dimensions")
    outside = {Outside.TRAP: Boundary.TRAP, Outside.IGN: Boundary.ZERO, None: Boundary.CLAMP}
    boundary = outside[x.modifiers.maybe(Outside)]
    form = surface_form(
        shape.dims, shape.layered, boundary, in_bytes=Surface.BA in x.modifiers, formatted=Surface.P in x.modifiers
    )
    return x.row(address.base), form


def _type(x: Lowering) -> int:
    """Memory type of one access."""
    return MEMORY_TYPES[access_type(x)[0]][0]


@opcode("SULD", source=Source.H200_VALUES, takes=_SURFACE)
def load_surface(x: Lowering) -> None:
    d = x.take_register()
    coordinates, form = _place(x)
    handle = _take_handle(x, None)
    x.done()
    number = MEMORY_TYPES["v4"][0] if Surface.P in x.modifiers else _type(x)
    at = x.destination(d) if d.index is not None else x.rows.texture()
    x.emit("suld", at, coordinates, handle, imm=form, mod=number, retires=True, shows=d)


@opcode("SUST", source=Source.H200_VALUES, takes=_SURFACE)
def store_surface(x: Lowering) -> None:
    coordinates, form = _place(x)
    value = x.take_register()
    handle = _take_handle(x, None)
    x.done()
    number = _type(x)
    data = x.rows.zeros() if value.index is None else x.row(value)
    x.emit("sust", 0, coordinates, handle, data, imm=form, mod=number)


_ATOMIC = (*_SURFACE, Atomic, MinMax, Combine, Float, Lanes, Flag.FTZ, Round.RN)
_ATOMIC_WORDS = {"u32": 1, "s32": 1, "f32": 1, "f16x2": 1, "u64": 2, "s64": 2}
"""Registers of an operand of the types that surfaces have atomics for."""


def _surface_atomic(x: Lowering, d: Register) -> None:
    """``coordinates, value, handle``; a compare and swap has both its values in consecutive registers."""
    coordinates, form = _place(x)
    value = x.take_register()
    handle = _take_handle(x, None)
    x.done()
    operation = atomic_operation(x)
    name = atomic_type(x, operation)
    words = _ATOMIC_WORDS.get(name)
    if operation == "cast" or words is None:
        raise x.unsupported("this atomic on surfaces is not supported")
    swaps = operation == "cas"
    read = x.pair if words == 2 else x.row
    values = [read(value), read(value.next(words)) if swaps else RZ]
    at = x.rows.texture()
    # As atom: operand b is stored, c is compared with; they stand behind the coordinates' row in this order.
    for k, row in enumerate(reversed(values) if swaps else values):
        x.emit("mov", at + k, row)
    code = ATOMICS.index(operation) << 4 | ATOMIC_TYPES.index(name)
    old = x.rows.texture() + 4
    x.emit("suatom", old, coordinates, handle, at, imm=form, mod=code, retires=True, shows=d)
    if d.index is not None:
        if words == 2:
            x.write_pair(d, old)
        else:
            x.emit("cvt.u32", x.destination(d), old)


@opcode("SURED", source=Source.H200_VALUES, takes=_ATOMIC)
def reduce_surface(x: Lowering) -> None:
    _surface_atomic(x, Register(None))


@opcode("SUATOM", source=Source.H200_VALUES, takes=_ATOMIC)
def atomic_surface(x: Lowering) -> None:
    _surface_atomic(x, x.take_register())
