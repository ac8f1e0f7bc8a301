"""`Resample`: audio of another sampling rate, by windowed sinc interpolation."""

import math
from typing import Annotated

import numpy as np
from scipy.special import i0

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio.utils import ResampleMethod
from msnb.dataset.core.kinds import PositiveInt32, of_type, within

_BETA = 14.769656459379492  # Kaiser window of the highest quality of resampy
_Frequency = Annotated[float, within(1, 2**24, float, int)]


class Resample(AudioOp):
    """Change the sampling rate of a signal by windowed sinc interpolation (Smith, 1984).

    The input has shape <..., time>.

    Args:
        orig_freq (float, optional): Sampling rate of the input, at least 1. Its fraction is dropped. Default: 16000.
        new_freq (float, optional): Sampling rate of the output, at least 1. Its fraction is dropped. Default: 16000.
        resample_method (ResampleMethod, optional): The window: a raised cosine for SINC_INTERPOLATION, Kaiser's for
            KAISER_WINDOW. Default: ResampleMethod.SINC_INTERPOLATION.
        lowpass_filter_width (int, optional): Number of zeros of the sinc function on each side, positive. Default: 6.
        rolloff (float, optional): Cut-off frequency as a fraction of the Nyquist frequency, from 0 to 1. Default: 0.99.
        beta (float, optional): Shape of Kaiser's window. Default: None, 14.769656459379492.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range.
        RuntimeError: If the input is not numeric or has no dimension.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> resample = audio.Resample(48000, 16000)
        >>> resample(np.ones((16, 30))).shape
        (16, 10)
    """

    @checked
    def __init__(
        self,
        orig_freq: _Frequency = 16000,
        new_freq: _Frequency = 16000,
        resample_method: Annotated[ResampleMethod, of_type(ResampleMethod)] = ResampleMethod.SINC_INTERPOLATION,
        lowpass_filter_width: PositiveInt32 = 6,
        rolloff: Annotated[float, within(0, 1, float, low_in=False)] = 0.99,
        beta: float | None = None,
    ):
        self.orig_freq: float = orig_freq
        self.new_freq: float = new_freq
        self.resample_method = resample_method
        self.lowpass_filter_width: int = lowpass_filter_width
        self.rolloff: float = rolloff
        self.beta = beta
        common = math.gcd(int(orig_freq), int(new_freq))
        self._old, self._new = int(orig_freq) // common, int(new_freq) // common

    def _transform_row(self, array):
        array = self._to_float(array, "<..., time>", 1)
        if self._old == self._new:
            return array.copy()
        filters, before = self._compute_filters()
        length = -(-self._new * array.shape[-1] // self._old)
        padded = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(before, before + self._old)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, len(filters), -1)[..., :: self._old, :]
        result = windows @ filters  # one row of `new` samples for each `old` samples of the input
        return result.reshape(*array.shape[:-1], -1)[..., :length].astype(array.dtype)

    def _compute_filters(self):
        """Return a matrix with one filter per phase of the new samples, and the number of samples before the first."""
        cutoff = min(self._old, self._new) * self.rolloff
        before = math.ceil(self.lowpass_filter_width * self._old / cutoff)
        samples = np.arange(-before, before + self._old)[:, None] / self._old
        zeros = (samples - np.arange(self._new) / self._new) * cutoff  # distance, in zeros of the sinc function
        distance = np.clip(zeros / self.lowpass_filter_width, -1, 1)
        if self.resample_method == ResampleMethod.SINC_INTERPOLATION:
            window = np.cos(np.pi / 2 * distance) ** 2
        else:
            beta = _BETA if self.beta is None else self.beta
            window = np.where(abs(distance) < 1, i0(beta * np.sqrt(1 - distance**2)) / i0(beta), 0)
        return np.sinc(zeros) * window * (cutoff / self._old), before
