"""Detection of the pitch of a waveform, and dither."""

import math
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio.utils import DensityFunction
from msnb.dataset.core.kinds import Flag, NonZeroInt32, PositiveInt32, PositiveReal24, of_type

_TINY = np.float32(1e-9)
_STEPS = 2**15  # steps of a signal of 16 bits on each side of 0


class DetectPitchFrequency(AudioOp):
    """Return the pitch of each frame of a waveform <..., time> in Hz, from the lag at which a frame resembles itself.

    The normalized cross-correlation of a frame with the samples `lag` later has its maximum at the period. A median
    over frames smooths the lags.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        frame_time (float, optional): Duration of a frame in seconds, positive. Default: 0.01.
        win_length (int, optional): Number of frames of the median, positive. Default: 30.
        freq_low (int, optional): Lowest pitch in Hz, positive. Default: 85.
        freq_high (int, optional): Highest pitch in Hz, positive. Default: 3400.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the input has no axis, no floating point numbers, or fewer frames than `win_length`.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> wave = np.sin(np.arange(800) * 2 * np.pi / 8)
        >>> audio.DetectPitchFrequency(800, freq_low=50, freq_high=400)(wave)[:2]
        array([100., 100.], dtype=float32)
    """

    @checked
    def __init__(
        self,
        sample_rate: NonZeroInt32,
        frame_time: PositiveReal24 = 0.01,
        win_length: PositiveInt32 = 30,
        freq_low: PositiveInt32 = 85,
        freq_high: PositiveInt32 = 3400,
    ):
        self.sample_rate = sample_rate
        self.frame_time = frame_time
        self.win_length = win_length
        self.freq_low = freq_low
        self.freq_high = freq_high

    def _transform_row(self, array):
        self._check_input(array, "f", "<..., time>", 1)
        lags = self._find_lags(self._correlate(array.astype(np.float32, copy=False)))
        return (np.float32(self.sample_rate) / (_TINY + self._smooth(lags).astype(np.float32))).astype(np.float32)

    def _correlate(self, wave):
        """Return the normalized cross-correlation of shape <..., frame, lag>, for lags from 1."""
        size = math.ceil(self.sample_rate * self.frame_time)
        frames, lags = math.ceil(wave.shape[-1] / size), math.ceil(self.sample_rate / self.freq_low)
        padding = [(0, 0)] * (wave.ndim - 1) + [(0, lags + frames * size - wave.shape[-1])]
        padded = np.pad(wave, padding)

        def cut(lag):
            return padded[..., lag : lag + frames * size].reshape(*wave.shape[:-1], frames, size)

        def energy(part):
            return _TINY + np.sum(part * part, -1)

        first = cut(0)
        first_energy = energy(first)
        return np.stack(
            [np.sum(first * cut(lag), -1) / first_energy / energy(cut(lag)) for lag in range(1, lags + 1)], -1
        )

    def _find_lags(self, correlation):
        """Return the lag of the maximum of each frame. A maximum among the shorter half of the lags wins, unless it is
        more than 1 % below the largest."""
        shortest, half = math.ceil(self.sample_rate / self.freq_high), correlation.shape[-1] // 2
        every = correlation[..., shortest:]
        if not every.shape[-1]:
            raise RuntimeError(
                f"DetectPitchFrequency has no period to try between freq_high ({self.freq_high}) and freq_low "
                f"({self.freq_low}): make freq_low lower than freq_high."
            )
        best, position = every.max(-1), every.argmax(-1)
        if half > shortest:
            short = correlation[..., shortest:half]
            position = np.where(short.max(-1) > np.float32(0.99) * best, short.argmax(-1), position)
        return position + shortest + 1

    def _smooth(self, lags):
        before = (self.win_length - 1) // 2
        if lags.shape[-1] + before < self.win_length:
            raise RuntimeError(
                f"DetectPitchFrequency takes the median of {self.win_length} frames, but got {lags.shape[-1]}: lower "
                "win_length or frame_time, or give it a longer waveform."
            )
        padded = np.concatenate([np.repeat(lags[..., :1], before, -1), lags], -1)
        windows = np.sort(np.lib.stride_tricks.sliding_window_view(padded, self.win_length, -1), -1)
        return windows[..., (self.win_length - 1) // 2]


class Dither(AudioOp):
    """Add noise to a waveform <..., time> and round it to 16 bits, so that rounding does not distort quiet sounds.

    Args:
        density_function (DensityFunction, optional): TPDF adds a triangle over the time, RPDF and GPDF a number that is
            drawn for the waveform: one sample minus a half, or the sum of seven samples. Default: DensityFunction.TPDF.
        noise_shaping (bool, optional): True to add the error of a sample to the next one. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        RuntimeError: If the input has no axis or no numbers.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Dither(audio.DensityFunction.TPDF, noise_shaping=True)
    """

    deterministic = False

    @checked
    def __init__(
        self,
        density_function: Annotated[DensityFunction, of_type(DensityFunction)] = DensityFunction.TPDF,
        noise_shaping: Flag = False,
    ):
        self.density_function = density_function
        self.noise_shaping = noise_shaping

    def _sample_params(self, state, array):
        if self.density_function is DensityFunction.TPDF or not array.size:
            return None
        count = 1 if self.density_function is DensityFunction.RPDF else 7
        return [state.uniform_int(0, array.size - 1) for _ in range(count)]

    def _apply_params(self, params, array):
        wave = self._to_float(array, "<..., time>", 1)
        kind = wave.dtype.type
        scaled = wave * kind(_STEPS - 2) + self._make_noise(params, wave).astype(wave.dtype)
        dithered = np.round(scaled) / kind(_STEPS)
        if self.noise_shaping:
            error = dithered - wave
            dithered[..., 1:] += error[..., :-1]
        return dithered.astype(wave.dtype)

    def _make_noise(self, params, wave):
        if params is None:
            return np.bartlett(wave.shape[-1] + 1)[:-1]
        noise = np.sum(wave.reshape(-1)[params])
        return np.asarray(noise - 0.5 if self.density_function is DensityFunction.RPDF else noise)
