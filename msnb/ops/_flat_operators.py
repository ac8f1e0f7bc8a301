"""Operators whose constructor takes arguments in `mindspore.ops`, and none in `mindspore.ops.auto_generate`: there the
arguments follow the inputs of the call, as in `AvgPool1D()(x, 2)`.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from msnb.core.operator.primitive import Primitive
from msnb.ops import operations as P


class FlatOperator(Primitive):
    """An operator as one call of its inputs and the arguments of its constructor.

    Args:
        name (str): Name of the operator. Default: None, that of the class.
    """

    operator: ClassVar[Any] = None
    count: ClassVar[int] = 1

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name or type(self).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        operator = self.operator(*args[self.count :], **kwargs)
        return operator(*args[: self.count])


def flat(
    operator: type[Primitive], count: int, complete: Callable[..., tuple[Any, ...]] | None = None
) -> type[FlatOperator]:
    """Return the class of an operator whose call takes its arguments, too.

    Args:
        operator (type): The class of the operator.
        count (int): Number of its inputs.
        complete (Callable): Fills in defaults that differ: it takes the arguments and returns them. Default: None.
    """
    function = operator if complete is None else lambda *args, **kwargs: operator(*complete(*args, **kwargs))
    body = {
        "operator": staticmethod(function),
        "count": count,
        "__doc__": operator.__doc__,
        "__module__": "msnb.ops.auto_generate",
    }
    return type(operator.__name__, (FlatOperator,), body)


def _step_by_kernel(kernel_size: Any, stride: Any = None, *others: Any) -> tuple[Any, ...]:
    return kernel_size, kernel_size if stride is None else stride, *others


AdaptiveAvgPool1D = flat(P.AdaptiveAvgPool1D, 1)
AdaptiveMaxPool1D = flat(P.AdaptiveMaxPool1D, 1)
AvgPool1D = flat(P.AvgPool1D, 1, _step_by_kernel)
AvgPool2D = flat(P.AvgPool2D, 1, _step_by_kernel)
ConvTranspose2D = flat(P.ConvTranspose2D, 3)
CountNonZero = flat(P.CountNonZero, 1)
GroupNorm = flat(P.GroupNorm, 4)
Hardtanh = flat(P.Hardtanh, 1)
LeakyReLUExt = flat(P.LeakyReLUExt, 1)
LogSumExp = flat(P.LogSumExp, 2)
Norm = flat(P.Norm, 4)
PixelShuffle = flat(P.PixelShuffle, 1)
SoftplusExt = flat(P.SoftplusExt, 1)
Threshold = flat(P.Threshold, 1)

__all__ = [
    *("AdaptiveAvgPool1D", "AdaptiveMaxPool1D", "AvgPool1D", "AvgPool2D", "ConvTranspose2D", "CountNonZero"),
    *("GroupNorm", "Hardtanh", "LeakyReLUExt", "LogSumExp", "Norm", "PixelShuffle", "SoftplusExt", "Threshold"),
]
