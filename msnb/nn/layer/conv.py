"""Convolution layers."""

import numpy as np

from msnb import log
from msnb._checkparam import Rel, Validator
from msnb.common.initializer import initializer
from msnb.core.tensor import Parameter, Tensor
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["Conv2d", "Conv2dTranspose", "Conv1d", "Conv1dTranspose"]

_PAD_MODES = ("valid", "same", "pad")


def _pair(name, value, cls_name):
    """`value` as two ints, each at least 1."""
    pair = (value, value) if isinstance(value, int) else value
    if not isinstance(pair, tuple) or len(pair) != 2 or not all(isinstance(item, int) for item in pair):
        raise TypeError(f"For '{cls_name}', '{name}' should be an int or a tuple of two ints, but got {value!r}.")
    if any(isinstance(item, bool) or item < 1 for item in pair):
        raise ValueError(
            f"For '{cls_name}', '{name}' should be an int or a tuple of two ints, each at least 1, but got {value!r}."
        )
    return pair


def _check_1d(cls_name, kernel_size, stride, padding, dilation):
    for name, value in (
        ("kernel_size", kernel_size),
        ("stride", stride),
        ("padding", padding),
        ("dilation", dilation),
    ):
        Validator.check_value_type(name, value, [int], cls_name)
        Validator.check_int(value, 0 if name == "padding" else 1, Rel.GE, name, cls_name)


def _with_unit_height(weight_init, cls_name):
    """A 1-D convolution's weight (out, in, width) as (out, in, 1, width)."""
    if not isinstance(weight_init, Tensor):
        return weight_init
    Validator.check_equal_int(weight_init.ndim, 3, "weight_init_shape", cls_name)
    return Tensor(np.expand_dims(weight_init.asnumpy(), 2), weight_init.dtype)


def _check_3d(x, cls_name):
    if x.ndim != 3:
        raise ValueError(f"For '{cls_name}', the input should be 3d, but got shape {x.shape}.")


class _Conv(Cell):
    """What the convolutions share: checks, the weight and the bias."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        pad_mode,
        padding,
        dilation,
        group,
        has_bias,
        weight_init,
        bias_init,
        data_format="NCHW",
        transposed=False,
    ):
        super().__init__()
        self.in_channels = Validator.check_positive_int(in_channels, "in_channels", self.cls_name)
        self.out_channels = Validator.check_positive_int(out_channels, "out_channels", self.cls_name)
        self.kernel_size = _pair("kernel_size", kernel_size, self.cls_name)
        self.stride = _pair("stride", stride, self.cls_name)
        self.dilation = _pair("dilation", dilation, self.cls_name)
        self.pad_mode = Validator.check_string(pad_mode, _PAD_MODES, "pad_mode", self.cls_name)
        self.format = Validator.check_string(data_format, ["NCHW", "NHWC"], "format", self.cls_name)
        if not isinstance(padding, (int, tuple)):
            raise TypeError(f"For '{self.cls_name}', 'padding' should be int or a tuple of int, but got {padding!r}.")
        sides = padding if isinstance(padding, tuple) else (padding,)
        for pad in sides:
            Validator.check_non_negative_int(pad, "padding", self.cls_name)
        if pad_mode != "pad" and any(sides):
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must be 0 when 'pad_mode' is {pad_mode!r}, but got {padding}; "
                "use pad_mode='pad'."
            )
        self.padding = padding
        self.group = Validator.check_positive_int(group, "group", self.cls_name)
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % group != 0:
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' should be divisible by 'group', but got {channels} and {group}."
                )
        self.has_bias = Validator.check_bool(has_bias, "has_bias")
        self.weight_init = weight_init
        self.bias_init = bias_init

        if transposed:
            shape = [in_channels, out_channels // group, *self.kernel_size]
        elif self.format == "NCHW":
            shape = [out_channels, in_channels // group, *self.kernel_size]
        else:
            shape = [out_channels, *self.kernel_size, in_channels // group]
        self.weight = Parameter(initializer(weight_init, shape), name="weight")
        self.bias = None
        if has_bias:
            self.bias = Parameter(initializer(bias_init, [out_channels]), name="bias")
            self.bias_add = P.BiasAdd(data_format=self.format)
        elif not (isinstance(bias_init, str) and bias_init == "zeros"):
            log.warning("Value of 'has_bias' is False, value of 'bias_init' will be ignored.")

    def _convolution(self):
        return P.Conv2D(
            out_channel=self.out_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=self.pad_mode,
            pad=self.padding,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
            data_format=self.format,
        )

    def _transposed_convolution(self):
        # The gradient of a convolution with respect to its input: there the channels have their roles swapped.
        return P.Conv2DBackpropInput(
            out_channel=self.in_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=self.pad_mode,
            pad=self.padding,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
        )

    def construct(self, *inputs):
        raise NotImplementedError(f"{self.cls_name} must implement construct.")

    def _transposed_length(self, length, axis):
        """The size of the output of a transposed convolution along `axis` (0: height, 1: width)."""
        kernel = (self.kernel_size[axis] - 1) * self.dilation[axis] + 1
        stride = self.stride[axis]
        if self.pad_mode == "same":
            return length * stride
        if self.pad_mode == "valid":
            return length * stride + max(kernel - stride, 0)
        top, bottom, left, right = (self.padding,) * 4 if isinstance(self.padding, int) else self.padding
        padding = (left + right) if axis else (top + bottom)
        return length * stride - padding + kernel - stride

    def extend_repr(self):
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size},"
            f"stride={self.stride},  pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias},"
            f"weight_init={self.weight_init}, bias_init={self.bias_init}"
        )


class Conv2d(_Conv):
    r"""
    2D convolution:
    :math:`out_{n, j} = b_j + \sum_c \mathrm{ccor}(W_{j, c}, x_{n, c})`, ccor the cross-correlation.

    Args:
        in_channels (int): The number of input channels C.
        out_channels (int): The number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of the kernel.
        stride (Union[int, tuple[int]]): The step of the kernel. Default: 1.
        pad_mode (str): "same" (output size is input size / stride, rounded up), "valid" (no padding) or
            "pad" (`padding` zeros). Default: "same".
        padding (Union[int, tuple[int]]): Zeros at all sides, or (top, bottom, left, right); must be 0 unless
            `pad_mode` is "pad". Default: 0.
        dilation (Union[int, tuple[int]]): The distance between kernel elements. Default: 1.
        group (int): The number of groups that channels are split into. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): The initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): The initial bias. Default: "zeros".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out), or (N, H_out, W_out, C_out).

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a size is less than 1, a padding negative or given without "pad", or a mode unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Conv2d(120, 240, 4, has_bias=False, weight_init='normal')
        >>> output = net(Tensor(np.ones([1, 120, 1024, 640]), mindspore.float32)).shape
        >>> print(output)
        (1, 240, 1024, 640)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init="normal",
        bias_init="zeros",
        data_format="NCHW",
    ):
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            data_format,
        )
        self.conv2d = self._convolution()

    def construct(self, x):
        output = self.conv2d(x, self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output

    def extend_repr(self):
        return super().extend_repr().replace(f"has_bias={self.has_bias},", f"has_bias={self.has_bias}") + (
            f", format={self.format}"
        )


class Conv1d(_Conv):
    """
    1D convolution, as a 2D convolution of height 1.

    Args:
        in_channels (int): The number of input channels C.
        out_channels (int): The number of output channels.
        kernel_size (int): The width of the kernel.
        stride (int): The step of the kernel. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in Conv2d. Default: "same".
        padding (int): Zeros at both ends; must be 0 unless `pad_mode` is "pad". Default: 0.
        dilation (int): The distance between kernel elements. Default: 1.
        group (int): The number of groups that channels are split into. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): The initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): The initial bias. Default: "zeros".

    Inputs:
        - **x** (Tensor) - of shape (N, C, W).

    Outputs:
        Tensor of shape (N, C_out, W_out).

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a size is less than 1, a padding negative or given without "pad", or a mode unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Conv1d(120, 240, 4, has_bias=False, weight_init='normal')
        >>> output = net(Tensor(np.ones([1, 120, 640]), mindspore.float32)).shape
        >>> print(output)
        (1, 240, 640)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init="normal",
        bias_init="zeros",
    ):
        _check_1d(type(self).__name__, kernel_size, stride, padding, dilation)
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
            _with_unit_height(weight_init, type(self).__name__),
            bias_init,
        )
        self.conv2d = self._convolution()
        self.expand_dims = P.ExpandDims()
        self.squeeze = P.Squeeze(2)

    def construct(self, x):
        _check_3d(x, self.cls_name)
        output = self.conv2d(self.expand_dims(x, 2), self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return self.squeeze(output)


class Conv2dTranspose(_Conv):
    """
    2D transposed convolution: the gradient of a Conv2d with respect to its input.

    Args:
        in_channels (int): The number of input channels C.
        out_channels (int): The number of output channels.
        kernel_size (Union[int, tuple[int]]): Height and width of the kernel.
        stride (Union[int, tuple[int]]): The factor by which the input is spread. Default: 1.
        pad_mode (str): "same" (output size is input size * stride), "valid" or "pad". Default: "same".
        padding (Union[int, tuple[int]]): What is cut off all sides, or (top, bottom, left, right); must be 0 unless
            `pad_mode` is "pad". Default: 0.
        dilation (Union[int, tuple[int]]): The distance between kernel elements. Default: 1.
        group (int): The number of groups that channels are split into. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): The initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): The initial bias. Default: "zeros".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C_out, H_out, W_out).

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a size is less than 1, a padding negative or given without "pad", or a mode unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Conv2dTranspose(3, 64, 4, has_bias=False, weight_init='normal', pad_mode='pad')
        >>> output = net(Tensor(np.ones([1, 3, 16, 50]), mindspore.float32)).shape
        >>> print(output)
        (1, 64, 19, 53)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init="normal",
        bias_init="zeros",
    ):
        if isinstance(padding, tuple):
            Validator.check_equal_int(len(padding), 4, "padding size", type(self).__name__)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            transposed=True,
        )
        self.conv2d_transpose = self._transposed_convolution()

    def shard(self, strategy):
        """Set how the transposed convolution is split over devices."""
        self.conv2d_transpose.shard(strategy)
        return self

    def construct(self, x):
        n, _, height, width = x.shape
        out_shape = (n, self.out_channels, self._transposed_length(height, 0), self._transposed_length(width, 1))
        output = self.conv2d_transpose(x, self.weight, out_shape)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


class Conv1dTranspose(_Conv):
    """
    1D transposed convolution, as a 2D transposed convolution of height 1.

    Args:
        in_channels (int): The number of input channels C.
        out_channels (int): The number of output channels.
        kernel_size (int): The width of the kernel.
        stride (int): The factor by which the input is spread. Default: 1.
        pad_mode (str): "same", "valid" or "pad", as in Conv2dTranspose. Default: "same".
        padding (int): What is cut off both ends; must be 0 unless `pad_mode` is "pad". Default: 0.
        dilation (int): The distance between kernel elements. Default: 1.
        group (int): The number of groups that channels are split into. Default: 1.
        has_bias (bool): Whether a bias is added. Default: False.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): The initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): The initial bias. Default: "zeros".

    Inputs:
        - **x** (Tensor) - of shape (N, C, W).

    Outputs:
        Tensor of shape (N, C_out, W_out).

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a size is less than 1, a padding negative or given without "pad", or a mode unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Conv1dTranspose(3, 64, 4, has_bias=False, weight_init='normal', pad_mode='pad')
        >>> output = net(Tensor(np.ones([1, 3, 50]), mindspore.float32)).shape
        >>> print(output)
        (1, 64, 53)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init="normal",
        bias_init="zeros",
    ):
        _check_1d(type(self).__name__, kernel_size, stride, padding, dilation)
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
            _with_unit_height(weight_init, type(self).__name__),
            bias_init,
            transposed=True,
        )
        self.conv2d_transpose = self._transposed_convolution()
        self.expand_dims = P.ExpandDims()
        self.squeeze = P.Squeeze(2)

    def shard(self, strategy):
        """Set how the transposed convolution is split over devices."""
        self.conv2d_transpose.shard(strategy)
        return self

    def construct(self, x):
        _check_3d(x, self.cls_name)
        n, _, width = x.shape
        # Height 1 and no padding there: "valid" would make it max(kernel, stride) = 1 as well.
        out_shape = (n, self.out_channels, 1, self._transposed_length(width, 1))
        output = self.conv2d_transpose(self.expand_dims(x, 2), self.weight, out_shape)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return self.squeeze(output)
