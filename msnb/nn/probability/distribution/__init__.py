"""Re-export module: distributions."""

from msnb.nn.probability.distribution.bernoulli import Bernoulli
from msnb.nn.probability.distribution.beta import Beta
from msnb.nn.probability.distribution.categorical import Categorical
from msnb.nn.probability.distribution.cauchy import Cauchy
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.nn.probability.distribution.exponential import Exponential
from msnb.nn.probability.distribution.gamma import Gamma
from msnb.nn.probability.distribution.geometric import Geometric
from msnb.nn.probability.distribution.gumbel import Gumbel
from msnb.nn.probability.distribution.half_normal import HalfNormal
from msnb.nn.probability.distribution.laplace import Laplace
from msnb.nn.probability.distribution.log_normal import LogNormal
from msnb.nn.probability.distribution.logistic import Logistic
from msnb.nn.probability.distribution.normal import Normal
from msnb.nn.probability.distribution.poisson import Poisson
from msnb.nn.probability.distribution.student_t import StudentT
from msnb.nn.probability.distribution.transformed_distribution import TransformedDistribution
from msnb.nn.probability.distribution.uniform import Uniform

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "Distribution",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfNormal",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Normal",
    "Poisson",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
]
