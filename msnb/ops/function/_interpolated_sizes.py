"""Sizes of resized images, under MindSpore's private names, which libraries import."""

import math


def _interploate_ext_make_tuple(input, value):  # MindSpore spells it so
    """Return a number as a tuple, for each axis of an image; a tuple or list as it is."""
    return value if isinstance(value, (tuple, list)) else (value,) * (input.ndim - 2)


def _interpolate_ext_scale_factor_convert_size(input, scale_factor):
    """Return the lengths of an image's axes after they are scaled."""
    return tuple(math.floor(size * factor) for size, factor in zip(input.shape[2:], scale_factor, strict=False))
