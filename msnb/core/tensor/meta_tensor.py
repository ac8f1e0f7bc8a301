"""`MetaTensor`: shape, dtype and initializer of a Tensor without data."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msnb.common.initializer import initializer
from msnb.core.tensor.tensor import Tensor, report_ignored_slice

if TYPE_CHECKING:  # used only in annotations
    from msnb.common.dtype import Type


class _MetaTensorType(type):
    """Metaclass that makes each Tensor an instance of MetaTensor. `initializer` returns a Tensor with values, where
    programs for MindSpore expect a MetaTensor.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or cls is MetaTensor and isinstance(instance, Tensor)


class MetaTensor(metaclass=_MetaTensorType):
    """Shape, dtype and initializer of a Tensor without data.

    Args:
        dtype (mindspore.dtype): Type of the elements.
        shape (tuple): Shape.
        init (Initializer): Fills the Tensor in `to_tensor`.
    """

    def __init__(self, dtype: "Type", shape: Sequence[int], init: Any = None) -> None:
        self.dtype = dtype
        self.shape: tuple[int, ...] = tuple(shape)
        self.init = init

    def to_tensor(
        self, slice_index: int | None = None, shape: Sequence[int] | None = None, opt_shard_group: str | None = None
    ) -> Tensor:
        """Return the Tensor, filled by the initializer.

        Raises:
            TypeError: If no initializer was given.
        """
        if self.init is None:
            raise TypeError("This MetaTensor has no initializer, so it cannot become a Tensor.")
        report_ignored_slice("MetaTensor.to_tensor", slice_index, opt_shard_group)
        return initializer(self.init, shape or self.shape, self.dtype)
