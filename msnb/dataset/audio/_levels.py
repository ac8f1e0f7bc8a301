"""Transforms of the level of a signal: gains, decibels, companding, fades and distortions."""

from typing import Annotated

import numpy as np
import scipy

from msnb.common.kinds import check, checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio.utils import FadeShape, GainType, ScaleType
from msnb.dataset.core.kinds import (
    NonNegInt32,
    NonNegReal24,
    PositiveInt32,
    PositiveReal24,
    Real24,
    of_type,
    within,
)


class _Waveform(AudioOp):
    """Base of transforms of waveforms <..., time>. ``_transform_wave`` receives them as float32 or float64."""

    def _transform_row(self, array):
        return self._transform_wave(self._to_float(array, "<..., time>", 1))


class AmplitudeToDB(AudioOp):
    """Convert powers or magnitudes of shape <..., freq, time> to decibels.

    Args:
        stype (ScaleType, optional): Unit of the input. Default: ScaleType.POWER.
        ref_value (float, optional): The value at 0 dB, positive. Default: 1.0.
        amin (float, optional): Lower bound of the input, positive. Default: 1e-10.
        top_db (float, optional): Dynamic range in dB, positive. Values further below the maximum are raised to this
            distance from it. Default: 80.0.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is not positive.
        RuntimeError: If the input has fewer than two dimensions.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.AmplitudeToDB(stype=audio.ScaleType.POWER)
    """

    @checked
    def __init__(
        self,
        stype: Annotated[ScaleType, of_type(ScaleType)] = ScaleType.POWER,
        ref_value: PositiveReal24 = 1.0,
        amin: PositiveReal24 = 1e-10,
        top_db: PositiveReal24 = 80.0,
    ):
        self.stype = stype
        self.ref_value = ref_value
        self.amin = amin
        self.top_db = top_db

    def _transform_row(self, array):
        array = self._to_float(array, "<..., freq, time>", 2)
        factor = 10 if self.stype is ScaleType.POWER else 20
        return to_decibels(array, factor, max(self.ref_value, self.amin), self.amin, self.top_db)


def to_decibels(array, factor, reference, amin, top_db):
    """Return ``factor * log10(array / reference)``, with `array` at least `amin`.

    Values more than `top_db` below the peak of the last three dimensions are raised to that bound.
    """
    kind = array.dtype.type
    decibels = kind(factor) * np.log10(np.maximum(array, kind(amin))) - kind(factor * np.log10(reference))
    if not decibels.size:
        return decibels
    peak = decibels.max(axis=tuple(range(-min(array.ndim, 3), 0)), keepdims=True)
    return np.maximum(decibels, peak - kind(top_db))


class DBToAmplitude(_Waveform):
    """Convert decibels to powers or amplitudes.

    Args:
        ref (float): The value at 0 dB.
        power (float): 1 gives powers, 0.5 gives amplitudes.

    Raises:
        TypeError: If an argument is not a number.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.DBToAmplitude(ref=0.5, power=0.5)
    """

    @checked
    def __init__(self, ref: Real24, power: Real24):
        self.ref = ref
        self.power = power

    def _transform_wave(self, wave):
        kind = wave.dtype.type
        return kind(self.ref) * np.power(kind(10), wave * kind(0.1)) ** kind(self.power)


class Contrast(_Waveform):
    """Make a waveform sound louder, as SoX's effect `contrast` does.

    Args:
        enhancement_amount (float, optional): Strength, from 0 to 100; 0 still changes the sound. Default: 75.0.

    Raises:
        TypeError: If `enhancement_amount` is not a number.
        ValueError: If it is out of its range.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Contrast(enhancement_amount=75.0)
    """

    @checked
    def __init__(self, enhancement_amount: Annotated[float, within(0, 100, float, int)] = 75.0):
        self.enhancement_amount: float = enhancement_amount

    def _transform_wave(self, wave):
        kind = wave.dtype.type
        angle = wave * kind(np.pi / 2)
        return np.sin(angle + kind(self.enhancement_amount / 750) * np.sin(angle * kind(4)))


class DCShift(_Waveform):
    """Add a constant to a waveform and limit the result to [-1, 1].

    Args:
        shift (float): The constant, from -2 to 2.
        limiter_gain (float, optional): Factor for the part of a peak above the limit, much smaller than 1, such as
            0.05. Default: None, which clips.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If `shift` is out of its range.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.DCShift(0.5, 0.02)
    """

    @checked
    def __init__(
        self,
        shift: Annotated[float, within(-2.0, 2.0, float, int)],
        limiter_gain: Annotated[float, of_type(float, int)] | None = None,
    ):
        self.shift: float = shift
        self.limiter_gain: float = limiter_gain or shift

    def _transform_wave(self, wave):
        kind = wave.dtype.type
        shift, gain = kind(np.float32(self.shift)), kind(np.float32(self.limiter_gain))
        shifted = np.clip(wave + shift, kind(-1), kind(1))
        if shift == gain or shift == 0:
            return shifted
        threshold = kind(1) - (np.abs(shift) - gain)
        peaks = wave > threshold if shift > 0 else wave < -threshold
        with np.errstate(divide="ignore", invalid="ignore"):
            if shift > 0:
                limited = (wave - threshold) * gain / (kind(1) - threshold) + threshold + shift
                limited = np.minimum(limited, threshold)
            else:  # The sign of the threshold is MindSpore's. SoX subtracts the threshold.
                limited = (wave + threshold) * gain / (kind(1) - threshold) + threshold + shift
                limited = np.maximum(limited, -threshold)
        return np.where(peaks, limited, shifted)


# Level of a fade-in at x from 0 to 1. A fade-out is its mirror image. The logarithmic curve ends above 1.
_FADE_CURVES = {
    FadeShape.LINEAR: lambda x: x,
    FadeShape.EXPONENTIAL: lambda x: 2 ** (x - 1) * x,
    FadeShape.LOGARITHMIC: lambda x: np.log10(0.1 + x) + 1,
    FadeShape.QUARTER_SINE: lambda x: np.sin(x * (np.pi / 2)),
    FadeShape.HALF_SINE: lambda x: np.sin((x - 0.5) * np.pi) / 2 + 0.5,
}


class Fade(_Waveform):
    """Fade a waveform in and out.

    Args:
        fade_in_len (int, optional): Samples over which the level rises. Default: 0.
        fade_out_len (int, optional): Samples over which the level falls. Default: 0.
        fade_shape (FadeShape, optional): Curve of the level. Default: FadeShape.LINEAR.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a length is negative.
        RuntimeError: If a length exceeds that of the waveform.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Fade(fade_in_len=3, fade_out_len=2, fade_shape=audio.FadeShape.LINEAR)
    """

    @checked
    def __init__(
        self,
        fade_in_len: NonNegInt32 = 0,
        fade_out_len: NonNegInt32 = 0,
        fade_shape: Annotated[FadeShape, of_type(FadeShape)] = FadeShape.LINEAR,
    ):
        self.fade_in_len = fade_in_len
        self.fade_out_len = fade_out_len
        self.fade_shape = fade_shape

    def _transform_wave(self, wave):
        length = wave.shape[-1]
        for name, value in (("fade_in_len", self.fade_in_len), ("fade_out_len", self.fade_out_len)):
            if value > length:
                raise RuntimeError(f"Fade: {name} is {value}, more than the {length} samples of the waveform.")
        level = np.ones(length)
        rise = _FADE_CURVES[self.fade_shape]
        level[: self.fade_in_len] *= rise(np.linspace(0, 1, self.fade_in_len))
        level[length - self.fade_out_len :] *= rise(1 - np.linspace(0, 1, self.fade_out_len))
        return wave * level.astype(wave.dtype)


class Gain(_Waveform):
    """Amplify or attenuate a waveform.

    Args:
        gain_db (float, optional): Gain in dB. Default: 1.0.

    Raises:
        TypeError: If `gain_db` is not a number.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Gain(1.2)
    """

    @checked
    def __init__(self, gain_db: Real24 = 1.0):
        self.gain_db = gain_db

    def _transform_wave(self, wave):
        return wave * wave.dtype.type(10 ** (self.gain_db / 20))


class MuLawDecoding(_Waveform):
    """Invert :class:`MuLawEncoding` (mu-law of ITU-T G.711, without its segments).

    Args:
        quantization_channels (int, optional): Number of levels, positive. Default: 256.

    Raises:
        TypeError: If `quantization_channels` is not an int.
        ValueError: If it is not positive.
        RuntimeError: If `quantization_channels` is 1.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.MuLawDecoding(256)
    """

    @checked
    def __init__(self, quantization_channels: PositiveInt32 = 256):
        self.quantization_channels = quantization_channels

    def _transform_wave(self, codes):
        kind = codes.dtype.type
        mu = kind(self.quantization_channels - 1)
        if mu == 0:
            raise RuntimeError("MuLawDecoding: quantization_channels should be more than 1.")
        companded = codes / mu * kind(2) - kind(1)
        return np.sign(companded) * (np.exp(np.abs(companded) * np.log1p(mu)) - kind(1)) / mu


class MuLawEncoding(_Waveform):
    """Quantize a waveform in [-1, 1] to integers, finer near 0 (mu-law of ITU-T G.711, without its segments).

    Args:
        quantization_channels (int, optional): Number of levels, positive. Default: 256.

    Raises:
        TypeError: If `quantization_channels` is not an int.
        ValueError: If it is not positive.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.MuLawEncoding(256)
    """

    @checked
    def __init__(self, quantization_channels: PositiveInt32 = 256):
        self.quantization_channels = quantization_channels

    def _transform_wave(self, wave):
        kind = wave.dtype.type
        mu = kind(self.quantization_channels - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            companded = np.sign(wave) * np.log1p(mu * np.abs(wave)) / np.log1p(mu)
            return ((companded + kind(1)) / kind(2) * mu + kind(0.5)).astype(np.int32)


class Overdrive(_Waveform):
    """Distort a waveform like an overdriven amplifier, as SoX's effect `overdrive` does.

    Args:
        gain (float, optional): Gain in dB, from 0 to 100. Default: 20.0.
        color (float, optional): Amount of even harmonics, from 0 to 100. Default: 20.0.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If an argument is out of its range.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Overdrive(gain=20.0, color=20.0)
    """

    @checked
    def __init__(
        self,
        gain: Annotated[float, within(0, 100, float, int)] = 20.0,
        color: Annotated[float, within(0, 100, float, int)] = 20.0,
    ):
        self.gain: float = gain
        self.color: float = color

    def _transform_wave(self, wave):
        kind = wave.dtype.type
        driven = np.clip(wave * kind(10 ** (self.gain / 20)) + kind(self.color / 200), kind(-1), kind(1))
        driven = driven - driven**3 / kind(3)  # the slope is 0 at 1, so clipped values join smoothly
        # A high pass removes the constant part.
        filtered = scipy.signal.lfilter(np.array([1, -1], kind), np.array([1, -0.995], kind), driven, axis=-1)
        return np.clip(wave * kind(0.5) + filtered * kind(0.75), kind(-1), kind(1))


class Vol(_Waveform):
    """Change the volume of a waveform. The result is clipped to [-1, 1].

    Args:
        gain (float): The gain; not negative for amplitudes, positive for powers.
        gain_type (GainType, optional): Unit of `gain`. Default: GainType.AMPLITUDE.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `gain` is out of its range.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Vol(gain=10, gain_type=audio.GainType.DB)
    """

    @checked
    def __init__(self, gain: float, gain_type: Annotated[GainType, of_type(GainType)] = GainType.AMPLITUDE) -> None:
        kind = {GainType.AMPLITUDE: NonNegReal24, GainType.POWER: PositiveReal24}.get(gain_type, Real24)
        check(kind, gain, "gain", "Vol")
        self.gain: float = gain
        self.gain_type = gain_type

    def _transform_wave(self, wave):
        kind = wave.dtype.type
        factor = {GainType.AMPLITUDE: lambda g: g, GainType.POWER: np.sqrt, GainType.DB: lambda g: 10 ** (g / 20)}
        return np.clip(wave * kind(factor[self.gain_type](self.gain)), kind(-1), kind(1))
