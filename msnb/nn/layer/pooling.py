"""Pooling layers; those to a given size are re-exported."""

from msnb._checkparam import Rel, Validator
from msnb.nn.cell import Cell
from msnb.nn.layer._adaptive_pool import AdaptiveAvgPool2d, AdaptiveMaxPool2d
from msnb.ops import operations as P

__all__ = ["AvgPool2d", "MaxPool2d", "AvgPool1d", "MaxPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool2d"]


class _PoolNd(Cell):
    """What the pooling layers share: checks and printing."""

    def __init__(self, kernel_size, stride, pad_mode, data_format="NCHW"):
        super().__init__()
        Validator.check_value_type("pad_mode", pad_mode, [str], self.cls_name)
        self.pad_mode = Validator.check_string(pad_mode.upper(), ["VALID", "SAME"], "pad_mode", self.cls_name)
        self.format = Validator.check_string(data_format, ["NCHW", "NHWC"], "format", self.cls_name)
        self.kernel_size = self._checked("kernel_size", kernel_size)
        self.stride = self._checked("stride", stride)

    def _checked(self, name, value):
        Validator.check_value_type(name, value, [int, tuple], self.cls_name)
        items = (value, value) if isinstance(value, int) else value
        if len(items) != 2 or not all(isinstance(item, int) and item > 0 for item in items):
            raise ValueError(
                f"For '{self.cls_name}', '{name}' should be a positive int or a tuple of two positive ints, "
                f"but got {value}."
            )
        return value

    def construct(self, *inputs):
        raise NotImplementedError(f"{self.cls_name} must implement construct.")

    def extend_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _Pool1d(_PoolNd):
    """1D pooling, as 2D pooling of height 1."""

    def __init__(self, kernel_size, stride, pad_mode):
        for name, value in (("kernel_size", kernel_size), ("stride", stride)):
            Validator.check_value_type(name, value, [int], type(self).__name__)
            Validator.check_int(value, 1, Rel.GE, name, type(self).__name__)
        super().__init__((1, kernel_size), (1, stride), pad_mode)
        self.expand = P.ExpandDims()
        self.squeeze = P.Squeeze(2)

    def _check_rank(self, x):
        if x.ndim != 3:
            raise ValueError(f"For '{self.cls_name}', the input should have 3 dims, but got shape {x.shape}.")


class MaxPool2d(_PoolNd):
    r"""
    2D max pooling: the greatest value in each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): The step of the window. Default: 1.
        pad_mode (str): "same" (output size is input size / stride, rounded up) or "valid" (only whole windows), in
            lower or upper case. Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor of shape (N, C, H_out, W_out), or (N, H_out, W_out, C).

    Raises:
        TypeError: If `kernel_size` or `stride` is neither an int nor a tuple.
        ValueError: If `kernel_size` or `stride` is less than 1, or `pad_mode` or `data_format` unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> pool = nn.MaxPool2d(kernel_size=3, stride=1)
        >>> output = pool(Tensor(np.random.randint(0, 10, [1, 2, 4, 4]), mindspore.float32))
        >>> print(output.shape)
        (1, 2, 2, 2)
    """

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, data_format)
        self.max_pool = P.MaxPool(
            kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode, data_format=self.format
        )

    def construct(self, x):
        return self.max_pool(x)


class MaxPool1d(_Pool1d):
    """
    1D max pooling: the greatest value in each window.

    Args:
        kernel_size (int): The width of the window. Default: 1.
        stride (int): The step of the window. Default: 1.
        pad_mode (str): "same" or "valid", as in MaxPool2d. Default: "valid".

    Inputs:
        - **x** (Tensor) - of shape (N, C, W).

    Outputs:
        Tensor of shape (N, C, W_out).

    Raises:
        TypeError: If `kernel_size` or `stride` is not an int.
        ValueError: If `kernel_size` or `stride` is less than 1, `pad_mode` unknown, or the input not 3-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> pool = nn.MaxPool1d(kernel_size=3, stride=1)
        >>> output = pool(Tensor(np.random.randint(0, 10, [1, 2, 4]), mindspore.float32))
        >>> print(output.shape)
        (1, 2, 2)
    """

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid"):
        super().__init__(kernel_size, stride, pad_mode)
        self.max_pool = P.MaxPool(kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode)

    def construct(self, x):
        self._check_rank(x)
        return self.squeeze(self.max_pool(self.expand(x, 2)))


class AvgPool2d(_PoolNd):
    r"""
    2D average pooling: the mean of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): The step of the window. Default: 1.
        pad_mode (str): "same" (output size is input size / stride, rounded up; padding does not count in the mean) or
            "valid" (only whole windows), in lower or upper case. Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - of shape (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor of shape (N, C, H_out, W_out), or (N, H_out, W_out, C).

    Raises:
        TypeError: If `kernel_size` or `stride` is neither an int nor a tuple.
        ValueError: If `kernel_size` or `stride` is less than 1, or `pad_mode` or `data_format` unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> pool = nn.AvgPool2d(kernel_size=3, stride=1)
        >>> output = pool(Tensor(np.random.randint(0, 10, [1, 2, 4, 4]), mindspore.float32))
        >>> print(output.shape)
        (1, 2, 2, 2)
    """

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid", data_format="NCHW"):
        super().__init__(kernel_size, stride, pad_mode, data_format)
        self.avg_pool = P.AvgPool(
            kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode, data_format=self.format
        )

    def construct(self, x):
        return self.avg_pool(x)


class AvgPool1d(_Pool1d):
    """
    1D average pooling: the mean of each window.

    Args:
        kernel_size (int): The width of the window. Default: 1.
        stride (int): The step of the window. Default: 1.
        pad_mode (str): "same" or "valid", as in AvgPool2d. Default: "valid".

    Inputs:
        - **x** (Tensor) - of shape (N, C, W).

    Outputs:
        Tensor of shape (N, C, W_out).

    Raises:
        TypeError: If `kernel_size` or `stride` is not an int.
        ValueError: If `kernel_size` or `stride` is less than 1, `pad_mode` unknown, or the input not 3-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> pool = nn.AvgPool1d(kernel_size=6, stride=1)
        >>> output = pool(Tensor(np.random.randint(0, 10, [1, 3, 6]), mindspore.float32))
        >>> print(output.shape)
        (1, 3, 1)
    """

    def __init__(self, kernel_size=1, stride=1, pad_mode="valid"):
        super().__init__(kernel_size, stride, pad_mode)
        self.avg_pool = P.AvgPool(kernel_size=self.kernel_size, strides=self.stride, pad_mode=self.pad_mode)

    def construct(self, x):
        self._check_rank(x)
        return self.squeeze(self.avg_pool(self.expand(x, 2)))
