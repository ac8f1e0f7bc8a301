"""Package of r1.1's `mindspore.ops._grad`, the gradients of operators. Here each kernel defines its own gradient."""

from msnb.ops._grad import grad_base as grad_base
