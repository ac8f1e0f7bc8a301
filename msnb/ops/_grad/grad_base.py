"""Re-export module: the gradients that users register for operators of their own."""

from msnb.core.operator.bprop_registry import bprop_getters as bprop_getters
