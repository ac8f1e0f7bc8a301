"""Kinds of arguments that several vision transforms share. A kind checks a value and returns its normal form."""

import math
import numbers
from typing import Annotated, Any

from msnb.common.kinds import Worded, kind_of
from msnb.dataset.core.kinds import FLOAT_MAX_INTEGER, INT32_MAX, increasing, list_of, of_type, positive, within
from msnb.dataset.vision.utils import Border, Inter

_SIZE_ERROR = "Size should be a single integer or a list/tuple (h, w) of length 2."
_NUMBERS = list_of(int, float)
_FACTOR_RANGE = increasing(0, FLOAT_MAX_INTEGER)


def validates_only(annotation):
    """Return a kind that runs the check of `annotation` but returns the value unchanged.

    It is for functions that normalise the value themselves.
    """
    kind = kind_of(annotation)

    def check_value(value, name):
        kind(value, name)
        return value

    return Worded(kind.expects, check_value)


def _check_height_width(size, highest, side_name=""):
    """Return (height, width) of a sequence. `side_name` is the format string that names an invalid side."""
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TypeError(_SIZE_ERROR)
    for i, side in enumerate(size):
        of_type(int)(side, side_name.format(i) or "size")
        within(1, highest)(side, side_name.format(i))
    return tuple(size)


def _check_crop_size(size, name):
    of_type(int, list, tuple)(size, name)
    return _check_height_width((size, size) if isinstance(size, int) else size, FLOAT_MAX_INTEGER)


def _check_resize_size(size, name):
    if isinstance(size, int) and not isinstance(size, bool):
        return _check_crop_size(size, name)[0], 0
    return _check_height_width(size, INT32_MAX, "size at dim {}")


def resize_height_width(size):
    """Return (height, width) to resize to. Width 0 means that `size` is the length of the shorter side."""
    return (size, 0) if isinstance(size, int) else tuple(size)


def _check_fill_value(fill, name):
    is_integer = isinstance(fill, int) and not isinstance(fill, bool)
    if not is_integer and not (isinstance(fill, tuple) and len(fill) == 3):
        raise TypeError(f"{name} should be a single integer or a 3-tuple, but got {fill!r}.")
    for value in to_channel_values(fill):
        within(0, 255)(of_type(int)(value, name), "")
    return fill


def to_channel_values(fill_value):
    """Return a fill value per channel, from one value or three."""
    return fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * 3


def parse_padding(padding: Any) -> tuple[Any, ...]:
    """Return (left, top, right, bottom) from one, two or four numbers."""
    sides = (padding,) * 4 if isinstance(padding, numbers.Number) else tuple(padding)
    return sides * 2 if len(sides) == 2 else sides


def _check_padding_sides(padding, name):
    is_number = isinstance(of_type(tuple, list, numbers.Number)(padding, name), numbers.Number)
    sides = parse_padding(padding)
    if len(sides) != 4:
        raise ValueError(f"The size of the padding list or tuple should be 2 or 4, but got {len(sides)}.")
    for i, side in enumerate(sides):
        of_type(int)(side, name if is_number else f"{name}[{i}]")
        within(0, INT32_MAX)(side, name if is_number else "pad_value")
    return sides


def check_order(pair, name):
    """Return (minimum, maximum) as a tuple. Raise ValueError if they are in the wrong order."""
    least, greatest = pair
    if least > greatest:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")
    return least, greatest


def check_two_within(low, high, pair, length_error):
    """Check that `pair` is two numbers from `low` to `high`, and return it."""
    if len(pair) != 2:
        raise length_error
    for value in pair:
        within(low, high)(value, "")
    return pair


def degrees_range(degrees, name="degrees"):
    """Return (minimum, maximum) of an angle. A number d means (-d, d)."""
    if isinstance(degrees, numbers.Number):
        within(0, math.inf)(degrees, name)
        return -degrees, degrees
    of_type(numbers.Number, list, tuple)(degrees, name)
    list_of(numbers.Number)(degrees, name)
    length = TypeError(f"If {name} is a sequence, the length must be 2.")
    return check_order(check_two_within(-math.inf, math.inf, degrees, length), name)


def _check_two_tuple(value, name):
    if isinstance(value, tuple) and len(value) == 2:
        return value
    raise ValueError(f"Value {name} needs to be a 2-tuple.")


two_tuple = Worded("a tuple of two", _check_two_tuple)


def _check_degrees_range(degrees, name):
    if not isinstance(degrees, list | tuple):
        raise TypeError(f"{name} must be either a tuple or a list.")
    length = ValueError(f"{name} must be a sequence with length 2.")
    return check_order(check_two_within(0, FLOAT_MAX_INTEGER, _NUMBERS(degrees, name), length), name)


def _check_min_max_tuple(pair, name):
    list_of(float, int)(of_type(tuple)(pair, name), name)
    if len(pair) != 2:
        raise TypeError(f"{name} should be a tuple (min, max) of length 2, but got {pair}.")
    return _FACTOR_RANGE(check_order(pair, name), "")


def _check_area_range(pair, name):
    positive(_check_min_max_tuple(pair, name)[1], f"{name}[1]")
    return pair


def _check_aspect_range(pair, name):
    positive(_check_min_max_tuple(pair, name)[0], f"{name}[0]")
    return pair


def factor_range(value, name, center=1, bound=(0, FLOAT_MAX_INTEGER)):
    """Return (minimum, maximum) of a factor, from a pair or from its maximum distance from `center`."""
    limits = of_type(numbers.Number, list, tuple)(value, name)
    if isinstance(value, numbers.Number):
        limits = max(bound[0], center - value), center + value
        if value < 0:
            raise ValueError(f"The input value of {name} cannot be negative.")
    if len(limits) != 2:
        raise TypeError(f"If {name} is a sequence, the length must be 2, but got {len(limits)}.")
    return tuple(increasing(*bound)(limits, ""))


def hue_range(value, name):
    """Return (minimum, maximum) of the hue shift, as a fraction of the colour circle."""
    return factor_range(value, name, 0, (-0.5, 0.5))


def ranges_of_axes(values):
    """Return (x_min, x_max, y_min, y_max) from None, a range along x, or a range along each axis."""
    return (*(values or ()), 0.0, 0.0, 0.0, 0.0)[:4]


def _make_translation_kind(*lengths):
    def check_moves(moves, name):
        if len(_NUMBERS(moves, name)) not in lengths:
            raise TypeError(
                f"The length of {name} should be 2."
                if lengths == (2,)
                else f"{name} should be a list or tuple of length {' or '.join(map(str, lengths))}."
            )
        for i, share in enumerate(moves):
            within(-1.0, 1.0)(share, f"{name} at {i}")
        return moves

    return Worded("moves as shares of an image's sides", check_moves)


def _check_scale_range(scale, name):
    if len(_NUMBERS(scale, name)) != 2:
        raise TypeError(f"{name} should be a list or tuple of length 2.")
    if scale[1] < scale[0]:
        raise ValueError(f"Input {name}[1] must be equal to or greater than {name}[0].")
    positive(_FACTOR_RANGE(scale, "")[1], f"{name}[1]")
    return tuple(scale)


def _check_shear_ranges(shear, name):
    if isinstance(shear, numbers.Number):
        positive(shear, name)
        return -shear, shear
    of_type(numbers.Number, tuple, list)(shear, name)
    if len(_NUMBERS(shear, name)) not in (2, 4):
        raise TypeError(f"{name} must be of length 2 or 4.")
    x, x_max, y, y_max = ranges_of_axes(shear)
    if x > x_max or y > y_max:
        raise ValueError(
            f"Input {name}[1] must be equal to or greater than {name}[0] and {name}[3] must be equal to or greater "
            f"than {name}[2], but got {tuple(shear)}."
        )
    return shear


def check_statistics(mean, std, low, high):
    """Check that there are as many means as standard deviations, and that all are in range."""
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    for middle, deviation in zip(mean, std, strict=True):
        within(low, high)(middle, "mean_value")
        within(low, high, low_in=False)(deviation, "std_value")


Pair = tuple[float, float] | list[float]
Interpolation = Annotated[Inter, of_type(Inter)]
BorderMode = Annotated[Border, of_type(Border)]
CropSize = Annotated[int | tuple[int, int] | list[int], Worded("a size or (height, width)", _check_crop_size)]
ResizeSize = Annotated[int | tuple[int, int] | list[int], Worded("a size or (height, width)", _check_resize_size)]
Probability = Annotated[float, within(0.0, 1.0, float, int)]
FillValue = Annotated[int | tuple[int, int, int], Worded("one or three values from 0 to 255", _check_fill_value)]
Sides = Annotated[int | tuple[int, ...] | list[int], Worded("one, two or four widths", _check_padding_sides)]
Degrees = Annotated[float | Pair, Worded("an angle or two", degrees_range)]
Strength = Annotated[Pair, Worded("two numbers from 0 on", _check_degrees_range)]
Area = Annotated[tuple[float, float], Worded("least and greatest share of the area", _check_area_range)]
Aspect = Annotated[tuple[float, float], Worded("least and greatest width by height", _check_aspect_range)]
AnyArea = Annotated[
    Pair, Worded("least and greatest share of the area", lambda v, name: _check_area_range(tuple(v), name))
]
AnyAspect = Annotated[
    Pair, Worded("least and greatest width by height", lambda v, name: _check_aspect_range(tuple(v), name))
]
Factor = Annotated[float | Pair, Worded("a distance from 1 or a range", factor_range)]
Hue = Annotated[float | Pair, Worded("a distance from 0 or a range", hue_range)]
Moves = Annotated[Pair, _make_translation_kind(2, 4)]
Translation = Annotated[Pair, _make_translation_kind(2)]
Scaling = Annotated[Pair, Worded("least and greatest factor", _check_scale_range)]
Shear = Annotated[float | Pair, Worded("an angle, two or four", _check_shear_ranges)]
Attempts = Annotated[int, Worded("a positive number", lambda value, name: within(1, FLOAT_MAX_INTEGER)(value, ""))]
PositiveInt24 = Annotated[int, within(1, FLOAT_MAX_INTEGER, int)]
