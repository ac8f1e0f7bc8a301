"""Mixed precision: casts of operator inputs."""

from typing import Any

import jax
import numpy as np

from msnb.common.dtype import pytype_to_dtype
from msnb.core.eager import float_status, tape
from msnb.core.eager.kernel import Kernel
from msnb.core.jaxpr.op_names import graph_name
from msnb.core.state.trace_state import thread
from msnb.core.support.weak_identity import WeakIdentityDict
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box

_casts: dict[Any, Kernel] = {}
_BFLOAT16 = np.dtype(jax.numpy.bfloat16)  # numpy does not count it among floats
_cell_tensors: WeakIdentityDict = WeakIdentityDict()  # Tensor that is an attribute of a Cell -> True


def register_cell_tensor(value: Any) -> None:
    """Register `value` as a Tensor attribute of a Cell.

    A result that a Cell has just computed in a lower precision is not registered.
    """
    if isinstance(value, Tensor) and thread.compute_dtype is None:
        _cell_tensors[value] = True


class OuterTensors(dict[int, Tensor]):
    """Dict from id to plain Tensor, of the Tensors that a traced function reads from an enclosing scope."""


def is_constant(value: Any) -> bool:
    """Return True if an operator casts `value` to the precision of its Cell.

    Such values are Parameters, Tensors that are attributes of Cells and, in a graph, Tensors that a traced function
    reads from an outer name. Computed Tensors, and those in a tuple or list, already have their type, as in MindSpore.
    In PYNATIVE mode of MindSpore 2, a Cell of the user does not cast its inputs; its operators cast every Tensor.
    """
    if thread.casts_all and thread.frame is None:
        return isinstance(value, Tensor)
    if isinstance(value, Parameter):
        return True
    if not isinstance(value, Tensor):
        return False
    frame = thread.frame
    return value in _cell_tensors or frame is not None and id(value) in frame.trace.state_of(OuterTensors)


def cast_kernel(dtype: Any) -> Kernel:
    """Return the kernel that casts an array to `dtype` (numpy), shown as Cast in the graph."""
    kernel = _casts.get(dtype)
    if kernel is None:
        name = graph_name("Cast", {"type": pytype_to_dtype(np.dtype(dtype))}, layout=(1, -1))
        kernel = _casts[dtype] = Kernel(name, lambda x: x.astype(dtype))
    return kernel


def cast(array: jax.Array, dtype: Any) -> jax.Array:
    """Cast `array` to `dtype` (numpy), shown as Cast in the graph."""
    return _run_cast_kernel(cast_kernel(dtype), array)


def _run_cast_kernel(kernel, array):
    """Run a kernel that casts. A partitioner has to shard the cast of a Parameter as it shards the Parameter."""
    return kernel.run(array) if thread.spread is None else thread.spread.run(kernel, [array])


def cast_tensor(value: Any, dtype: Any) -> Any:
    """Cast a float Tensor to `dtype` (numpy), recorded on the tape.

    Tuples, lists and dictionaries are cast element by element; anything else is returned unchanged.
    """
    if type(value) in (tuple, list):
        return type(value)(cast_tensor(v, dtype) for v in value)
    if type(value) is dict:
        return {key: cast_tensor(v, dtype) for key, v in value.items()}
    if not isinstance(value, Tensor):
        return value
    array = value._array
    if array.dtype == dtype or array.dtype.kind != "f" and array.dtype != _BFLOAT16:
        return value
    kernel = cast_kernel(dtype)
    result = box(_run_cast_kernel(kernel, array))
    if thread.results_observed:
        if thread.recording:
            tape.record(kernel, (value._node,), (array,), (result,))
        float_status.note((result._array,))
    return result


def cast_result(value: Any, dtype: Any) -> Any:
    """Cast a result that a Cell of precision `dtype` (numpy, or None) returns from a graph.

    A constant (see `is_constant`) that is not a Parameter is returned as a new Tensor, cast if `dtype` is not None. The
    new Tensor is not a constant: the calling Cell does not cast it again. Other values are returned unchanged.
    """
    if type(value) in (tuple, list):
        return type(value)(cast_result(v, dtype) for v in value)
    if isinstance(value, Parameter) or not is_constant(value):
        return value
    result = value if dtype is None else cast_tensor(value, dtype)
    return box(value._array) if result is value else result
