"""The half-normal distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.nn.probability._parameters import FloatType, Numbers, Seed, check_parameters
from msnb.nn.probability.distribution._formula import at_value, sampling_method
from msnb.nn.probability.distribution._placed import LocationScaleDistribution
from msnb.ops import functional as F
from msnb.ops.random.normal import StandardNormal

__all__ = ["HalfNormal"]


class HalfNormal(LocationScaleDistribution):
    r"""
    The half-normal distribution, the half of a normal distribution above its mean m: for x >= m density :math:`\sqrt{2
    / \pi} / s \exp(-(x - m)^2 / 2 s^2)`.

    Args:
        mean (Union[float, list, numpy.ndarray, Tensor]): The lower bound m. Default: None, each call passes it.
        sd (Union[float, list, numpy.ndarray, Tensor]): Standard deviation s of the full normal distribution.
            Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "HalfNormal".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `sd` is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `mean` and `sd` after its own arguments, as Tensors; see `Distribution`.
        MindSpore 2.7.1 has a density from 0 on, whatever the mean; here it begins at the mean.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> half = msd.HalfNormal(0.0, 2.0)
        >>> print(half.prob(Tensor([-1.0, 0.0], mindspore.float32)))
        [0.         0.39894227]
    """

    _words = {"mean": "mean", "sd": "standard deviation"}

    @checked
    def __init__(
        self,
        mean: Numbers = None,
        sd: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "HalfNormal",
    ) -> None:
        parameters = {"mean": mean, "sd": sd}
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._add_location_and_scale(mean, sd)

    @at_value
    def _log_prob(self, value, mean, sd):
        z = (value - mean) / sd
        inside = 0.5 * math.log(2 / math.pi) - F.log(sd) - 0.5 * F.square(z)
        return F.where(z >= 0, inside, -math.inf)

    @at_value
    def _cdf(self, value, mean, sd):
        return F.erf(F.relu(value - mean) / (sd * math.sqrt(2)))

    @sampling_method
    def _sample(self, shape, mean, sd):
        return mean + sd * F.abs(StandardNormal.functional(shape, seed=self._seed))
