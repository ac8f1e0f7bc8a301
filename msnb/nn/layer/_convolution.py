"""What convolutions have in common: their arguments, weight, bias and printing."""

from typing import Annotated

import numpy as np

from msnb import log
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, Kind, NonNegInt, OneOf, PositiveInt, accept_value, checked
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor
from msnb.nn._kinds import Initial, Layout, TwoSizes
from msnb.nn.cell import Cell
from msnb.ops import operations as P


def _sides(value):
    if not isinstance(value, tuple):
        return accept_value(NonNegInt, value)
    sides = tuple(accept_value(NonNegInt, side) for side in value)
    if len(sides) != 4:
        raise ValueError
    return sides


FourSides = Annotated[int | tuple[int, int, int, int], Kind("a non-negative int or a tuple of four", _sides)]
PadMode = Annotated[str, OneOf("valid", "same", "pad")]


class Convolution(Cell):
    """A convolution over the last two axes of an image, or its transpose."""

    _transposed = False
    weight: Parameter
    bias: Parameter | None

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
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        data_format: Layout = "NCHW",
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _pair(kernel_size)
        self.stride = _pair(stride)
        self.pad_mode = pad_mode
        self.padding = padding
        self.dilation = _pair(dilation)
        self.group = group
        self.has_bias = has_bias
        self.weight_init = weight_init
        self.bias_init = bias_init
        self.format = data_format
        self._check_together()
        self.weight = Parameter(initializer(weight_init, self._weight_shape()), "weight")
        self.bias = None
        if has_bias:
            self.bias = Parameter(initializer(bias_init, [out_channels]), "bias")
            self.bias_add: P.BiasAdd = P.BiasAdd(data_format=data_format)
        else:
            log.unused(
                self.cls_name, "there is no bias", bias_init=not isinstance(bias_init, str) or bias_init != "zeros"
            )
        self._operate()

    @property
    def _takes(self):
        axis = 1 if self.format == "NCHW" else -1
        return self.in_channels, axis, f"{self.in_channels} channels in {'axis 1' if axis == 1 else 'the last axis'}"

    def _check_together(self):
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

    def _weight_shape(self):
        """The side that the operator sums over comes second, divided into groups, or last where channels do."""
        there, here = self.out_channels, self.in_channels
        if self._transposed:
            there, here = here, there
        here //= self.group
        return [there, here, *self.kernel_size] if self.format == "NCHW" else [there, *self.kernel_size, here]

    def _operate(self):
        """Make the operator. That of the transpose is the gradient with respect to the input: its channels come out."""
        settings = {
            "kernel_size": self.kernel_size,
            "pad_mode": self.pad_mode,
            "pad": self.padding,
            "stride": self.stride,
            "dilation": self.dilation,
            "group": self.group,
        }
        if self._transposed:
            self.conv2d_transpose = P.Conv2DBackpropInput(out_channel=self.in_channels, **settings)
        else:
            self.conv2d = P.Conv2D(out_channel=self.out_channels, data_format=self.format, **settings)

    def _convolve(self, x):
        if self._transposed:
            image = self.conv2d_transpose(x, self.weight, self._shape_from(x.shape))
        else:
            image = self.conv2d(x, self.weight)
        return self.bias_add(image, self.bias) if self.has_bias else image

    def _shape_from(self, shape):
        """The shape that a transposed convolution makes of `shape`."""
        sides = self.padding if isinstance(self.padding, tuple) else (self.padding,) * 4
        lengths = []
        for axis, length in enumerate(shape[2:]):
            step = self.stride[axis]
            reach = (self.kernel_size[axis] - 1) * self.dilation[axis] + 1
            if self.pad_mode == "pad":
                more = reach - step - sum(sides[2 * axis : 2 * axis + 2])
            else:
                more = max(reach - step, 0) if self.pad_mode == "valid" else 0
            lengths.append(length * step + more)
        return (shape[0], self.out_channels, *lengths)

    def extend_repr(self) -> str:
        """Arguments, spaced as MindSpore does it."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size},"
            f"stride={self.stride},  pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}{self._before_weight}"
            f"weight_init={self.weight_init}, bias_init={self.bias_init}"
        )

    _before_weight = ","


def _pair(size):
    return size if isinstance(size, tuple) else (size, size)


class RowConvolution(Convolution):
    """A convolution over one axis: over an image of height 1."""

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
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
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
            self._of_height_1(weight_init),
            bias_init,
        )
        self.expand_dims: P.ExpandDims = P.ExpandDims()
        self.squeeze: P.Squeeze = P.Squeeze(2)

    @classmethod
    def _of_height_1(cls, weight):
        if not isinstance(weight, Tensor):
            return weight
        if weight.ndim != 3:
            raise ValueError(f"For '{cls.__name__}', 'weight_init' should have 3 dims, but got shape {weight.shape}.")
        return Tensor(weight.asnumpy()[:, :, None], weight.dtype)

    def construct(self, x: Tensor) -> Tensor:
        """The convolved rows."""
        if x.ndim != 3:
            raise ValueError(f"For '{self.cls_name}', the input should have 3 dims, but got shape {x.shape}.")
        return self.squeeze(self._convolve(self.expand_dims(x, 2)))
