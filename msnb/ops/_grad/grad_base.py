"""Re-export module of `mindspore.ops._grad.grad_base`: registration of gradients for the user's own operators."""

from msnb.core.operator.bprop_registry import bprop_getters as bprop_getters
