"""Results whose shape depends on values, such as the distinct elements of a Tensor. A compiled program has fixed
shapes, so a function with such an operator runs operator by operator; the Cells inside it that have none stay compiled.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from msnb import log

_Function = TypeVar("_Function", bound=Callable[..., Any])


class DataDependentShape(RuntimeError):
    """Raised while a graph is traced, by an operator that has to see values before the shape of its result is known.

    Args:
        operator (str): The name of the operator.
        what (str): What depends on values.
        cure (str): What to write instead to keep the graph.
    """

    def __init__(self, operator: str, what: str, cure: str) -> None:
        super().__init__(f"For '{operator}', {what} depends on values, which a compiled graph does not know; {cure}.")
        self.given: tuple[str, str, str] = (operator, what, cure)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.given


def runs_eagerly(fn: _Function) -> _Function:
    """Decorator of what is traced for a program: called outside a trace, it runs operator by operator."""
    fn.runs_plainly = True  # type: ignore[attr-defined]
    return fn


def can_run_eagerly(fn: Callable[..., Any]) -> bool:
    """Whether `fn` says that it runs outside a trace as well."""
    return getattr(fn, "runs_plainly", False)


def say(name: str, error: DataDependentShape) -> None:
    """Tell, once for each text, that `name` is no compiled program, and what would make it one."""
    operator, what, cure = error.given
    log.once(
        f"{name} runs operator by operator: in '{operator}', {what} depends on values, which a compiled program does "
        f"not know. To compile it, {cure}."
    )
