"""Spectrograms on the mel scale, and cepstral coefficients."""

from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio._levels import to_decibels
from msnb.dataset.audio._spectrum import Spectrogram, Stft, check_stft
from msnb.dataset.audio.utils import (
    BorderType,
    MelType,
    NormMode,
    NormType,
    WindowType,
    create_dct,
    linear_fbanks,
    mel_bank,
)
from msnb.dataset.core.kinds import Flag, NonNegInt32, NonNegReal24, PositiveInt32, PositiveReal24, Real24, of_type


def _apply_filter_bank(bank, spectrogram):
    """Multiply a spectrogram <..., freq, time> by a filter bank (freq, n_mels)."""
    return bank.T.astype(spectrogram.dtype) @ spectrogram


class MelScale(AudioOp):
    """Convert a spectrogram of shape <..., freq, time> to the mel scale.

    Args:
        n_mels (int, optional): Number of mel bands. Default: 128.
        sample_rate (int, optional): Sampling rate of the signal in Hz. Default: 16000.
        f_min (float, optional): Lowest frequency in Hz. Default: 0.0.
        f_max (float, optional): Highest frequency in Hz. Default: None, half of `sample_rate`.
        n_stft (int, optional): Number of frequencies of the input. Default: 201.
        norm (NormType, optional): NormType.SLANEY for bands of equal area. Default: NormType.NONE.
        mel_type (MelType, optional): Formula of the scale. Default: MelType.HTK.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the input does not have `n_stft` frequencies.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.MelScale(n_mels=40, sample_rate=8000, n_stft=201)
    """

    @checked
    def __init__(
        self,
        n_mels: PositiveInt32 = 128,
        sample_rate: PositiveInt32 = 16000,
        f_min: Real24 = 0.0,
        f_max: PositiveReal24 | None = None,
        n_stft: PositiveInt32 = 201,
        norm: Annotated[NormType, of_type(NormType)] = NormType.NONE,
        mel_type: Annotated[MelType, of_type(MelType)] = MelType.HTK,
    ):
        self.f_max = sample_rate // 2 if f_max is None else f_max
        if f_min >= self.f_max:
            raise ValueError(f"MelScale: f_min should be below f_max ({self.f_max} Hz), but is {f_min}.")
        self.n_mels = n_mels
        self.sample_rate = sample_rate
        self.f_min = f_min
        self.n_stft = n_stft
        self.norm = norm
        self.mel_type = mel_type
        self._bank = mel_bank(n_stft, f_min, self.f_max, n_mels, sample_rate, norm, mel_type)

    def _transform_row(self, array):
        array = self._to_float(array, "<..., freq, time>", 2)
        if array.shape[-2] != self.n_stft:
            raise RuntimeError(
                f"MelScale: n_stft is {self.n_stft}, but the input of shape {array.shape} has {array.shape[-2]} "
                "frequencies."
            )
        return _apply_filter_bank(self._bank, array)


class MelSpectrogram(Stft):
    """Compute the powers of mel bands of a waveform over time.

    Args:
        sample_rate (int, optional): Sampling rate in Hz. Default: 16000.
        n_fft (int, optional): Length of the Fourier transform in samples. Default: 400.
        win_length (int, optional): Length of the window, at most `n_fft`. Default: None, `n_fft`.
        hop_length (int, optional): Samples from one window to the next. Default: None, half of `win_length`.
        f_min (float, optional): Lowest frequency in Hz. Default: 0.0.
        f_max (float, optional): Highest frequency in Hz. Default: None, half of `sample_rate`.
        pad (int, optional): Zeros added at both ends. Default: 0.
        n_mels (int, optional): Number of mel bands. Default: 128.
        window (WindowType, optional): Window function. Default: WindowType.HANN.
        power (float, optional): Power of the magnitudes, positive. Default: 2.0.
        normalized (bool, optional): True to divide by the window's norm. Default: False.
        center (bool, optional): True to pad both ends by half of `n_fft`. Default: True.
        pad_mode (BorderType, optional): Padding mode with `center`. Default: BorderType.REFLECT.
        onesided (bool, optional): Must be True: negative frequencies are omitted, because the mel scale has none.
            Default: True.
        norm (NormType, optional): NormType.SLANEY for bands of equal area. Default: NormType.NONE.
        mel_scale (MelType, optional): Formula of the scale. Default: MelType.HTK.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is shorter than `n_fft`.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.MelSpectrogram(sample_rate=16000, n_fft=16, n_mels=4)
    """

    @checked
    def __init__(
        self,
        sample_rate: NonNegInt32 = 16000,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        f_min: Annotated[float, of_type(float)] = 0.0,
        f_max: NonNegReal24 | None = None,
        pad: int = 0,
        n_mels: NonNegInt32 = 128,
        window: WindowType = WindowType.HANN,
        power: PositiveReal24 = 2.0,
        normalized: Flag = False,
        center: Flag = True,
        pad_mode: Annotated[BorderType, of_type(BorderType)] = BorderType.REFLECT,
        onesided: Flag = True,
        norm: Annotated[NormType, of_type(NormType)] = NormType.NONE,
        mel_scale: Annotated[MelType, of_type(MelType)] = MelType.HTK,
    ) -> None:
        self.win_length, self.hop_length = check_stft(n_fft, win_length, hop_length, pad, window)
        if f_max is None and f_min >= sample_rate // 2:
            raise ValueError(f"MelSpectrogram: f_min should be below half of sample_rate, but is {f_min}.")
        self.f_max = sample_rate // 2 if f_max is None else f_max
        if f_min > self.f_max:
            raise ValueError(f"MelSpectrogram: f_min should not exceed f_max ({self.f_max} Hz), but is {f_min}.")
        if not onesided:  # MindSpore accepts False and crashes at the first row
            raise ValueError("MelSpectrogram: onesided=False has no meaning on the mel scale; leave it True.")
        self.sample_rate = sample_rate
        self.n_fft: int = n_fft
        self.f_min: float = f_min
        self.pad: int = pad
        self.n_mels = n_mels
        self.window: WindowType = window
        self.power = power
        self._normalized = self.normalized = normalized
        self._center = self.center = center
        self._pad_mode = self.pad_mode = pad_mode
        self.onesided = onesided
        self.norm = norm
        self.mel_scale = mel_scale
        self._bank = mel_bank(n_fft // 2 + 1, f_min, self.f_max, n_mels, sample_rate, norm, mel_scale)

    def _transform_row(self, array):
        return _apply_filter_bank(
            self._bank, self._compute_power_spectra(self._to_float(array, "<..., time>", 1), self.power)
        )


class MFCC(AudioOp):
    """Compute the mel-frequency cepstral coefficients of a waveform over time.

    Args:
        sample_rate (int, optional): Sampling rate in Hz. Default: 16000.
        n_mfcc (int, optional): Number of coefficients. Default: 40.
        dct_type (int, optional): Type of the cosine transform; 2 is the only one. Default: 2.
        norm (NormMode, optional): Scale of the cosine transform. Default: NormMode.ORTHO.
        log_mels (bool, optional): True for natural logarithms, False for decibels. Default: False.
        melkwargs (dict, optional): Arguments of the :class:`MelSpectrogram`.
            Default: None.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range, or there are fewer mel bands than coefficients.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.MFCC(4000, 20, melkwargs={"n_fft": 64, "n_mels": 32})
    """

    @checked
    def __init__(
        self,
        sample_rate: NonNegInt32 = 16000,
        n_mfcc: NonNegInt32 = 40,
        dct_type: int = 2,
        norm: Annotated[NormMode, of_type(NormMode)] = NormMode.ORTHO,
        log_mels: Flag = False,
        melkwargs: Annotated[dict, of_type(dict)] | None = None,
    ) -> None:
        if dct_type != 2:
            raise ValueError(f"MFCC: dct_type should be 2, but is {dct_type}.")
        self._mel = MelSpectrogram(sample_rate, **(melkwargs or {}))
        if self._mel.n_mels < n_mfcc:
            raise ValueError(f"MFCC: n_mfcc is {n_mfcc}, more than the {self._mel.n_mels} mel bands (n_mels).")
        self.sample_rate = sample_rate
        self.n_mfcc = n_mfcc
        self.dct_type: int = dct_type
        self.norm = norm
        self.log_mels = log_mels
        self.melkwargs = melkwargs
        self._dct = create_dct(n_mfcc, self._mel.n_mels, norm) if n_mfcc else np.zeros((self._mel.n_mels, 0))

    def _transform_row(self, array):
        mels = self._mel._transform_row(array)
        mels = np.log(mels + mels.dtype.type(1e-6)) if self.log_mels else to_decibels(mels, 10, 1.0, 1e-10, 80.0)
        return _apply_filter_bank(self._dct, mels).astype(np.float32)


class LFCC(AudioOp):
    """Compute the linear-frequency cepstral coefficients of a waveform over time.

    Args:
        sample_rate (int, optional): Sampling rate in Hz. Default: 16000.
        n_filter (int, optional): Number of bands, evenly spaced in Hz. Default: 128.
        n_lfcc (int, optional): Number of coefficients. Default: 40.
        f_min (float, optional): Lowest frequency in Hz. Default: 0.0.
        f_max (float, optional): Highest frequency in Hz. Default: None, half of `sample_rate`.
        dct_type (int, optional): Type of the cosine transform; 2 is the only one. Default: 2.
        norm (NormMode, optional): Scale of the cosine transform. Default: NormMode.ORTHO.
        log_lf (bool, optional): True for natural logarithms, False for decibels. Default: False.
        speckwargs (dict, optional): Arguments of the :class:`Spectrogram`. Default: None.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.LFCC(4000, 32, 20, speckwargs={"n_fft": 64})
    """

    @checked
    def __init__(
        self,
        sample_rate: NonNegInt32 = 16000,
        n_filter: PositiveInt32 = 128,
        n_lfcc: PositiveInt32 = 40,
        f_min: NonNegReal24 = 0.0,
        f_max: NonNegReal24 | None = None,
        dct_type: int = 2,
        norm: Annotated[NormMode, of_type(NormMode)] = NormMode.ORTHO,
        log_lf: Flag = False,
        speckwargs: Annotated[dict, of_type(dict)] | None = None,
    ) -> None:
        if dct_type != 2:
            raise ValueError(f"LFCC: dct_type should be 2, but is {dct_type}.")
        highest = f_max or sample_rate // 2
        if f_min >= highest:
            raise ValueError(f"LFCC: f_min should be below {highest} Hz, but is {f_min}.")
        self.sample_rate = sample_rate
        self.n_filter = n_filter
        self.n_lfcc = n_lfcc
        self.f_min = f_min
        self.f_max = f_max
        self.dct_type: int = dct_type
        self.norm = norm
        self.log_lf = log_lf
        self.speckwargs = speckwargs
        self._spectrogram = Spectrogram(**(speckwargs or {}))
        self._bank = linear_fbanks(self._spectrogram.n_fft // 2 + 1, f_min, highest, n_filter, sample_rate)
        self._dct = create_dct(n_lfcc, n_filter, norm)

    def _transform_row(self, array):
        bands = _apply_filter_bank(self._bank, self._spectrogram._transform_row(array))
        bands = np.log(bands + bands.dtype.type(1e-6)) if self.log_lf else to_decibels(bands, 10, 1.0, 1e-10, 80.0)
        return _apply_filter_bank(self._dct, bands).astype(np.float32)
