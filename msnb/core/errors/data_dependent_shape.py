"""Errors of a trace that needs values of Tensors: for the shape of a result, such as the distinct elements of a Tensor,
for Python code, or to choose between paths whose results have different shapes or structures.

A compiled program has fixed shapes and no values for Python. A function with such an operator therefore runs operator
by operator; Cells inside it without such operators stay compiled. For Python code and paths this holds in MindSpore 2;
in r1.1 it is an error.
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
        self.reason: str = (
            f"in '{operator}', {what} depends on values, which a compiled program does not know. To compile it, {cure}."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.fields


class ValueNeeded(RuntimeError):
    """Error raised in a trace when Python code needs the value of a Tensor.

    Args:
        what (str): The code that needs it.
        graph_text (str): The Tensor in the trace.
    """

    def __init__(self, what: str, graph_text: str) -> None:
        super().__init__(
            f"{what} needs the value of a Tensor, but in a graph ({graph_text}) values exist only when it runs. Return "
            f"the Tensor and look at it outside, use ops.Print or print(), or switch to PYNATIVE mode "
            f"(context.set_context(mode=context.PYNATIVE_MODE)) to step through."
        )
        self.fields: tuple[str, str] = (what, graph_text)
        self.reason: str = (
            f"{what} needs a value, which a compiled program does not know. To compile it, return the Tensor and "
            f"look at it outside."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.fields


class ObjectReturned(ValueNeeded):
    """Error raised in a trace whose result is an object with Tensors that a graph cannot return.

    Args:
        kind (str): The class of the object.
    """

    def __init__(self, kind: str) -> None:
        RuntimeError.__init__(
            self,
            f"A graph returns Tensors, numbers, and tuples, lists and dicts of them, but this one returns an object of "
            f"{kind} with Tensors in it. Return a tuple, or switch to PYNATIVE mode "
            f"(context.set_context(mode=context.PYNATIVE_MODE)).",
        )
        self.fields: tuple[str] = (kind,)
        self.reason: str = f"it returns an object of {kind}. To compile it, return a tuple."


class PathsDiffer(ValueNeeded, TypeError):
    """Error raised in a trace whose paths give values that one compiled program cannot join, such as Tensors of two
    shapes, or a Tensor and None.

    Args:
        text (str): The place, the two values and advice.
    """

    def __init__(self, text: str) -> None:
        RuntimeError.__init__(self, text)
        self.fields: tuple[str] = (text,)
        self.reason: str = text


def runs_eagerly(fn: _Function) -> _Function:
    """Decorator for traced functions that can run operator by operator when called outside a trace."""
    fn.runs_plainly = True  # type: ignore[attr-defined]
    return fn


def can_run_eagerly(fn: Callable[..., Any]) -> bool:
    """Return True if `fn` is decorated with `runs_eagerly`."""
    return getattr(fn, "runs_plainly", False)


def report_eager_run(name: str, error: DataDependentShape | ValueNeeded) -> None:
    """Log, once for each text, that `name` is not compiled and which change would let it compile."""
    log.once(f"{name} runs operator by operator: {error.reason}")
