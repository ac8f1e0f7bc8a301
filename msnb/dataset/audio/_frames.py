"""Transforms of features along their frames: deltas and sliding normalisation."""

from typing import Annotated

import numpy as np
from scipy.ndimage import correlate1d

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio.utils import BorderType
from msnb.dataset.core.kinds import INT32_MAX, Flag, NonNegInt32, of_type, within


class ComputeDeltas(AudioOp):
    """Compute the slope of each feature over time (regression over a window).

    The input has shape <..., freq, time>.

    Args:
        win_length (int, optional): Length of the window in frames, at least 3. Default: 5.
        pad_mode (BorderType, optional): Padding mode at the ends. Default: BorderType.EDGE.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `win_length` is less than 3.
        RuntimeError: If the input has fewer than two dimensions.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.ComputeDeltas(win_length=7, pad_mode=audio.BorderType.EDGE)
    """

    @checked
    def __init__(
        self,
        win_length: Annotated[int, within(3, INT32_MAX, int)] = 5,
        pad_mode: Annotated[BorderType, of_type(BorderType)] = BorderType.EDGE,
    ):
        self.win_length: int = win_length
        self.pad_mode = pad_mode

    def _transform_row(self, array):
        array = self._to_float(array, "<..., freq, time>", 2)
        n = (self.win_length - 1) // 2
        weights = np.arange(-n, n + 1) / (n * (n + 1) * (2 * n + 1) / 3)
        padded = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(n, n)], mode=self.pad_mode.value)
        return correlate1d(padded, weights, axis=-1)[..., n : n + array.shape[-1]].copy()


class SlidingWindowCmn(AudioOp):
    """Subtract the mean over a sliding window from features (Kaldi's `apply-cmvn-sliding`).

    The input has shape <..., time, freq>.

    Args:
        cmn_window (int, optional): Length of the window in frames. Default: 600.
        min_cmn_window (int, optional): Minimum length of the window at the first frames, if `center` is False.
            Default: 100.
        center (bool, optional): True to center the window at the current frame, False to end it there. Default:
            False.
        norm_vars (bool, optional): True to divide by the standard deviation too. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a length is negative.
        RuntimeError: If the input has fewer than two dimensions.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.SlidingWindowCmn(600, 100, False, False)
    """

    @checked
    def __init__(
        self,
        cmn_window: NonNegInt32 = 600,
        min_cmn_window: NonNegInt32 = 100,
        center: Flag = False,
        norm_vars: Flag = False,
    ):
        self.cmn_window = cmn_window
        self.min_cmn_window = min_cmn_window
        self.center = center
        self.norm_vars = norm_vars

    def _compute_window_bounds(self, frames):
        """Return (first frame, end) of the window of each frame, as two arrays."""
        t = np.arange(frames)
        if self.center:
            start = t - self.cmn_window // 2
            end = start + self.cmn_window
        else:
            start, end = t - self.cmn_window, t + 1
        end = np.where(start < 0, end - start, end)
        start = np.maximum(start, 0)
        if not self.center:
            end = np.where(end > t, np.maximum(t + 1, self.min_cmn_window), end)
        start = np.where(end > frames, start - (end - frames), start)
        return np.maximum(start, 0), np.minimum(end, frames)

    def _transform_row(self, array):
        array = self._to_float(array, "<..., time, freq>", 2)
        start, end = self._compute_window_bounds(array.shape[-2])
        counts = (end - start)[:, None]

        def means(values):
            sums = np.cumsum(values, axis=-2, dtype=np.float64)
            sums = np.concatenate([np.zeros_like(sums[..., :1, :]), sums], axis=-2)
            return (sums[..., end, :] - sums[..., start, :]) / counts

        with np.errstate(divide="ignore", invalid="ignore"):
            mean = means(array)
            normalized = array - mean
            if self.norm_vars:
                deviation = np.sqrt(means(np.square(array, dtype=np.float64)) - mean * mean)
                normalized = np.where(counts == 1, 0, normalized / deviation)
        return normalized.astype(array.dtype)
