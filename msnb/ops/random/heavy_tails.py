"""Random numbers from Cauchy and log-normal distributions."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Float, check
from msnb.core.operator.cases import refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, dtype_in
from msnb.ops.random._stream import PositiveShape


@operator(random=True, generation=2)
def Cauchy(key, *, size: PositiveShape, median: Float = 0.0, sigma: Float = 1.0):
    """Draw random numbers from a Cauchy distribution.

    Args:
        size (tuple[int]): Shape of the result.
        median (float): Median of the distribution. Default: 0.0.
        sigma (float): Half width: half of the numbers are nearer to the median than `sigma`. Default: 1.0.

    Outputs:
        Tensor of float32, of shape `size`.

    Raises:
        TypeError: If `size` does not consist of int, or `median` or `sigma` is not a number.
        ValueError: If a length is not positive.

    Examples:
        >>> print(ops.Cauchy((2, 3))().shape)
        (2, 3)
    """
    return median + sigma * jax.random.cauchy(key, size, jnp.float32)


@operator(random=True, generation=2)
def LogNormalReverse(key, input_x, *, mean: Float = 1.0, std: Float = 2.0):
    """Draw random numbers from a log-normal distribution, in the shape and element type of `input_x`.

    Args:
        mean (float): The mean of the logarithms. Default: 1.0.
        std (float): The standard deviation of the logarithms. Default: 2.0.

    Inputs:
        - **input_x** (Tensor) - Floating point; gives shape and element type.

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `input_x` is not floating point.
    """
    dtype_in("LogNormalReverse", "input_x", input_x, FLOAT)
    return jnp.exp(mean + std * jax.random.normal(key, input_x.shape, jnp.float32)).astype(input_x.dtype)


@spelling(Cauchy, method="cauchy")
def _tensor_cauchy(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Draw random numbers from a Cauchy distribution, in the shape and element type of the Tensor.

    Args:
        median (float): Median of the distribution. Default: 0.0.
        sigma (float): Half width: half of the numbers are nearer to the median than `sigma`. Default: 1.0.

    Returns:
        Tensor.
    """
    median, sigma = check(Float, median, "median", "cauchy"), check(Float, sigma, "sigma", "cauchy")
    return Cauchy(self.shape or (1,), median, sigma)().reshape(self.shape).astype(self.dtype)


@spelling(LogNormalReverse, method="log_normal")
def _tensor_log_normal(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Draw random numbers from a log-normal distribution, in the shape and element type of the Tensor.

    Args:
        mean (float): The mean of the logarithms. Default: 1.0.
        std (float): The standard deviation of the logarithms. Default: 2.0.

    Returns:
        Tensor.
    """
    return LogNormalReverse(mean, std)(self)


CASES = [
    refused(ValueError, Cauchy, size=(0,), says="size"),
]
