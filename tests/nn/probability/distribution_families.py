"""The distributions beside scipy.stats: parameters, values to look at, and what scipy calls it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

import msnb.nn.probability.distribution as msd

EVERYWHERE = "prob log_prob cdf log_cdf survival_function log_survival"
MOMENTS = "mean sd var entropy"


class Family(NamedTuple):
    """One distribution.

    Attributes:
        make (type): The class.
        reference (Callable): Frozen distribution of scipy.stats, from the parameters.
        a (tuple): Parameters, lists that broadcast against each other.
        b (tuple): Those of the other distribution in `kl_loss`.
        values (list): Where it is looked at, also where it is 0.
        without (str): Methods that it does not have.
        discrete (bool): True if its values are integers.
        options (dict): Further arguments of the constructor.
    """

    make: type
    reference: Callable
    a: tuple
    b: tuple
    values: list
    without: str = ""
    discrete: bool = False
    options: dict = {}  # noqa: RUF012 - never written to

    def methods(self, names):
        """Return the names of `names` (str) that the distribution has."""
        return [n for n in names.split() if n not in self.without.split()]


FAMILIES = {
    "Normal": Family(
        msd.Normal,
        stats.norm,
        ([0.5, -1.0, 3.0], [2.0, 0.5, 1.0]),
        ([0.0, -1.0, 1.0], [1.0, 2.0, 1.5]),
        [1.0, -9.0, 4.5],
    ),
    "Uniform": Family(
        msd.Uniform,
        lambda low, high: stats.uniform(low, np.subtract(high, low)),
        ([0.0, -1.0, 2.0, 0.0], [1.0, 3.0, 2.5, 3.0]),
        ([-1.0, -2.0, 0.0, -0.5], [1.5, 4.0, 3.0, 4.0]),
        [0.3, -2.0, 7.0, 1.2],
    ),
    "Exponential": Family(
        msd.Exponential,
        lambda rate: stats.expon(scale=1 / rate),
        ([0.5, 2.0, 1.0],),
        ([1.0, 1.5, 1.25],),
        [0.2, 3.0, -1.0],
    ),
    "Cauchy": Family(
        msd.Cauchy,
        stats.cauchy,
        ([0.0, 1.0, -2.0], [1.0, 0.5, 3.0]),
        ([1.0, 1.0, 0.0], [2.0, 1.5, 3.0]),
        [-40.0, 1.5, 9.0],
        without="mean sd var",
    ),
    "HalfNormal": Family(
        msd.HalfNormal,
        stats.halfnorm,
        ([0.5, -1.0, 3.0], [2.0, 0.5, 1.0]),
        (),
        [1.0, -9.0, 4.5],
        without=f"{MOMENTS} kl_loss cross_entropy",
    ),
    "Laplace": Family(
        msd.Laplace,
        stats.laplace,
        ([0.0, 1.0, -2.0], [1.0, 0.5, 3.0]),
        (),
        [-9.0, 1.25, 30.0],
        without=f"{MOMENTS} kl_loss cross_entropy",
    ),
    "StudentT": Family(
        msd.StudentT,
        stats.t,
        ([1.0, 2.5, 6.0], [0.0, 1.0, -2.0], [1.0, 0.5, 3.0]),
        (),
        [-9.0, 1.25, 3.0],
        without=f"{MOMENTS} kl_loss cross_entropy cdf log_cdf survival_function log_survival",
    ),
    "Logistic": Family(
        msd.Logistic,
        stats.logistic,
        ([0.0, 1.0, -2.0], [1.0, 0.5, 3.0]),
        (),
        [-9.0, 1.25, 30.0],
        without="kl_loss cross_entropy",
    ),
    "Gumbel": Family(
        msd.Gumbel,
        stats.gumbel_r,
        ([0.0, 1.0, -2.0], [1.0, 0.5, 3.0]),
        ([0.5, 1.5, 0.0], [2.0, 1.0, 2.5]),
        [-0.5, 2.0, 9.0],
    ),
    "LogNormal": Family(
        msd.LogNormal,
        lambda loc, scale: stats.lognorm(scale, scale=np.exp(loc)),
        ([0.0, 0.3, -0.5], [1.0, 0.5, 0.7]),
        ([0.5, 0.0, 0.25], [0.8, 0.6, 1.0]),
        [0.5, 3.0, -1.0],
    ),
    "Gamma": Family(
        msd.Gamma,
        lambda shape, rate: stats.gamma(shape, scale=1 / rate),
        ([0.5, 2.0, 7.0], [1.0, 0.5, 3.0]),
        ([1.5, 2.0, 4.0], [2.0, 1.5, 2.5]),
        [0.5, 3.0, -1.0],
    ),
    "Beta": Family(
        msd.Beta, stats.beta, ([0.5, 2.0, 7.0], [1.5, 3.0, 2.0]), ([1.5, 2.0, 4.0], [2.0, 1.5, 2.5]), [0.125, 0.75, 1.5]
    ),
    "Bernoulli": Family(
        msd.Bernoulli, stats.bernoulli, ([0.25, 0.5, 0.65],), ([0.5, 0.4, 0.8],), [0.0, 1.0, 1.0], discrete=True
    ),
    "Geometric": Family(
        msd.Geometric,
        lambda p: stats.geom(p, loc=-1),
        ([0.25, 0.5, 0.9],),
        ([0.5, 0.4, 0.8],),
        [0.0, 3.0, -2.0],
        discrete=True,
    ),
    "Poisson": Family(
        msd.Poisson,
        stats.poisson,
        ([0.5, 4.0, 20.0],),
        (),
        [0.0, 7.0, -1.0],
        without="entropy kl_loss cross_entropy",
        discrete=True,
    ),
}
