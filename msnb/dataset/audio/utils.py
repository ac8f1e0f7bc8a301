"""Enumerations for audio transforms, and the matrices of filter banks and of the cosine transform."""

from enum import Enum
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import NonNegInt32, NonNegReal24, PositiveInt32, PositiveReal24, above_zero, of_type


class BorderType(str, Enum):
    """Padding modes: zeros, the edge value, or the mirrored signal without or with its edge."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(str, Enum):
    """Distribution of dither noise: triangular, rectangular or Gaussian."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(str, Enum):
    """Curve along which the level of a :class:`Fade` changes."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(str, Enum):
    """Unit of a gain: ratio of amplitudes, ratio of powers, or decibels."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(str, Enum):
    """Interpolation between samples."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(str, Enum):
    """Formula of the mel scale: HTK's, or that of Slaney's Auditory Toolbox."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(str, Enum):
    """Shape of a modulating oscillation."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(str, Enum):
    """Normalisation of a cosine transform: orthonormal or none."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(str, Enum):
    """Normalisation of a mel filter bank: filters of equal area (Slaney), or of height 1."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(str, Enum):
    """Interpolation kernel for resampling."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(str, Enum):
    """Content of a spectrogram: powers or magnitudes."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(str, Enum):
    """Window of a short-time Fourier transform."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"


@checked
def create_dct(
    n_mfcc: Annotated[int, above_zero(int)],
    n_mels: Annotated[int, above_zero(int)],
    norm: Annotated[NormMode, of_type(NormMode)] = NormMode.NONE,
) -> np.ndarray:
    """Return the matrix of the cosine transform DCT-II, to be multiplied from the right.

    Args:
        n_mfcc (int): Number of coefficients, positive.
        n_mels (int): Number of mel bands, positive.
        norm (NormMode, optional): NormMode.ORTHO for an orthonormal basis. Default: NormMode.NONE.

    Returns:
        numpy.ndarray, float32 of shape (n_mels, n_mfcc).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is not positive.

    Examples:
        >>> from mindspore.dataset.audio import NormMode, create_dct
        >>> dct = create_dct(100, 200, NormMode.NONE)
    """
    dct = 2 * np.cos(np.pi / n_mels * np.outer(np.arange(n_mels) + 0.5, np.arange(n_mfcc)))
    if norm is NormMode.ORTHO:
        dct *= np.sqrt(1 / (2 * n_mels))
        dct[:, 0] *= np.sqrt(0.5)
    return dct.astype(np.float32)


def _check_frequency_bounds(f_min, f_max):
    if f_min > f_max:
        raise ValueError(f"Input f_min should not exceed f_max, but f_min is {f_min} and f_max {f_max}.")


def _make_triangular_filters(n_freqs, corners, sample_rate):
    """Return triangular filters. Filter i rises from ``corners[i]`` (Hz) to ``corners[i + 1]``, then falls to 0 at
    ``corners[i + 2]``."""
    frequencies = np.linspace(0, sample_rate / 2, n_freqs)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        widths = np.diff(corners)
        rise = (frequencies - corners[:-2]) / widths[:-1]
        fall = (corners[2:] - frequencies) / widths[1:]
    return np.nan_to_num(np.maximum(0, np.minimum(rise, fall)))


@checked
def linear_fbanks(
    n_freqs: NonNegInt32,
    f_min: NonNegReal24,
    f_max: PositiveReal24,
    n_filter: PositiveInt32,
    sample_rate: PositiveInt32,
) -> np.ndarray:
    """Return a bank of triangular filters, evenly spaced in Hz.

    Args:
        n_freqs (int): Number of frequencies, from 0 to half the sampling rate.
        f_min (float): Lowest frequency in Hz, not negative.
        f_max (float): Highest frequency in Hz, not below `f_min`.
        n_filter (int): Number of filters, positive.
        sample_rate (int): Sampling rate in Hz, positive.

    Returns:
        numpy.ndarray, float32 of shape (n_freqs, n_filter).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.

    Examples:
        >>> from mindspore.dataset.audio import linear_fbanks
        >>> bank = linear_fbanks(n_freqs=4096, f_min=0, f_max=8000, n_filter=40, sample_rate=16000)
    """
    _check_frequency_bounds(f_min, f_max)
    return _make_triangular_filters(n_freqs, np.linspace(f_min, f_max, n_filter + 2), sample_rate).astype(np.float32)


# Slaney's scale (Auditory Toolbox, 1998): linear to 1000 Hz, 15 mels; above it 27 mels for each factor of 6.4.
_LINEAR_STEP = 200 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _LINEAR_STEP
_LOG_STEP = np.log(6.4) / 27


def _hertz_to_mel(hertz, mel_type):
    if mel_type is MelType.HTK:
        return 2595 * np.log10(1 + hertz / 700)
    if hertz < _BREAK_HZ:
        return hertz / _LINEAR_STEP
    return _BREAK_MEL + np.log(hertz / _BREAK_HZ) / _LOG_STEP


def _mel_to_hertz(mels, mel_type):
    if mel_type is MelType.HTK:
        return 700 * (10 ** (mels / 2595) - 1)
    above = _BREAK_HZ * np.exp(_LOG_STEP * (np.maximum(mels, _BREAK_MEL) - _BREAK_MEL))
    return np.where(mels < _BREAK_MEL, mels * _LINEAR_STEP, above)


def mel_bank(
    n_freqs: int, f_min: float, f_max: float, n_mels: int, sample_rate: int, norm: Any, mel_type: Any
) -> np.ndarray:
    """Return the filter bank of :func:`melscale_fbanks` in float64, without checking the arguments."""
    with np.errstate(invalid="ignore"):
        ends = [_hertz_to_mel(np.float64(f), mel_type) for f in (f_min, f_max)]
        corners = _mel_to_hertz(np.linspace(*ends, n_mels + 2), mel_type)
    bank = _make_triangular_filters(n_freqs, corners, sample_rate)
    if norm is NormType.SLANEY:
        with np.errstate(divide="ignore", invalid="ignore"):
            bank = np.nan_to_num(bank * (2 / (corners[2:] - corners[:-2])))
    return bank


@checked
def melscale_fbanks(
    n_freqs: NonNegInt32,
    f_min: NonNegReal24,
    f_max: PositiveReal24,
    n_mels: PositiveInt32,
    sample_rate: PositiveInt32,
    norm: Annotated[NormType, of_type(NormType)] = NormType.NONE,
    mel_type: Annotated[MelType, of_type(MelType)] = MelType.HTK,
) -> np.ndarray:
    """Return a bank of triangular filters, evenly spaced on the mel scale.

    Args:
        n_freqs (int): Number of frequencies, from 0 to half the sampling rate.
        f_min (float): Lowest frequency in Hz, not negative.
        f_max (float): Highest frequency in Hz, not below `f_min`.
        n_mels (int): Number of filters, positive.
        sample_rate (int): Sampling rate in Hz, positive.
        norm (NormType, optional): NormType.SLANEY for filters of equal area. Default: NormType.NONE.
        mel_type (MelType, optional): Formula of the scale. Default: MelType.HTK.

    Returns:
        numpy.ndarray, float32 of shape (n_freqs, n_mels).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.

    Examples:
        >>> from mindspore.dataset.audio import melscale_fbanks
        >>> bank = melscale_fbanks(n_freqs=4096, f_min=0, f_max=8000, n_mels=40, sample_rate=16000)
    """
    _check_frequency_bounds(f_min, f_max)
    return mel_bank(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type).astype(np.float32)
