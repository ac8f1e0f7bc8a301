"""Checks of the arguments that several vision transforms share."""

import numbers

from msnb.dataset.core.validator_helpers import (
    FLOAT_MAX_INTEGER,
    INT32_MAX,
    check_positive,
    check_range,
    check_uint8,
    check_value,
    check_value_normalize_std,
    type_check,
    type_check_list,
)

_SIZE = "Size should be a single integer or a list/tuple (h, w) of length 2."


def crop_size(size):
    """(height, width) of a crop."""
    type_check(size, (int, list, tuple), "size")
    if isinstance(size, int):
        check_value(size, (1, FLOAT_MAX_INTEGER))
        return size, size
    if len(size) != 2:
        raise TypeError(_SIZE)
    for value in size:
        type_check(value, (int,), "size")
        check_value(value, (1, FLOAT_MAX_INTEGER))
    return tuple(size)


def resize_size(size):
    """(height, width) to resize to; the width is 0 when only the shorter side is given."""
    if isinstance(size, bool):
        raise TypeError(f"{_SIZE} Got {size}.")
    if isinstance(size, int):
        check_value(size, (1, FLOAT_MAX_INTEGER))
        return size, 0
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TypeError(f"{_SIZE} Got {size}.")
    for i, value in enumerate(size):
        type_check(value, (int,), f"size at dim {i}")
        check_value(value, (1, INT32_MAX), f"size at dim {i}")
    return tuple(size)


def probability(prob):
    """A number from 0 to 1."""
    type_check(prob, (float, int), "prob")
    check_value(prob, (0.0, 1.0), "prob")
    return prob


def fill_values(fill_value):
    """Three values from 0 to 255."""
    if isinstance(fill_value, int) and not isinstance(fill_value, bool):
        check_uint8(fill_value, "fill_value")
        return (fill_value,) * 3
    if not (isinstance(fill_value, tuple) and len(fill_value) == 3):
        raise TypeError(f"fill_value should be a single integer or a 3-tuple, but got {fill_value!r}.")
    for value in fill_value:
        check_uint8(value, "fill_value")
    return fill_value


def parse_padding(padding):
    """(left, top, right, bottom) of one, two or four numbers."""
    if isinstance(padding, numbers.Number):
        padding = [padding] * 4
    if len(padding) == 2:
        padding = (padding[0], padding[1], padding[0], padding[1])
    return tuple(padding)


def padding_of(padding):
    """Checked :func:`parse_padding`."""
    type_check(padding, (tuple, list, numbers.Number), "padding")
    if isinstance(padding, numbers.Number):
        check_value(padding, (0, INT32_MAX), "padding")
        type_check(padding, (int,), "padding")
        return parse_padding(padding)
    if len(padding) not in (2, 4):
        raise ValueError(f"The size of the padding list or tuple should be 2 or 4, but got {len(padding)}.")
    for i, value in enumerate(padding):
        type_check(value, (int,), f"padding[{i}]")
        check_value(value, (0, INT32_MAX), "pad_value")
    return parse_padding(padding)


def degrees_range(degrees):
    """(least, greatest) angle."""
    type_check(degrees, (numbers.Number, list, tuple), "degrees")
    if isinstance(degrees, numbers.Number):
        check_value(degrees, (0, float("inf")), "degrees")
        return -degrees, degrees
    if len(degrees) != 2:
        raise TypeError("If degrees is a sequence, the length must be 2.")
    type_check_list(degrees, (numbers.Number,), "degrees")
    if degrees[0] > degrees[1]:
        raise ValueError("degrees should be in (min,max) format. Got (max,min).")
    return tuple(degrees)


def positive_degrees(degrees):
    """(least, greatest) strength, not negative."""
    if not isinstance(degrees, list | tuple):
        raise TypeError("degrees must be either a tuple or a list.")
    type_check_list(degrees, (int, float), "degrees")
    if len(degrees) != 2:
        raise ValueError("degrees must be a sequence with length 2.")
    for degree in degrees:
        check_value(degree, (0, FLOAT_MAX_INTEGER))
    if degrees[0] > degrees[1]:
        raise ValueError("degrees should be in (min,max) format. Got (max,min).")
    return tuple(degrees)


def crop_box_arguments(size, scale, ratio, max_attempts):
    """Checks of what the random resized crops take; the size as (height, width)."""
    size = crop_size(size)
    for name, pair in (("scale", scale), ("ratio", ratio)):
        type_check(pair, (tuple,), name)
        type_check_list(pair, (float, int), name)
        if pair[0] > pair[1]:
            raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")
        check_range(pair, (0, FLOAT_MAX_INTEGER))
    check_positive(scale[1], "scale[1]")
    check_positive(ratio[0], "ratio[0]")
    check_positive(ratio[1], "ratio[1]")
    check_value(max_attempts, (1, FLOAT_MAX_INTEGER))
    return size


def mean_and_std(mean, std, limit=255.0):
    """Checked means and standard deviations, at least three of each."""
    type_check(mean, (list, tuple), "mean")
    type_check(std, (list, tuple), "std")
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    for value in mean:
        check_value(value, (0, limit), "mean_value")
    for value in std:
        check_value_normalize_std(value, (0, limit), "std_value")


def factor_range(value, name, center=1, bound=(0, FLOAT_MAX_INTEGER), non_negative=True):
    """(least, greatest) of a factor given as a distance from `center` or as a range."""
    type_check(value, (numbers.Number, list, tuple), name)
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"The input value of {name} cannot be negative.")
        value = [center - value, center + value]
        if non_negative:
            value[0] = max(0, value[0])
        check_range(value, bound)
        return tuple(value)
    if len(value) != 2:
        raise TypeError(f"If {name} is a sequence, the length must be 2, but got {len(value)}.")
    check_range(value, bound)
    return tuple(value)


def affine_arguments(degrees, translate, scale, shear):
    """(degrees, (x, X, y, Y) translation, scale, (x, X, y, Y) shear) with defaults put in."""
    degrees = degrees_range(degrees)
    if translate is None:
        translate = (0.0, 0.0, 0.0, 0.0)
    else:
        type_check(translate, (list, tuple), "translate")
        type_check_list(translate, (int, float), "translate")
        if len(translate) not in (2, 4):
            raise TypeError("translate should be a list or tuple of length 2 or 4.")
        for i, t in enumerate(translate):
            check_value(t, (-1.0, 1.0), f"translate at {i}")
        translate = tuple(translate) if len(translate) == 4 else (*translate, 0.0, 0.0)
    if scale is None:
        scale = (1.0, 1.0)
    else:
        type_check(scale, (tuple, list), "scale")
        type_check_list(scale, (int, float), "scale")
        if len(scale) != 2:
            raise TypeError("scale should be a list or tuple of length 2.")
        if scale[0] > scale[1]:
            raise ValueError("Input scale[1] must be equal to or greater than scale[0].")
        check_range(scale, (0, FLOAT_MAX_INTEGER))
        check_positive(scale[1], "scale[1]")
    if shear is None:
        shear = (0.0, 0.0, 0.0, 0.0)
    else:
        type_check(shear, (numbers.Number, tuple, list), "shear")
        if isinstance(shear, numbers.Number):
            check_positive(shear, "shear")
            shear = (-shear, shear, 0.0, 0.0)
        else:
            type_check_list(shear, (int, float), "shear")
            if len(shear) not in (2, 4):
                raise TypeError("shear must be of length 2 or 4.")
            if len(shear) == 2 and shear[0] > shear[1]:
                raise ValueError("Input shear[1] must be equal to or greater than shear[0]")
            if len(shear) == 4 and (shear[0] > shear[1] or shear[2] > shear[3]):
                raise ValueError(
                    "Input shear[1] must be equal to or greater than shear[0] and shear[3] must be equal to or "
                    "greater than "
                    "shear[2]."
                )
            shear = tuple(shear) if len(shear) == 4 else (*shear, 0.0, 0.0)
    return degrees, translate, tuple(scale), shear
