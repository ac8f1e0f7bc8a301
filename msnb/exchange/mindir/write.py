"""From a network to a MINDIR file."""

from typing import Any

from msnb.exchange.missing import refusal
from msnb.exchange.tracing import traced


def write(net: Any, inputs: tuple[Any, ...], path: str) -> None:
    """Write `net`, traced with `inputs`, to the file `path`."""
    graph = traced(net, *inputs)
    raise refusal(graph, graph.all_nodes(), "MINDIR")
