"""Loads, stores, atomics, constants: addresses, widths, spaces.

Global addresses are 64 bits in register pairs, shared and local ones 32 bits.  Cache policies and orderings are
hints here: memory is sequentially consistent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, LOCAL_WINDOW, MEMORY_TYPES, SHARED_WINDOW
from simt.program import PT, RZ
from simt.sass.architectures import BLACKWELL
from simt.sass.lowering import OR, Lowering
from simt.sass.modifiers import Atomic, Combine, Flag, Float, Hint, Integer, Lanes, MinMax, Round, Space, Width
from simt.sass.opcodes.integer import FALSE
from simt.sass.operands import SCALE, Address, Constant, Predicate, Register, Suffix
from simt.sass.table import Source, opcode

_WIDTHS = {Width.W32: ("u32", 1), Width.W64: ("v2", 2), Width.W128: ("v4", 4)}


def access_type(x: Lowering) -> tuple[str, int]:
    """Memory type and number of registers of a load or store."""
    typ = x.modifiers.maybe(Integer)
    if typ is None:
        return _WIDTHS[x.modifiers.one(Width, Width.W32)]
    name = typ.value.lower()
    if name not in MEMORY_TYPES:
        raise x.unsupported(f"accesses of type {typ.value} are not supported")
    return name, 1


def wide_address(x: Lowering, address: Address) -> tuple[int, int]:
    """Row and offset of a 64-bit address."""
    parts = []
    if address.base is not None:
        if Suffix.U32 in address.base.suffixes:
            parts.append(x.row(address.base))
        else:
            parts.append(x.pair(address.base))
    if address.uniform is not None and address.uniform.index is not None:
        parts.append(x.pair(address.uniform))
    row = parts[0] if parts else RZ
    for other in parts[1:]:
        row = x.compute("add.s64", row, other)
    return row, address.offset


def narrow_address(x: Lowering, address: Address) -> int:
    """Row of a 32-bit address; sums wrap at 32 bits, so the offset is added here."""
    row = RZ
    if address.base is not None:
        row = x.row(address.base)
        for suffix in address.base.suffixes:
            if suffix in SCALE:
                row = x.compute("shl.b32", row, x.constant(SCALE[suffix].bit_length() - 1))
    others = [x.row(address.uniform)] if address.uniform is not None else []
    if address.offset:
        others.append(x.constant(address.offset & 0xFFFFFFFF))
    for other in others:
        row = other if row == RZ else x.compute("add.u32", row, other)
    return row


def take_address(x: Lowering) -> Address:
    """The next operand, which must be an address."""
    operand = x.take()
    if not isinstance(operand, Address):
        raise x.unsupported(f"operand {operand} where an address is expected")
    return operand


@dataclass(frozen=True)
class _Place:
    """Where a memory micro-op goes: its space, the row and offset of the address, the guard of its lanes."""

    space: str
    row: int
    offset: int
    guard: int


def _places(x: Lowering, space: str, address: Address, atomic: bool = False) -> tuple[_Place, ...]:
    """The micro-ops that an access needs: one, or for generic addresses one per space, as lanes may differ.

    Atomics on local memory do not exist: their addresses are taken for global ones, which are out of bounds.
    """
    if space in ("shared", "local"):
        return (_Place(space, narrow_address(x, address), 0, x.guard),)
    if Flag.E not in x.modifiers:
        raise x.unsupported("32-bit global addresses are not supported")
    row, offset = wide_address(x, address)
    if space == "global":
        return (_Place(space, row, offset, x.guard),)
    if offset:
        row = x.compute("add.s64", row, x.constant(offset))
    shared, local = _windows(x, row)
    low = x.compute("cvt.u32", row)
    if atomic:
        return (
            _Place("global", row, 0, x.narrowed(shared ^ 1)),
            _Place("shared", low, 0, x.narrowed(shared)),
        )
    elsewhere = x.logic(shared, local, OR) ^ 1
    return (
        _Place("global", row, 0, x.narrowed(elsewhere)),
        _Place("shared", low, 0, x.narrowed(shared)),
        _Place("local", low, 0, x.narrowed(local)),
    )


def _windows(x: Lowering, row: int) -> tuple[int, int]:
    """Whether a generic address is one of shared memory, and of local memory."""
    upper = x.compute("high.b64", row)
    shared = x.test("eq.s64", upper, x.constant(SHARED_WINDOW >> 32))
    return shared, x.test("eq.s64", upper, x.constant(LOCAL_WINDOW >> 32))


def _retire(x: Lowering, places: Sequence[_Place]) -> bool:
    """Whether the memory micro-op itself retires; an access of several spaces is counted by a ``nop`` before them."""
    if len(places) == 1:
        return True
    x.emit("nop", retires=True)
    return False


def _load(x: Lowering, space: str) -> None:
    p = x.take_predicates()
    d = x.take_register()
    places = _places(x, space, take_address(x))
    x.done()
    if p and p[0].index is not None:
        raise x.unsupported("the predicate of a load is not supported")
    name, registers = access_type(x)
    number = MEMORY_TYPES[name][0]
    target = d.index is None or name in ("s8", "s16")
    row = _temporaries(x, registers) if target else x.destination(d, registers)
    retires, strong = _retire(x, places), Hint.STRONG in x.modifiers
    for at in places:
        x.emit(
            f"ld.{at.space}", row, at.row, imm=at.offset, mod=number, retires=retires, guard=at.guard, shows=d,
            strong=strong,
        )  # fmt: skip
    if name in ("s8", "s16"):  # the micro-op extends to 64 bits, a register has 32
        x.emit("cvt.u32", x.destination(d), row)


def _temporaries(x: Lowering, count: int) -> int:
    """First of *count* consecutive temporary rows."""
    return x.new() if count == 1 else x.rows.consecutive(count)


def _store(x: Lowering, space: str) -> None:
    places = _places(x, space, take_address(x))
    value = x.take_register()
    x.done()
    name, registers = access_type(x)
    x.row(value, registers)
    data = x.source(value)
    retires, number, strong = _retire(x, places), MEMORY_TYPES[name][0], Hint.STRONG in x.modifiers
    for at in places:
        x.emit(
            f"st.{at.space}", 0, at.row, data, imm=at.offset, mod=number, retires=retires, guard=at.guard,
            strong=strong,
        )  # fmt: skip


_TAKES = (Flag.E, Integer, Width, Hint)


@opcode("LDG", source=Source.H200, takes=_TAKES)
def load_global(x: Lowering) -> None:
    _load(x, "global")


@opcode("LD", source=Source.H200, takes=_TAKES)
def load_generic(x: Lowering) -> None:
    _load(x, "generic")


@opcode("LDS", source=Source.PTX, takes=_TAKES)
def load_shared(x: Lowering) -> None:
    _load(x, "shared")


@opcode("LDL", source=Source.PTX, takes=_TAKES)
def load_local(x: Lowering) -> None:
    _load(x, "local")


@opcode("STG", source=Source.H200, takes=_TAKES)
def store_global(x: Lowering) -> None:
    _store(x, "global")


@opcode("ST", source=Source.H200, takes=_TAKES)
def store_generic(x: Lowering) -> None:
    _store(x, "generic")


@opcode("STS", source=Source.PTX, takes=_TAKES)
def store_shared(x: Lowering) -> None:
    _store(x, "shared")


@opcode("STL", source=Source.PTX, takes=_TAKES)
def store_local(x: Lowering) -> None:
    _store(x, "local")


@opcode("LDGSTS", source=Source.PTX, takes=(*_TAKES, Hint.BYPASS, Hint.ZFILL, Hint.ACCESS), since=80)
def copy_to_shared(x: Lowering) -> None:
    """``[shared], [global] [, p]`` (PTX cp.async): at once, not later.  Where p is false, zeros are stored."""
    shared = narrow_address(x, take_address(x))
    row, offset = wide_address(x, take_address(x))
    loads = [x.predicate(p) for p in x.take_predicates()]
    x.done()
    name, registers = access_type(x)
    rows = x.rows.consecutive(registers)
    for k in range(registers):
        x.emit("mov", rows + k, RZ)
    if registers == 1 and name != "u32":
        raise x.unsupported("only copies of 4, 8 or 16 bytes are supported")
    number = MEMORY_TYPES[name][0]
    nothing = FALSE in loads
    if not nothing:
        guard = x.narrowed(loads[0] if loads else PT)
        x.emit("ld.global", rows, row, imm=offset, mod=number, retires=True, guard=guard)
    x.emit("st.shared", 0, shared, rows, mod=number, retires=nothing, copies=True)


# Constant banks


@opcode("LDC", source=Source.H200, takes=(Integer, Width))
@opcode("ULDC", source=Source.H200, takes=(Integer, Width), uniform=True)
@opcode("LDCU", source=Source.H200, takes=(Integer, Width), since=BLACKWELL, uniform=True)
def load_constant(x: Lowering) -> None:
    d = x.take_register()
    constant = x.take()
    x.done()
    if not isinstance(constant, Constant) or isinstance(constant.bank, Register):
        raise x.unsupported("only constants of a numbered bank are supported")
    name, registers = access_type(x)
    size = MEMORY_TYPES[name][1]
    if d.index is None:
        return
    if constant.base is None or constant.base.index is None:
        if registers == 2:
            x.write_pair(d, x.rows.bank(constant.bank, constant.offset, 8))
            return
        for k in range(registers):
            row = x.rows.bank(constant.bank, constant.offset + 4 * k, min(size, 4))
            op = "mov" if name not in ("s8", "s16") else f"cvt.{name}"
            value = row if op == "mov" else x.compute(op, row)
            x.emit("mov" if op == "mov" else "cvt.u32", x.destination(d.next(k)), value)
        return
    base = x.compute("cvt.s32", x.row(constant.base))
    address = x.compute("add.s64", x.rows.bank_base(constant.bank), base)
    first = _temporaries(x, registers)
    x.emit("ld.const", first, address, imm=constant.offset, mod=MEMORY_TYPES[name][0])
    for k in range(registers):
        x.emit("cvt.u32", x.destination(d.next(k)), first + k)


# Atomics

_ATOMICS = (
    Flag.E, Atomic, MinMax, Combine, Flag.POPC, Integer, Float, Lanes, Width, Flag.FTZ, Round.RN, Hint,
)  # fmt: skip
_WHOLE = ("u32", "f16x2", "bf16x2", "f32x2", "f32x4")
"""Types whose old value goes to registers as it is."""


def atomic_operation(x: Lowering) -> str:
    """What an atomic does, as :data:`simt.ops.encoding.ATOMICS` calls it."""
    operation = x.modifiers.maybe(Atomic) or x.modifiers.maybe(MinMax) or x.modifiers.maybe(Combine)
    if operation is not None:
        return str(operation.value).lower()
    raise x.unsupported("an atomic without an operation")


def atomic_type(x: Lowering, operation: str) -> str:
    """The type of its operands, as :data:`simt.ops.encoding.ATOMIC_TYPES` calls it."""
    form = x.modifiers.maybe(Float)
    if form is not None:
        name = str(form.value).lower()
        if operation != "add" or name not in ATOMIC_TYPES:
            raise x.unsupported("only float32 and float64 additions are supported")
        return name
    lanes = x.modifiers.maybe(Lanes)
    if lanes is not None:
        if operation != "add":
            raise x.unsupported("only additions of packed floats are supported")
        return str(lanes.value).lower()
    bits = x.modifiers.one(Width, Width.W32).value
    typ = x.modifiers.maybe(Integer)
    name = f"u{bits}" if typ is None else typ.value.lower()
    if name not in ATOMIC_TYPES:
        raise x.unsupported(f"atomics of type {name} are not supported")
    return name


def _atomic(x: Lowering, space: str, d: Register, address: Address, success: Predicate | None = None) -> None:
    """One atomic on the operands that are left: value, or compare and value."""
    operation = atomic_operation(x)
    counts = Flag.POPC in x.modifiers
    if counts and (operation != "inc" or d.index is not None):
        raise x.unsupported("only POPC.INC without a result is supported")
    places = _places(x, space, address, atomic=True)
    typ = atomic_type(x, "add" if counts else operation)
    wide = typ in ("u64", "s64", "f64")
    swaps = operation in ("cas", "cast")
    values = [x.take_register() for _ in range(2 if swaps else 0 if counts else 1)]
    x.done()
    words = {"f32x2": 2, "f32x4": 4}.get(typ, 1)
    sources = [x.pair(value) if wide else x.row(value, words) for value in values]
    if typ in ("f32x2", "f32x4") and values[0].index is None:
        sources = [x.rows.zeros()]
    if counts:  # the lanes' ones are summed before the update: each adds one
        operation, sources = "add", [x.constant(1)]
    code = ATOMICS.index("cas" if swaps else operation) << 4 | ATOMIC_TYPES.index(typ)
    b, c = (sources[1], sources[0]) if swaps else (sources[0], RZ)
    direct = d.index is not None and typ in _WHOLE and operation != "cast"
    unread = d.index is None and operation != "cast"
    old = x.destination(d, words) if direct else RZ if unread else x.new()
    retires = _retire(x, places)
    for at in places:
        x.emit(f"atom.{at.space}", old, at.row, b, c, imm=at.offset, mod=code, retires=retires, guard=at.guard, shows=d)
    if operation == "cast":
        swapped = x.test("eq.s64", old, c)
        if success is not None:  # since Blackwell, a predicate says so
            x.set_predicate(success, swapped)
            return
        old = x.compute("selp", x.constant(1), RZ, swapped)
    if direct or d.index is None:
        return
    if wide:
        x.write_pair(d, old)
    else:
        x.emit("cvt.u32", x.destination(d), old)


def _with_result(x: Lowering, space: str) -> None:
    p = x.take_predicates()
    if isinstance(x.next(), Address):
        _atomic(x, space, Register(None), take_address(x), p[0] if p else None)
        return
    d = x.take_register()
    _atomic(x, space, d, take_address(x))
    for predicate in p:  # says that the address was in a space where the operation exists: always so here
        x.set_predicate(predicate, PT)


@opcode("ATOMG", source=Source.PTX, takes=_ATOMICS)
def atomic_global(x: Lowering) -> None:
    _with_result(x, "global")


@opcode("ATOM", source=Source.PTX, takes=_ATOMICS)
def atomic_generic(x: Lowering) -> None:
    _with_result(x, "generic")


@opcode("ATOMS", source=Source.PTX, takes=_ATOMICS)
def atomic_shared(x: Lowering) -> None:
    _with_result(x, "shared")


@opcode("REDG", source=Source.PTX, takes=_ATOMICS)
def reduce_global(x: Lowering) -> None:
    _atomic(x, "global", Register(None), take_address(x))


@opcode("RED", source=Source.PTX, takes=_ATOMICS)
def reduce_generic(x: Lowering) -> None:
    _atomic(x, "generic", Register(None), take_address(x))


@opcode("QSPC", source=Source.LISTINGS, takes=(Flag.E, Space))
def query_space(x: Lowering) -> None:
    """``p, d, [a]``: whether a generic address with its offset lies in a space (H200)."""
    p = x.take_predicate()
    d = x.take_register()
    row, offset = wide_address(x, take_address(x))
    x.done()
    if d.index is not None:
        raise x.unsupported("QSPC with a result register is not supported")
    if offset:
        row = x.compute("add.s64", row, x.constant(offset))
    shared, local = _windows(x, row)
    space = x.modifiers.one(Space, Space.G)
    answers = {
        Space.S: shared,
        Space.L: local,
        Space.D: shared,  # that of the block's cluster, which includes its own (H200)
        Space.G: x.logic(shared, local, OR) ^ 1,
    }
    x.set_predicate(p, answers[space])
