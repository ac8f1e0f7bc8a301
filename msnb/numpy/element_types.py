"""Promotion of element types."""

import contextlib
import functools
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import DType
from msnb.core.operator.declare import spelling
from msnb.ops._numpy import as_tensor, element_type
from msnb.ops._numpy import promote_types as promote


@spelling(numpy="promote_types")
def promote_types(type1: DType | str, type2: DType | str) -> mstype.Type:
    """Return the smallest element type to which two element types can be converted.

    Args:
        type1 (Union[mindspore.dtype, str]): An element type.
        type2 (Union[mindspore.dtype, str]): An element type.

    Returns:
        mindspore.dtype.

    Raises:
        TypeError: If an argument is no element type.

    Examples:
        >>> print(mindspore.numpy.promote_types(mindspore.numpy.float32, mindspore.numpy.float64))
        Float64
    """
    return promote(element_type(type1, "promote_types"), element_type(type2, "promote_types"))


def _get_element_type(value):
    if isinstance(value, str):
        with contextlib.suppress(TypeError):  # numpy's short names, such as "i2", are valid here
            value = np.dtype(value)
    if isinstance(value, (mstype.Type, str, type, np.dtype)):
        return element_type(value, "result_type")
    return as_tensor(value, "result_type", "arrays_and_dtypes").dtype


@spelling(numpy="result_type")
def result_type(*arrays_and_dtypes: Any) -> mstype.Type:
    """Return the promoted element type of Tensors, numbers and element types.

    Args:
        arrays_and_dtypes (Union[Tensor, list, tuple, Number, mindspore.dtype, str]): At least one. A Python int is
            treated as int32, a float as float32.

    Returns:
        mindspore.dtype.

    Raises:
        TypeError: If there is no argument, or an argument has another type.
    """
    if not arrays_and_dtypes:
        raise TypeError("For 'result_type', there should be at least one Tensor or element type, but got none.")
    return functools.reduce(promote_types, map(_get_element_type, arrays_and_dtypes))
