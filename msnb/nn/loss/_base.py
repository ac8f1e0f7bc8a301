"""`LossBase`: reduction and weighting of elementwise losses."""

from msnb.common import dtype as mstype
from msnb.common.kinds import checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Reduction
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["LossBase"]


class LossBase(Cell):
    """
    Base class of loss functions. A subclass computes elementwise losses in `construct` and passes them to `get_loss`.

    Args:
        reduction (str): Reduction in `get_loss`: "mean", "sum", or "none" (or None).
            Default: "mean".

    Raises:
        ValueError: If `reduction` is unknown.

    Examples:
        >>> class Cubic(nn.LossBase):
        ...     def construct(self, base, target):
        ...         return self.get_loss((base - target) ** 3)
        >>> x, y = Tensor([1, 3], mindspore.float32), Tensor([0, 1], mindspore.float32)
        >>> print(Cubic("sum")(x, y))
        9.0
    """

    @checked
    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.reduction: str = reduction
        self.average: bool = reduction != "sum"
        self.reduce: bool = reduction != "none"
        self.reduce_mean: P.ReduceMean = P.ReduceMean()
        self.reduce_sum: P.ReduceSum = P.ReduceSum()

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """Return all axes of `x` as a tuple."""
        return tuple(range(x.ndim))

    def get_loss(self, x: Tensor, weights: float | Tensor = 1.0) -> Tensor:
        """
        Return the weighted and reduced loss.

        Args:
            x (Tensor): The elementwise losses.
            weights (Union[float, Tensor]): Factors of the elementwise losses. Default: 1.0.

        Returns:
            Tensor.
        """
        if x._array.dtype.kind in "biu":  # computed in float32; the result has the element type of `x`
            return P.Cast()(self.get_loss(P.Cast()(x, mstype.float32), weights), x.dtype)
        if isinstance(weights, Tensor) or weights != 1.0:
            x = x * weights
        if not self.reduce:
            return x
        return (self.reduce_mean if self.average else self.reduce_sum)(x, self.get_axis(x))

    def construct(self, base: Tensor, target: Tensor) -> Tensor:
        """Compute the loss. Every subclass defines this method.

        Raises:
            NotImplementedError: Always, in this base class.
        """
        raise NotImplementedError(f"{self.cls_name} must implement construct.")
