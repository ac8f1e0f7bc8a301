"""The entry functions: from a Cell or a function and its inputs to a graph, a text or a picture."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jax.extend.core import ClosedJaxpr

from msnb.core.program.program_cache import program_of

from .anf import FuncGraph, ValueNode
from .graphviz import to_dot
from .picture import to_svg
from .printer import to_text
from .read import default_operator_of, read

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program
    from msnb.nn.cell import Cell


def graph(net: "Cell | Callable[..., Any] | Program | FuncGraph | ClosedJaxpr", *inputs: Any) -> FuncGraph:
    """The graph of a Cell or a function for these inputs, without running or compiling it.

    Args:
        net (Union[Cell, Callable, Program, FuncGraph, ClosedJaxpr]): what to look at; a Program is what a listener of
            `msnb.core.state.events` tells of. A FuncGraph is returned as it is.
        inputs: the inputs `net` would be called with.

    Returns:
        FuncGraph.

    Raises:
        TypeError: If `net` is none of these.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, ir, nn
        >>> len(ir.graph(nn.ReLU(), Tensor(np.ones((2, 3), np.float32))))
        1
    """
    if isinstance(net, FuncGraph):
        return net
    if hasattr(net, "jaxpr"):
        return of_program(net) if hasattr(net, "inputs") else read(net)
    if not callable(net):
        raise TypeError(
            f"For 'ir.graph', 'net' should be a Cell, a function, a FuncGraph or a ClosedJaxpr, but got "
            f"{type(net).__name__}."
        )
    return of_program(program_of(net, *inputs), name_of(net))


def of_program(program: "Program", name: str | None = None, expand: bool = False) -> FuncGraph:
    """The graph of a traced program of `msnb.core.program.program_cache`; `expand` opens operators up, see `read`."""

    def operator_of(text):
        meaning = program.names.get(text)
        return default_operator_of(text) if meaning is None else (meaning.operator, meaning.settings)

    made = read(program.jaxpr, name or getattr(program, "name", "main"), program.inputs, operator_of, expand)
    made.written = len(program.written)
    traced = iter(made.outputs)  # a result that was known while tracing is no output of the jaxpr
    known = [next(traced) if value is None else (ValueNode(value[0], ()), 0) for value in program.static]
    rest = list(traced)
    if getattr(program, "errors", None):  # the first of them says which checks have failed: it is no result
        del rest[0]
    made.outputs = [*known, *rest]
    return made


def name_of(net: Any) -> str:
    """What a graph of `net` is called: the class of a Cell, the name of a function."""
    return getattr(net, "__qualname__", None) or type(net).__name__


def text(net: "Cell | Callable[..., Any] | FuncGraph | ClosedJaxpr", *inputs: Any) -> str:
    """The functional IR as text: parameters, then one numbered line per CNode with its operator, inputs, attributes,
    types, scope and source line. Print it.

    Args:
        net (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): what to look at.
        inputs: the inputs `net` would be called with.

    Returns:
        str.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, ir, nn
        >>> print(ir.text(nn.ReLU(), Tensor(np.ones((2, 3), np.float32))))  # doctest: +SKIP
    """
    return to_text(graph(net, *inputs))


def dot(net: "Cell | Callable[..., Any] | FuncGraph | ClosedJaxpr", *inputs: Any) -> str:
    """The graph in the dot language, scopes as clusters.

    Args:
        net (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): what to look at.
        inputs: the inputs `net` would be called with.

    Returns:
        str.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return to_dot(graph(net, *inputs))


def svg(net: "Cell | Callable[..., Any] | FuncGraph | ClosedJaxpr", *inputs: Any, boxes: float = 60) -> str:
    """A picture of the graph that needs no browser scripts; scopes are opened as long as about `boxes` boxes fit.

    Args:
        net (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): what to look at.
        inputs: the inputs `net` would be called with.
        boxes (int): about how many boxes to draw. Default: 60.

    Returns:
        str, an SVG document.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return to_svg(graph(net, *inputs), boxes=boxes)
