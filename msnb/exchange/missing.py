"""The one error of an export: every operator that a format cannot say, each with its place."""

from collections.abc import Iterable, Mapping

from msnb.ir.anf import CNode, FuncGraph
from msnb.ir.source import show

_SOME = 20


def refusal(
    graph: FuncGraph, nodes: Iterable[CNode], form: str, reasons: Mapping[CNode, str] | None = None
) -> NotImplementedError:
    """What an export raises for the nodes that have no lowering.

    Args:
        graph (FuncGraph): What was to be exported.
        nodes (Iterable[CNode]): The nodes; of those with the same operator, scope and line one is told.
        form (str): Name of the format.
        reasons (dict): What of a node it is that the format cannot say. Default: None.
    """
    why = reasons or {}
    places = list(dict.fromkeys((n.name, n.scope, show(n.source), why.get(n, "")) for n in nodes))
    told = [
        f"  {op} in {scope or 'the graph'}{f', {line}' if line else ''}{f': {reason}' if reason else ''}"
        for op, scope, line, reason in places[:_SOME]
    ]
    if len(places) > _SOME:
        told.append(f"  and {len(places) - _SOME} more")
    names = ", ".join(sorted({op for op, *_ in places}))
    return NotImplementedError(
        f"'{graph.name}' cannot be exported to {form}, which has no form here for {names}. Write these with other "
        "operators, or leave them outside of the network that is exported:\n" + "\n".join(told)
    )
