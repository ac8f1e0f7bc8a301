"""`MetaTensor`: what is known of a Tensor whose data is not there yet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msnb.common.initializer import initializer
from msnb.core.tensor.tensor import Tensor, say_whole

if TYPE_CHECKING:  # named in annotations alone
    from msnb.common.dtype import Type


class _MetaTensorType(type):
    """A Tensor counts as a MetaTensor whose data is there: initializers return Tensors at once."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or cls is MetaTensor and isinstance(instance, Tensor)


class MetaTensor(metaclass=_MetaTensorType):
    """Shape, dtype and initializer of a Tensor whose data is not there yet.

    Args:
        dtype (mindspore.dtype): Type of the elements.
        shape (tuple): Shape.
        init (Initializer): What `to_tensor` fills it with.
    """

    def __init__(self, dtype: "Type", shape: Sequence[int], init: Any = None) -> None:
        self.dtype = dtype
        self.shape: tuple[int, ...] = tuple(shape)
        self.init = init

    def to_tensor(
        self, slice_index: int | None = None, shape: Sequence[int] | None = None, opt_shard_group: str | None = None
    ) -> Tensor:
        """The Tensor, filled by the initializer.

        Raises:
            TypeError: If no initializer was given.
        """
        if self.init is None:
            raise TypeError("This MetaTensor has no initializer, so it cannot become a Tensor.")
        say_whole("MetaTensor.to_tensor", slice_index, opt_shard_group)
        return initializer(self.init, shape or self.shape, self.dtype)
