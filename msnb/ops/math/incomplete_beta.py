"""The incomplete beta function, with derivatives for both parameters."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special

from msnb.core.operator.cases import U, case
from msnb.core.operator.declare import operator
from msnb.ops._check import FLOAT, dtype_in, same_dtype
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32

_NODES = np.linspace(-5.0, 3.5, 129)  # weights of nodes outside this range are below the precision of float32
_STEP = float(_NODES[1] - _NODES[0])


@jax.custom_jvp
def _compute_betainc(a, b, x):
    return special.betainc(a, b, x)


def _compute_parameter_derivatives(a, b, x):
    """Return the derivatives of :math:`I_x(a, b)` with respect to a and b: integrals of the density's derivatives.

    The integrals are computed by the tanh-sinh rule (Takahasi and Mori, 1974) over [0, x] if x is below the mean of the
    density, else over [x, 1]. The substitution is t = x s with log s = -log(1 + exp(-pi sinh u)). With it, powers of t
    are finite at both ends of the interval.
    """
    is_upper = x > a / (a + b)
    a, b, x = jnp.where(is_upper, b, a), jnp.where(is_upper, a, b), jnp.where(is_upper, 1 - x, x)
    a, b, x = (v[..., None] for v in (a, b, x))
    u = jnp.asarray(_NODES, a.dtype)
    weight = _STEP * jnp.pi * jnp.cosh(u) * jax.nn.sigmoid(-jnp.pi * jnp.sinh(u))
    log_t = jnp.log(x) - jax.nn.softplus(-jnp.pi * jnp.sinh(u))
    log_rest = jnp.log1p(-jnp.exp(log_t))
    density = weight * jnp.exp(a * log_t + (b - 1) * log_rest - special.betaln(a, b))
    both = special.digamma(a + b)
    of_a = jnp.sum(density * (log_t - special.digamma(a) + both), -1)
    of_b = jnp.sum(density * (log_rest - special.digamma(b) + both), -1)
    return jnp.where(is_upper, -of_b, of_a), jnp.where(is_upper, -of_a, of_b)


@_compute_betainc.defjvp
def _betainc_jvp(primals, tangents):
    a, b, x = primals
    a_dot, b_dot, x_dot = tangents
    density = jnp.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))
    inside = (x > 0) & (x < 1)
    by_a, by_b = _compute_parameter_derivatives(a, b, jnp.where(inside, x, 0.5))
    by_a, by_b = jnp.where(inside, by_a, 0), jnp.where(inside, by_b, 0)
    return _compute_betainc(a, b, x), by_a * a_dot + by_b * b_dot + density * x_dot


@operator(generation=2)
@shapes("a b x: ~s")
def Betainc(a, b, x):
    r"""Regularised incomplete beta function: :math:`\int_0^x t^{a-1} (1-t)^{b-1} dt / B(a, b)`.

    Inputs:
        - **a** (Tensor) - Floating point, positive.
        - **b** (Tensor) - Of the element type of `a` and a shape that broadcasts with it, positive.
        - **x** (Tensor) - Of the element type of `a` and a shape that broadcasts with it, in [0, 1].

    Outputs:
        Tensor of the broadcast shape and the element type of `a`.

    Raises:
        TypeError: If the inputs are not floating point or of different types.
    """
    dtype_in("Betainc", "a", a, FLOAT)
    same_dtype("Betainc", a=a, b=b, x=x)
    return in_float32(_compute_betainc)(*jnp.broadcast_arrays(a, b, x))


CASES = [
    case(Betainc, U(2, 3, low=0.5, high=4), U(2, 3, low=0.5, high=4), U(2, 3)).wrt(2),
]
