"""Layers without Parameters that call one operator."""

from typing import Any, ClassVar

from msnb.common.arguments import answered
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell


class OneOperator(Cell):
    """A layer that calls one operator, created from the constructor arguments.

    A subclass names the operator's class and the attribute that holds it: ``class ReLU(OneOperator, operator=P.ReLU,
    attribute_name="relu")``. Libraries that use MindSpore read that attribute to shard the operator.
    """

    _operator: ClassVar[Any] = None
    _attribute_name: ClassVar[str] = ""

    def __init_subclass__(cls, operator: Any = None, attribute_name: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if operator is not None:
            cls._operator, cls._attribute_name = operator, attribute_name

    def __init__(self, *attributes: Any, **named: Any) -> None:
        super().__init__()
        self._set_operator(self._operator(*attributes, **named))

    def _set_operator(self, operator: Any) -> None:
        setattr(self, self._attribute_name, operator)

    def construct(self, x: Tensor) -> Tensor:
        """Return the result of the operator for `x`."""
        return getattr(self, self._attribute_name)(x)


class PlainOperator(OneOperator):
    """A layer that is one operator without attributes."""

    @answered
    def __init__(self) -> None:
        super().__init__()
