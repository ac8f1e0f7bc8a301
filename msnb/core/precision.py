"""Mixed precision: the casts on the way into operators."""

from typing import Any

import jax
import numpy as np

from msnb.common.dtype import pytype_to_dtype
from msnb.core import float_status, tape
from msnb.core.kernel import Kernel
from msnb.core.names import graph_name
from msnb.core.tensor import Tensor, box
from msnb.core.trace import thread

_casts: dict[Any, Kernel] = {}
_BFLOAT16 = np.dtype(jax.numpy.bfloat16)  # numpy does not count it among the floats


def casting(dtype: Any) -> Kernel:
    """The kernel that makes an array one of `dtype` (numpy), shown in the graph as the Cast that it is."""
    kernel = _casts.get(dtype)
    if kernel is None:
        name = graph_name("Cast", {"type": pytype_to_dtype(np.dtype(dtype))}, layout=(1, -1))
        kernel = _casts[dtype] = Kernel(name, lambda x: x.astype(dtype))
    return kernel


def cast(array: jax.Array, dtype: Any) -> jax.Array:
    """`array` as `dtype` (numpy), shown as Cast in the graph."""
    return casting(dtype).run(array)


def cast_tensor(value: Any, dtype: Any) -> Any:
    """A float Tensor as `dtype` (numpy), recorded; tuples and lists element by element; anything else as it is."""
    if type(value) in (tuple, list):
        return type(value)(cast_tensor(v, dtype) for v in value)
    if not isinstance(value, Tensor):
        return value
    array = value._array
    if array.dtype == dtype or array.dtype.kind != "f" and array.dtype != _BFLOAT16:
        return value
    kernel = casting(dtype)
    result = box(kernel.run(array))
    if thread.looking:
        if thread.recording:
            tape.record(kernel, (value._node,), (array,), (result,))
        float_status.note((result._array,))
    return result
