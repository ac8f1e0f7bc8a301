"""Transforms of complex spectra, whose last axis holds the real and the imaginary part."""

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.core.kinds import NonNegReal24


class _ComplexOp(AudioOp):
    """Base of transforms of arrays of shape <..., complex=2>."""

    def _split_complex(self, array):
        array = self._to_float(array, "<..., complex=2>", 1)
        if array.shape[-1] != 2:
            raise RuntimeError(
                f"{type(self).__name__} takes audio of shape <..., complex=2>, but got shape {array.shape}."
            )
        return array[..., 0], array[..., 1]


def _compute_complex_norm(real, imaginary, power):
    squared = real * real + imaginary * imaginary
    # `asarray`, here and below, because numpy returns a scalar for a single complex number.
    return np.asarray(np.sqrt(squared) if power == 1 else squared ** squared.dtype.type(power / 2))


def _compute_complex_phase(real, imaginary):
    return np.asarray(np.arctan2(imaginary, real))


class Angle(_ComplexOp):
    """Return the phase of complex numbers, in radians. The input has shape <..., complex=2>.

    Raises:
        RuntimeError: If the last dimension is not 2.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Angle()
    """

    def _transform_row(self, array):
        return _compute_complex_phase(*self._split_complex(array))


class ComplexNorm(_ComplexOp):
    """Return the absolute value of complex numbers, raised to a power. The input has shape <..., complex=2>.

    Args:
        power (float, optional): The power, not negative. Default: 1.0.

    Raises:
        TypeError: If `power` is not a number.
        ValueError: If `power` is negative.
        RuntimeError: If the last dimension is not 2.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.ComplexNorm(power=2.0)
    """

    @checked
    def __init__(self, power: NonNegReal24 = 1.0):
        self.power = power

    def _transform_row(self, array):
        return _compute_complex_norm(*self._split_complex(array), self.power)


class Magphase(_ComplexOp):
    """Return two columns for complex numbers z: ``abs(z) ** power`` and the phase of z.

    The input has shape <..., complex=2>.

    Args:
        power (float, optional): The power, not negative. Default: 1.0.

    Raises:
        TypeError: If `power` is not a number.
        ValueError: If `power` is negative.
        RuntimeError: If the last dimension is not 2.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Magphase(power=1.0)
    """

    @checked
    def __init__(self, power: NonNegReal24 = 1.0):
        self.power = power

    def _transform_row(self, array):
        real, imaginary = self._split_complex(array)
        return _compute_complex_norm(real, imaginary, self.power), _compute_complex_phase(real, imaginary)
