"""Spectrograms, computed by the short-time Fourier transform."""

from typing import Annotated

import numpy as np
from scipy.fft import fft, rfft

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio.utils import BorderType, WindowType
from msnb.dataset.core.kinds import Flag, NonNegInt32, NonNegReal24, PositiveInt32, of_type
from msnb.dataset.core.tensor_op import TensorOp

_WINDOWS = {
    WindowType.BARTLETT: np.bartlett,
    WindowType.BLACKMAN: np.blackman,
    WindowType.HAMMING: np.hamming,
    WindowType.HANN: np.hanning,
    WindowType.KAISER: lambda n: np.kaiser(n, 12.0),
}


def make_padded_window(kind, length, n_fft):
    """Return a periodic window function of `length` samples in float32, padded with zeros to `n_fft` on both sides."""
    window = _WINDOWS[kind](length + 1)[:-1] if length > 1 else np.ones(1)
    left = (n_fft - length) // 2
    return np.pad(window.astype(np.float32), (left, n_fft - length - left))


@checked
def check_stft(
    n_fft: PositiveInt32,
    win_length: PositiveInt32 | None,
    hop_length: PositiveInt32 | None,
    pad: NonNegInt32,
    window: Annotated[WindowType, of_type(WindowType)],
):
    """Check the arguments that all spectrograms share. Return (win_length, hop_length) with their defaults."""
    if win_length is not None and win_length > n_fft:
        raise ValueError(f"win_length should not exceed n_fft, but is {win_length}, and n_fft is {n_fft}.")
    win_length = win_length or n_fft
    return win_length, hop_length or win_length // 2


class Stft(AudioOp):
    """Base of transforms that start with a short-time Fourier transform."""

    _normalized, _center, _pad_mode, _onesided = False, True, BorderType.REFLECT, True

    def _compute_complex_spectra(self, wave):
        """Return complex spectra of shape <..., freq, time>."""
        name = type(self).__name__
        if self.hop_length == 0:
            raise RuntimeError(f"{name}: half of win_length is 0; give hop_length.")
        pads = [(0, 0)] * (wave.ndim - 1)
        if self.pad:
            wave = np.pad(wave, [*pads, (self.pad, self.pad)])
        if self._center and wave.shape[-1]:
            half = self.n_fft // 2
            wave = np.pad(wave, [*pads, (half, half)], mode=self._pad_mode.value)
        if wave.shape[-1] < self.n_fft:
            raise RuntimeError(f"{name}: n_fft is {self.n_fft}, more than the {wave.shape[-1]} samples there are.")
        window = make_padded_window(self.window, self.win_length, self.n_fft).astype(wave.dtype)
        frames = np.lib.stride_tricks.sliding_window_view(wave, self.n_fft, axis=-1)[..., :: self.hop_length, :]
        spectra = (rfft if self._onesided else fft)(frames * window, axis=-1)
        if self._normalized:
            spectra = spectra / np.sqrt((window * window).sum())
        return np.ascontiguousarray(np.moveaxis(spectra, -1, -2))

    def _compute_power_spectra(self, wave, power):
        spectra = self._compute_complex_spectra(wave)
        if power == 0:
            return np.stack([spectra.real, spectra.imag], axis=-1)
        if power == 1:
            return np.abs(spectra)
        squared = spectra.real**2 + spectra.imag**2
        return squared if power == 2 else squared ** squared.dtype.type(power / 2)


class Spectrogram(Stft):
    """Compute the magnitudes, powers or complex amplitudes of a waveform's frequencies over time.

    Args:
        n_fft (int, optional): Length of the Fourier transform in samples. Default: 400.
        win_length (int, optional): Length of the window, at most `n_fft`. Default: None, `n_fft`.
        hop_length (int, optional): Samples from one window to the next. Default: None, half of `win_length`.
        pad (int, optional): Zeros added at both ends. Default: 0.
        window (WindowType, optional): Window function. Default: WindowType.HANN.
        power (float, optional): Power of the magnitudes, not negative; 0 gives the real and
            imaginary part in a last axis of length 2. Default: 2.0.
        normalized (bool, optional): True to divide by the window's norm. Default: False.
        center (bool, optional): True to pad both ends by half of `n_fft`. Default: True.
        pad_mode (BorderType, optional): Padding mode with `center`. Default: BorderType.REFLECT.
        onesided (bool, optional): True to omit negative frequencies. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is shorter than `n_fft`.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Spectrogram(n_fft=400)
    """

    __call__ = TensorOp.__call__  # also accepts lists, as in MindSpore

    @checked
    def __init__(
        self,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        power: NonNegReal24 = 2.0,
        normalized: Flag = False,
        center: Flag = True,
        pad_mode: Annotated[BorderType, of_type(BorderType)] = BorderType.REFLECT,
        onesided: Flag = True,
    ) -> None:
        self.win_length, self.hop_length = check_stft(n_fft, win_length, hop_length, pad, window)
        self.n_fft: int = n_fft
        self.pad: int = pad
        self.window: WindowType = window
        self.power = power
        self._normalized = self.normalized = normalized
        self._center = self.center = center
        self._pad_mode = self.pad_mode = pad_mode
        self._onesided = self.onesided = onesided

    def _transform_row(self, array):
        return self._compute_power_spectra(self._to_float(array, "<..., time>", 1), self.power)


class SpectralCentroid(Stft):
    """Compute the mean frequency of each window of a waveform, weighted by magnitude, in Hz.

    The result has shape <..., 1, time>. Silence gives NaN.

    Args:
        sample_rate (int): Sampling rate in Hz.
        n_fft (int, optional): Length of the Fourier transform in samples. Default: 400.
        win_length (int, optional): Length of the window, at most `n_fft`. Default: None, `n_fft`.
        hop_length (int, optional): Samples from one window to the next. Default: None, half of `win_length`.
        pad (int, optional): Zeros added at both ends. Default: 0.
        window (WindowType, optional): Window function. Default: WindowType.HANN.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If `sample_rate` is 0.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.SpectralCentroid(44100)
    """

    __call__ = TensorOp.__call__  # also accepts lists, as in MindSpore

    @checked
    def __init__(
        self,
        sample_rate: NonNegInt32,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
    ) -> None:
        self.win_length, self.hop_length = check_stft(n_fft, win_length, hop_length, pad, window)
        if sample_rate == 0:
            raise RuntimeError("SpectralCentroid: sample_rate should be greater than 0.")
        self.sample_rate = sample_rate
        self.n_fft: int = n_fft
        self.pad: int = pad
        self.window: WindowType = window

    def _transform_row(self, array):
        magnitudes = self._compute_power_spectra(self._to_float(array, "<..., time>", 1), 1)
        frequencies = np.linspace(0, self.sample_rate // 2, self.n_fft // 2 + 1).astype(magnitudes.dtype)
        with np.errstate(invalid="ignore"):
            return (frequencies @ magnitudes / magnitudes.sum(axis=-2))[..., None, :]
