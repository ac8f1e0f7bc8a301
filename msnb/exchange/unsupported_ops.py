"""Error that lists every operator without an equivalent in an export format, with its source location."""

from collections.abc import Iterable, Mapping

from msnb.ir.anf import CNode, FuncGraph
from msnb.ir.source import show

_MAX_LISTED = 20


def unsupported_error(
    graph: FuncGraph, nodes: Iterable[CNode], format_name: str, reasons: Mapping[CNode, str] | None = None
) -> NotImplementedError:
    """Return the error to raise if a graph has operators that the export format cannot express.

    Args:
        graph (FuncGraph): The exported graph.
        nodes (Iterable[CNode]): The unsupported calls. Calls with the same operator, scope, source line and reason are
            listed once.
        format_name (str): Name of the format.
        reasons (dict): {operator: property that the format cannot express}. Default: None.
    """
    why = reasons or {}
    entries = list(dict.fromkeys((n.name, n.scope, show(n.source), why.get(n, "")) for n in nodes))
    lines = [
        f"  {op} in {scope or 'the graph'}{f', {line}' if line else ''}{f': {reason}' if reason else ''}"
        for op, scope, line, reason in entries[:_MAX_LISTED]
    ]
    if len(entries) > _MAX_LISTED:
        lines.append(f"  and {len(entries) - _MAX_LISTED} more")
    names = ", ".join(sorted({op for op, *_ in entries}))
    return NotImplementedError(
        f"'{graph.name}' cannot be exported to {format_name}, which has no form here for {names}. Write these with "
        "other operators, or leave them outside of the network that is exported:\n" + "\n".join(lines)
    )
