"""The Student's t distribution."""

import math

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import FloatType, Numbers, Seed, check_greater_zero, check_parameters
from msnb.nn.probability.distribution._formula import at_value, sampling_method
from msnb.nn.probability.distribution._placed import LocationScaleDistribution
from msnb.ops import functional as F
from msnb.ops.random.gamma import Gamma as RandomGamma
from msnb.ops.random.normal import StandardNormal

__all__ = ["StudentT"]


class StudentT(LocationScaleDistribution):
    r"""
    Student's t distribution: density :math:`\propto (1 + z^2 / n)^{-(n + 1) / 2}` with :math:`z = (x - m) / s`.

    Args:
        df (Union[float, list, numpy.ndarray, Tensor]): Degrees of freedom, n. Default: None, each call passes it.
        mean (Union[float, list, numpy.ndarray, Tensor]): The location m. Default: None, each call passes it.
        sd (Union[float, list, numpy.ndarray, Tensor]): The scale, s. Default: None, each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.float32.
        name (str): A name. Default: "StudentT".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of floating point numbers.
        ValueError: If `df` or `sd` is not positive, or the shapes of the parameters do not broadcast.

    Note:
        Each method takes `df`, `mean` and `sd` after its own arguments, as Tensors; see `Distribution`.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> student = msd.StudentT(2.0, 0.0, 1.0)
        >>> print(student.prob(Tensor([0.0, 1.0], mindspore.float32)))
        [0.35355338 0.19245008]
    """

    _words = {"df": "degrees of freedom", "mean": "mean", "sd": "scale"}

    @checked
    def __init__(
        self,
        df: Numbers = None,
        mean: Numbers = None,
        sd: Numbers = None,
        seed: Seed = None,
        dtype: FloatType = mstype.float32,
        name: Str = "StudentT",
    ) -> None:
        parameters = {"df": df, "mean": mean, "sd": sd}
        super().__init__(seed, dtype, name, check_parameters(parameters, seed, dtype, name))
        self._df_value = self._add_parameter(df, "df")
        check_greater_zero(self._df_value, "Degrees of freedom")
        self._add_location_and_scale(mean, sd)

    @property
    def df(self) -> Tensor | None:
        """Degrees of freedom, n."""
        return self._df_value

    @at_value
    def _log_prob(self, value, df, mean, sd):
        z = (value - mean) / sd
        log_norm = F.lgamma(0.5 * (df + 1)) - F.lgamma(0.5 * df) - 0.5 * F.log(math.pi * df) - F.log(sd)
        return log_norm - 0.5 * (df + 1) * F.log1p(F.square(z) / df)

    @sampling_method
    def _sample(self, shape, df, mean, sd):
        chi = 2 * RandomGamma.functional(shape, 0.5 * df, F.ones_like(df), seed=self._seed)
        return mean + sd * StandardNormal.functional(shape, seed=self._seed) * F.sqrt(df / chi)
