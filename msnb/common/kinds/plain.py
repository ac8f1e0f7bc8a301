"""Elementary Kinds: numbers, strings, shapes, dtypes."""

import numbers
from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds.kind import Kind, concrete


def _accept_int(value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError
    return int(value)


def _make_bounded_int_check(low):
    def accept(value):
        value = _accept_int(value)
        if value < low:
            raise ValueError
        return value

    return accept


def _accept_float(value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError
    return float(value)


def _accept_strict_float(value):
    if not isinstance(value, (float, np.floating)):
        raise TypeError
    return float(value)


def _accept_positive_float(value):
    value = _accept_float(value)
    if value <= 0:
        raise ValueError
    return value


def _accept_bool(value):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError
    return bool(value)


def _accept_str(value):
    if not isinstance(value, str):
        raise TypeError
    return value


def _accept_ints(value):
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (tuple, list, range)):
        raise TypeError
    return tuple(_accept_int(concrete(v)) for v in value)


def _accept_shape(value):
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return (int(value),)
    return _accept_ints(value)


def _accept_int_or_tuple(value):
    if isinstance(value, (tuple, list)):
        return _accept_ints(value)
    return _accept_int(value)


def _accept_axis(value):
    if value is None:
        return ()
    if isinstance(value, (tuple, list)):
        return _accept_ints(value)
    return _accept_int(value)


def _accept_number(value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Number):
        raise TypeError
    return value


def _accept_dtype(value):
    if isinstance(value, mstype.TensorType) and value.element is not None:
        return value.element
    if isinstance(value, mstype.Type):
        return value
    if value in (int, bool):
        return mstype.int64 if value is int else mstype.bool_
    if value is float:
        return mstype.float32
    if isinstance(value, (type, np.dtype)):
        return mstype.pytype_to_dtype(value)
    raise TypeError


Int = Annotated[int, Kind("an int", _accept_int)]
PositiveInt = Annotated[int, Kind("a positive int", _make_bounded_int_check(1))]
NonNegInt = Annotated[int, Kind("a non-negative int", _make_bounded_int_check(0))]
Float = Annotated[float, Kind("a number", _accept_float, traced=True)]
StrictFloat = Annotated[float, Kind("a float", _accept_strict_float, traced=True)]
PositiveFloat = Annotated[float, Kind("a positive number", _accept_positive_float, traced=True)]
Bool = Annotated[bool, Kind("bool", _accept_bool)]
Str = Annotated[str, Kind("a string", _accept_str)]
Shape = Annotated[int | tuple[int, ...] | list[int], Kind("a tuple of int", _accept_shape)]
Ints = Annotated[tuple[int, ...] | list[int], Kind("a tuple of int", _accept_ints)]
IntOrTuple = Annotated[int | tuple[int, ...] | list[int], Kind("an int or a tuple of int", _accept_int_or_tuple)]
Axis = Annotated[int | tuple[int, ...] | list[int] | None, Kind("an int or a tuple of int", _accept_axis)]
Number = Annotated[Any, Kind("a number", _accept_number, traced=True)]
DType = Annotated[Any, Kind("a mindspore dtype", _accept_dtype)]
Value = Annotated[Any, Kind("a constant", lambda value: value)]
Tensors: Kind = Kind("a tuple or list of Tensors", tuple, many=True)
