"""Base classes of layers without Parameters that call a function of `mint.nn.functional`."""

from collections.abc import Callable
from typing import Any, ClassVar

from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell


class OfFunction(Cell):
    """Base class of layers that call a function with the input and the constructor arguments.

    A subclass names the function: ``class ELU(OfFunction, function=F.elu)``. The constructor arguments are attributes.
    """

    _function: ClassVar[Any] = None

    def __init_subclass__(cls, function: Callable[..., Any] | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if function is not None:
            cls._function = staticmethod(function)

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self._given = tuple(arguments)
        # `_given` keeps its name because old pickles have it.
        for name, value in arguments.items():
            setattr(self, name, value)

    def _get_named_arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._given}

    def construct(self, input: Tensor) -> Any:
        """Return the result of the function for `input`."""
        return self._function(input, **self._get_named_arguments())

    def extend_repr(self) -> str:
        """Return the constructor arguments shown by `repr`."""
        return ", ".join(
            f"{name}={value}" for name, value in self._get_named_arguments().items() if not isinstance(value, Tensor)
        )


class OfTarget(OfFunction):
    """Base class of layers that call a function with two inputs, such as a loss."""

    def construct(self, input: Tensor, target: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the loss."""
        return self._function(input, target, **self._get_named_arguments())
