"""Operators that users declare: a function of JAX arrays becomes one, with its gradient; a Pallas kernel as well.

    @msnb.custom_operator
    def SoftThreshold(x, *, level=0.5):
        return jnp.sign(x) * jnp.maximum(jnp.abs(x) - level, 0)

    SoftThreshold(level=0.2)(x)

It is an operator as those of `mindspore.ops` are: in both modes, in a graph, in a profile, under GradOperation, in
files of StableHLO, and in ONNX as far as there is a lowering of it or of what it computes.
"""

from msnb.core.custom.custom_operator import _again as _again
from msnb.core.custom.pallas_operator import pallas_operator

from .custom_operator import custom_operator

__all__ = ["custom_operator", "pallas_operator"]
