"""Basic layers that pad, resize and cut images."""

import numpy as np

from msnb._checkparam import Rel, Validator
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["Pad", "ResizeBilinear", "Unfold"]


class Pad(Cell):
    """
    Pad each axis at both ends.

    Args:
        paddings (tuple): One (before, after) per axis, for at most 4 axes.
        mode (str): "CONSTANT" (zeros), "REFLECT" (mirror without the border) or "SYMMETRIC" (with it).
            Default: "CONSTANT".

    Inputs:
        - **x** (Tensor) - of as many axes as `paddings` has pairs.

    Outputs:
        Tensor, larger by the paddings.

    Raises:
        TypeError: If `paddings` is not a tuple.
        ValueError: If `paddings` has more than 4 items or one that is not a pair, or `mode` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> pad = nn.Pad(paddings=((1, 1), (2, 2)), mode="CONSTANT")
        >>> output = pad(Tensor(np.ones((2, 3)), mindspore.float32))
        >>> print(output.shape)
        (4, 7)
    """

    def __init__(self, paddings, mode="CONSTANT"):
        super().__init__()
        self.mode = Validator.check_string(mode, ["CONSTANT", "REFLECT", "SYMMETRIC"], "mode", self.cls_name)
        if not isinstance(paddings, tuple):
            raise TypeError(f"For 'Pad', 'paddings' must be tuple type, but got {type(paddings).__name__}.")
        for item in paddings:
            if len(item) != 2:
                raise ValueError(f"For 'Pad', the shape of 'paddings' must be (n, 2), but got {paddings}.")
        if len(paddings) > 4:
            raise ValueError(f"For 'Pad', only padding up to 4 dims is supported, but got {len(paddings)}.")
        self.paddings = paddings if mode == "CONSTANT" else Tensor(np.array(paddings))
        self.pad = P.Pad(paddings) if mode == "CONSTANT" else P.MirrorPad(mode=mode)

    def construct(self, x):
        if self.mode == "CONSTANT":
            return self.pad(x)
        return self.pad(x, self.paddings)


class ResizeBilinear(Cell):
    """
    Resize images by bilinear interpolation.

    Inputs:
        - **x** (Tensor) - float16 or float32, of shape (N, C, H, W).
        - **size** (Union[tuple[int], list[int]]) - the new (height, width). Default: None.
        - **scale_factor** (int) - the factor of both sizes, instead of `size`. Default: None.
        - **align_corners** (bool) - whether the corners of input and output coincide. Default: False.

    Outputs:
        Tensor of shape (N, C, new height, new width).

    Raises:
        TypeError: If `align_corners` is not a bool, or a size or `scale_factor` not an int.
        ValueError: If both or none of `size` and `scale_factor` are given, or one is less than 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> resize = nn.ResizeBilinear()
        >>> output = resize(Tensor([[[[1, 2, 3, 4], [5, 6, 7, 8]]]], mindspore.float32), size=(5, 5))
        >>> print(output.shape)
        (1, 1, 5, 5)
    """

    def _new_size(self, shape, size, scale_factor, align_corners):
        if not isinstance(align_corners, bool):
            raise TypeError(f"For 'ResizeBilinear', 'align_corners' should be bool, but got {align_corners!r}.")
        if size is None and scale_factor is None:
            raise ValueError("For 'ResizeBilinear', size and scale both none; give one of 'size' and 'scale_factor'.")
        if size is not None and scale_factor is not None:
            raise ValueError(
                "For 'ResizeBilinear', size and scale both not none; give one of 'size' and 'scale_factor', "
                f"not {size} and {scale_factor}."
            )
        if size is None:
            Validator.check_int(scale_factor, 1, Rel.GE, "scale factor", self.cls_name)
            return scale_factor * shape[2], scale_factor * shape[3]
        if not isinstance(size, (tuple, list)):
            raise ValueError(f"For 'ResizeBilinear', 'size' must be tuple or list, but got {size!r}.")
        Validator.check_int(len(size), 2, Rel.EQ, "size", self.cls_name)
        for i, item in enumerate(size):
            Validator.check_int(item, 1, Rel.GE, f"size[{i}]", self.cls_name)
        return tuple(size)

    def construct(self, x, size=None, scale_factor=None, align_corners=False):
        return P.ResizeBilinear(self._new_size(x.shape, size, scale_factor, align_corners), align_corners)(x)


class Unfold(Cell):
    """
    Cut images into patches; the values of a patch stand along the channel axis: rows, then columns, then channels.

    Args:
        ksizes (Union[tuple[int], list[int]]): The patch, as (1, rows, columns, 1).
        strides (Union[tuple[int], list[int]]): The distance between patches, as (1, rows, columns, 1).
        rates (Union[tuple[int], list[int]]): The distance between the values of a patch, as (1, rows, columns, 1).
        padding (str): "same" (patches may reach into zeros around the image) or "valid". Default: "valid".

    Inputs:
        - **input_x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, rows * columns * C, H_out, W_out).

    Raises:
        TypeError: If `ksizes`, `strides` or `rates` is neither a tuple nor a list.
        ValueError: If one of them is not of the form (1, positive int, positive int, 1), or `padding` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Unfold(ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 2, 2, 1])
        >>> output = net(Tensor(np.ones([2, 3, 6, 6]), mindspore.float16))
        >>> print(output.shape)
        (2, 12, 2, 2)
    """

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        self.ksizes = self._rows_and_columns("ksizes", ksizes)
        self.strides = self._rows_and_columns("strides", strides)
        self.rates = self._rows_and_columns("rates", rates)
        Validator.check_value_type("padding", padding, [str], self.cls_name)
        self.padding = Validator.check_string(padding.upper(), ["VALID", "SAME"], "padding", self.cls_name)
        self.concat = P.Concat(1)

    def _rows_and_columns(self, name, value):
        Validator.check_value_type(name, value, [tuple, list], self.cls_name)
        if len(value) != 4 or value[0] != 1 or value[3] != 1:
            raise ValueError(f"For 'Unfold', '{name}' should be of the form [1, rows, columns, 1], but got {value}.")
        if not all(isinstance(item, int) and item >= 1 for item in value[1:3]):
            raise ValueError(f"For 'Unfold', rows and columns of '{name}' should be positive ints, but got {value}.")
        return tuple(value[1:3])

    def construct(self, input_x):
        if input_x.ndim != 4:
            raise ValueError(f"For 'Unfold', the input should be 4d, but got shape {input_x.shape}.")
        reach = [(k - 1) * rate + 1 for k, rate in zip(self.ksizes, self.rates, strict=True)]
        if self.padding == "SAME":
            pads = []
            for size, step, extent in zip(input_x.shape[2:], self.strides, reach, strict=True):
                missing = max((-(-size // step) - 1) * step + extent - size, 0)
                pads.append((missing // 2, missing - missing // 2))
            input_x = P.Pad(((0, 0), (0, 0), *pads))(input_x)
        (rows, columns), (down, right), (row_rate, column_rate) = self.ksizes, self.strides, self.rates
        height, width = (size - extent + 1 for size, extent in zip(input_x.shape[2:], reach, strict=True))
        return self.concat(
            tuple(
                input_x[:, :, top : top + height : down, left : left + width : right]
                for top in range(0, rows * row_rate, row_rate)
                for left in range(0, columns * column_rate, column_rate)
            )
        )
