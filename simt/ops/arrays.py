"""Arrays as compiled functions of the engine have them: where the elements stand, and how many.

Numba's own arrays are structures of seven words and more, which every function takes apart and puts together again: a
State is 260 words.  That was most of the code that Numba wrote for the engine and LLVM had to remove.  Here an array is
the address of a *descriptor* (the address of its elements, then its shape), and a State the address of its descriptors,
one behind the other.  They stand in the frame of the function that Python calls, which makes them of NumPy's arrays
(:func:`described`).  An index is the element's number: a negative one is not counted from the end.

With ``NUMBA_BOUNDSCHECK=1`` functions get Numba's own arrays, whose every index is checked.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.datamodel import models
from numba.core.types.containers import BaseNamedTuple, BaseTuple
from numba.core.types.misc import SliceType
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_getattr_generic, register_model
from numba.np.arrayobj import make_array

_I32, _I64 = ir.IntType(32), ir.IntType(64)


class Elements(types.Type):
    """The type of an array of *ndim* dimensions in C order."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype, self.ndim = dtype, ndim
        super().__init__(f"elements_{dtype}_{ndim}")


class Record(types.Type):
    """The type of a named tuple of arrays."""

    def __init__(self, made_of: Any) -> None:
        self.fields = {
            name: Elements(one.dtype, one.ndim) for name, one in zip(made_of.fields, made_of.types, strict=True)
        }
        super().__init__(f"record_{made_of.instance_class.__name__}_{'_'.join(map(str, self.fields.values()))}")


@register_model(Elements)
class _ElementsModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        element = dmm.lookup(fe_type.dtype).get_data_type()
        descriptor = ir.LiteralStructType([element.as_pointer(), *[_I64] * fe_type.ndim])
        super().__init__(dmm, fe_type, descriptor.as_pointer())


@register_model(Record)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        descriptors = [dmm.lookup(one).get_value_type().pointee for one in fe_type.fields.values()]
        super().__init__(dmm, fe_type, ir.LiteralStructType(descriptors).as_pointer())


def _marked(builder: Any, instruction: Any, kind: str) -> Any:
    """A load or store of an element or of a descriptor, which LLVM may know not to be the same memory."""
    module = builder.module
    root = module.add_metadata([ir.MetaDataString(module, "simt")])
    zero = ir.Constant(_I64, 0)
    named = module.add_metadata([ir.MetaDataString(module, kind), root, zero])
    instruction.set_metadata("tbaa", module.add_metadata([named, named, zero]))
    return instruction


def _field(builder: Any, structure: Any, k: int) -> Any:
    return builder.gep(structure, [ir.Constant(_I32, 0), ir.Constant(_I32, k)], inbounds=True)


def _read(builder: Any, descriptor: Any, k: int) -> Any:
    """Word *k* of a descriptor."""
    return _marked(builder, builder.load(_field(builder, descriptor, k)), "descriptor")


def _write(builder: Any, descriptor: Any, words: Any) -> None:
    for k, word in enumerate(words):
        _marked(builder, builder.store(word, _field(builder, descriptor, k)), "descriptor")


def describe(context: Any, builder: Any, kind: Any, data: Any, shape: Any) -> Any:
    """An array made of the address of its elements and its shape; it lives as long as the function's frame."""
    place = cgutils.alloca_once(builder, context.get_value_type(kind).pointee)
    _write(builder, place, [data, *shape])
    return place


def address(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of the elements of an array, which may be one of Numba's own."""
    if isinstance(kind, Elements):
        return _read(builder, array, 0)
    return make_array(kind)(context, builder, array).data


def _some(context: Any, builder: Any, kind: Any, array: Any, first: Any, size: int) -> Any:
    """The address of a vector of elements."""
    place = builder.gep(address(context, builder, kind, array), [first])
    return builder.bitcast(place, ir.VectorType(place.type.pointee, size).as_pointer())


def load_some(context: Any, builder: Any, kind: Any, array: Any, first: Any, size: int) -> Any:
    """A vector of *size* elements of an array of words, from number *first* on."""
    place = _some(context, builder, kind, array, first, size)
    return _marked(builder, builder.load(place, align=8), "element")


def store_some(context: Any, builder: Any, kind: Any, array: Any, first: Any, vector: Any) -> None:
    """Write a vector to the elements of an array of words from number *first* on."""
    place = _some(context, builder, kind, array, first, vector.type.count)
    _marked(builder, builder.store(vector, place, align=8), "element")


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, types.Array) and kind.layout == "C"


@intrinsic
def described(typingctx: Any, value: Any) -> Any:
    """An argument as the engine's functions have it: a NumPy array, or a named tuple of such, described."""
    kind, describing = value, lambda context, builder, sig, args: args[0]
    if _is_plain(value) and not config.BOUNDSCHECK:
        kind, describing = Elements(value.dtype, value.ndim), _describe_one
    elif isinstance(value, BaseNamedTuple) and all(map(_is_plain, value.types)) and not config.BOUNDSCHECK:
        kind, describing = Record(value), _describe_all
    return kind(value), describing


def _describe_one(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = make_array(sig.args[0])(context, builder, args[0])
    shape = cgutils.unpack_tuple(builder, array.shape)
    return describe(context, builder, sig.return_type, array.data, shape)


def _describe_all(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = cgutils.alloca_once(builder, context.get_value_type(sig.return_type).pointee)
    for k, one in enumerate(sig.args[0].types):
        array = make_array(one)(context, builder, builder.extract_value(args[0], k))
        _write(builder, _field(builder, place, k), [array.data, *cgutils.unpack_tuple(builder, array.shape)])
    return place


def record_words(arrays: Any) -> int:
    """So many words describe these arrays as a record."""
    return sum(1 + array.ndim for array in arrays)


def record_of(arrays: Any, known: dict[int, tuple[int, ...]] | None = None) -> list[int]:
    """The words that describe these arrays of NumPy as a record: for :func:`kept_window`.

    *known*: what is known of arrays by their ``id``, which is added to.  Their addresses take NumPy long to tell.
    """
    known = {} if known is None else known
    words: list[int] = []
    for array in arrays:
        described = known.get(id(array))
        if described is None:
            described = known[id(array)] = (array.ctypes.data, *array.shape)
        words += described
    return words


def _record_in(builder: Any, kind: Any, words: Any, k: Any) -> Any:
    """The address of the *k*-th record in an array of words."""
    return builder.gep(builder.bitcast(_read(builder, words, 0), kind), [k])


@intrinsic
def keep_window(typingctx: Any, record: Any, starts: Any, sizes: Any, words: Any, k: Any) -> Any:
    """Write a record into the int64 array *words*, as the *k*-th there: for :func:`kept_window`.

    Its first arrays are pieces of those of *record*: from *starts* on, so many elements each.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        old, *given, words, number = args
        place = _record_in(builder, old.type, words, number)
        for n, kind in enumerate(record.fields.values()):
            described = [_read(builder, _field(builder, old, n), word) for word in range(1 + kind.ndim)]
            _write(builder, _field(builder, place, n), described)
        firsts, counts = (cgutils.unpack_tuple(builder, one) for one in given)
        for n, (start, size) in enumerate(zip(firsts, counts, strict=True)):
            data = _read(builder, _field(builder, old, n), 0)
            _write(builder, _field(builder, place, n), [builder.gep(data, [start]), size])
        return context.get_dummy_value()

    return types.none(record, starts, sizes, words, types.int64), codegen


@intrinsic
def kept_window(typingctx: Any, record: Any, words: Any, k: Any) -> Any:
    """The *k*-th record, one like *record*, that was written into *words*; its arrays must still be there."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _record_in(builder, args[0].type, *args[1:])

    return record(record, words, types.int64), codegen


@infer_getattr
class _Fields(AttributeTemplate):
    key = Record

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.fields.get(name)


@lower_getattr_generic(Record)
def _array_of(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return _field(builder, value, list(kind.fields).index(name))


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if isinstance(args[0], Elements) else None


@lower_builtin(len, Elements)
def _length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(builder, args[0], 1)


def _is_index(kind: Any, ndim: int) -> bool:
    numbers = tuple(kind) if isinstance(kind, BaseTuple) else (kind,)
    return len(numbers) == ndim and all(isinstance(one, types.Integer) for one in numbers)


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        array, index = args
        if isinstance(array, Elements) and _is_index(index, array.ndim):
            return signature(array.dtype, array, index)
        if isinstance(array, Elements) and array.ndim == 1 and isinstance(index, SliceType):
            return signature(array, array, index)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        array, index, _ = args
        if isinstance(array, Elements) and _is_index(index, array.ndim):
            return signature(types.none, array, index, array.dtype)
        return None


def _place(context: Any, builder: Any, kinds: Any, array: Any, index: Any) -> Any:
    """The address of an element."""
    kind = kinds[1]
    numbers = [(index, kind)]
    if isinstance(kind, BaseTuple):
        numbers = list(zip(cgutils.unpack_tuple(builder, index), kind, strict=True))
    words = [context.cast(builder, value, of, types.int64 if of.signed else types.uint64) for value, of in numbers]
    at, *others = words
    for axis, word in enumerate(others, 1):
        at = builder.add(builder.mul(at, _read(builder, array, 1 + axis)), word)
    return builder.gep(_read(builder, array, 0), [at])


@lower_builtin(operator.getitem, Elements, types.Any)
def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    value = _marked(builder, builder.load(_place(context, builder, sig.args, *args)), "element")
    return context.data_model_manager[sig.return_type].from_data(builder, value)


@lower_builtin(operator.setitem, Elements, types.Any, types.Any)
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array, index, value = args
    kept = context.data_model_manager[sig.args[0].dtype].as_data(builder, value)
    _marked(builder, builder.store(kept, _place(context, builder, sig.args, array, index)), "element")
    return context.get_dummy_value()


@lower_builtin(operator.getitem, Elements, SliceType)
def _piece(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Elements from one to before another: both are given, and are there."""
    kind, piece = sig.args
    between = context.make_helper(builder, piece, args[1])
    data = builder.gep(_read(builder, args[0], 0), [between.start])
    return describe(context, builder, kind, data, [builder.sub(between.stop, between.start)])
