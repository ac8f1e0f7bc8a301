"""Second-order filters: band passes, shelves and equalisers. Formulas: RBJ Audio EQ Cookbook and SoX."""

from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.audio._filters import RecursiveFilter
from msnb.dataset.core.kinds import Flag, NonZeroInt32, Real24, of_type, within

Quality = Annotated[float, within(0, 1, float, int, low_in=False)]


class _CookbookFilter(RecursiveFilter):
    """Base of the second-order filters that have a frequency and a quality factor.

    ``_design_coefficients`` returns the coefficients b and a.
    """

    _precision = np.float64  # dtype of the design; MindSpore computes some designs in float32

    def _set_up_filter(self, sample_rate, frequency, frequency_name, Q, gain=None):
        if gain is not None:
            self.gain = gain
        self.sample_rate = sample_rate
        setattr(self, frequency_name, frequency)
        self.quality_factor = Q
        self._Q = self._precision(np.float32(Q))
        w0 = self._precision(2 * np.pi * frequency / sample_rate)
        self._set_coefficients(*self._design_coefficients(np.cos(w0), np.sin(w0) / 2 / self._Q))

    def _design_coefficients(self, cos, alpha):
        raise NotImplementedError

    def _compute_shelf_amplitude(self):
        """Return the amplitude A of a shelf or peak filter: ``10 ** (gain / 40)``, as in the RBJ cookbook."""
        return self._precision(10 ** (self.gain / 40))


def _design_shelf(sign, cos, alpha, A):
    """Return the coefficients (b, a) of a low shelf if `sign` is 1, or of a high shelf if it is -1."""
    plus, minus, slope = A + 1, A - 1, 2 * np.sqrt(A) * alpha
    cos = sign * cos
    b = [A * (plus - minus * cos + slope), sign * 2 * A * (minus - plus * cos), A * (plus - minus * cos - slope)]
    a = [plus + minus * cos + slope, sign * -2 * (minus + plus * cos), plus + minus * cos - slope]
    return b, a


class AllpassBiquad(_CookbookFilter):
    """A two-pole all-pass filter. It changes phases and keeps amplitudes.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        central_freq (float): Central frequency in Hz.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.AllpassBiquad(44100, 200.0)
    """

    @checked
    def __init__(self, sample_rate: NonZeroInt32, central_freq: Real24, Q: Quality = 0.707):
        self._set_up_filter(sample_rate, central_freq, "central_freq", Q)

    def _design_coefficients(self, cos, alpha):
        return [1 - alpha, -2 * cos, 1 + alpha], [1 + alpha, -2 * cos, 1 - alpha]


class BandBiquad(_CookbookFilter):
    """A two-pole band-pass filter whose response falls off logarithmically around the centre (SoX's `band`).

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        central_freq (float): Central frequency in Hz.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.
        noise (bool, optional): True for sounds without pitch, such as percussion. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.BandBiquad(44100, 200.0)
    """

    @checked
    def __init__(self, sample_rate: NonZeroInt32, central_freq: Real24, Q: Quality = 0.707, noise: Flag = False):
        self.noise = noise
        self._set_up_filter(sample_rate, central_freq, "central_freq", Q)

    def _design_coefficients(self, cos, alpha):
        a2 = np.exp(-2 * np.pi * self.central_freq / self._Q / self.sample_rate)
        a1 = -4 * a2 / (1 + a2) * cos
        b0 = np.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if self.noise:
            b0 = np.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2))
        return [b0, 0, 0], [1, a1, a2]


class BandpassBiquad(_CookbookFilter):
    """A two-pole Butterworth band-pass filter.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        central_freq (float): Central frequency in Hz.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.
        const_skirt_gain (bool, optional): True for gain `Q` at the peak, False for 0 dB. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.BandpassBiquad(44100, 200.0)
    """

    _precision = np.float32

    @checked
    def __init__(
        self, sample_rate: NonZeroInt32, central_freq: Real24, Q: Quality = 0.707, const_skirt_gain: Flag = False
    ):
        self.const_skirt_gain = const_skirt_gain
        self._set_up_filter(sample_rate, central_freq, "central_freq", Q)

    def _design_coefficients(self, cos, alpha):
        peak = alpha * self._Q if self.const_skirt_gain else alpha
        return [peak, 0, -peak], [1 + alpha, -2 * cos, 1 - alpha]


class BandrejectBiquad(_CookbookFilter):
    """A two-pole Butterworth band-reject (notch) filter.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        central_freq (float): Central frequency in Hz.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.BandrejectBiquad(44100, 200.0)
    """

    @checked
    def __init__(self, sample_rate: NonZeroInt32, central_freq: Real24, Q: Quality = 0.707):
        self._set_up_filter(sample_rate, central_freq, "central_freq", Q)

    def _design_coefficients(self, cos, alpha):
        return [1, -2 * cos, 1], [1 + alpha, -2 * cos, 1 - alpha]


class BassBiquad(_CookbookFilter):
    """A bass control: a two-pole low shelf.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        gain (float): Gain below the shelf in dB.
        central_freq (float, optional): Frequency of the shelf in Hz. Default: 100.0.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.BassBiquad(44100, 10.0)
    """

    @checked
    def __init__(self, sample_rate: NonZeroInt32, gain: Real24, central_freq: Real24 = 100.0, Q: Quality = 0.707):
        self._set_up_filter(sample_rate, central_freq, "central_freq", Q, gain)

    def _design_coefficients(self, cos, alpha):
        return _design_shelf(1, cos, alpha, self._compute_shelf_amplitude())


class TrebleBiquad(_CookbookFilter):
    """A treble control: a two-pole high shelf.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        gain (float): Gain above the shelf in dB.
        central_freq (float, optional): Frequency of the shelf in Hz. Default: 3000.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.TrebleBiquad(44100, 10.0)
    """

    _precision = np.float32

    @checked
    def __init__(self, sample_rate: NonZeroInt32, gain: Real24, central_freq: Real24 = 3000, Q: Quality = 0.707):
        self._set_up_filter(sample_rate, central_freq, "central_freq", Q, gain)

    def _design_coefficients(self, cos, alpha):
        return _design_shelf(-1, cos, alpha, self._compute_shelf_amplitude())


class EqualizerBiquad(_CookbookFilter):
    """A peaking equaliser.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        center_freq (float): Central frequency in Hz.
        gain (float): Gain at the centre in dB.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.EqualizerBiquad(44100, 1500, 5.5)
    """

    @checked
    def __init__(self, sample_rate: NonZeroInt32, center_freq: Real24, gain: Real24, Q: Quality = 0.707):
        self._set_up_filter(sample_rate, center_freq, "center_freq", Q, gain)

    def _design_coefficients(self, cos, alpha):
        A = self._compute_shelf_amplitude()
        return [1 + alpha * A, -2 * cos, 1 - alpha * A], [1 + alpha / A, -2 * cos, 1 - alpha / A]


class HighpassBiquad(_CookbookFilter):
    """A two-pole high-pass filter.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        cutoff_freq (float): Cut-off frequency in Hz.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.HighpassBiquad(44100, 1500)
    """

    @checked
    def __init__(self, sample_rate: NonZeroInt32, cutoff_freq: Real24, Q: Quality = 0.707):
        self._set_up_filter(sample_rate, cutoff_freq, "cutoff_freq", Q)

    def _design_coefficients(self, cos, alpha):
        return [(1 + cos) / 2, -1 - cos, (1 + cos) / 2], [1 + alpha, -2 * cos, 1 - alpha]


class LowpassBiquad(_CookbookFilter):
    """A two-pole low-pass filter.

    Args:
        sample_rate (int): Sampling rate in Hz, not 0.
        cutoff_freq (float): Cut-off frequency in Hz.
        Q (float, optional): Quality factor, in (0, 1]. Default: 0.707.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.LowpassBiquad(44100, 1500)
    """

    @checked
    def __init__(self, sample_rate: NonZeroInt32, cutoff_freq: Real24, Q: Quality = 0.707):
        self._set_up_filter(sample_rate, cutoff_freq, "cutoff_freq", Q)

    def _design_coefficients(self, cos, alpha):
        return [(1 - cos) / 2, 1 - cos, (1 - cos) / 2], [1 + alpha, -2 * cos, 1 - alpha]


def _check_sample_rate(sample_rate, rates):
    of_type(int)(sample_rate, "sample_rate")
    if sample_rate not in rates:
        raise ValueError(f"sample_rate should be one of {sorted(rates)}, but is {sample_rate}.")


# Central frequency (Hz), slope and gain (dB) of the shelf that fits the de-emphasis of IEC 60908; values of SoX.
_DEEMPHASIS = {44100: (5283, 0.4845, -9.477), 48000: (5356, 0.479, -9.62)}


class DeemphBiquad(RecursiveFilter):
    """De-emphasis filter of compact discs (IEC 60908): a high shelf that attenuates.

    Args:
        sample_rate (int): Sampling rate in Hz: 44100 or 48000.

    Raises:
        TypeError: If `sample_rate` is not an int.
        ValueError: If it is another rate.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.DeemphBiquad(44100)
    """

    def __init__(self, sample_rate: int) -> None:
        _check_sample_rate(sample_rate, _DEEMPHASIS)
        self.sample_rate: int = sample_rate
        frequency, slope, gain = _DEEMPHASIS[sample_rate]
        w0, A = 2 * np.pi * frequency / sample_rate, 10 ** (gain / 40)
        alpha = np.sin(w0) / 2 * np.sqrt((A + 1 / A) * (1 / slope - 1) + 2)
        self._set_coefficients(*_design_shelf(-1, np.cos(w0), alpha, A))


# Zeros and poles of the RIAA curve (3180, 318 and 75 microseconds) per sampling rate (Hz); values of SoX.
_RIAA = {
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}


class RiaaBiquad(RecursiveFilter):
    """Playback equalisation of vinyl records (RIAA), with gain 1 at 1 kHz.

    Args:
        sample_rate (int): Sampling rate in Hz: 44100, 48000, 88200 or 96000.

    Raises:
        TypeError: If `sample_rate` is not an int.
        ValueError: If it is another rate.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.RiaaBiquad(44100)
    """

    def __init__(self, sample_rate: int) -> None:
        _check_sample_rate(sample_rate, _RIAA)
        self.sample_rate: int = sample_rate
        b, a = (self._make_polynomial_from_roots(*np.float32(roots)) for roots in _RIAA[sample_rate])
        y = np.float32(2 * np.pi * 1000 / sample_rate)
        self._set_coefficients(
            b * np.sqrt(self._compute_squared_magnitude(a, y) / self._compute_squared_magnitude(b, y)), a
        )

    # float32, as in MindSpore: a pole is so near the unit circle that the rounding changes the result.
    @staticmethod
    def _make_polynomial_from_roots(first, second):
        return np.array([1, -(first + second), first * second], np.float32)

    @staticmethod
    def _compute_squared_magnitude(coefficients, y):
        """Return the squared magnitude of a polynomial of z at the frequency `y` (radians per sample)."""
        c0, c1, c2 = coefficients
        real = c0 + c1 * np.cos(y) + c2 * np.cos(2 * y)
        imaginary = c1 * np.sin(y) + c2 * np.sin(2 * y)
        return real * real + imaginary * imaginary
