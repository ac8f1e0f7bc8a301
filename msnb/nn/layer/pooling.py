"""Pooling layers. The adaptive ones are re-exported."""

from typing import Annotated, Any

from msnb.common.kinds import Bool, Kind, NonNegInt, PositiveInt, checked
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Divisor, Layout, PoolMode, TwoOffsets, TwoSizes
from msnb.nn.cell import Cell
from msnb.nn.layer._one_operator import OneOperator
from msnb.nn.layer._pool.adaptive_pool import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
)
from msnb.nn.layer._pool.fractional_pool import FractionalMaxPool2d, FractionalMaxPool3d
from msnb.nn.layer._pool.lp_pool import LPPool1d, LPPool2d
from msnb.nn.layer._pool.max_unpool import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
from msnb.nn.layer._pool.pool3d import AvgPool3d, MaxPool3d
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.nn.pool.avg_pool import AvgPool2D
from msnb.ops.nn.pool.max_pool import MaxPoolWithArgmaxV2, _MaxPool2D

__all__ = [
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "MaxPool2d",
    "AvgPool1d",
    "MaxPool1d",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
]


def _check_window(value):
    if not isinstance(value, (int, tuple)):
        raise TypeError
    sizes = value if isinstance(value, tuple) else (value, value)
    if len(sizes) != 2 or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ValueError
    return value


Window = Annotated[int | tuple[int, int], Kind("a positive int or a tuple of two", _check_window)]


_BEHIND = "'padding' and what follows it are taken by position, and 'data_format' comes last"


class _Pool2d(OneOperator):
    """Base class of 2-D pooling. Keyword-only arguments are MindSpore 2's. Those that are not named in `_of_every_mode`
    need `pad_mode` "pad".
    """

    _of_every_mode = frozenset()

    def __init__(self) -> None:
        Cell.__init__(self)  # OneOperator.__init__ is skipped: `_set_window` creates the operator

    def _set_window(
        self, kernel_size: Any, stride: Any, pad_mode: str, data_format: str = "NCHW", **further: Any
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.pad_mode = pad_mode
        self.format = data_format
        if pad_mode == "PAD":
            if data_format != "NCHW":
                raise ValueError(f"For '{self.cls_name}', 'pad_mode' \"pad\" needs 'data_format' \"NCHW\".")
            self._set_operator(self._create_padded_operator(kernel_size, stride, **further))
            return
        unusual = {
            name: value for name, value in further.items() if value not in (usual := self._usual[name], (usual, usual))
        }
        if unusual and unusual.keys() <= self._of_every_mode and data_format == "NCHW":
            self._set_operator(self._create_counted_operator(kernel_size, stride, pad_mode, **further))
            return
        if unusual:
            name, value = next(iter(unusual.items()))
            raise ValueError(
                f"For '{self.cls_name}', '{name}' needs 'pad_mode' \"pad\", but got {value!r} with "
                f'"{pad_mode.lower()}".'
            )
        self._set_operator(self._operator(kernel_size, stride, pad_mode, data_format))

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled images."""
        if x.ndim != 3:
            return super().construct(x)
        outputs = super().construct(F.expand_dims(x, 0))
        return tuple(part[0] for part in outputs) if isinstance(outputs, tuple) else outputs[0]

    def extend_repr(self) -> str:
        """Return window and stride for `repr`."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool2d, operator=P.MaxPool, attribute_name="max_pool"):
    _usual = {"padding": 0, "dilation": 1, "return_indices": False, "ceil_mode": False}

    def _create_padded_operator(self, kernel_size, stride, padding, dilation, return_indices, ceil_mode):
        operator = MaxPoolWithArgmaxV2 if return_indices else _MaxPool2D
        return operator(kernel_size, stride, padding, dilation, ceil_mode)


class _AvgPool(_Pool2d, operator=P.AvgPool, attribute_name="avg_pool"):
    _usual = {"padding": 0, "ceil_mode": False, "count_include_pad": True, "divisor_override": None}
    _of_every_mode = frozenset(("ceil_mode", "count_include_pad", "divisor_override"))

    def _create_padded_operator(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return AvgPool2D(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)

    def _create_counted_operator(self, kernel_size, stride, pad_mode, **further):
        if pad_mode == "VALID":
            return self._create_padded_operator(kernel_size, stride, **further)
        del further["padding"]
        return _PoolOfOneSlice(kernel_size, stride, pad_mode, **further)


class _PoolOfOneSlice(Cell):
    """Average pooling of images as volumes of depth 1. It may count the padding of "same"."""

    def __init__(self, kernel_size, stride, pad_mode, ceil_mode, count_include_pad, divisor_override):
        super().__init__()
        kernel, step = ((1, *(v if isinstance(v, tuple) else (v, v))) for v in (kernel_size, stride))
        self.avg_pool = P.AvgPool3D(kernel, step, pad_mode, 0, ceil_mode, count_include_pad, divisor_override or 0)

    def construct(self, x):
        return self.avg_pool(F.expand_dims(x, 2))[:, :, 0]


class _Row(_Pool2d):
    """Base class of 1-D pooling, computed as pooling of images of height 1."""

    def _set_window(self, kernel_size: int, stride: int, pad_mode: str, **further: Any) -> None:
        super()._set_window((1, kernel_size), (1, stride), pad_mode, **further)
        self.expand: P.ExpandDims = P.ExpandDims()
        self.squeeze: P.Squeeze = P.Squeeze(2)

    def _create_padded_operator(self, kernel_size, stride, padding, **further):
        if "dilation" in further:
            further["dilation"] = (1, further["dilation"])
        return super()._create_padded_operator(kernel_size, stride, (0, padding), **further)

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled sequences."""
        check_dims(self.cls_name, x, 2, 3)
        if x.ndim == 2:
            outputs = self.construct(F.expand_dims(x, 0))
            return tuple(part[0] for part in outputs) if isinstance(outputs, tuple) else outputs[0]
        pooled = super().construct(self.expand(x, 2))
        return tuple(map(self.squeeze, pooled)) if isinstance(pooled, tuple) else self.squeeze(pooled)


@differs_in_api2(
    _BEHIND,
    "kernel_size",
    "stride",
    "pad_mode",
    "padding",
    "dilation",
    "return_indices",
    "ceil_mode",
    "data_format",
)
class MaxPool2d(_MaxPool):
    """
    Max pooling of images: the greatest number in each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): Step of the window along height and width. Default: 1.
        pad_mode (str): "same" pads the image so that the output size is the input size divided by the stride, rounded
            up; "valid" uses only complete windows; "pad" adds `padding` first. Upper or lower case. Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        padding (Union[int, tuple[int]]): For "pad", the number of pixels added above and below, left and right.
            Default: 0.
        dilation (Union[int, tuple[int]]): For "pad", the distance between neighbouring elements of a window. Default:
            1.
        return_indices (bool): For "pad", whether to return the indices of the maxima too. Default: False.
        ceil_mode (bool): For "pad", whether to include an incomplete window at the end. Default: False.

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC"; one image without N is accepted too.

    Outputs:
        Tensor, in the layout of the input.

    Raises:
        TypeError: If a size is neither an int nor a tuple.
        ValueError: If a size is less than 1, a mode is unknown, or an argument for "pad" is given with another mode.

    Examples:
        >>> print(nn.MaxPool2d(2)(Tensor([[[[1, 2, 3], [4, 5, 6]]]], mindspore.float32)))
        [[[[5. 6.]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: Window = 1,
        stride: Window = 1,
        pad_mode: PoolMode = "VALID",
        data_format: Layout = "NCHW",
        *,
        padding: TwoOffsets = 0,
        dilation: TwoSizes = 1,
        return_indices: Bool = False,
        ceil_mode: Bool = False,
    ) -> None:
        super().__init__()
        self._set_window(
            kernel_size,
            stride,
            pad_mode,
            data_format,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
            ceil_mode=ceil_mode,
        )


class MaxPool1d(_Row, _MaxPool):
    """
    Max pooling of sequences: the greatest number in each window.

    Args:
        kernel_size (int): Length of the window. Default: 1.
        stride (int): Step of the window. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in MaxPool2d. Default: "valid".
        padding (int): For "pad", the number of elements added at each end. Default: 0.
        dilation (int): For "pad", the distance between neighbouring elements of a window. Default: 1.
        return_indices (bool): For "pad", whether to return the indices of the maxima too. Default: False.
        ceil_mode (bool): For "pad", whether to include an incomplete window at the end. Default: False.

    Inputs:
        - **x** (Tensor) - of shape (N, C, L) or (C, L).

    Outputs:
        Tensor of shape (N, C, L_out).

    Raises:
        TypeError: If a size is no int.
        ValueError: If a size is less than 1, `pad_mode` is unknown, an argument for "pad" is given with another mode,
            or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.MaxPool1d(2)(Tensor([[[1, 2, 3]]], mindspore.float32)))
        [[[2. 3.]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: PositiveInt = 1,
        stride: PositiveInt = 1,
        pad_mode: PoolMode = "VALID",
        padding: NonNegInt = 0,
        dilation: PositiveInt = 1,
        return_indices: Bool = False,
        ceil_mode: Bool = False,
    ) -> None:
        super().__init__()
        self._set_window(
            kernel_size,
            stride,
            pad_mode,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
            ceil_mode=ceil_mode,
        )


@differs_in_api2(
    _BEHIND,
    "kernel_size",
    "stride",
    "pad_mode",
    "padding",
    "ceil_mode",
    "count_include_pad",
    "divisor_override",
    "data_format",
)
class AvgPool2d(_AvgPool):
    """
    Average pooling of images: the mean of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): Step of the window along height and width. Default: 1.
        pad_mode (str): "same" pads the image so that the output size is the input size divided by the stride, rounded
            up; the padding does not count in the mean. "valid" uses only complete windows. "pad" adds `padding` first.
            Upper or lower case. Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        padding (Union[int, tuple[int]]): For "pad", the number of pixels added above and below, left and right.
            Default: 0.
        ceil_mode (bool): Whether an incomplete window at the end counts. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.
        divisor_override (int): The divisor of the sum, instead of the number of pixels in the window.
            Default: None.

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC"; one image without N is accepted too.

    Outputs:
        Tensor, in the layout of the input.

    Raises:
        TypeError: If a size is neither an int nor a tuple.
        ValueError: If a size is less than 1, a mode is unknown, or an argument for "pad" is given with another mode.

    Examples:
        >>> print(nn.AvgPool2d(2)(Tensor([[[[1, 2, 3], [4, 5, 6]]]], mindspore.float32)))
        [[[[3. 4.]]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: Window = 1,
        stride: Window = 1,
        pad_mode: PoolMode = "VALID",
        data_format: Layout = "NCHW",
        *,
        padding: TwoOffsets = 0,
        ceil_mode: Bool = False,
        count_include_pad: Bool = True,
        divisor_override: Divisor = None,
    ) -> None:
        super().__init__()
        self._set_window(
            kernel_size,
            stride,
            pad_mode,
            data_format,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
        )


class AvgPool1d(_Row, _AvgPool):
    """
    Average pooling of sequences: the mean of each window.

    Args:
        kernel_size (int): Length of the window. Default: 1.
        stride (int): Step of the window. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in AvgPool2d. Default: "valid".
        padding (int): For "pad", the number of elements added at each end. Default: 0.
        ceil_mode (bool): Whether an incomplete window at the end counts. Default: False.
        count_include_pad (bool): Whether the zeros count in the mean. Default: True.
        divisor_override (int): The divisor of the sum, instead of the number of elements in the window.
            Default: None.

    Inputs:
        - **x** (Tensor) - of shape (N, C, L) or (C, L).

    Outputs:
        Tensor of shape (N, C, L_out).

    Raises:
        TypeError: If a size is no int.
        ValueError: If a size is less than 1, `pad_mode` is unknown, an argument for "pad" is given with another mode,
            or the input has a wrong number of dimensions.

    Examples:
        >>> print(nn.AvgPool1d(2)(Tensor([[[1, 2, 3]]], mindspore.float32)))
        [[[1.5 2.5]]]
    """

    @checked
    def __init__(
        self,
        kernel_size: PositiveInt = 1,
        stride: PositiveInt = 1,
        pad_mode: PoolMode = "VALID",
        padding: NonNegInt = 0,
        ceil_mode: Bool = False,
        count_include_pad: Bool = True,
        divisor_override: Divisor = None,
    ) -> None:
        super().__init__()
        if ceil_mode and pad_mode == "VALID":
            pad_mode = "PAD"  # equals "valid" with padding 0, and supports `ceil_mode`
        self._set_window(
            kernel_size,
            stride,
            pad_mode,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
        )
