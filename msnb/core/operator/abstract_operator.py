"""Operators without a kernel: a graph has only their shapes and dtypes.

MindSpore's GRAPH mode calls ``infer_shape`` and ``infer_dtype`` of an operator, and needs a kernel only to run it. A
graph with such an operator can be traced, viewed and planned here; lowering it raises an error.
"""

from collections.abc import Sequence
from typing import Any

import jax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import mlir

from msnb.common import dtype as mstype

_abstract_call = Primitive("announced")
_abstract_call.multiple_results = True


@_abstract_call.def_abstract_eval
def _infer_outputs(*arrays, operator, outputs, instead):
    return [ShapedArray(shape, dtype) for shape, dtype in outputs]


def _refuse_lowering(context, *arrays, operator, outputs, instead):
    raise NotImplementedError(
        f"The operator '{operator}' announces shapes and has no kernel: its graph can be looked at and planned, not "
        f"run. {instead}"
    )


mlir.register_lowering(_abstract_call, _refuse_lowering)


_KERNEL_HINT = "Define `def kernel(self, *arrays)`, a pure function over jax arrays, in its class."


def call_abstractly(
    operator: str, arrays: Sequence[jax.Array], shapes: Any, dtypes: Any, instead: str = _KERNEL_HINT
) -> Any:
    """Add a call of an operator to a graph as a node with the given output shapes and dtypes, without a computation.

    Args:
        operator (str): Name of the operator.
        arrays (Sequence[jax.Array]): Inputs of the call.
        shapes (Union[tuple, list]): Shape of its output; a sequence of shapes if `dtypes` is a tuple or list.
        dtypes (Union[mindspore.dtype, tuple]): dtypes of its outputs.
        instead (str): Sentence for the error message: an alternative to running it. Default: to define a kernel.

    Returns:
        jax.Array, or a tuple of them.
    """
    is_tuple = isinstance(dtypes, (tuple, list))
    outputs = tuple(zip(shapes, dtypes, strict=True)) if is_tuple else ((shapes, dtypes),)
    output_types = tuple((tuple(shape), mstype.np_dtype(_get_element_type(dtype))) for shape, dtype in outputs)
    results = _abstract_call.bind(*arrays, operator=operator, outputs=output_types, instead=instead)
    return tuple(results) if is_tuple else results[0]


def _get_element_type(dtype):
    return dtype.element if isinstance(dtype, mstype.TensorType) else dtype
