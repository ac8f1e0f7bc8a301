"""Checks of the arguments that several vision transforms share."""

import math
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
_NUMBER = (int, float)
_ANY = (-math.inf, math.inf)


def of_kind(kind, **arguments):
    """Each of the arguments is a `kind`."""
    for name, value in arguments.items():
        type_check(value, (kind,), name)


def whole(interval, **arguments):
    """Each of the arguments is an int within `interval`."""
    for name, value in arguments.items():
        type_check(value, (int,), name)
        check_value(value, interval, name)


def _height_width(size, highest, where=""):
    """(height, width) of a sequence; `where` names the side at fault."""
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TypeError(f"{_SIZE} Got {size}.")
    for i, side in enumerate(size):
        type_check(side, (int,), where.format(i) or "size")
        check_value(side, (1, highest), where.format(i))
    return tuple(size)


def crop_size(size):
    """(height, width) of a crop."""
    type_check(size, (int, list, tuple), "size")
    return _height_width((size, size) if isinstance(size, int) else size, FLOAT_MAX_INTEGER)


def resize_size(size):
    """(height, width) to resize to; the width is 0 when only the shorter side is given."""
    if isinstance(size, int) and not isinstance(size, bool):
        return crop_size(size)[0], 0
    return _height_width(size, INT32_MAX, "size at dim {}")


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
    sides = (padding,) * 4 if isinstance(padding, numbers.Number) else tuple(padding)
    return sides * 2 if len(sides) == 2 else sides


def padding_of(padding):
    """Checked :func:`parse_padding`."""
    type_check(padding, (tuple, list, numbers.Number), "padding")
    sides = parse_padding(padding)
    if len(sides) != 4:
        raise ValueError(f"The size of the padding list or tuple should be 2 or 4, but got {len(sides)}.")
    alone = isinstance(padding, numbers.Number)
    for i, side in enumerate(sides):
        type_check(side, (int,), "padding" if alone else f"padding[{i}]")
        check_value(side, (0, INT32_MAX), "padding" if alone else "pad_value")
    return sides


def _ordered(pair, name):
    """(least, greatest) as a tuple."""
    least, greatest = pair
    if least > greatest:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")
    return least, greatest


def two_within(interval, pair, length_error):
    """A sequence of two numbers within `interval`."""
    if len(pair) != 2:
        raise length_error
    for value in pair:
        check_value(value, interval)
    return pair


def degrees_range(degrees):
    """(least, greatest) angle."""
    if isinstance(degrees, numbers.Number):
        check_value(degrees, (0, math.inf), "degrees")
        return -degrees, degrees
    type_check(degrees, (numbers.Number, list, tuple), "degrees")
    type_check_list(degrees, (numbers.Number,), "degrees")
    return _ordered(two_within(_ANY, degrees, TypeError("If degrees is a sequence, the length must be 2.")), "degrees")


def positive_degrees(degrees):
    """(least, greatest) strength, not negative."""
    if not isinstance(degrees, list | tuple):
        raise TypeError("degrees must be either a tuple or a list.")
    type_check_list(degrees, _NUMBER, "degrees")
    length = ValueError("degrees must be a sequence with length 2.")
    return _ordered(two_within((0, FLOAT_MAX_INTEGER), degrees, length), "degrees")


def crop_box_arguments(size, scale, ratio, max_attempts):
    """Checks of what the random resized crops take; the size as (height, width)."""
    size = crop_size(size)
    for name, pair in (("scale", scale), ("ratio", ratio)):
        type_check(pair, (tuple,), name)
        type_check_list(pair, (float, int), name)
        if len(pair) != 2:
            raise TypeError(f"{name} should be a tuple (min, max) of length 2, but got {pair}.")
        check_range(_ordered(pair, name), (0, FLOAT_MAX_INTEGER))
    for name, value in {"scale[1]": scale[1], "ratio[0]": ratio[0], "ratio[1]": ratio[1]}.items():
        check_positive(value, name)
    check_value(max_attempts, (1, FLOAT_MAX_INTEGER))
    return size


def mean_and_std(mean, std, interval):
    """As many means as standard deviations, of values within `interval`."""
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    for middle, deviation in zip(mean, std, strict=True):
        check_value(middle, interval, "mean_value")
        check_value_normalize_std(deviation, interval, "std_value")


def factor_range(value, name, center=1, bound=(0, FLOAT_MAX_INTEGER)):
    """(least, greatest) of a factor given as a distance from `center` or as a range."""
    type_check(value, (numbers.Number, list, tuple), name)
    limits = value
    if isinstance(value, numbers.Number):
        limits = max(bound[0], center - value), center + value
        if value < 0:
            raise ValueError(f"The input value of {name} cannot be negative.")
    if len(limits) != 2:
        raise TypeError(f"If {name} is a sequence, the length must be 2, but got {len(limits)}.")
    check_range(limits, bound)
    return tuple(limits)


def affine_arguments(degrees, translate, scale, shear):
    """(degrees, (x, X, y, Y) translation, scale, (x, X, y, Y) shear) with defaults put in."""
    moves = "translate should be a list or tuple of length 2 or 4."
    return (
        degrees_range(degrees),
        _both_axes(() if translate is None else shares(translate, (2, 4), moves)),
        (1.0, 1.0) if scale is None else _scaling(scale),
        _both_axes(() if shear is None else _shearing(shear)),
    )


def _both_axes(values):
    """(x, X, y, Y) of no range, of one along x, or of one along each axis."""
    return (*values, 0.0, 0.0, 0.0, 0.0)[:4]


def shares(translate, lengths, length_error):
    """Moves as shares of an image's sides."""
    type_check_list(translate, _NUMBER, "translate")
    if len(translate) not in lengths:
        raise TypeError(length_error)
    for i, share in enumerate(translate):
        check_value(share, (-1.0, 1.0), f"translate at {i}")
    return translate


def _scaling(scale):
    """(least, greatest) factor."""
    type_check_list(scale, _NUMBER, "scale")
    if len(scale) != 2:
        raise TypeError("scale should be a list or tuple of length 2.")
    if scale[1] < scale[0]:
        raise ValueError("Input scale[1] must be equal to or greater than scale[0].")
    check_range(scale, (0, FLOAT_MAX_INTEGER))
    check_positive(scale[1], "scale[1]")
    return tuple(scale)


def _shearing(shear):
    """Ranges of angles; a number d stands for (-d, d) along x."""
    if isinstance(shear, numbers.Number):
        check_positive(shear, "shear")
        return -shear, shear
    type_check(shear, (numbers.Number, tuple, list), "shear")
    type_check_list(shear, _NUMBER, "shear")
    if len(shear) not in (2, 4):
        raise TypeError("shear must be of length 2 or 4.")
    x, wider_x, y, wider_y = _both_axes(shear)
    if x > wider_x or y > wider_y:
        raise ValueError(
            "Input shear[1] must be equal to or greater than shear[0] and shear[3] must be equal to or greater than "
            f"shear[2], but got {tuple(shear)}."
        )
    return shear
