"""Mixed precision: the casts on the way into operators."""

from typing import Any

import jax

from msnb.core import float_status, tape
from msnb.core.kernel import Kernel
from msnb.core.tensor import Tensor, box
from msnb.core.trace import thread

_casts = {}


def _kernel(dtype):
    kernel = _casts.get(dtype)
    if kernel is None:
        kernel = _casts[dtype] = Kernel("Cast", lambda x: x.astype(dtype))
    return kernel


def cast(array: jax.Array, dtype: Any) -> jax.Array:
    """`array` as `dtype` (numpy), shown as Cast in the graph."""
    return _kernel(dtype).run(array)


def cast_tensor(value: Any, dtype: Any) -> Any:
    """A float Tensor as `dtype` (numpy), recorded; tuples and lists element by element; anything else as it is."""
    if type(value) in (tuple, list):
        return type(value)(cast_tensor(v, dtype) for v in value)
    if not isinstance(value, Tensor):
        return value
    array = value._array
    if array.dtype.kind != "f" or array.dtype == dtype:
        return value
    kernel = _kernel(dtype)
    result = box(kernel.run(array))
    if thread.looking:
        if thread.recording:
            tape.record(kernel, (value._node,), (array,), (result,))
        float_status.note((result._array,))
    return result
