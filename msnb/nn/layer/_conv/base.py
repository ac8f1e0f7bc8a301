"""Base of convolutions: arguments, weight, bias and `repr`."""

import math
from typing import Annotated, Any

import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, DType, Kind, NonNegInt, OneOf, PositiveInt, accept_value, checked
from msnb.core.operator import api_generations
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_dims
from msnb.nn._kinds import Initial, Layout, TwoSizes, first_bias, first_weight
from msnb.nn.cell import Cell
from msnb.ops import operations as P
from msnb.ops.nn.conv._shared import transposed_length


def _make_padding_kind(count, word):
    def accept(value):
        if not isinstance(value, tuple):
            return accept_value(NonNegInt, value)
        sides = tuple(accept_value(NonNegInt, side) for side in value)
        if len(sides) != count:
            raise ValueError
        return sides

    return Kind(f"a non-negative int or a tuple of {word}", accept)


FourSides = Annotated[int | tuple[int, int, int, int], _make_padding_kind(4, "four")]
SixSides = Annotated[int | tuple[int, int, int, int, int, int], _make_padding_kind(6, "six")]
PadMode = Annotated[str, OneOf("valid", "same", "pad")]


class _Conv(Cell):
    """Base of convolutions: a weight, a bias and checks of the arguments. A subclass creates the operator.

    Libraries derive layers of their own from this class. It has MindSpore's name and arguments.
    """

    _transposed = False
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        pad_mode: str,
        padding: int | tuple[int, ...],
        dilation: tuple[int, ...],
        group: int,
        has_bias: bool,
        weight_init: Any,
        bias_init: Any,
        data_format: str = "NCHW",
        transposed: bool = False,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.kernel_size: tuple[int, ...] = kernel_size
        self.stride: tuple[int, ...] = stride
        self.pad_mode: str = pad_mode
        self.padding: int | tuple[int, ...] = padding
        self.dilation: tuple[int, ...] = dilation
        self.group: int = group
        self.has_bias: bool = has_bias
        self.format: str = data_format
        self._transposed = transposed
        self._check_argument_combinations()
        self._create_parameters(weight_init, bias_init, dtype)

    def _create_parameters(self, weight_init, bias_init, dtype):
        shape = self._compute_weight_shape()
        self.weight_init = weight_init = first_weight(weight_init)
        self.bias_init = first_bias(bias_init, math.prod(shape[1:])) if self.has_bias else bias_init
        self.weight = Parameter(initializer(weight_init, shape, dtype), "weight")
        self.bias = None
        if self.has_bias:
            self.bias = Parameter(initializer(self.bias_init, [self.out_channels], dtype), "bias")
            self.bias_add: P.BiasAdd = P.BiasAdd(data_format=self.format)

    def _log_unused_bias(self, bias_init: Any, usual: str | None) -> None:
        is_custom = bias_init is not None and (not isinstance(bias_init, str) or bias_init != usual)
        log.unused(self.cls_name, "there is no bias", bias_init=is_custom and not self.has_bias)

    @property
    def _input_requirement(self):
        axis = -1 if self.format == "NHWC" else 1
        return self.in_channels, axis, f"{self.in_channels} channels in {'axis 1' if axis == 1 else 'the last axis'}"

    def _check_argument_combinations(self):
        if self.pad_mode != "pad" and any(np.ravel(self.padding)):
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must be 0 when 'pad_mode' is '{self.pad_mode}', "
                f"but got {self.padding}; use pad_mode='pad'."
            )
        if self.in_channels % self.group or self.out_channels % self.group:
            raise ValueError(
                f"For '{self.cls_name}', 'group' should divide 'in_channels' and 'out_channels', "
                f"but got {self.group} for {self.in_channels} and {self.out_channels}."
            )

    def _compute_weight_shape(self):
        """Return the weight shape. Axis 1, or the last axis for NHWC, is the number of summed channels divided by
        `group`."""
        there, here = self.out_channels, self.in_channels
        if self._transposed:
            there, here = here, there
        here //= self.group
        return [there, *self.kernel_size, here] if self.format == "NHWC" else [there, here, *self.kernel_size]

    def _get_operator_attributes(self):
        """Return the attributes that all convolution operators share."""
        return {
            "kernel_size": self.kernel_size,
            "pad_mode": self.pad_mode,
            "pad": self.padding,
            "stride": self.stride,
            "dilation": self.dilation,
            "group": self.group,
        }

    def extend_repr(self) -> str:
        """Return the arguments for `repr`, spaced as in MindSpore."""
        before_stride, behind_stride, before_weight = ",", ",  ", self._before_weight
        if api_generations.shared == 2:
            before_stride = behind_stride = before_weight = ", "
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}"
            f"{before_stride}stride={self.stride}{behind_stride}pad_mode={self.pad_mode}, padding={self.padding}, "
            f"dilation={self.dilation}, group={self.group}, has_bias={self.has_bias}{before_weight}"
            f"weight_init={self.weight_init}, bias_init={self.bias_init}"
        )

    _before_weight = ","


class Convolution(_Conv):
    """A convolution over the last two axes of an image, or its transpose."""

    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: TwoSizes,
        stride: TwoSizes = 1,
        pad_mode: PadMode = "same",
        padding: FourSides = 0,
        dilation: TwoSizes = 1,
        group: PositiveInt = 1,
        has_bias: Bool = False,
        weight_init: Initial | None = "normal",
        bias_init: Initial | None = "zeros",
        data_format: Layout = "NCHW",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            along(2, kernel_size),
            along(2, stride),
            pad_mode,
            padding,
            along(2, dilation),
            group,
            has_bias,
            weight_init,
            bias_init,
            data_format,
            self._transposed,
            dtype,
        )
        self._log_unused_bias(bias_init, "zeros")
        # A transposed convolution uses the gradient with respect to the input.
        if self._transposed:
            self.conv2d_transpose = P.Conv2DBackpropInput(
                out_channel=self.in_channels, **self._get_operator_attributes()
            )
        else:
            self.conv2d = P.Conv2D(
                out_channel=self.out_channels, data_format=self.format, **self._get_operator_attributes()
            )

    def _convolve(self, x):
        if self._transposed:
            check_dims(self.cls_name, x, 4)
            image = self.conv2d_transpose(x, self.weight, self._infer_transposed_shape(x.shape))
        else:
            image = self.conv2d(x, self.weight)
        return self.bias_add(image, self.bias) if self.has_bias else image

    def _infer_transposed_shape(self, shape):
        """Return the output shape of a transposed convolution for an input of `shape`."""
        sides = self.padding if isinstance(self.padding, tuple) else (self.padding,) * 4
        axes = zip(shape[2:], self.kernel_size, self.stride, self.dilation, sides[::2], sides[1::2], strict=False)
        return (shape[0], self.out_channels, *(transposed_length(self.pad_mode, *axis) for axis in axes))


def along(axes, size):
    """Return a tuple with one size per axis; a single number counts for all axes."""
    return size if isinstance(size, tuple) else (size,) * axes


class RowConvolution(Convolution):
    """A 1-D convolution, computed as a convolution over images of height 1."""

    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: PositiveInt,
        stride: PositiveInt = 1,
        pad_mode: PadMode = "same",
        padding: NonNegInt = 0,
        dilation: PositiveInt = 1,
        group: PositiveInt = 1,
        has_bias: Bool = False,
        weight_init: Initial | None = "normal",
        bias_init: Initial | None = "zeros",
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            (1, kernel_size),
            (1, stride),
            pad_mode,
            (0, 0, padding, padding),
            (1, dilation),
            group,
            has_bias,
            self._add_height_axis(weight_init),
            bias_init,
            dtype=dtype,
        )
        self.expand_dims: P.ExpandDims = P.ExpandDims()
        self.squeeze: P.Squeeze = P.Squeeze(2)

    @classmethod
    def _add_height_axis(cls, weight):
        if not isinstance(weight, Tensor):
            return weight
        if weight.ndim != 3:
            raise ValueError(f"For '{cls.__name__}', 'weight_init' should have 3 dims, but got shape {weight.shape}.")
        return Tensor(weight.asnumpy()[:, :, None], weight.dtype)

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolved sequences."""
        if x.ndim != 3:
            raise ValueError(f"For '{self.cls_name}', the input should have 3 dims, but got shape {x.shape}.")
        return self.squeeze(self._convolve(self.expand_dims(x, 2)))
