"""PYNATIVE mode: compiled kernels, one per operator and signature, and the gradient tape.

`float_status`, `integer_gradients`, `matmul_precision`, `remat_policy` and `tape` are used as modules. `no_grad` is
loaded on first use.
"""

from msnb.core.eager.integer_gradients import has_gradient, is_integer
from msnb.core.eager.kernel import Kernel, gradient_rules, live_kernels
from msnb.core.eager.tape import Leaf, Node, dense

__all__ = ["Kernel", "Leaf", "Node", "dense", "gradient_rules", "has_gradient", "is_integer", "live_kernels"]
