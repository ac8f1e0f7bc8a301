"""Entry functions of `msnb.ir`: from a Cell or a function and its inputs to a graph, a text or a picture."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jax.extend.core import ClosedJaxpr

from msnb.core.program.program_cache import program_of
from msnb.ir.layout.picture import to_svg

from .anf import FuncGraph, ValueNode
from .graphviz import to_dot
from .printer import to_text
from .read import default_operator_of, read
from .result_names import name_results

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program


def graph(net: "Callable[..., Any] | Program | FuncGraph | ClosedJaxpr", *inputs: Any) -> FuncGraph:
    """Return the graph of a Cell or a function for these inputs, without running or compiling it.

    Args:
        net (Union[Cell, Callable, Program, FuncGraph, ClosedJaxpr]): the network; a Program comes from an event of
            `msnb.core.state.events`. A FuncGraph is returned unchanged.
        inputs: inputs for `net`.

    Returns:
        FuncGraph.

    Raises:
        TypeError: If `net` has another type.

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
    """Return the graph of a traced program of `msnb.core.program.program_cache`. `expand` replaces operators by their
    primitives, see `read`.
    """

    def operator_of(text):
        meaning = program.names.get(text)
        return default_operator_of(text) if meaning is None else (meaning.operator, meaning.settings)

    graph = read(program.jaxpr, name or getattr(program, "name", "main"), program.inputs, operator_of, expand)
    graph.written = len(program.written)
    traced = iter(graph.outputs)  # a result that is constant while tracing is not an output of the jaxpr
    constants = [next(traced) if value is None else (ValueNode(value[0], ()), 0) for value in program.results.static]
    rest = list(traced)
    # the first of these outputs has the flags of failed checks and is not a result
    if getattr(program, "errors", None):
        del rest[0]
    graph.outputs = [*constants, *rest]
    graph.result_names = name_results(program)
    return graph


def name_of(net: Any) -> str:
    """Return the name of a graph of `net`: the class of a Cell, the name of a function."""
    return getattr(net, "__qualname__", None) or type(net).__name__


def text(net: "Callable[..., Any] | FuncGraph | ClosedJaxpr", *inputs: Any) -> str:
    """Return the functional IR as text to print: parameters, then one numbered line per CNode with its operator,
    inputs, attributes, types, scope and source line.

    Args:
        net (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): the network.
        inputs: inputs for `net`.

    Returns:
        str.

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, ir, nn
        >>> print(ir.text(nn.ReLU(), Tensor(np.ones((2, 3), np.float32))))  # doctest: +SKIP
    """
    return to_text(graph(net, *inputs))


def dot(net: "Callable[..., Any] | FuncGraph | ClosedJaxpr", *inputs: Any) -> str:
    """Return the graph in the dot language, with scopes as clusters.

    Args:
        net (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): the network.
        inputs: inputs for `net`.

    Returns:
        str.
    """
    return to_dot(graph(net, *inputs))


def svg(net: "Callable[..., Any] | FuncGraph | ClosedJaxpr", *inputs: Any, boxes: float = 60) -> str:
    """Return an SVG picture of the graph that needs no scripts. Scopes are opened until about `boxes` boxes are drawn.

    Args:
        net (Union[Cell, Callable, FuncGraph, ClosedJaxpr]): the network.
        inputs: inputs for `net`.
        boxes (int): about how many boxes to draw. Default: 60.

    Returns:
        str, an SVG document.
    """
    return to_svg(graph(net, *inputs), boxes=boxes)
