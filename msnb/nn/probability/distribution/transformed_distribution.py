"""`TransformedDistribution`: the distribution of a function of a random variable."""

import math
from typing import Annotated

import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Instance, Str, checked
from msnb.nn.probability._parameters import Seed
from msnb.nn.probability.bijector.bijector import Bijector
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    r"""
    The distribution of Y = g(X): density :math:`p_X(g^{-1}(y)) \, |dg^{-1}(y) / dy|`.

    Args:
        bijector (Bijector): The function g.
        distribution (Distribution): The distribution of X, of floating point numbers.
        seed (int): No effect: `distribution` draws the numbers, with its own seed. Default: None.
        name (str): A name. Default: "transformed_distribution".

    Raises:
        TypeError: If an argument has the wrong type, or X does not hold floating point numbers.
        ValueError: `mean` raises it if the derivative of g is not constant.
        NotImplementedError: `mode`, `sd`, `var` and `entropy` raise it if the derivative of g is not constant.

    Note:
        Each method takes the parameters of `distribution` after its own arguments.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> import mindspore.nn.probability.distribution as msd
        >>> shifted = msd.TransformedDistribution(msb.ScalarAffine(2.0, 1.0), msd.Normal(0.0, 1.0))
        >>> print(shifted.mean(), shifted.sd(), shifted.cdf(Tensor([1.0], mindspore.float32)))
        1.0 2.0 [0.5]
    """

    @checked
    def __init__(
        self,
        bijector: Annotated[Bijector, Instance(Bijector)],
        distribution: Annotated[Distribution, Instance(Distribution)],
        seed: Seed = None,
        name: Str = "transformed_distribution",
    ) -> None:
        if distribution.dtype not in mstype.float_type:
            raise TypeError(
                f"For '{type(self).__name__}', 'distribution' should be of floating point numbers, "
                f"but got one of {distribution.dtype}."
            )
        super().__init__(
            seed,
            distribution.dtype,
            name,
            {"bijector": bijector, "distribution": distribution, "seed": seed, "name": name},
        )
        log.unused(
            self.cls_name, "numbers are drawn by 'distribution', with its seed", seed=self._seed != distribution.seed
        )
        self._bijector = bijector
        self._distribution = distribution
        self._is_linear_transformation: bool = bijector.is_constant_jacobian
        self.default_parameters = distribution.default_parameters
        self.parameter_names = distribution.parameter_names
        self.parameter_type = distribution.parameter_type
        self._is_scalar_batch = distribution.is_scalar_batch and bijector.is_scalar_batch
        self._batch_shape = distribution.batch_shape
        shapes = distribution.broadcast_shape, bijector.batch_shape
        self._broadcast_shape = None if None in shapes else np.broadcast_shapes(*shapes)

    @property
    def bijector(self) -> Bijector:
        """The function g."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The distribution of X."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """True if the derivative of g is constant."""
        return self._is_linear_transformation

    def _log_prob(self, value, *args, **kwargs):
        of_x = self._distribution.log_prob(self._bijector.inverse(value), *args, **kwargs)
        # An impossible value keeps probability 0, even if the derivative is infinite.
        return F.where(of_x == -math.inf, -math.inf, of_x + self._bijector.inverse_log_jacobian(value))

    def _compute_tail_probability(self, method, other, value, args, kwargs):
        """Return a tail probability: the result of `method` of X at the inverse image of `value`. If g decreases, the
        method `other` is used instead."""
        x = self._bijector.inverse(value)
        share = getattr(self._distribution, method)(x, *args, **kwargs)
        is_decreasing = self._bijector._is_decreasing
        if is_decreasing is None:
            return share
        return F.where(is_decreasing, getattr(self._distribution, other)(x, *args, **kwargs), share)

    def _cdf(self, value, *args, **kwargs):
        return self._compute_tail_probability("cdf", "survival_function", value, args, kwargs)

    def _survival_function(self, value, *args, **kwargs):
        return self._compute_tail_probability("survival_function", "cdf", value, args, kwargs)

    def _log_cdf(self, value, *args, **kwargs):
        return self._compute_tail_probability("log_cdf", "log_survival", value, args, kwargs)

    def _log_survival(self, value, *args, **kwargs):
        return self._compute_tail_probability("log_survival", "log_cdf", value, args, kwargs)

    def _mean(self, *args, **kwargs):
        if not self._is_linear_transformation:
            raise ValueError(
                f"mean has no general formula for the distribution '{self._name}': "
                f"the derivative of its bijector is not the same everywhere."
            )
        return self._bijector.forward(self._distribution.mean(*args, **kwargs))

    def _get_log_constant_derivative(self, of_x, what):
        """Return the logarithm of the constant derivative of g, in the dtype of the Tensor `of_x`."""
        if not self._is_linear_transformation:
            raise NotImplementedError(f"{what} is not implemented for the distribution '{self._name}'.")
        return self._bijector.forward_log_jacobian(of_x)

    def _mode(self, *args, **kwargs):
        of_x = self._distribution.mode(*args, **kwargs)
        self._get_log_constant_derivative(of_x, "mode")
        return self._bijector.forward(of_x)

    def _sd(self, *args, **kwargs):
        of_x = self._distribution.sd(*args, **kwargs)
        return of_x * F.exp(self._get_log_constant_derivative(of_x, "sd"))

    def _entropy(self, *args, **kwargs):
        of_x = self._distribution.entropy(*args, **kwargs)
        return of_x + self._get_log_constant_derivative(of_x, "entropy")

    def _sample(self, *args, **kwargs):
        return self._bijector.forward(self._distribution.sample(*args, **kwargs))


Bijector._transformed = TransformedDistribution  # the result of a bijector called with a distribution
