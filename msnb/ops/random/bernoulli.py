"""Bernoulli, exponential and Gumbel-softmax random numbers."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, Int
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.generator import Generator
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, FLOAT, axis_in, dtype_in, some, tensor_argument
from msnb.ops._generators import drawn_from
from msnb.ops._in_place import take_over
from msnb.ops._shapes import shapes
from msnb.ops.nn.activation.softmax import Softmax
from msnb.ops.random._stream import seed_of, stream


@operator(random=True)
def Bernoulli(key, x, p, *, seed: Int = 0, offset: Int = 0):
    """Draw each element: 1 with probability `p`, otherwise 0.

    Args:
        seed (int): Picks a stream of random numbers. Default: 0.
        offset (int): Picks a stream together with `seed`. Default: 0.

    Inputs:
        - **x** (Tensor) - Gives shape and element type.
        - **p** (Union[Tensor, float]) - The probability, of a shape that broadcasts to that of `x`.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If `p` does not broadcast.
    """
    dtype_in("bernoulli", "input", x, ANY)
    if jnp.broadcast_shapes(p.shape, x.shape) != x.shape:
        raise ValueError(f"For 'bernoulli', 'p' should broadcast to the shape {x.shape}, but got {p.shape}.")
    return (jax.random.uniform(stream(key, seed, offset), x.shape, jnp.float32) < p).astype(x.dtype)


def _check_probability(function, p):
    if isinstance(p, Tensor):
        return p
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"For '{function}', 'p' should be a Tensor or a number, but got {p!r}.")
    if not 0 <= p <= 1:
        raise ValueError(f"For '{function}', 'p' should be in [0, 1], but got {p}.")
    return Tensor(float(p))


@spelling(Bernoulli)
def bernoulli(input: Tensor, p: Tensor | float = 0.5, seed: int | None = None) -> Tensor:
    """Draw each element: 1 with probability `p`, otherwise 0.

    Args:
        input (Tensor): Gives shape and element type.
        p (Union[Tensor, float]): The probability, of a shape that broadcasts to that of `input`. Default: 0.5.
        seed (int): Picks a stream of random numbers. Default: None, the same as 0.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `input` is not a Tensor, or `p` is not a number.
        ValueError: If `p` is not in [0, 1], or does not broadcast.
    """
    tensor_argument("bernoulli", "input", input)
    return Bernoulli(seed_of("bernoulli", seed))(input, _check_probability("bernoulli", p))


@spelling(Bernoulli, function="bernoulli_ext")
def _bernoulli_ext(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Draw each element of the result: 1 with the probability in `input`, otherwise 0.

    Args:
        input (Tensor): Probability of each element.
        generator (msnb.Generator): Generator to draw from, outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor of the shape and element type of `input`.
    """
    with drawn_from("bernoulli", generator):
        return Bernoulli()(input, tensor_argument("bernoulli", "input", input))


spelling(Bernoulli, method="bernoulli")(_bernoulli_ext)


@spelling(Bernoulli, function="bernoulli_", method="bernoulli_")
def _bernoulli_inplace(input: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill a Tensor in place: 1 with probability `p`, otherwise 0. Return the Tensor.

    Args:
        input (Tensor): The Tensor to fill.
        p (Union[Tensor, float]): The probability, of a shape that broadcasts to that of `input`. Default: 0.5.
        generator (msnb.Generator): Generator to draw from, outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor, `input` itself.
    """
    with drawn_from("bernoulli_", generator):
        return take_over("bernoulli_", input, Bernoulli()(input, _check_probability("bernoulli_", p)))


@operator(random=True)
def _Exponential(key, x):
    """Draw exponentially distributed numbers with mean 1, of the shape and the floating point type of `x`."""
    dtype_in("exponential_", "self", x, FLOAT)
    return jax.random.exponential(key, x.shape, jnp.float32).astype(x.dtype)


@spelling(_Exponential, function="exponential_", method="exponential_")
def _exponential_inplace(input: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill a Tensor in place with exponentially distributed random numbers of rate `lambd`, and return it.

    Args:
        input (Tensor): The Tensor to fill, floating point.
        lambd (float): The rate, positive. Default: 1.
        generator (msnb.Generator): Generator to draw from, outside of compiled programs. Default: None, the stream of
            `mindspore.set_seed`.

    Returns:
        Tensor, `input` itself.
    """
    if isinstance(lambd, bool) or not isinstance(lambd, (int, float)) or lambd <= 0:
        raise ValueError(f"For 'exponential_', 'lambd' should be a positive number, but got {lambd!r}.")
    with drawn_from("exponential_", generator):
        return take_over("exponential_", input, _Exponential()(input) / lambd)


@operator(random=True)
def _GumbelNoise(key, logits):
    """Draw random numbers from the standard Gumbel distribution, of the shape and the element type of `logits`."""
    dtype_in("gumbel_softmax", "logits", logits, FLOAT)
    return jax.random.gumbel(key, logits.shape, jnp.float32).astype(logits.dtype)


@operator
@shapes("x: ... _")
def _NearestCorner(x, dim: Int):
    """Return the one-hot vector of the largest element along `dim`, with the gradient of `x` (straight-through)."""
    some("gumbel_softmax", "logits", x, dim)
    corner = jax.nn.one_hot(jnp.argmax(x, dim), x.shape[dim], dtype=x.dtype, axis=dim)
    return x + jax.lax.stop_gradient(corner - x)


@spelling(_GumbelNoise, _NearestCorner)
def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: Bool = False, dim: int = -1) -> Tensor:
    """Draw differentiable samples of a categorical distribution: softmax((logits + Gumbel noise) / tau).

    Args:
        logits (Tensor): Logarithms of the probabilities, not normalised; float16 or float32.
        tau (float): The temperature: the lower, the nearer to a one-hot vector. Default: 1.0.
        hard (bool): Whether to return a one-hot vector, with the gradient of the softmax. Default: False.
        dim (int): The dimension of the classes. Default: -1.

    Returns:
        Tensor of the shape and element type of `logits`.

    Raises:
        TypeError: If `logits` is not floating point.
        ValueError: If `tau` is not positive, or `dim` is out of range.
    """
    if isinstance(tau, bool) or not isinstance(tau, (int, float)) or tau <= 0:
        raise ValueError(f"For 'gumbel_softmax', 'tau' should be a positive number, but got {tau!r}.")
    dim = axis_in("gumbel_softmax", dim, tensor_argument("gumbel_softmax", "logits", logits).ndim, "dim")
    soft = Softmax(dim)((logits + _GumbelNoise()(logits)) / tau)
    return _NearestCorner.functional(soft, dim) if hard else soft


CASES = [
    refused(ValueError, bernoulli, F(3), 2.0),
    refused(ValueError, gumbel_softmax, F(3), -1.0),
    refused(ValueError, gumbel_softmax, F(3), 1.0, False, 1),
    case(_NearestCorner, F(2, 3), -1)
    .without("mindspore", "a part of gumbel_softmax")
    .without("differences", "its gradient is that of its input"),
]
