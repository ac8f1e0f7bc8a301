"""Mixed precision: the casts on the way into operators."""

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
_BFLOAT16 = np.dtype(jax.numpy.bfloat16)  # numpy does not count it among the floats
_held: WeakIdentityDict = WeakIdentityDict()  # Tensor that is an attribute of a Cell -> True


def register_cell_tensor(value: Any) -> None:
    """Remember that `value` is an attribute of a Cell, if it is a Tensor and not what a Cell of some precision just
    computed in it."""
    if isinstance(value, Tensor) and thread.compute_dtype is None:
        _held[value] = True


def is_constant(value: Any) -> bool:
    """Whether an operator casts `value` to the precision of the Cell around it: Parameters, Tensors that are attributes
    of Cells, and, in a graph, those that a traced function finds under a name outside of it. What was computed and what
    stands in a tuple or list has its type already, as in MindSpore."""
    if isinstance(value, Parameter):
        return True
    if not isinstance(value, Tensor):
        return False
    return value in _held or thread.frame is not None and id(value) in thread.frame.root().named


def casting(dtype: Any) -> Kernel:
    """The kernel that makes an array one of `dtype` (numpy), shown in the graph as the Cast that it is."""
    kernel = _casts.get(dtype)
    if kernel is None:
        name = graph_name("Cast", {"type": pytype_to_dtype(np.dtype(dtype))}, layout=(1, -1))
        kernel = _casts[dtype] = Kernel(name, lambda x: x.astype(dtype))
    return kernel


def cast(array: jax.Array, dtype: Any) -> jax.Array:
    """`array` as `dtype` (numpy), shown as Cast in the graph."""
    return _run(casting(dtype), array)


def _run(kernel, array):
    """What a kernel makes of an array; whoever spreads the program knows that it is still the same Parameter."""
    return kernel.run(array) if thread.spread is None else thread.spread.run(kernel, [array])


def cast_tensor(value: Any, dtype: Any) -> Any:
    """A float Tensor as `dtype` (numpy), recorded; tuples, lists and dictionaries element by element; anything else as
    it is."""
    if type(value) in (tuple, list):
        return type(value)(cast_tensor(v, dtype) for v in value)
    if type(value) is dict:
        return {key: cast_tensor(v, dtype) for key, v in value.items()}
    if not isinstance(value, Tensor):
        return value
    array = value._array
    if array.dtype == dtype or array.dtype.kind != "f" and array.dtype != _BFLOAT16:
        return value
    kernel = casting(dtype)
    result = box(_run(kernel, array))
    if thread.results_observed:
        if thread.recording:
            tape.record(kernel, (value._node,), (array,), (result,))
        float_status.note((result._array,))
    return result


def leaving(value: Any, dtype: Any) -> Any:
    """What a Cell of precision `dtype` (numpy, or None) returns from a graph: a constant is cast where it is named, and
    is none to the Cell that gets it."""
    if type(value) in (tuple, list):
        return type(value)(leaving(v, dtype) for v in value)
    if isinstance(value, Parameter) or not is_constant(value):
        return value
    left = value if dtype is None else cast_tensor(value, dtype)
    return box(value._array) if left is value else left
