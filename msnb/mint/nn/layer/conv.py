"""Convolution layers of `mindspore.mint.nn`. By default there is a bias and no padding."""

from itertools import chain
from math import prod
from typing import Annotated, Any, ClassVar

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, DType, Kind, OneOf, PositiveInt, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.mint.nn import functional as F
from msnb.nn._kinds import first_bias, first_weight
from msnb.nn.cell import Cell

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"]


def _make_int_tuple_kind(least):
    def accept(value):
        sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        if not sizes or not all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
            raise TypeError
        if any(size < least for size in sizes):
            raise ValueError
        return sizes

    kind = "positive" if least else "non-negative"
    return Kind(f"a {kind} int or a tuple of them", accept)


def _accept_padding(value):
    if isinstance(value, str):
        if value not in ("same", "valid"):
            raise ValueError
        return value
    return _OFFSETS.accept(value)


_OFFSETS = _make_int_tuple_kind(0)
Sizes = Annotated[int | tuple[int, ...] | list[int], _make_int_tuple_kind(1)]
Offsets = Annotated[int | tuple[int, ...] | list[int], _OFFSETS]
Padding = Annotated[
    int | str | tuple[int, ...] | list[int],
    Kind("'same', 'valid', a non-negative int or a tuple of them", _accept_padding),
]
PaddingMode = Annotated[str, OneOf("zeros", "reflect", "replicate", "circular")]


class _ConvBase(Cell):
    """Base class of convolutions in one, two and three dimensions: checks sizes, and creates the Parameters `weight`
    and `bias`."""

    _dims: ClassVar[int] = 0

    def _expand_sizes_to_tuples(self, **sizes: Any) -> None:
        """Set attributes to tuples with one number for each dimension."""
        for name, size in sizes.items():
            size = (size,) if isinstance(size, int) else size  # a default value is an int
            if len(size) not in (1, self._dims):
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' should be one number or {self._dims}, but got {size}."
                )
            setattr(self, name, size * self._dims if len(size) == 1 else size)

    def _create_parameters(self, in_channels, out_channels, groups, shape, bias, dtype):
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' should be a multiple of 'groups', {groups}, but got {channels}."
                )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.groups = groups
        kind = dtype or mstype.float32
        self.weight = Parameter(initializer(first_weight(None), shape, kind), "weight")
        self.bias = None
        if bias:
            self.bias = Parameter(initializer(first_bias(None, prod(shape[1:])), (out_channels,), kind), "bias")

    def extend_repr(self) -> str:
        """Return the sizes shown by `repr`."""
        names = ("kernel_size", "stride", "padding", "dilation", "groups")
        sizes = ", ".join(f"{name}={getattr(self, name)}" for name in names)
        channels = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        return f"{channels}, {sizes}, bias={self.bias is not None}"


class _Conv(_ConvBase):
    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: PositiveInt = 1,
        bias: Bool = True,
        padding_mode: PaddingMode = "zeros",
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.padding: Any = ()
        self._expand_sizes_to_tuples(kernel_size=kernel_size, stride=stride, dilation=dilation)
        if isinstance(padding, str):
            self.padding = padding
        else:
            self._expand_sizes_to_tuples(padding=padding)
        if padding == "same" and any(step != 1 for step in self.stride):
            raise ValueError(f"For '{self.cls_name}', 'stride' should be 1 with 'same' padding, but got {self.stride}.")
        self.padding_mode: str = padding_mode
        self._create_parameters(
            in_channels, out_channels, groups, (out_channels, in_channels // groups, *self.kernel_size), bias, dtype
        )

    @property
    def _pad_widths(self):
        """Return the padding before and after each dimension, the last one first, as for `pad`."""
        if self.padding == "valid":
            return (0,) * (2 * self._dims)
        if self.padding == "same":
            spans = [step * (size - 1) for step, size in zip(self.dilation, self.kernel_size, strict=True)]
            return tuple(chain.from_iterable((span // 2, span - span // 2) for span in reversed(spans)))
        return tuple(chain.from_iterable((side, side) for side in reversed(self.padding)))

    def construct(self, input: Tensor) -> Tensor:
        """Return the result of the convolution."""
        convolve = getattr(F, f"conv{self._dims}d")
        options = self.stride, self.padding, self.dilation, self.groups
        if self.padding_mode != "zeros":
            input = F.pad(input, self._pad_widths, mode=self.padding_mode)
            options = self.stride, 0, self.dilation, self.groups
        return convolve(input, self.weight, self.bias, *options)


class Conv1d(_Conv):
    """
    Cross-correlates sequences with a bank of learned filters.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Length of a filter.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        padding (Union[int, tuple[int], str]): Padding at each end, "same" or "valid". Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        groups (int): Number of groups of channels. Default: 1.
        bias (bool): Whether a learned bias is added. Default: True.
        padding_mode (str): Kind of padding: "zeros", "reflect", "replicate" or "circular". Default: "zeros".
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, L) or (C, L).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of range, channels are no multiple of `groups`, or `padding` is "same" and a
            stride is not 1.

    Examples:
        >>> print(mint.nn.Conv1d(2, 3, 3, padding=1)(Tensor(np.ones([1, 2, 6]), mindspore.float32)).shape)
        (1, 3, 6)
    """

    _dims = 1


class Conv2d(_Conv):
    """
    Cross-correlates images with a bank of learned filters.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of a filter.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        padding (Union[int, tuple[int], str]): Padding on each side, "same" or "valid". Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        groups (int): Number of groups of channels. Default: 1.
        bias (bool): Whether a learned bias is added. Default: True.
        padding_mode (str): Kind of padding: "zeros", "reflect", "replicate" or "circular". Default: "zeros".
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of range, channels are no multiple of `groups`, or `padding` is "same" and a
            stride is not 1.

    Examples:
        >>> print(mint.nn.Conv2d(2, 3, 3)(Tensor(np.ones([1, 2, 6, 6]), mindspore.float32)).shape)
        (1, 3, 4, 4)
    """

    _dims = 2


class Conv3d(_Conv):
    """
    Cross-correlates volumes with a bank of learned filters.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Depth, height and width of a filter.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        padding (Union[int, tuple[int], str]): Padding on each side, "same" or "valid". Default: 0.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        groups (int): Number of groups of channels. Default: 1.
        bias (bool): Whether a learned bias is added. Default: True.
        padding_mode (str): Kind of padding: "zeros", "reflect", "replicate" or "circular". Default: "zeros".
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of range, channels are no multiple of `groups`, or `padding` is "same" and a
            stride is not 1.
    """

    _dims = 3


class ConvTranspose2d(_ConvBase):
    """
    Transposed convolution of images: each element adds a scaled filter to the result.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of a filter.
        stride (Union[int, tuple[int]]): Step of the filter for each element. Default: 1.
        padding (Union[int, tuple[int]]): Border removed on each side. Default: 0.
        output_padding (Union[int, tuple[int]]): Additional length of the result on one side. Default: 0.
        groups (int): Number of groups of channels. Default: 1.
        bias (bool): Whether a learned bias is added. Default: True.
        dilation (Union[int, tuple[int]]): Distance between neighbouring kernel elements. Default: 1.
        padding_mode (str): Only "zeros". Default: "zeros".
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - (N, C, H, W) or (C, H, W).
        - **output_size** (tuple[int]) - height and width of the result. Default: None, the size that follows from
            `output_padding`.

    Outputs:
        Tensor with as many dimensions as the input.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of range, or channels are no multiple of `groups`.
    """

    _dims = 2

    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Offsets = 0,
        output_padding: Offsets = 0,
        groups: PositiveInt = 1,
        bias: Bool = True,
        dilation: Sizes = 1,
        padding_mode: Annotated[str, OneOf("zeros")] = "zeros",
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self._expand_sizes_to_tuples(
            kernel_size=kernel_size, stride=stride, padding=padding, output_padding=output_padding
        )
        self._expand_sizes_to_tuples(dilation=dilation)
        self.padding_mode: str = padding_mode
        self._create_parameters(
            in_channels, out_channels, groups, (in_channels, out_channels // groups, *self.kernel_size), bias, dtype
        )

    def construct(self, input: Tensor, output_size: tuple[int, ...] | list[int] | None = None) -> Tensor:
        """Return the result of the transposed convolution."""
        output_padding = self.output_padding
        if output_size is not None:
            minimum_sizes = [
                (length - 1) * step - 2 * cut + space * (size - 1) + 1
                for length, step, cut, space, size in zip(
                    input.shape[-2:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
                )
            ]
            output_padding = tuple(
                requested - size for requested, size in zip(output_size[-2:], minimum_sizes, strict=True)
            )
        options = self.stride, self.padding, output_padding, self.groups, self.dilation
        return F.conv_transpose2d(input, self.weight, self.bias, *options)
