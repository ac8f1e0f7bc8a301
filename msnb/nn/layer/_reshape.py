"""Layers that rearrange elements without changing them."""

import math
from typing import Annotated, Any

from msnb.common.kinds import Int, Kind, accept_value, checked
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_least_dims
from msnb.nn.cell import Cell
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["Flatten", "Roll", "Unflatten"]


class Flatten(Cell):
    """
    Merge the axes from `start_dim` to `end_dim`. By default axis 0 stays, and the other axes are merged.

    Args:
        start_dim (int): Index of the first axis to merge. Default: 1.
        end_dim (int): Index of the last axis to merge. Default: -1.

    Inputs:
        - **x** (Tensor) - of shape (N, ...).

    Outputs:
        Tensor. By default its shape is (N, number of elements of a sample).

    Raises:
        TypeError: If `x` is no Tensor, or an axis is no int.
        ValueError: If an axis does not exist, or `end_dim` comes before `start_dim`.

    Examples:
        >>> print(nn.Flatten()(Tensor(np.ones((2, 3, 4)), mindspore.float32)).shape)
        (2, 12)
    """

    @checked
    def __init__(self, start_dim: Int = 1, end_dim: Int = -1) -> None:
        super().__init__()
        self.start_dim: int = start_dim
        self.end_dim: int = end_dim
        self.reshape: P.Reshape = P.Reshape()

    def construct(self, x: Tensor) -> Tensor:
        """Return the matrix."""
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{self.cls_name}', the input should be a Tensor, but got {describe(x)}.")
        check_least_dims(self.cls_name, x, 1)
        if self.start_dim == 1 and self.end_dim == -1:  # the result is a matrix even for a vector
            return self.reshape(x, (x.shape[0], math.prod(x.shape[1:])))
        return F.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


def _accept_new_sizes(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    return tuple(accept_value(Int, size) for size in value)


class Unflatten(Cell):
    """
    Split one axis into several.

    Args:
        axis (int): The axis to split.
        unflattened_size (Union[tuple[int], list[int]]): Lengths of the new axes; one may be -1, which is inferred.

    Inputs:
        - **input_x** (Tensor) - of any shape.

    Outputs:
        Tensor.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the axis does not exist, or the lengths do not fit it.

    Examples:
        >>> print(nn.Unflatten(1, (2, -1))(Tensor(np.ones((3, 10, 4)), mindspore.float32)).shape)
        (3, 2, 5, 4)
    """

    _may_return_input = True

    @checked
    def __init__(
        self,
        axis: Int,
        unflattened_size: Annotated[tuple[int, ...] | list[int], Kind("a tuple or a list of int", _accept_new_sizes)],
    ) -> None:
        super().__init__()
        self.axis: int = axis
        self.unflattened_size: Any = unflattened_size
        self.reshape: P.Reshape = P.Reshape()

    def construct(self, input_x: Tensor) -> Tensor:
        """Return the reshaped Tensor."""
        if not -input_x.ndim <= self.axis < input_x.ndim:
            raise ValueError(f"For '{self.cls_name}', shape {tuple(input_x.shape)} has no axis {self.axis}.")
        axis = self.axis % input_x.ndim
        return self.reshape(input_x, (*input_x.shape[:axis], *self.unflattened_size, *input_x.shape[axis + 1 :]))


def _check_ints(value):
    return tuple(accept_value(Int, n) for n in (value if isinstance(value, (tuple, list)) else (value,)))


_Ints = Annotated[int | tuple[int, ...] | list[int], Kind("an int, or a tuple or list of int", _check_ints)]


class Roll(Cell):
    """
    Shift elements along axes with wrap-around.

    Args:
        shift (Union[int, tuple[int], list[int]]): Number of positions to shift by, for each axis.
        axis (Union[int, tuple[int], list[int]]): The axes.

    Inputs:
        - **input_x** (Tensor) - of any shape.

    Outputs:
        Tensor of the shape and type of `input_x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If there are not as many shifts as axes, or an axis does not exist.

    Examples:
        >>> print(nn.Roll(2, 0)(Tensor([0, 1, 2, 3, 4], mindspore.float32)))
        [3. 4. 0. 1. 2.]
    """

    @checked
    def __init__(self, shift: _Ints, axis: _Ints) -> None:
        super().__init__()
        self.shift: Any = shift
        self.axis: Any = axis
        if len(shift) != len(axis):
            raise ValueError(
                f"For '{self.cls_name}', 'shift' and 'axis' should be as many, but got {len(shift)} and {len(axis)}."
            )

    def construct(self, input_x: Tensor) -> Tensor:
        """Return the moved elements."""
        return F.roll(input_x, self.shift, self.axis)
