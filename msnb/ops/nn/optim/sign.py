"""Steps by the signs of gradient and momentum."""

import jax.numpy as jnp

from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops._upcast import in_float32
from msnb.ops.nn.optim._update import as_scalar, cast_like, check_slots


@operator(writes=("var", "m"), returns="written")
@in_float32
def ApplyAddSign(var, m, lr, alpha, sign_decay, beta, grad):
    """AddSign (arXiv:1709.07417): var -= lr * (alpha + sign_decay * sign(g) * sign(m)) * g.

    Inputs:
        - **var**, **m** (Parameter) - of the same shape; updated in place.
        - **lr**, **alpha**, **sign_decay**, **beta** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `m`, updated.
    """
    grad = check_slots("ApplyAddSign", var=var, m=m, grad=grad)
    lr, alpha, sign_decay, beta = map(as_scalar, (lr, alpha, sign_decay, beta))
    m = beta * m + (1 - beta) * grad
    return cast_like(var, var - lr * (alpha + sign_decay * jnp.sign(grad) * jnp.sign(m)) * grad, m)


@operator(writes=("var", "m"), returns="written")
@in_float32
def ApplyPowerSign(var, m, lr, logbase, sign_decay, beta, grad):
    """PowerSign (arXiv:1709.07417): var -= lr * exp(logbase * sign_decay * sign(g) * sign(m)) * g.

    Inputs:
        - **var**, **m** (Parameter) - of the same shape; updated in place.
        - **lr**, **logbase**, **sign_decay**, **beta** (Union[Number, Tensor]) - scalars.
        - **grad** (Tensor) - shape of `var`.

    Outputs:
        Tuple of `var` and `m`, updated.
    """
    grad = check_slots("ApplyPowerSign", var=var, m=m, grad=grad)
    lr, logbase, sign_decay, beta = map(as_scalar, (lr, logbase, sign_decay, beta))
    m = beta * m + (1 - beta) * grad
    return cast_like(var, var - lr * jnp.exp(logbase * sign_decay * jnp.sign(grad) * jnp.sign(m)) * grad, m)


CASES = [
    case(ApplyAddSign, F(3, 4), F(3, 4), 0.1, 1.0, 0.9, 0.8, F(3, 4)),
    case(ApplyPowerSign, F(3, 4), F(3, 4), 0.1, 2.0, 0.9, 0.8, F(3, 4)),
]
