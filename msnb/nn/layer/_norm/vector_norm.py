"""Layers with vector norms: L1 penalty, clipping by norm, and the norm."""

from typing import Annotated

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Optional, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import PositiveNumber
from msnb.nn._input_checks import FLOATS, check_dtypes
from msnb.nn._kinds import Axes
from msnb.nn.cell import Cell
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["L1Regularizer", "ClipByNorm", "Norm"]


class L1Regularizer(Cell):
    r"""
    L1 regularisation: :math:`s \sum |w|`.

    Args:
        scale (Union[int, float]): The factor s, positive and finite.

    Inputs:
        - **weights** (Tensor) - numbers, of any shape.

    Outputs:
        Tensor, a float32 scalar.

    Raises:
        TypeError: If `scale` is no number, or `weights` is no Tensor of numbers.
        ValueError: If `scale` is not positive, or not finite.

    Examples:
        >>> print(nn.L1Regularizer(0.5)(Tensor([[1.0, -2.0], [-3.0, 4.0]], mindspore.float32)))
        5.0
    """

    @checked
    def __init__(self, scale: PositiveNumber) -> None:
        super().__init__()
        self.scale: Tensor = Tensor(scale, mstype.float32)
        self.abs: P.Abs = P.Abs()
        self.reduce_sum: P.ReduceSum = P.ReduceSum()

    def construct(self, weights: Tensor) -> Tensor:
        """Return the penalty."""
        check_dtypes(self.cls_name, mstype.number_type, weights=weights)
        return self.reduce_sum(self.abs(weights)) * self.scale


class ClipByNorm(Cell):
    r"""
    Clip the Euclidean norm of a Tensor to a bound c: :math:`x \cdot c / \max(\|x\|, c)`.

    Args:
        axis (Union[None, int, tuple(int)]): Axes over which the norm is taken, None for all. Default: None.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.
        - **clip_norm** (Tensor) - the bound c, a scalar or of a shape that broadcasts to that of `x`.

    Outputs:
        Tensor, float32, of the shape of `x`.

    Raises:
        TypeError: If `axis` has the wrong type, or `x` is neither float16 nor float32.

    Examples:
        >>> print(nn.ClipByNorm()(Tensor([3.0, 4.0], mindspore.float32), Tensor(1.0, mindspore.float32)))
        [0.6 0.8]
    """

    @checked
    def __init__(self, axis: Annotated[int | tuple[int, ...] | None, Optional(Axes)] = None) -> None:
        super().__init__()
        self.axis = () if axis is None else axis
        self.reduce_sum: P.ReduceSum = P.ReduceSum(keep_dims=True)

    def construct(self, x: Tensor, clip_norm: Tensor) -> Tensor:
        """Return the clipped Tensor."""
        check_dtypes(self.cls_name, FLOATS, x=x)
        x = F.cast(x, mstype.float32)
        total = self.reduce_sum(F.square(x), self.axis)
        # The square root has no gradient at 0, so 0 is replaced by 1.
        is_zero = F.equal(total, 0)
        root = F.sqrt(F.select(is_zero, F.ones_like(total), total))
        return x * clip_norm / F.maximum(F.select(is_zero, total, root), clip_norm)


class Norm(Cell):
    r"""
    Euclidean norm: :math:`\sqrt{\sum x^2}`.

    Args:
        axis (Union[tuple, int]): Axes over which the norm is taken, () for all. Default: ().
        keep_dims (bool): Whether to keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor without the reduced axes, or with length 1 in them.

    Raises:
        TypeError: If `axis` has the wrong type, or `keep_dims` is no bool.

    Examples:
        >>> print(nn.Norm(axis=0)(Tensor([[3.0, 0.0], [4.0, 2.0]], mindspore.float32)))
        [5. 2.]
    """

    @checked
    def __init__(self, axis: Axes = (), keep_dims: Bool = False) -> None:
        super().__init__()
        self.axis = axis
        self.keep_dims: bool = keep_dims

    def construct(self, x: Tensor) -> Tensor:
        """Return the norm of each vector."""
        return F.norm(x, None, self.axis, self.keep_dims)

    def extend_repr(self) -> str:
        """Return the axes and `keep_dims` for `repr`."""
        return f"axis={self.axis}, keep_dims={self.keep_dims}"
