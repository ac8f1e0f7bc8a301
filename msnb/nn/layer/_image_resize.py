"""Layers that pad and resize images, and extract patches."""

from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Bool, Each, Kind, OneOf, PositiveInt, check, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["Pad", "ResizeBilinear", "Unfold"]


def _check_padding_pairs(value):
    if not isinstance(value, tuple):
        raise TypeError
    if len(value) > 4 or any(len(pair) != 2 for pair in value):
        raise ValueError
    return value


class Pad(Cell):
    """
    Pad a Tensor at both ends of each axis.

    Args:
        paddings (tuple): Widths of the padding: a pair (before, after) for each axis. At most 4 axes are supported.
        mode (str): Content of the padding: "CONSTANT" zeros, "REFLECT" the mirror image without its border,
            "SYMMETRIC" the full mirror image. Default: "CONSTANT".

    Inputs:
        - **x** (Tensor) - with as many axes as there are pairs.

    Outputs:
        The padded Tensor.

    Raises:
        TypeError: If `paddings` is no tuple.
        ValueError: If an entry is no pair, there are more than 4 pairs, or `mode` is unknown.

    Examples:
        >>> print(nn.Pad(((0, 1), (1, 0)))(Tensor([[1.0, 2.0]], mindspore.float32)))
        [[0. 1. 2.]
         [0. 0. 0.]]
    """

    @checked
    def __init__(
        self,
        paddings: Annotated[tuple[tuple[int, int], ...], Kind("a tuple of at most four pairs", _check_padding_pairs)],
        mode: Annotated[str, OneOf("CONSTANT", "REFLECT", "SYMMETRIC")] = "CONSTANT",
    ) -> None:
        super().__init__()
        self.mode: str = mode
        self.paddings: Any = paddings
        if mode == "CONSTANT":
            self.pad: P.MirrorPad = P.Pad(paddings)
        else:
            self.pad = P.MirrorPad(mode)
            self.paddings = Tensor(np.array(paddings))

    def construct(self, x: Tensor) -> Tensor:
        """Return the padded Tensor."""
        return self.pad(x) if self.mode == "CONSTANT" else self.pad(x, self.paddings)


_SIZE = Each(PositiveInt, 2)


class ResizeBilinear(Cell):
    """
    Resize images by bilinear interpolation.

    Inputs:
        - **x** (Tensor) - float16 or float32, of shape (N, C, H, W).
        - **size** (Union[tuple[int], list[int]]) - the new height and width. Default: None.
        - **scale_factor** (int) - the factor of both sizes, instead of `size`. Default: None.
        - **align_corners** (bool) - whether corner pixels keep their positions. Default: False.

    Outputs:
        Tensor of shape (N, C, new height, new width).

    Raises:
        TypeError: If `align_corners` is no bool, or a number is no int.
        ValueError: If not exactly one of `size` and `scale_factor` is given, or a number is less than 1.

    Examples:
        >>> print(nn.ResizeBilinear()(Tensor([[[[1.0, 3.0]]]], mindspore.float32), size=(1, 4)))
        [[[[1. 2. 3. 3.]]]]
    """

    def construct(
        self,
        x: Tensor,
        size: tuple[int, int] | list[int] | None = None,
        scale_factor: int | None = None,
        align_corners: bool = False,
    ) -> Tensor:
        """Return the resized images."""
        name = self.cls_name
        check(Bool, align_corners, "align_corners", name)
        if (size is None) == (scale_factor is None):
            problem = "size and scale both none" if size is None else "size and scale both not none"
            raise ValueError(f"For '{name}', {problem}; give one of 'size' and 'scale_factor'.")
        if size is None:
            factor = check(PositiveInt, scale_factor, "scale_factor", name)
            size = factor * x.shape[2], factor * x.shape[3]
        elif not isinstance(size, (tuple, list)):
            raise ValueError(f"For '{name}', 'size' must be tuple or list, but got {size!r}.")
        return P.ResizeBilinear(check(_SIZE, size, "size", name), align_corners)(x)


def _accept_patch_size(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) != 4 or value[0] != 1 or value[3] != 1:
        raise ValueError
    if not all(isinstance(size, int) and size >= 1 for size in value[1:3]):
        raise ValueError
    return tuple(value[1:3])


Rows = Annotated[tuple[int, ...] | list[int], Kind("(1, rows, columns, 1) with positive ints", _accept_patch_size)]


class Unfold(Cell):
    """
    Extract patches of images. The values of a patch are on the channel axis: pixel after pixel, each with all
    channels.

    Args:
        ksizes (Union[tuple[int], list[int]]): Height and width of a patch, as (1, rows, columns, 1).
        strides (Union[tuple[int], list[int]]): Distance between patches, as (1, rows, columns, 1).
        rates (Union[tuple[int], list[int]]): Distance between pixels of a patch, as (1, rows, columns, 1).
        padding (str): "same" pads the image with zeros, "valid" takes only patches inside the image. Default: "valid".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, rows * columns * C, H_out, W_out).

    Raises:
        TypeError: If a size is neither a tuple nor a list, or `padding` is no string.
        ValueError: If a size is not of that form, `padding` is unknown, or the input has a wrong number of dimensions.

    Examples:
        >>> net = nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])
        >>> print(net(Tensor(np.ones((2, 3, 6, 6)), mindspore.float32)).shape)
        (2, 12, 3, 3)
    """

    @checked
    def __init__(
        self,
        ksizes: Rows,
        strides: Rows,
        rates: Rows,
        padding: Annotated[str, OneOf("VALID", "SAME", fold=True)] = "VALID",
    ) -> None:
        super().__init__()
        self.ksizes = ksizes
        self.strides = strides
        self.rates = rates
        self.padding: str = padding
        self.concat: P.Concat = P.Concat(1)

    def construct(self, input_x: Tensor) -> Tensor:
        """Return the patches."""
        check_dims(self.cls_name, input_x, 4)
        reach = [(size - 1) * rate + 1 for size, rate in zip(self.ksizes, self.rates, strict=True)]
        if self.padding == "SAME":
            input_x = P.Pad(self._compute_same_padding(input_x.shape[2:], reach))(input_x)
        height, width = (size - far + 1 for size, far in zip(input_x.shape[2:], reach, strict=True))
        (down, right), (row_rate, column_rate) = self.strides, self.rates
        shifted = [
            input_x[:, :, top : top + height : down, left : left + width : right]
            for top in range(0, reach[0], row_rate)
            for left in range(0, reach[1], column_rate)
        ]
        return self.concat(tuple(shifted))

    def _compute_same_padding(self, sizes, reach):
        margin = [(0, 0), (0, 0)]
        for size, step, far in zip(sizes, self.strides, reach, strict=True):
            missing = max((size - 1) // step * step + far - size, 0)
            margin.append((missing // 2, missing - missing // 2))
        return tuple(margin)
