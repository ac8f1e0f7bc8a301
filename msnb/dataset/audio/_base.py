"""What the audio transforms share: the kinds of input they take and the checks of their arguments."""

import numpy as np

from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.core.validator_helpers import (
    FLOAT_MAX_INTEGER,
    FLOAT_MIN_INTEGER,
    INT32_MAX,
    INT32_MIN,
    check_value,
    check_value_normalize_std,
    type_check,
)


class AudioOp(TensorOp):
    """Base of the audio transforms, which take numpy arrays only."""

    def __call__(self, *inputs):
        for value in inputs:
            if not isinstance(value, np.ndarray):
                raise TypeError(
                    f"Input should be NumPy audio, but {type(self).__name__} got {type(value)}; convert it with "
                    "numpy.asarray, or with asnumpy() if it is a Tensor."
                )
        return super().__call__(*inputs)

    def _real(self, array, shape, ndim):
        """The audio in floating point: float64 stays, every other number becomes float32.

        Args:
            array (numpy.ndarray): The input.
            shape (str): Wanted shape, for the message.
            ndim (int): Least number of dimensions.
        """
        self._check(array, "biuf", shape, ndim)
        return array if array.dtype == np.float64 else array.astype(np.float32, copy=False)

    def _check(self, array, kinds, shape, ndim):
        name = type(self).__name__
        if array.dtype.kind not in kinds:
            raise RuntimeError(f"{name} does not take a column of type {array.dtype}; give it floating point numbers.")
        if array.ndim < ndim:
            raise RuntimeError(f"{name} takes audio of shape {shape}, but got shape {array.shape}.")


def check_real(value, name):
    """A number that float32 holds exactly as an integer."""
    type_check(value, (float, int), name)
    check_value(value, (FLOAT_MIN_INTEGER, FLOAT_MAX_INTEGER), name)


def check_real_in(value, low, high, name):
    """A number from `low` to `high`."""
    type_check(value, (float, int), name)
    check_value(value, (low, high), name)


def check_positive_real(value, name):
    """A number above 0."""
    type_check(value, (float, int), name)
    check_value_normalize_std(value, (0, FLOAT_MAX_INTEGER), name)


def check_non_negative_real(value, name):
    """A number from 0 on."""
    check_real_in(value, 0, FLOAT_MAX_INTEGER, name)


def check_int_from(low, value, name):
    """An int from `low` on."""
    type_check(value, (int,), name)
    check_value(value, (low, INT32_MAX), name)


def check_non_negative_int(value, name):
    """An int from 0 on."""
    check_int_from(0, value, name)


def check_non_zero_int(value, name):
    """An int other than 0."""
    type_check(value, (int,), name)
    check_value(value, (INT32_MIN, INT32_MAX), name)
    if value == 0:
        raise ValueError(f"Input {name} must not be 0.")


def check_flags(**flags):
    """Bools."""
    for name, value in flags.items():
        type_check(value, (bool,), name)
