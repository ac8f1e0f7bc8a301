"""Layers of MindSpore 2 that invert max pooling."""

from typing import Annotated, Any

from msnb.common.kinds import Kind, NonNegInt, PositiveInt, accept_value, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


def _make_size_or_tuple_kind(kind, words):
    def accept(value):
        if isinstance(value, tuple):
            return tuple(accept_value(kind, size) for size in value)
        return accept_value(kind, value)

    return Kind(f"{words} or a tuple of them", accept)


Sizes = Annotated[int | tuple[int, ...], _make_size_or_tuple_kind(PositiveInt, "a positive int")]
Offsets = Annotated[int | tuple[int, ...], _make_size_or_tuple_kind(NonNegInt, "a non-negative int")]


class _MaxUnpool(Cell):
    _undo: Any = None

    @checked
    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Offsets = 0) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride: Any = kernel_size if stride is None else stride
        self.padding = padding

    def construct(self, x: Tensor, indices: Tensor, output_size: tuple[int, ...] | None = None) -> Tensor:
        """Return the unpooled Tensor."""
        if output_size is not None and (not isinstance(output_size, tuple) or not output_size):
            raise ValueError(f"For '{self.cls_name}', 'output_size' should be a tuple of int, but got {output_size!r}.")
        return self._undo(x, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extend_repr(self) -> str:
        """Return window and stride for `repr`."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """
    Inverse of MaxPool1d: put each maximum back at its index, and 0 everywhere else.

    Args:
        kernel_size (Union[int, tuple[int]]): Length of the window.
        stride (Union[int, tuple[int]]): Step of the window in the pooling. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Number of elements that the pooling added at each end. Default: 0.

    Inputs:
        - **x** (Tensor) - (N, C, L) or (C, L).
        - **indices** (Tensor) - indices of the maxima, int32 or int64, of the shape of `x`.
        - **output_size** (tuple[int], optional) - length or shape of the result. Default: None, the shortest length
            that fits.

    Outputs:
        Tensor of shape (N, C, L_out) or (C, L_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is out of range, or the inputs do not fit together.

    Examples:
        >>> x, indices = Tensor([[2, 8]], mindspore.float32), Tensor([[1, 2]], mindspore.int64)
        >>> print(nn.MaxUnpool1d(2)(x, indices))
        [[0. 2. 8. 0.]]
    """

    _undo = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """
    Inverse of MaxPool2d: put each maximum back at its index, and 0 everywhere else.

    Args:
        kernel_size (Union[int, tuple[int]]): Height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window in the pooling, along each axis. Default: None,
            `kernel_size`.
        padding (Union[int, tuple[int]]): Number of pixels that the pooling added on both sides of each axis. Default:
            0.

    Inputs:
        - **x** (Tensor) - (N, C, H, W) or (C, H, W).
        - **indices** (Tensor) - indices of the maxima within each image, int32 or int64, of the shape of `x`.
        - **output_size** (tuple[int], optional) - height and width, or shape, of the result. Default: None, the
            smallest size that fits.

    Outputs:
        Tensor of shape (N, C, H_out, W_out) or (C, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is out of range, or the inputs do not fit together.

    Examples:
        >>> x, indices = Tensor([[[[5.0]]]], mindspore.float32), Tensor([[[[2]]]], mindspore.int64)
        >>> print(nn.MaxUnpool2d(2)(x, indices))
        [[[[0. 0.]
           [5. 0.]]]]
    """

    _undo = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """
    Inverse of MaxPool3d: put each maximum back at its index, and 0 everywhere else.

    Args:
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window.
        stride (Union[int, tuple[int]]): Step of the window in the pooling, along each axis. Default: None,
            `kernel_size`.
        padding (Union[int, tuple[int]]): Number of elements that the pooling added on both sides of each axis. Default:
            0.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W) or (C, D, H, W).
        - **indices** (Tensor) - indices of the maxima within each volume, int32 or int64, of the shape of `x`.
        - **output_size** (tuple[int], optional) - depth, height and width, or shape, of the result. Default: None, the
            smallest size that fits.

    Outputs:
        Tensor of shape (N, C, D_out, H_out, W_out) or (C, D_out, H_out, W_out).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is out of range, or the inputs do not fit together.

    Examples:
        >>> x, indices = Tensor([[[[[5.0]]]]], mindspore.float32), Tensor([[[[[7]]]]], mindspore.int64)
        >>> print(nn.MaxUnpool3d(2)(x, indices).flatten())
        [0. 0. 0. 0. 0. 0. 0. 5.]
    """

    _undo = staticmethod(F.max_unpool3d)
