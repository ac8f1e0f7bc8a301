"""Shared checks of operator arguments: element types, ranks, axes. Error messages begin with the name of the
operator."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.support.unknown_shape import UnknownShape
from msnb.core.tensor.tensor import Tensor


def numpy_dtypes(*types):
    return frozenset(mstype.np_dtype(t) for t in types)


BOOL = numpy_dtypes(mstype.bool_)
SIGNED = numpy_dtypes(*mstype.int_type)
UNSIGNED = numpy_dtypes(*mstype.uint_type)
INT = SIGNED | UNSIGNED
FLOAT = numpy_dtypes(*mstype.float_type, mstype.bfloat16)
COMPLEX = numpy_dtypes(mstype.complex64, mstype.complex128)
NUMBER = INT | FLOAT | COMPLEX
ANY = NUMBER | BOOL
INDEX = numpy_dtypes(mstype.int32, mstype.int64)

NO_RACE = "updates here never interleave"  # message: the reason why `use_locking` has no effect

_NAMES = ((BOOL, "bool"), (SIGNED, "int"), (UNSIGNED, "uint"), (FLOAT, "float"), (COMPLEX, "complex"))


def _describe_dtypes(allowed):
    titles, unnamed = [], set(allowed)
    for family, title in _NAMES:
        if family <= unnamed:
            titles.append(title)
            unnamed -= family
    titles += sorted(str(d) for d in unnamed)
    return ", ".join(titles)


def dtype_name(x):
    """Return MindSpore's name of the element type of array `x`."""
    return str(mstype.from_numpy_dtype(np.dtype(x.dtype)))


def tensor_argument(op, argument, value):
    """Return `value` if it is a Tensor with values. Raise TypeError otherwise."""
    if not isinstance(value, Tensor):
        raise TypeError(f"For '{op}', '{argument}' should be a Tensor, but got {describe(value)}.")
    if type(value._array) is UnknownShape:
        raise TypeError(f"For '{op}', {value._array.refusal}")
    return value


def tensor_only(op, argument, x):
    """Raise TypeError if `x` is a Python number, for an argument that must be a Tensor."""
    if getattr(x, "weak_type", False):
        raise TypeError(
            f"For '{op}', '{argument}' should be a Tensor, but got a Python number; write Tensor({argument}) for it."
        )


def dtype_in(op, argument, x, allowed, api2=frozenset()):
    """Raise TypeError if `x` is a Python number or its element type is not in `allowed`.

    The element types in `api2` are also allowed while the process runs programs for MindSpore 2. MindSpore 2 accepts
    them and r1.1 does not.
    """
    tensor_only(op, argument, x)
    if x.dtype in allowed or x.dtype in api2 and api_generations.takes_api2():
        return
    if api_generations.shared == 2:
        allowed = allowed | api2
    raise TypeError(
        f"For '{op}', '{argument}' should be a Tensor of {_describe_dtypes(allowed)}, but got {dtype_name(x)}."
    )


def same_dtype(op, **arrays):
    """Raise TypeError if the named arrays do not all have one element type."""
    types = {np.dtype(x.dtype) for x in arrays.values()}
    if len(types) > 1:
        got = ", ".join(f"{name}: {dtype_name(x)}" for name, x in arrays.items())
        raise TypeError(f"For '{op}', the inputs should have one element type, but got {got}.{_suggest_cast(types)}")


def _suggest_cast(types):
    """Return advice if `types` mixes float64 with another floating point type, else an empty string."""
    # numpy converts Python floats to float64, so this mix is usually not intended.
    if np.dtype(np.float64) not in types or not types <= FLOAT:
        return ""
    return " numpy makes Float64 of floats: write .astype(np.float32), or TypeCast(mindspore.float32) in the data set."


def rank(op, argument, x, *ranks):
    """Raise ValueError if `x` does not have one of `ranks` dimensions."""
    if x is None:
        raise TypeError(f"For '{op}', '{argument}' should be a Tensor, but got None.")
    if x.ndim not in ranks:
        expected = " or ".join(map(str, ranks))
        raise ValueError(f"For '{op}', '{argument}' should have {expected} dimensions, but got shape {x.shape}.")


def same_shape(op, **arrays):
    """Raise ValueError if the named arrays differ in shape."""
    if len({x.shape for x in arrays.values()}) > 1:
        got = ", ".join(f"{name}: {x.shape}" for name, x in arrays.items())
        raise ValueError(f"For '{op}', the inputs should have one shape, but got {got}.")


def axis_in(op, axis, ndim, argument="axis"):
    """Return `axis` counted from the front. Raise ValueError if it is not in [-ndim, ndim)."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"For '{op}', '{argument}' should be in [{-ndim}, {ndim}), but got {axis}.")
    return axis + ndim if axis < 0 else axis


def axes_in(op, axis, ndim, argument="axis"):
    """Return `axis` (an int or a tuple) as a tuple of axes counted from the front; all axes for an empty tuple."""
    if isinstance(axis, int):
        # MindSpore accepts axis 0 and -1 for a scalar, although it has no axis. The result is then no axis.
        return (axis_in(op, axis, ndim, argument),) if ndim or axis not in (0, -1) else ()
    if not axis:
        return tuple(range(ndim))
    axes = tuple(axis_in(op, a, ndim, argument) for a in axis)
    if len(set(axes)) < len(axes):
        raise ValueError(f"For '{op}', '{argument}' should not name a dimension twice, but got {axis}.")
    return axes


def some(op, argument, x, *axes):
    """Raise ValueError if `x` has length 0 along one of `axes`, or has no element if `axes` is empty."""
    if 0 in ([x.shape[a] for a in axes] if axes else x.shape):
        along = f" along axis {', '.join(map(str, axes))}" if axes else ""
        raise ValueError(f"For '{op}', '{argument}' should have an element{along}, but got shape {x.shape}.")


def wide(indices):
    """Cast `indices` to at least 32 bits, so that they can be compared with any length."""
    return indices.astype(np.int32) if indices.dtype.itemsize < 4 else indices
