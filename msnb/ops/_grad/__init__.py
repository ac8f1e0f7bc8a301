"""Re-export module: where r1.1 keeps the gradients of operators; here they are those of their kernels."""

from msnb.ops._grad import grad_base as grad_base
