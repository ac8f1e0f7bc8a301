"""The graph of a network as it goes into an event file."""

from typing import TYPE_CHECKING, Any

from msnb.formats.summary_graphs import Graph, GraphNode, TensorType
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, ValueNode
from msnb.ir.api import of_program

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program
    from msnb.nn.cell import Cell


def program_of_last(network: "Cell | None") -> "Program | None":
    """The program that a Cell has compiled last; None where there is none, as in PYNATIVE mode."""
    programs = getattr(network, "_programs", None)
    found = [entry.program for entries in programs.table.values() for entry in entries] if programs else []
    return found[-1] if found else None


def graph_of(program: "Program") -> Graph:
    """What the event file holds of a program: its operators with their scopes, loops and branches opened."""
    return _Names(of_program(program)).graph()


class _Names:
    """Gives each node of a graph the name by which others call it."""

    def __init__(self, graph: FuncGraph):
        self._graph, self._names, self._constants = graph, {}, {}

    def graph(self):
        parameters = {self._called(p): _type(p.types) for p in self._graph.parameters}
        nodes = [self._node(node) for node in self._graph.all_nodes()]
        outputs = {self._called(node): _type(node.types) for node, _ in self._graph.outputs}
        return Graph(self._graph.name, tuple(nodes), parameters, outputs, self._constants)

    def _called(self, node):
        name = self._names.get(id(node))
        if name is None:
            if isinstance(node, ParameterNode):
                name = node.name
            elif isinstance(node, CNode):
                name = str(len(self._names) + 1)
            else:
                name = f"cst{len(self._constants) + 1}"
                self._constants[name] = _constant(node)
            self._names[id(node)] = name
        return name

    def _node(self, node):
        return GraphNode(
            name=self._called(node),
            op=node.name,
            scope=node.scope,
            full_name=node.fullname,
            inputs=tuple(self._called(given) for given in node.inputs),
            attributes={**node.attrs, **({"source": _place(node.source)} if node.source else {})},
            type=_type(node.types),
        )


def _place(source):
    return f"{source[0]}:{source[1]}"


def _type(types):
    found = tuple(TensorType(kind.dtype.lower(), tuple(kind.shape)) for kind in types)
    return found[0] if len(found) == 1 else found or None


def _constant(node: ValueNode) -> Any:
    kind = _type(node.types)
    value = node.value
    if value is None or (isinstance(kind, TensorType) and kind.shape):
        return kind
    return value.item() if hasattr(value, "item") else value
