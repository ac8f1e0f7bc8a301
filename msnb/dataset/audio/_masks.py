"""Masks over a range of frequencies or times of a spectrogram (SpecAugment)."""

from typing import Annotated

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.core.kinds import Flag, NonNegInt32, NonNegReal24, PositiveInt32, Real24, within

_SHAPE = "<..., freq, time>"


class _Mask(AudioOp):
    """Base of transforms that mask spectrograms <..., freq, time> along `_axis`: -2 (freq) or -1 (time)."""

    def _to_float_spectrogram(self, array):
        return self._to_float(array, _SHAPE, 2)

    def _fill_masked_range(self, array, start, width):
        masked = array.copy()
        range_ = slice(start, start + width)
        masked[(..., range_, slice(None)) if self._axis == -2 else (..., range_)] = self.mask_value
        return masked

    def _apply_fixed_mask(self, array, start, width):
        array = self._to_float_spectrogram(array)
        length = array.shape[self._axis]
        if start + width > length:
            raise RuntimeError(
                f"{type(self).__name__}: the mask goes from {start} to {start + width}, but the dimension has length "
                f"{length}."
            )
        return self._fill_masked_range(array, start, width)

    def _sample_mask_range(self, state, array, max_width):
        """Draw a random (start, width) of a mask, with a width of 0 to `max_width`. The width is drawn first."""
        self._check_input(array, "biuf", _SHAPE, 2)
        length = array.shape[self._axis]
        if max_width > length:
            raise RuntimeError(
                f"{type(self).__name__}: masks of up to {max_width} do not fit a dimension of length {length}."
            )
        width = state.uniform_int(0, max_width)
        return state.uniform_int(0, length - width), width

    def _apply_params(self, params, array):
        return self._fill_masked_range(self._to_float_spectrogram(array), *params)


class MaskAlongAxis(_Mask):
    """Overwrite a fixed range of a spectrogram <..., freq, time>.

    Args:
        mask_start (int): First index of the mask, not negative.
        mask_width (int): Length of the mask, positive.
        mask_value (float): The value to write.
        axis (int): 1 for a range of frequencies, 2 for a range of times.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the mask goes beyond the end of the spectrogram.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.MaskAlongAxis(0, 10, 0.5, 1)
    """

    @checked
    def __init__(
        self,
        mask_start: NonNegInt32,
        mask_width: PositiveInt32,
        mask_value: Real24,
        axis: Annotated[int, within(1, 2, int)],
    ):
        self.mask_start = mask_start
        self.mask_width = mask_width
        self.mask_value = mask_value
        self.axis: int = axis
        self._axis = axis - 3

    def _transform_row(self, array):
        return self._apply_fixed_mask(array, self.mask_start, self.mask_width)


class MaskAlongAxisIID(_Mask):
    """Overwrite a random range of a spectrogram <..., freq, time>.

    Args:
        mask_param (int): Maximum length of the mask, not negative.
        mask_value (float): The value to write.
        axis (int): 1 for a range of frequencies, 2 for a range of times.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If `mask_param` exceeds the length of the dimension.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.MaskAlongAxisIID(5, 0.5, 2)
    """

    deterministic = False

    @checked
    def __init__(self, mask_param: NonNegInt32, mask_value: Real24, axis: Annotated[int, within(1, 2, int)]):
        self.mask_param = mask_param
        self.mask_value = mask_value
        self.axis: int = axis
        self._axis = axis - 3

    def _sample_params(self, state, array):
        return self._sample_mask_range(state, array, self.mask_param)


class _Masking(_Mask):
    """Base of the masking transforms whose mask is random if `iid_masks` is True and fixed otherwise."""

    def _store_mask_arguments(self, iid_masks, mask_param, param_name, mask_start, mask_value):
        self.iid_masks = iid_masks
        setattr(self, param_name, mask_param)
        self._width = mask_param
        self.mask_start = mask_start
        self.mask_value = mask_value

    @property
    def deterministic(self) -> bool:
        return not self.iid_masks

    def _transform_row(self, array):
        return self._apply_fixed_mask(array, self.mask_start, self._width)

    def _sample_params(self, state, array):
        return self._sample_mask_range(state, array, self._width)


class FrequencyMasking(_Masking):
    """Overwrite a range of frequencies of a spectrogram <..., freq, time>.

    Args:
        iid_masks (bool, optional): True for a random position and length. Default: False.
        freq_mask_param (int, optional): Length of the mask; with `iid_masks` its maximum length. Default: 0.
        mask_start (int, optional): First frequency of the mask, without `iid_masks`. Default: 0.
        mask_value (float, optional): The value to write, not negative. Default: 0.0.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is negative.
        RuntimeError: If the mask goes beyond the end of the spectrogram.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.FrequencyMasking(freq_mask_param=1)
    """

    _axis = -2

    @checked
    def __init__(
        self,
        iid_masks: Flag = False,
        freq_mask_param: NonNegInt32 = 0,
        mask_start: NonNegInt32 = 0,
        mask_value: NonNegReal24 = 0.0,
    ):
        self._store_mask_arguments(iid_masks, freq_mask_param, "freq_mask_param", mask_start, mask_value)


class TimeMasking(_Masking):
    """Overwrite a range of times of a spectrogram <..., freq, time>.

    Args:
        iid_masks (bool, optional): True for a random position and length. Default: False.
        time_mask_param (int, optional): Length of the mask; with `iid_masks` its maximum length. Default: 0.
        mask_start (int, optional): First time of the mask, without `iid_masks`. Default: 0.
        mask_value (float, optional): The value to write, not negative. Default: 0.0.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is negative.
        RuntimeError: If the mask goes beyond the end of the spectrogram.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.TimeMasking(time_mask_param=1)
    """

    _axis = -1

    @checked
    def __init__(
        self,
        iid_masks: Flag = False,
        time_mask_param: NonNegInt32 = 0,
        mask_start: NonNegInt32 = 0,
        mask_value: NonNegReal24 = 0.0,
    ):
        self._store_mask_arguments(iid_masks, time_mask_param, "time_mask_param", mask_start, mask_value)
