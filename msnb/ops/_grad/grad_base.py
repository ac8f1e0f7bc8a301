"""A face: the gradients that users register for operators of their own."""

from msnb.core.bprops import bprop_getters as bprop_getters
