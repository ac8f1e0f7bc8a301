"""The categorical distribution."""

import math

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Str, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.probability._parameters import (
    Numbers,
    NumberType,
    Seed,
    check_parameters,
    check_prob,
    check_rank,
    check_sum_equal_one,
)
from msnb.nn.probability.distribution._formula import (
    at_value,
    cross_entropy_from_kl,
    of_parameters,
    sampling_method,
    two_distributions,
)
from msnb.nn.probability.distribution.distribution import Distribution
from msnb.ops import functional as F
from msnb.ops.math.exponential import _TimesLog
from msnb.ops.random.choice import RandomCategorical

__all__ = ["Categorical"]


class Categorical(Distribution):
    """
    The categorical distribution: one of the classes 0, 1, ..., each with its probability.

    Args:
        probs (Union[list, numpy.ndarray, Tensor]): The probabilities of the classes along the last axis. Default: None,
            each call passes it.
        seed (int): Seed of the random numbers, not negative. Default: None.
        dtype (mindspore.dtype): Type of the samples. Default: mindspore.int32.
        name (str): A name. Default: "Categorical".

    Raises:
        TypeError: If an argument has the wrong type, or `dtype` is no type of real numbers.
        ValueError: If `probs` is a scalar, a probability is not between 0 and 1, or they do not add up to 1.

    Note:
        Each method takes `probs` after its own arguments, as a Tensor; see `Distribution`. A value is rounded down.
        `mean` and `var` keep the axis of the classes, with length 1; `entropy` and `kl_loss` keep no axis
        of length 1.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> categorical = msd.Categorical([0.25, 0.5, 0.25])
        >>> print(categorical.prob(Tensor([0, 1], mindspore.int32)), categorical.mode())
        [0.25 0.5 ] 1
    """

    _words = {"probs": "probs"}

    @checked
    def __init__(
        self,
        probs: Numbers = None,
        seed: Seed = None,
        dtype: NumberType = mstype.int32,
        name: Str = "Categorical",
    ) -> None:
        super().__init__(seed, dtype, name, check_parameters({"probs": probs}, seed, dtype, name))
        self._probs = self._add_parameter(probs, "probs")
        if self._probs is not None:
            check_rank(self._probs)
            check_prob(self._probs)
            check_sum_equal_one(self._probs)
            self._is_scalar_batch = self._probs.ndim == 1
            self._broadcast_shape = self._probs.shape[:-1]

    @property
    def probs(self) -> Tensor | None:
        """The probabilities of the classes."""
        return self._probs

    def _get_sample_shape(self, *parameters):
        return parameters[0].shape[:-1]

    @of_parameters
    def _mean(self, probs):
        return F.reduce_sum(_list_class_indices(probs) * probs, -1, True)

    @of_parameters
    def _mode(self, probs):
        return F.cast(F.argmax(probs, -1), self.dtype)

    @of_parameters
    def _var(self, probs):
        classes = _list_class_indices(probs)
        mean = F.reduce_sum(classes * probs, -1, True)
        return F.reduce_sum(F.square(classes - mean) * probs, -1, True)

    @of_parameters
    def _entropy(self, probs):
        return -F.squeeze(F.reduce_sum(_TimesLog.functional(probs, probs), -1))

    @at_value
    def _log_prob(self, value, probs):
        log_prob, _, is_one = _look_up_class(value, F.log(probs))
        return F.where(is_one, log_prob, -math.inf)

    @at_value
    def _cdf(self, value, probs):
        below, place, _ = _look_up_class(value, F.cumsum(probs, -1))
        return F.where(place < 0.0, 0.0, F.where(place < probs.shape[-1] - 1.0, below, 1.0))

    @two_distributions("Categorical", 1)
    def _kl_loss(self, probs_b, probs):
        log_ratio = F.log_softmax(F.log(probs), -1) - F.log_softmax(F.log(probs_b), -1)
        return F.squeeze(F.reduce_sum(probs * log_ratio, -1))

    _cross_entropy = cross_entropy_from_kl(_entropy, _kl_loss)

    @sampling_method
    def _sample(self, shape, probs):
        batch = probs.shape[:-1]
        logits = F.reshape(F.log(probs), (-1, probs.shape[-1]))
        many = math.prod(shape[: len(shape) - len(batch)])
        sampled_classes = RandomCategorical.functional(logits, many, self._seed, dtype=mstype.int32)
        return F.reshape(F.transpose(sampled_classes, (1, 0)), shape)


def _list_class_indices(probs):
    return Tensor(np.arange(probs.shape[-1]), probs.dtype)


def _look_up_class(value, table):
    """Return (the entry of `table` for the class `value`, the class index, a mask of valid indices). The last axis of
    `table` is that of the classes. A value between -1 and 0 counts as 0, as in a cast to int."""
    shape = np.broadcast_shapes(value.shape, table.shape[:-1])
    classes = table.shape[-1]
    place = F.broadcast_to(F.where(F.logical_and(value > -1.0, value < 0.0), 0.0, F.floor(value)), shape)
    index = F.cast(F.clamp(place, 0.0, classes - 1.0), mstype.int32)
    entry = F.gather_d(F.broadcast_to(table, (*shape, classes)), -1, F.expand_dims(index, -1))
    return F.reshape(entry, shape), place, F.logical_and(place >= 0.0, place < float(classes))
