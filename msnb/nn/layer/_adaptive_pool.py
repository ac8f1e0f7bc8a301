"""Pooling to a given size, which newer versions of MindSpore added."""

import numpy as np

from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["AdaptiveAvgPool2d", "AdaptiveMaxPool2d"]


def _windows(size, count):
    """`count` stretches that cover `size` pixels: (first, behind the last) of each."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


class _AdaptivePool2d(Cell):
    def __init__(self, output_size):
        super().__init__()
        sizes = output_size if isinstance(output_size, tuple) else (output_size, output_size)
        if len(sizes) != 2:
            raise ValueError(f"For '{self.cls_name}', 'output_size' should have 2 items, but got {output_size}.")
        for size in sizes:
            if size is None:
                continue
            if isinstance(size, bool) or not isinstance(size, int):
                raise TypeError(
                    f"For '{self.cls_name}', 'output_size' should be None, an int or a tuple of two, "
                    f"but got {output_size!r}."
                )
            if size < 1:
                raise ValueError(f"For '{self.cls_name}', 'output_size' should be positive, but got {output_size}.")
        self.output_size = output_size
        self._sizes = sizes

    def _windows_of(self, x):
        """The windows along height and width."""
        if x.ndim not in (3, 4):
            raise ValueError(f"For '{self.cls_name}', the input must have 3 or 4 dims, but got shape {x.shape}.")
        return [_windows(size, count or size) for size, count in zip(x.shape[-2:], self._sizes, strict=True)]

    def extend_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool2d(_AdaptivePool2d):
    """
    The mean of as many windows as the output has pixels; the windows cover the image evenly.

    Args:
        output_size (Union[int, tuple]): Height and width of the output; None keeps that of the input.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor of shape (N, C, H_out, W_out) or (C, H_out, W_out).

    Raises:
        TypeError: If `output_size` is not one of the above.
        ValueError: If a size is not positive, or the input neither 3-D nor 4-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, output_size):
        super().__init__(output_size)
        self.matmul = F.matmul

    def construct(self, x):
        rows, columns = self._windows_of(x)
        # Means over windows are products with the windows' indicators, divided by their lengths.
        down = np.zeros((len(rows), x.shape[-2]))
        for i, (first, behind) in enumerate(rows):
            down[i, first:behind] = 1 / (behind - first)
        across = np.zeros((x.shape[-1], len(columns)))
        for i, (first, behind) in enumerate(columns):
            across[first:behind, i] = 1 / (behind - first)
        return self.matmul(self.matmul(Tensor(down, x.dtype), x), Tensor(across, x.dtype))


class AdaptiveMaxPool2d(_AdaptivePool2d):
    """
    The greatest value of as many windows as the output has pixels; the windows cover the image evenly.

    Args:
        output_size (Union[int, tuple]): Height and width of the output; None keeps that of the input.

    Inputs:
        - **x** (Tensor) - a float Tensor of shape (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor of shape (N, C, H_out, W_out) or (C, H_out, W_out).

    Raises:
        TypeError: If `output_size` is not one of the above.
        ValueError: If a size is not positive, or the input neither 3-D nor 4-D.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, output_size):
        super().__init__(output_size)
        self.reduce_max = P.ReduceMax(True)
        self.concat_rows = P.Concat(-2)
        self.concat_columns = P.Concat(-1)

    def construct(self, x):
        rows, columns = self._windows_of(x)
        x = self.concat_rows(tuple(self.reduce_max(x[..., first:behind, :], -2) for first, behind in rows))
        return self.concat_columns(tuple(self.reduce_max(x[..., first:behind], -1) for first, behind in columns))
