"""What arguments of several vision transforms may be. A Kind gives the normal form that a transform keeps."""

import math
import numbers
from typing import Annotated, Any

from msnb.common.kinds import Worded, kind_of
from msnb.dataset.core.kinds import FLOAT_MAX_INTEGER, INT32_MAX, increasing, list_of, of_type, positive, within
from msnb.dataset.vision.utils import Border, Inter

_SIZE = "Size should be a single integer or a list/tuple (h, w) of length 2."
_numbers = list_of(int, float)
_factor = increasing(0, FLOAT_MAX_INTEGER)


def as_given(annotation):
    """The same check, which gives the value back as it is: PIL's functions bring it to a form of their own."""
    kind = kind_of(annotation)

    def judge(value, name):
        kind(value, name)
        return value

    return Worded(kind.expects, judge)


def _height_width(size, highest, where=""):
    """(height, width) of a sequence; `where` names the side at fault."""
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TypeError(_SIZE)
    for i, side in enumerate(size):
        of_type(int)(side, where.format(i) or "size")
        within(1, highest)(side, where.format(i))
    return tuple(size)


def _crop_size(size, name):
    of_type(int, list, tuple)(size, name)
    return _height_width((size, size) if isinstance(size, int) else size, FLOAT_MAX_INTEGER)


def _resize_size(size, name):
    if isinstance(size, int) and not isinstance(size, bool):
        return _crop_size(size, name)[0], 0
    return _height_width(size, INT32_MAX, "size at dim {}")


def height_width(size):
    """(height, width) to resize to; the width is 0 when only the shorter side is given."""
    return (size, 0) if isinstance(size, int) else tuple(size)


def _fill_value(fill, name):
    whole = isinstance(fill, int) and not isinstance(fill, bool)
    if not whole and not (isinstance(fill, tuple) and len(fill) == 3):
        raise TypeError(f"{name} should be a single integer or a 3-tuple, but got {fill!r}.")
    for value in triple(fill):
        within(0, 255)(of_type(int)(value, name), "")
    return fill


def triple(fill_value):
    """Three values of one, or of three."""
    return fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * 3


def parse_padding(padding: Any) -> tuple[Any, ...]:
    """(left, top, right, bottom) of one, two or four numbers."""
    sides = (padding,) * 4 if isinstance(padding, numbers.Number) else tuple(padding)
    return sides * 2 if len(sides) == 2 else sides


def _sides(padding, name):
    alone = isinstance(of_type(tuple, list, numbers.Number)(padding, name), numbers.Number)
    sides = parse_padding(padding)
    if len(sides) != 4:
        raise ValueError(f"The size of the padding list or tuple should be 2 or 4, but got {len(sides)}.")
    for i, side in enumerate(sides):
        of_type(int)(side, name if alone else f"{name}[{i}]")
        within(0, INT32_MAX)(side, name if alone else "pad_value")
    return sides


def ordered(pair, name):
    """(least, greatest) as a tuple."""
    least, greatest = pair
    if least > greatest:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")
    return least, greatest


def two_within(low, high, pair, length_error):
    """A sequence of two numbers within an interval."""
    if len(pair) != 2:
        raise length_error
    for value in pair:
        within(low, high)(value, "")
    return pair


def degrees_range(degrees, name="degrees"):
    """(least, greatest) angle."""
    if isinstance(degrees, numbers.Number):
        within(0, math.inf)(degrees, name)
        return -degrees, degrees
    of_type(numbers.Number, list, tuple)(degrees, name)
    list_of(numbers.Number)(degrees, name)
    length = TypeError(f"If {name} is a sequence, the length must be 2.")
    return ordered(two_within(-math.inf, math.inf, degrees, length), name)


def _pair(value, name):
    if isinstance(value, tuple) and len(value) == 2:
        return value
    raise ValueError(f"Value {name} needs to be a 2-tuple.")


pair = Worded("a tuple of two", _pair)


def _strength(degrees, name):
    if not isinstance(degrees, list | tuple):
        raise TypeError(f"{name} must be either a tuple or a list.")
    length = ValueError(f"{name} must be a sequence with length 2.")
    return ordered(two_within(0, FLOAT_MAX_INTEGER, _numbers(degrees, name), length), name)


def _share_range(pair, name):
    list_of(float, int)(of_type(tuple)(pair, name), name)
    if len(pair) != 2:
        raise TypeError(f"{name} should be a tuple (min, max) of length 2, but got {pair}.")
    return _factor(ordered(pair, name), "")


def _area(pair, name):
    positive(_share_range(pair, name)[1], f"{name}[1]")
    return pair


def _aspect(pair, name):
    positive(_share_range(pair, name)[0], f"{name}[0]")
    return pair


def factor_range(value, name, center=1, bound=(0, FLOAT_MAX_INTEGER)):
    """(least, greatest) of a factor given as a distance from `center` or as a range."""
    limits = of_type(numbers.Number, list, tuple)(value, name)
    if isinstance(value, numbers.Number):
        limits = max(bound[0], center - value), center + value
        if value < 0:
            raise ValueError(f"The input value of {name} cannot be negative.")
    if len(limits) != 2:
        raise TypeError(f"If {name} is a sequence, the length must be 2, but got {len(limits)}.")
    return tuple(increasing(*bound)(limits, ""))


def hue_range(value, name):
    """(least, greatest) turn of the colours, as a share of the circle."""
    return factor_range(value, name, 0, (-0.5, 0.5))


def both_axes(values):
    """(x, X, y, Y) of no range, of one along x, or of one along each axis."""
    return (*(values or ()), 0.0, 0.0, 0.0, 0.0)[:4]


def _moves(*lengths):
    def judge(moves, name):
        if len(_numbers(moves, name)) not in lengths:
            raise TypeError(
                f"The length of {name} should be 2."
                if lengths == (2,)
                else f"{name} should be a list or tuple of length {' or '.join(map(str, lengths))}."
            )
        for i, share in enumerate(moves):
            within(-1.0, 1.0)(share, f"{name} at {i}")
        return moves

    return Worded("moves as shares of an image's sides", judge)


def _scaling(scale, name):
    if len(_numbers(scale, name)) != 2:
        raise TypeError(f"{name} should be a list or tuple of length 2.")
    if scale[1] < scale[0]:
        raise ValueError(f"Input {name}[1] must be equal to or greater than {name}[0].")
    positive(_factor(scale, "")[1], f"{name}[1]")
    return tuple(scale)


def _shear(shear, name):
    if isinstance(shear, numbers.Number):
        positive(shear, name)
        return -shear, shear
    of_type(numbers.Number, tuple, list)(shear, name)
    if len(_numbers(shear, name)) not in (2, 4):
        raise TypeError(f"{name} must be of length 2 or 4.")
    x, wider_x, y, wider_y = both_axes(shear)
    if x > wider_x or y > wider_y:
        raise ValueError(
            f"Input {name}[1] must be equal to or greater than {name}[0] and {name}[3] must be equal to or greater "
            f"than {name}[2], but got {tuple(shear)}."
        )
    return shear


def check_statistics(mean, std, low, high):
    """As many means as standard deviations, of values within an interval."""
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    for middle, deviation in zip(mean, std, strict=True):
        within(low, high)(middle, "mean_value")
        within(low, high, low_in=False)(deviation, "std_value")


Pair = tuple[float, float] | list[float]
Interpolation = Annotated[Inter, of_type(Inter)]
BorderMode = Annotated[Border, of_type(Border)]
CropSize = Annotated[int | tuple[int, int] | list[int], Worded("a size or (height, width)", _crop_size)]
ResizeSize = Annotated[int | tuple[int, int] | list[int], Worded("a size or (height, width)", _resize_size)]
Probability = Annotated[float, within(0.0, 1.0, float, int)]
FillValue = Annotated[int | tuple[int, int, int], Worded("one or three values from 0 to 255", _fill_value)]
Sides = Annotated[int | tuple[int, ...] | list[int], Worded("one, two or four widths", _sides)]
Degrees = Annotated[float | Pair, Worded("an angle or two", degrees_range)]
Strength = Annotated[Pair, Worded("two numbers from 0 on", _strength)]
Area = Annotated[tuple[float, float], Worded("least and greatest share of the area", _area)]
Aspect = Annotated[tuple[float, float], Worded("least and greatest width by height", _aspect)]
AnyArea = Annotated[Pair, Worded("least and greatest share of the area", lambda v, name: _area(tuple(v), name))]
AnyAspect = Annotated[Pair, Worded("least and greatest width by height", lambda v, name: _aspect(tuple(v), name))]
Factor = Annotated[float | Pair, Worded("a distance from 1 or a range", factor_range)]
Hue = Annotated[float | Pair, Worded("a distance from 0 or a range", hue_range)]
Moves = Annotated[Pair, _moves(2, 4)]
Translation = Annotated[Pair, _moves(2)]
Scaling = Annotated[Pair, Worded("least and greatest factor", _scaling)]
Shear = Annotated[float | Pair, Worded("an angle, two or four", _shear)]
Attempts = Annotated[int, Worded("a positive number", lambda value, name: within(1, FLOAT_MAX_INTEGER)(value, ""))]
PositiveInt24 = Annotated[int, within(1, FLOAT_MAX_INTEGER, int)]
