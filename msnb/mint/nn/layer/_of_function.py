"""Layers without Parameters that are a function of `mint.nn.functional`."""

from collections.abc import Callable
from typing import Any, ClassVar

from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell


class OfFunction(Cell):
    """A layer that calls a function with its input and what the constructor hands on.

    A subclass names the function: ``class ELU(OfFunction, function=F.elu)``. What is handed on are attributes, too.
    """

    _function: ClassVar[Any] = None

    def __init_subclass__(cls, function: Callable[..., Any] | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if function is not None:
            cls._function = staticmethod(function)

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self._given = tuple(given)
        for name, value in given.items():
            setattr(self, name, value)

    def _named(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._given}

    def construct(self, input: Tensor) -> Any:
        """What the function gives for `input`."""
        return self._function(input, **self._named())

    def extend_repr(self) -> str:
        """What the constructor was given."""
        return ", ".join(f"{name}={value}" for name, value in self._named().items() if not isinstance(value, Tensor))


class OfTarget(OfFunction):
    """The same with two inputs, as a loss has."""

    def construct(self, input: Tensor, target: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The loss."""
        return self._function(input, target, **self._named())
