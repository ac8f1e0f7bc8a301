"""Operators that users declare: a function of JAX arrays, or a Pallas kernel, with its gradient.

    @msnb.custom_operator
    def SoftThreshold(x, *, level=0.5):
        return jnp.sign(x) * jnp.maximum(jnp.abs(x) - level, 0)

    SoftThreshold(level=0.2)(x)

It works like the operators of `mindspore.ops`: in both modes, in a graph, in a profile, under GradOperation, in
StableHLO files, and in ONNX if the operator or its computation has a lowering.
"""

from msnb.core.custom.custom_operator import _again as _again
from msnb.core.custom.pallas_operator import pallas_operator

from .custom_operator import custom_operator

__all__ = ["custom_operator", "pallas_operator"]
