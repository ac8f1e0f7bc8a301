"""Results whose shape depends on values, such as the distinct elements of a Tensor.

A compiled program has fixed shapes. A function with such an operator therefore runs operator by operator; Cells inside
it without such operators stay compiled.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from msnb import log

_Function = TypeVar("_Function", bound=Callable[..., Any])


class DataDependentShape(RuntimeError):
    """Error raised in a trace by an operator whose result shape depends on values.

    Args:
        operator (str): The name of the operator.
        what (str): The property that depends on values.
        cure (str): Advice on a replacement that keeps the graph.
    """

    def __init__(self, operator: str, what: str, cure: str) -> None:
        super().__init__(f"For '{operator}', {what} depends on values, which a compiled graph does not know; {cure}.")
        self.fields: tuple[str, str, str] = (operator, what, cure)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.fields


def runs_eagerly(fn: _Function) -> _Function:
    """Decorator for traced functions that can run operator by operator when called outside a trace."""
    fn.runs_plainly = True  # type: ignore[attr-defined]
    return fn


def can_run_eagerly(fn: Callable[..., Any]) -> bool:
    """Return True if `fn` is decorated with `runs_eagerly`."""
    return getattr(fn, "runs_plainly", False)


def report_eager_run(name: str, error: DataDependentShape) -> None:
    """Log, once for each text, that `name` is not compiled and which change would let it compile."""
    operator, what, cure = error.fields
    log.once(
        f"{name} runs operator by operator: in '{operator}', {what} depends on values, which a compiled program does "
        f"not know. To compile it, {cure}."
    )
