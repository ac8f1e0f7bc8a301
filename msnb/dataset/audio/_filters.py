"""Recursive filters of waveforms, defined by their coefficients."""

from collections.abc import Sequence

import numpy as np
import scipy  # scipy.signal takes a second to import, so the first filter that runs loads it

from msnb.common.kinds import check, checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.core.kinds import Flag, Real24, of_type
from msnb.dataset.core.tensor_op import TensorOp


class RecursiveFilter(AudioOp):
    """Base of recursive filters. A subclass sets the coefficients `_a` (of the output) and `_b` (of the input)."""

    clamp = True

    def _apply_filter(self, wave):
        return scipy.signal.lfilter(self._b, self._a, wave, axis=-1)

    def _transform_row(self, array):
        self._check_input(array, "f", "<..., time>", 1)
        # The recursion runs in float64: in float32 it drifts if poles are near the unit circle.
        output = self._apply_filter(array.astype(np.float64))
        return (np.clip(output, -1, 1) if self.clamp else output).astype(array.dtype)

    def _set_coefficients(self, b, a):
        self._b, self._a = np.asarray(b, np.float64), np.asarray(a, np.float64)


class Biquad(RecursiveFilter):
    """A second-order filter. Its result is clipped to [-1, 1].

    Args:
        b0 (float): Coefficient of the current input.
        b1 (float): Coefficient of the input one sample before.
        b2 (float): Coefficient of the input two samples before.
        a0 (float): Coefficient of the current output, not 0.
        a1 (float): Coefficient of the output one sample before.
        a2 (float): Coefficient of the output two samples before.

    Raises:
        TypeError: If a coefficient is not a number.
        ValueError: If `a0` is 0.
        RuntimeError: If the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Biquad(0.01, 0.02, 0.13, 1, 0.12, 0.3)
    """

    __call__ = TensorOp.__call__  # also accepts lists, as in MindSpore

    @checked
    def __init__(self, b0: Real24, b1: Real24, b2: Real24, a0: Real24, a1: Real24, a2: Real24):
        if a0 == 0:
            raise ValueError("Input a0 must not be 0: the coefficients are divided by it.")
        self.b0: Real24 = b0
        self.b1: Real24 = b1
        self.b2: Real24 = b2
        self.a0: Real24 = a0
        self.a1: Real24 = a1
        self.a2: Real24 = a2
        self._set_coefficients(np.float32([b0, b1, b2]), np.float32([a0, a1, a2]))  # float32, as in MindSpore


class LFilter(RecursiveFilter):
    """A recursive filter of any order.

    Args:
        a_coeffs (Sequence[float]): Coefficients of the current output, the output one sample before and so on.
        b_coeffs (Sequence[float]): Coefficients of the current input, the input one sample before and so on; as many
            as `a_coeffs`.
        clamp (bool, optional): True to clip the result to [-1, 1]. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the two sequences differ in length.
        RuntimeError: If they are empty or the first of `a_coeffs` is 0, or the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.LFilter(a_coeffs=[1.0, 0.2, 0.3], b_coeffs=[0.1, 0.2, 0.3])
    """

    @checked
    def __init__(self, a_coeffs: Sequence[float], b_coeffs: Sequence[float], clamp: Flag = True) -> None:
        for name, values in (("a_coeffs", a_coeffs), ("b_coeffs", b_coeffs)):
            of_type(list, tuple)(values, name)
            for i, value in enumerate(values):
                check(Real24, value, f"{name}[{i}]", "LFilter")
        if len(a_coeffs) != len(b_coeffs):
            raise ValueError(
                f"a_coeffs and b_coeffs should be equally long (fill up with 0), but have {len(a_coeffs)} and "
                f"{len(b_coeffs)} numbers."
            )
        if not a_coeffs or a_coeffs[0] == 0:
            raise RuntimeError(f"{type(self).__name__}: a_coeffs should begin with a number other than 0.")
        self.a_coeffs = a_coeffs
        self.b_coeffs = b_coeffs
        self.clamp = clamp
        self._set_coefficients(np.float32(b_coeffs), np.float32(a_coeffs))  # float32, as in MindSpore


class Filtfilt(LFilter):
    """A recursive filter that is applied forward and then backward. It does not shift phases.

    Args:
        a_coeffs (Sequence[float]): Coefficients of the current output, the output one sample before and so on.
        b_coeffs (Sequence[float]): Coefficients of the current input, the input one sample before and so on; as many
            as `a_coeffs`.
        clamp (bool, optional): True to clip the result to [-1, 1]. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the two sequences differ in length.
        RuntimeError: If they are empty or the first of `a_coeffs` is 0, or the waveform is not in floating point.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Filtfilt(a_coeffs=[1.0, 0.2, 0.3], b_coeffs=[0.1, 0.2, 0.3])
    """

    def _apply_filter(self, wave):
        forward = super()._apply_filter(wave)
        return super()._apply_filter(forward[..., ::-1])[..., ::-1]
