"""Waveforms from spectra, and spectra of another speed: the inverse transform, the phase vocoder, Griffin and Lim."""

import math
from typing import Annotated

import numpy as np
from scipy.fft import ifft, irfft

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio._resample import Resample
from msnb.dataset.audio._spectrum import Stft, check_stft, make_padded_window
from msnb.dataset.audio.utils import BorderType, WindowType
from msnb.dataset.core.kinds import (
    Flag,
    NonNegInt32,
    NonZeroInt32,
    PositiveInt32,
    PositiveReal24,
    of_type,
    within,
)

_Border = Annotated[BorderType, of_type(BorderType)]


def _join_complex(op, array):
    """Return complex numbers for an array <..., freq, time, 2>."""
    array = op._to_float(array, "<..., freq, time, complex=2>", 3)
    if array.shape[-1] != 2:
        raise RuntimeError(
            f"{type(op).__name__} takes audio of shape <..., freq, time, complex=2>, but got shape {array.shape}."
        )
    return array[..., 0] + 1j * array[..., 1]


def _split_complex(spectra):
    return np.stack([spectra.real, spectra.imag], axis=-1)


def _synthesize_wave(op, spectra, length):
    """Return the waveform <..., time> of complex spectra <..., freq, time>: the inverse of `Stft`, by overlap and add.

    Each sample is the mean of its frames, weighted by the squared window. `length` is the number of samples; None
    keeps all that have a full frame.
    """
    n_bins = op.n_fft // 2 + 1 if op._onesided else op.n_fft
    if spectra.shape[-2] != n_bins:
        raise RuntimeError(
            f"{type(op).__name__}: n_fft is {op.n_fft}, so {n_bins} frequencies are expected, but the input has "
            f"{spectra.shape[-2]}."
        )
    real = spectra.real.dtype
    window = make_padded_window(op.window, op.win_length, op.n_fft).astype(np.float64)
    if op._normalized:
        spectra = spectra * np.sqrt((window * window).sum())
    columns = np.moveaxis(spectra, -1, -2)
    frames = irfft(columns, op.n_fft, axis=-1) if op._onesided else ifft(columns, axis=-1).real
    n_frames = frames.shape[-2]
    total = op.n_fft + op.hop_length * max(n_frames - 1, 0)
    wave, weight = np.zeros((*frames.shape[:-2], total)), np.zeros(total)
    for i in range(n_frames):
        span = slice(i * op.hop_length, i * op.hop_length + op.n_fft)
        wave[..., span] += frames[..., i, :] * window
        weight[span] += window * window
    first = op.n_fft // 2 if op._center else 0
    last = total - first if length is None else min(first + length, total)
    wave, weight = wave[..., first:last], weight[first:last]
    wave = wave / np.where(weight > 1e-11, weight, 1)
    missing = 0 if length is None else length - wave.shape[-1]
    return np.pad(wave, [(0, 0)] * (wave.ndim - 1) + [(0, missing)]).astype(real)


def _change_speed(spectra, rate, phase_advance):
    """Return spectra that pass `rate` times as fast without a change of pitch.

    Magnitudes are interpolated between frames. The phase of a bin advances from frame to frame as it did, by
    `phase_advance` up to the multiple of a turn.
    """
    if phase_advance.shape[0] != spectra.shape[-2]:
        raise RuntimeError(
            f"phase_advance has {phase_advance.shape[0]} frequencies, but the input has {spectra.shape[-2]}."
        )
    steps = np.arange(0, spectra.shape[-1], rate)
    before, share = steps.astype(int), steps % 1
    padded = np.pad(spectra, [(0, 0)] * (spectra.ndim - 1) + [(0, 2)])
    first, second = padded[..., before], padded[..., before + 1]
    turn = np.angle(second) - np.angle(first) - phase_advance
    turn += phase_advance - 2 * np.pi * np.round(turn / (2 * np.pi))
    phase = np.concatenate([np.angle(padded[..., :1]), turn[..., :-1]], axis=-1).cumsum(axis=-1)
    return (share * abs(second) + (1 - share) * abs(first)) * np.exp(1j * phase)


def _make_phase_advance(hop_length, n_freq):
    return np.linspace(0, np.pi * hop_length, n_freq)[:, None]


class InverseSpectrogram(Stft):
    """Compute the waveform of a complex spectrogram <..., freq, time, complex=2>.

    Args:
        length (int, optional): Number of samples. Default: None, all that the frames have.
        n_fft (int, optional): Length of the Fourier transform in samples. Default: 400.
        win_length (int, optional): Length of the window, at most `n_fft`. Default: None, `n_fft`.
        hop_length (int, optional): Samples from one window to the next. Default: None, half of `win_length`.
        pad (int, optional): Zeros that the spectrogram had at both ends. Default: 0.
        window (WindowType, optional): Window function. Default: WindowType.HANN.
        normalized (bool, optional): True if the spectrogram was divided by the window's norm. Default: False.
        center (bool, optional): True if both ends were padded by half of `n_fft`. Default: True.
        pad_mode (BorderType, optional): Padding mode of the spectrogram; it does not change the result. Default:
            BorderType.REFLECT.
        onesided (bool, optional): True if the spectrogram has no negative frequencies. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the input does not have the frequencies of `n_fft`.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.InverseSpectrogram(length=64, n_fft=16)
    """

    @checked
    def __init__(
        self,
        length: NonNegInt32 | None = None,
        n_fft: PositiveInt32 = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: NonNegInt32 = 0,
        window: WindowType = WindowType.HANN,
        normalized: Flag = False,
        center: Flag = True,
        pad_mode: _Border = BorderType.REFLECT,
        onesided: Flag = True,
    ) -> None:
        self.win_length, self.hop_length = check_stft(n_fft, win_length, hop_length, pad, window)
        self.length = length
        self.n_fft = n_fft
        self.pad = pad
        self.window: WindowType = window
        self._normalized = self.normalized = normalized
        self._center = self.center = center
        self._pad_mode = self.pad_mode = pad_mode
        self._onesided = self.onesided = onesided

    def _transform_row(self, array):
        length = self.length + 2 * self.pad if self.length else None
        wave = _synthesize_wave(self, _join_complex(self, array), length)
        return wave[..., self.pad : wave.shape[-1] - self.pad] if self.pad else wave


class PhaseVocoder(AudioOp):
    """Change the speed of a complex spectrogram <..., freq, time, complex=2>, but not its pitch.

    Args:
        rate (float): Factor of the speed, positive.
        phase_advance (numpy.ndarray): Expected advance of the phase of each frequency from frame to frame, in radians,
            of shape (freq, 1).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `rate` is not positive.
        RuntimeError: If `phase_advance` has another number of frequencies, or another element type, than the input.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.PhaseVocoder(1.3, np.linspace(0, np.pi * 8, 9)[:, None])
    """

    @checked
    def __init__(self, rate: PositiveReal24, phase_advance: Annotated[np.ndarray, of_type(np.ndarray)]):
        if phase_advance.ndim != 2 or phase_advance.shape[1] != 1:
            raise ValueError(f"PhaseVocoder: phase_advance should have shape (freq, 1), but has {phase_advance.shape}.")
        self.rate = rate
        self.phase_advance: np.ndarray = phase_advance

    def _transform_row(self, array):
        spectra = _join_complex(self, array)
        if self.phase_advance.dtype != spectra.real.dtype:
            raise RuntimeError(
                f"PhaseVocoder: phase_advance is {self.phase_advance.dtype}, and the input {spectra.real.dtype}; give "
                "both in one type."
            )
        return _split_complex(_change_speed(spectra, self.rate, self.phase_advance)).astype(spectra.real.dtype)


class TimeStretch(AudioOp):
    """Change the duration of a complex spectrogram <..., freq, time, complex=2>, but not its pitch.

    Args:
        hop_length (int, optional): Samples from one window to the next. Default: None, `n_freq` - 1.
        n_freq (int, optional): Number of frequencies. Default: 201.
        fixed_rate (float, optional): Factor of the speed, positive. Default: None, 1.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the input is no complex spectrogram.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.TimeStretch(n_freq=9, fixed_rate=1.3)
    """

    @checked
    def __init__(
        self,
        hop_length: PositiveInt32 | None = None,
        n_freq: PositiveInt32 = 201,
        fixed_rate: PositiveReal24 | None = None,
    ):
        self.n_freq = n_freq
        self.fixed_rate = fixed_rate
        self.hop_length: int = n_freq - 1 if hop_length is None else hop_length

    def _transform_row(self, array):
        spectra = _join_complex(self, array)
        rate = 1.0 if self.fixed_rate is None else self.fixed_rate
        advance = _make_phase_advance(self.hop_length, spectra.shape[-2])
        result = _split_complex(_change_speed(spectra, rate, advance)).astype(spectra.real.dtype)
        return result if self.fixed_rate is not None else result.reshape(-1, *result.shape[-3:])  # as in MindSpore


class GriffinLim(Stft):
    """Estimate a waveform from a spectrogram without phases (Griffin and Lim, 1984; Perraudin et al., 2013).

    The input has shape <..., freq, time>.

    Args:
        n_fft (int, optional): Length of the Fourier transform in samples. Default: 400.
        n_iter (int, optional): Number of iterations. Default: 32.
        win_length (int, optional): Length of the window, at most `n_fft`. Default: None, `n_fft`.
        hop_length (int, optional): Samples from one window to the next. Default: None, half of `win_length`.
        window_type (WindowType, optional): Window function. Default: WindowType.HANN.
        power (float, optional): Power of the spectrogram's magnitudes, positive. Default: 2.0.
        momentum (float, optional): Momentum of the fast variant, from 0 to below 1. Default: 0.99.
        length (int, optional): Number of samples. Default: None, all that the frames have.
        rand_init (bool, optional): True to start with random phases, False with zeros. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the input does not have the frequencies of `n_fft`.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.GriffinLim(n_fft=16, n_iter=8, rand_init=False)
    """

    pad = 0
    deterministic = False

    @checked
    def __init__(
        self,
        n_fft: PositiveInt32 = 400,
        n_iter: PositiveInt32 = 32,
        win_length: int | None = None,
        hop_length: int | None = None,
        window_type: WindowType = WindowType.HANN,
        power: PositiveReal24 = 2.0,
        momentum: Annotated[float, within(0, 1, float, int)] = 0.99,
        length: NonNegInt32 | None = None,
        rand_init: Flag = True,
    ) -> None:
        self.win_length, self.hop_length = check_stft(n_fft, win_length, hop_length, 0, window_type)
        if momentum == 1:
            raise ValueError("GriffinLim: momentum should be below 1.")
        self.n_fft = n_fft
        self.n_iter = n_iter
        self.window = self.window_type = window_type
        self.power = power
        self.momentum: float = momentum
        self.length = length
        self.rand_init = rand_init

    def _transform_row_with_state(self, stream, array):
        array = self._to_float(array, "<..., freq, time>", 2)
        magnitudes = array.astype(np.float64) ** (1 / self.power)
        phases = np.ones(magnitudes.shape, np.complex128)
        if self.rand_init:
            count = magnitudes.size
            turns = np.array([stream.uniform_real(0.0, 1.0) for _ in range(count)]).reshape(magnitudes.shape)
            phases = np.exp(2j * np.pi * turns)
        length = self.length or None
        previous, share = 0, self.momentum / (1 + self.momentum)
        for _ in range(self.n_iter):
            rebuilt = self._compute_complex_spectra(_synthesize_wave(self, magnitudes * phases, length))
            phases = rebuilt + share * (rebuilt - previous)
            phases = phases / (abs(phases) + 1e-16)
            previous = rebuilt
        return _synthesize_wave(self, magnitudes * phases, length).astype(array.dtype)


class PitchShift(Stft):
    """Change the pitch of a waveform <..., time>, but not its duration.

    Args:
        sample_rate (int): Sampling rate in Hz, positive.
        n_steps (int): Number of steps up, or down if negative.
        bins_per_octave (int, optional): Steps in an octave, not 0. Default: 12.
        n_fft (int, optional): Length of the Fourier transform in samples. Default: 512.
        win_length (int, optional): Length of the window, at most `n_fft`. Default: None, `n_fft`.
        hop_length (int, optional): Samples from one window to the next. Default: None, a quarter of `win_length`.
        window (WindowType, optional): Window function. Default: WindowType.HANN.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is shorter than `n_fft`.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.PitchShift(16000, 4)
    """

    pad = 0

    @checked
    def __init__(
        self,
        sample_rate: PositiveInt32,
        n_steps: Annotated[int, of_type(int)],
        bins_per_octave: NonZeroInt32 = 12,
        n_fft: PositiveInt32 = 512,
        win_length: int | None = None,
        hop_length: int | None = None,
        window: WindowType = WindowType.HANN,
    ) -> None:
        self.win_length, _ = check_stft(n_fft, win_length, hop_length, 0, window)
        self.hop_length: int = self.win_length // 4 if hop_length is None else hop_length
        self.sample_rate = sample_rate
        self.n_steps: int = n_steps
        self.bins_per_octave: int = bins_per_octave
        self.n_fft = n_fft
        self.window: WindowType = window

    def _transform_row(self, array):
        wave = self._to_float(array, "<..., time>", 1)
        rate = 2.0 ** (-self.n_steps / self.bins_per_octave)
        spectra = self._compute_complex_spectra(wave)
        stretched = _change_speed(spectra, rate, _make_phase_advance(self.hop_length, spectra.shape[-2]))
        slower = _synthesize_wave(self, stretched, math.floor(wave.shape[-1] / rate + 0.5)).astype(wave.dtype)
        shifted = Resample(int(self.sample_rate / rate), self.sample_rate)._transform_row(slower)[..., : wave.shape[-1]]
        return np.pad(shifted, [(0, 0)] * (wave.ndim - 1) + [(0, wave.shape[-1] - shifted.shape[-1])])
