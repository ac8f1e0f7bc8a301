"""Operators of which a graph knows only what they announce: shapes and types, and no computation.

MindSpore's GRAPH mode asks an operator's ``infer_shape`` and ``infer_dtype``, and wants a kernel when it runs. So
a graph can be made, looked at and planned here; what compiles it is told that there is nothing to compute.
"""

from collections.abc import Sequence
from typing import Any

import jax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import mlir

from msnb.common import dtype as mstype

_announced = Primitive("announced")
_announced.multiple_results = True


@_announced.def_abstract_eval
def _abstract(*arrays, operator, outputs, instead):
    return [ShapedArray(shape, dtype) for shape, dtype in outputs]


def _lowered(context, *arrays, operator, outputs, instead):
    raise NotImplementedError(
        f"The operator '{operator}' announces shapes and has no kernel: its graph can be looked at and planned, not "
        f"run. {instead}"
    )


mlir.register_lowering(_announced, _lowered)


_KERNEL = "Define `def kernel(self, *arrays)`, a pure function over jax arrays, in its class."


def call_abstractly(
    operator: str, arrays: Sequence[jax.Array], shapes: Any, dtypes: Any, instead: str = _KERNEL
) -> Any:
    """What stands in a graph for an operator that has no computation.

    Args:
        operator (str): Its name.
        arrays (Sequence[jax.Array]): Its inputs.
        shapes (Union[tuple, list]): Of its output; one of these for each where `dtypes` is a tuple or list.
        dtypes (Union[mindspore.dtype, tuple]): Of its outputs.
        instead (str): What to do instead of running it, a sentence. Default: to give it a kernel.

    Returns:
        jax.Array, or a tuple of them.
    """
    several = isinstance(dtypes, (tuple, list))
    outputs = tuple(zip(shapes, dtypes, strict=True)) if several else ((shapes, dtypes),)
    known = tuple((tuple(shape), mstype.np_dtype(_element(dtype))) for shape, dtype in outputs)
    found = _announced.bind(*arrays, operator=operator, outputs=known, instead=instead)
    return tuple(found) if several else found[0]


def _element(dtype):
    return dtype.element if isinstance(dtype, mstype.TensorType) else dtype
