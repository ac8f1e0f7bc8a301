"""MindSpore's data types: small immutable objects that print and compare as in MindSpore."""

from typing import Any, Self

import numpy as np
from ml_dtypes import bfloat16 as _np_bfloat16

from msnb.common.missing import asked as _asked
from msnb.common.quant_dtype import QuantDtype as QuantDtype  # MindSpore 2 has it in this module


class Type:
    """A MindSpore type. Two types are equal when they have the same kind and width."""

    __slots__ = ("kind", "bits", "_name", "_title", "_np")

    def __init__(
        self, kind: str, bits: int | None = None, name: str | None = None, title: str | None = None, np_type: Any = None
    ) -> None:
        self.kind: str = kind
        self.bits: int | None = bits
        self._name = name or kind.lower()
        self._title = title or kind
        self._np = np.dtype(np_type) if np_type is not None else None

    def __repr__(self) -> str:
        return f"mindspore.{self._name}"

    def __str__(self) -> str:
        return self._title

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and (self.kind, self.bits) == (other.kind, other.bits))

    def __hash__(self) -> int:
        return hash((self.kind, self.bits))

    def __reduce__(self) -> tuple[Any, ...]:
        return _lookup, (self._name,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Number(Type):
    """A numeric type, or the family of all numeric types (`number`)."""

    __slots__ = ()


class Int(Number):
    """A signed integer type."""

    __slots__ = ()

    def __init__(self, bits: int | None = None) -> None:
        name = f"int{bits}" if bits else "int_"
        super().__init__("Int", bits, name, f"Int{bits or ''}", f"int{bits}" if bits else None)


class UInt(Number):
    """An unsigned integer type."""

    __slots__ = ()

    def __init__(self, bits: int | None = None) -> None:
        name = f"uint{bits}" if bits else "uint"
        super().__init__("UInt", bits, name, f"UInt{bits or ''}", f"uint{bits}" if bits else None)


class Float(Number):
    """An IEEE floating point type."""

    __slots__ = ()

    def __init__(self, bits: int | None = None) -> None:
        name = f"float{bits}" if bits else "float_"
        super().__init__("Float", bits, name, f"Float{bits or ''}", f"float{bits}" if bits else None)


class BFloat(Number):
    """The floating point type with the exponents of float32 in 16 bits."""

    __slots__ = ()

    def __init__(self, bits: int = 16) -> None:
        super().__init__("BFloat", bits, f"bfloat{bits}", f"BFloat{bits}", _np_bfloat16)


class Complex(Number):
    """A complex type. `bits` counts both numbers."""

    __slots__ = ()

    def __init__(self, bits: int) -> None:
        super().__init__("Complex", bits, f"complex{bits}", f"Complex{bits}", f"complex{bits}")


class Bool(Number):
    """The type of True and False."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("Bool", None, "bool_", "Bool", np.bool_)


class TensorType(Type):
    """The type of a Tensor; ``tensor_type(float32)`` names the element type as well."""

    __slots__ = ("element",)

    def __init__(self, element: Type | None = None) -> None:
        title = f"Tensor[{element}]" if element is not None else "Tensor"
        super().__init__("Tensor", None, "tensor", title)
        self.element: Type | None = element

    def element_type(self) -> Type | None:
        """Return the type of the elements."""
        return self.element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and self.element == other.element

    def __hash__(self) -> int:
        return hash(("Tensor", self.element))

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorType, (self.element,)


class List(Type):
    """The type of a list."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("List", None, "list_")


class Tuple(Type):
    """The type of a tuple."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("Tuple", None, "tuple_")


tensor_type = TensorType

int8: Int = Int(8)
int16: Int = Int(16)
int32: Int = Int(32)
int64: Int = Int(64)
uint8: UInt = UInt(8)
uint16: UInt = UInt(16)
uint32: UInt = UInt(32)
uint64: UInt = UInt(64)
float16: Float = Float(16)
float32: Float = Float(32)
float64: Float = Float(64)
bfloat16: BFloat = BFloat()
complex64: Complex = Complex(64)
complex128: Complex = Complex(128)
bool_: Bool = Bool()
int_: Int = Int()
uint: UInt = UInt()
float_: Float = Float()
number: Number = Number("Number", None, "number")
tensor: TensorType = TensorType()
list_: List = List()
tuple_: Tuple = Tuple()
dict_: Type = Type("Dictionary", None, "dict_")
slice_: Type = Type("Slice", None, "slice_")
string: Type = Type("String", None, "string")
type_type: Type = Type("TypeType", None, "type_type")
type_none: Type = Type("NoneType", None, "type_none", "TypeNone")
ellipsis_: Type = Type("Ellipsis", None, "ellipsis_")
function: Type = Type("Function", None, "function")
symbolic_key: Type = Type("SymbolicKeyType", None, "symbolic_key")
env_type: Type = Type("EnvType", None, "env_type")

byte: Int = int8
short: Int = int16
intc: Int = int32
intp: Int = int64
ubyte: UInt = uint8
ushort: UInt = uint16
uintc: UInt = uint32
uintp: UInt = uint64
half: Float = float16
single: Float = float32
double: Float = float64
long: Int = int64
cfloat: Number = complex64
cdouble: Number = complex128

int_type: tuple[Type, ...] = (int8, int16, int32, int64)
uint_type: tuple[Type, ...] = (uint8, uint16, uint32, uint64)
float_type: tuple[Type, ...] = (float16, float32, float64)
number_type: tuple[Type, ...] = int_type + uint_type + float_type
# From narrow to wide: the order in which MindSpore converts operands implicitly.
implicit_conversion_seq: dict[Type, int] = {
    t: i for i, t in enumerate((bool_, int8, uint8, int16, int32, int64, float16, float32, float64))
}

all_types: tuple[Type, ...] = (bool_, *int_type, *uint_type, *float_type, bfloat16, complex64, complex128)
_BY_NUMPY = {t._np: t for t in all_types}
_BY_PYTHON = {
    bool: bool_,
    int: int64,
    float: float64,
    str: string,
    list: list_,
    tuple: tuple_,
    dict: dict_,
    type(None): type_none,
    slice: slice_,
    type(Ellipsis): ellipsis_,
}
_TO_PYTHON = {
    bool_: bool,
    int_: int,
    float_: float,
    string: str,
    list_: list,
    tuple_: tuple,
    dict_: dict,
    type_none: type(None),
    slice_: slice,
}


def _lookup(name):
    return globals()[name]


def np_dtype(type_: Any) -> np.dtype:
    """Return the numpy dtype of an array type. Numpy dtypes are returned unchanged. Of Python's types, float becomes
    float32; the others are converted by numpy.

    Raises:
        TypeError: If `type_` is not the type of array elements.
    """
    if isinstance(type_, Type):
        if type_._np is None:
            raise TypeError(
                f"{type_!r} is not the type of Tensor elements; use one of {', '.join(t._name for t in all_types)}."
            )
        return type_._np
    if type_ is float:
        return np.dtype(np.float32)
    return np.dtype(type_)


def from_numpy_dtype(np_type: Any) -> Type:
    """Return the MindSpore type of a numpy dtype. Raises TypeError if there is none (object, datetime, ...)."""
    type_ = _BY_NUMPY.get(np_type)
    if type_ is None:
        np_type = np.dtype(np_type)
        if np_type.kind in "US":
            return string
        type_ = _BY_NUMPY.get(np_type)
        if type_ is None:
            raise TypeError(f"MindSpore has no type for numpy's {np_type}.")
    return type_


def dtype_to_nptype(type_: Type) -> type[np.generic]:
    """Return the numpy scalar type of a MindSpore type, ``np.float32`` for ``mindspore.float32``."""
    return np_dtype(type_).type


def dtype_to_pytype(type_: Type) -> type:
    """Return the Python type for values of `type_`: bool, int, float, str, list, tuple, ..."""
    if type_ in _TO_PYTHON:
        return _TO_PYTHON[type_]
    if isinstance(type_, (Int, UInt)):
        return int
    if isinstance(type_, Float) or type_ == bfloat16:
        return float
    if isinstance(type_, Number) and type_.kind == "Complex":
        return complex
    raise TypeError(f"There is no Python type for {type_!r}.")


def pytype_to_dtype(obj: Any) -> Type:
    """Return the MindSpore type of a Python or numpy type.

    Raises:
        NotImplementedError: If `obj` has no counterpart.
    """
    if isinstance(obj, Type):
        return obj
    obj = obj.type if isinstance(obj, np.dtype) else obj
    if isinstance(obj, type):
        if obj in _BY_PYTHON:
            return _BY_PYTHON[obj]
        if issubclass(obj, np.generic):
            return from_numpy_dtype(np.dtype(obj))
    raise NotImplementedError(f"There is no MindSpore type for {obj!r}.")


def get_py_obj_dtype(obj: Any) -> Type:
    """Return the MindSpore type of a Python object. For an array or Tensor this is a `TensorType` with its element
    type, for a Python type the corresponding MindSpore type, for other callables `function`.
    """
    dtype = getattr(obj, "dtype", None)
    if isinstance(dtype, Type):
        return TensorType(dtype)
    if isinstance(dtype, np.dtype):
        return TensorType(from_numpy_dtype(dtype))
    if isinstance(obj, Type):
        return type_type
    if isinstance(obj, type):
        return pytype_to_dtype(obj)
    if callable(obj):
        return function
    return pytype_to_dtype(type(obj))


def issubclass_(type_: Any, dtype: Any) -> bool:
    """Return whether `type_` is `dtype` or belongs to the family `dtype` (``issubclass_(int32, int_)``)."""
    if not isinstance(type_, Type) or not isinstance(dtype, (Type, type)):
        return False
    if isinstance(dtype, type):
        return isinstance(type_, dtype)
    if type_ == dtype:
        return True
    if dtype == number:
        return isinstance(type_, Number)
    if dtype == tensor:
        return isinstance(type_, TensorType)
    return dtype.bits is None and type_.kind == dtype.kind and isinstance(type_, Number)


# Names of MindSpore 2 that Python has, too. `__getattr__` returns them. As global names they would shadow Python's, in
# this module and after `from mindspore import *`.
_AS_PYTHON = {"bool": bool_, "int": int32, "float": float32}


def __getattr__(name: str) -> Any:
    if name in _AS_PYTHON:
        return _AS_PYTHON[name]
    return _asked(__name__, name)


def type_size_in_bytes(dtype: object) -> int:
    """Return the number of bytes of an element."""
    if not isinstance(dtype, Type) or dtype._np is None:
        raise TypeError(f"For 'type_size_in_bytes', 'dtype' should be a type of elements, but got {dtype!r}.")
    return np.dtype(dtype._np).itemsize


def is_array_type(type_: object) -> bool:
    """Return whether Tensor elements can have this type."""
    return isinstance(type_, Type) and type_._np is not None
