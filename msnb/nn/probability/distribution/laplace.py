"""The Laplace distribution."""

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.nn.probability._parameters import FloatType, Numbers, Seed, check_parameters
from msnb.nn.probability.distribution._formula import at_value, sampling_method
from msnb.nn.probability.distribution._placed import LocationScaleDistribution
from msnb.ops import functional as F

__all__ = ["Laplace"]


class Laplace(LocationScaleDistribution):
    r"""
    The Laplace distribution: density :math:`\exp(-|x - m| / b) / 2 b`.

    Args:
        mean (Union[float, list, numpy.ndarray, Tensor]): The location m. Default: None, each call passes it.
        sd (Union[float, list, numpy.ndarray, Tensor]): The scale, b. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "Laplace".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `sd` is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `mean` and `sd` after its own arguments, as Tensors; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> laplace = msd.Laplace(0.0, 2.0)
        >>> print(laplace.prob(Tensor([-1.0, 0.0], mindspore.float32)))
        [0.15163267 0.25      ]
    """

    _words = {"mean": "mean", "sd": "scale"}

    @checked
    def __init__(
        self,
        mean: Numbers = None,
        sd: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "Laplace",
    ) -> None:
        parameters = {"mean": mean, "sd": sd}
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._add_location_and_scale(mean, sd)

    @at_value
    def _log_prob(self, value, mean, sd):
        return -F.abs((value - mean) / sd) - F.log(2 * sd)

    @at_value
    def _cdf(self, value, mean, sd):
        z = (value - mean) / sd
        beyond = 0.5 * F.exp(-F.abs(z))
        return F.where(z < 0, beyond, 1 - beyond)

    @at_value
    def _survival_function(self, value, mean, sd):
        z = (value - mean) / sd
        beyond = 0.5 * F.exp(-F.abs(z))
        return F.where(z > 0, beyond, 1 - beyond)

    @sampling_method
    def _sample(self, shape, mean, sd):
        share = self._draw_uniform(shape) - 0.5
        return mean - sd * F.sign(share) * F.log1p(-2 * F.abs(share))
