"""The graph of a network for an event file."""

from typing import TYPE_CHECKING, Any

from msnb.formats.summary_graphs import Graph, GraphNode, TensorType
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, ValueNode
from msnb.ir.api import of_program

if TYPE_CHECKING:  # used in annotations only
    from msnb.core.program.program import Program
    from msnb.nn.cell import Cell


def program_of_last(network: "Cell | None") -> "Program | None":
    """Return the last program that was compiled for a Cell; None if there is none, as in PYNATIVE mode."""
    programs = getattr(network, "_programs", None)
    compiled = [entry.program for entries in programs.table.values() for entry in entries] if programs else []
    return compiled[-1] if compiled else None


def graph_of(program: "Program") -> Graph:
    """Return the graph of a program for an event file: its operators with their scopes, including those in loops and
    branches."""
    return _NamedGraph(of_program(program)).graph()


class _NamedGraph:
    """Assigns each node of a graph the name by which other nodes refer to it."""

    def __init__(self, graph: FuncGraph):
        self._graph, self._names, self._constants = graph, {}, {}

    def graph(self):
        parameters = {self._get_node_name(p): _make_tensor_type(p.types) for p in self._graph.parameters}
        nodes = [self._convert_node(node) for node in self._graph.all_nodes()]
        outputs = {self._get_node_name(node): _make_tensor_type(node.types) for node, _ in self._graph.outputs}
        return Graph(self._graph.name, tuple(nodes), parameters, outputs, self._constants)

    def _get_node_name(self, node):
        name = self._names.get(id(node))
        if name is None:
            if isinstance(node, ParameterNode):
                name = node.name
            elif isinstance(node, CNode):
                name = str(len(self._names) + 1)
            else:
                name = f"cst{len(self._constants) + 1}"
                self._constants[name] = _get_constant_value(node)
            self._names[id(node)] = name
        return name

    def _convert_node(self, node):
        return GraphNode(
            name=self._get_node_name(node),
            op=node.name,
            scope=node.scope,
            full_name=node.fullname,
            inputs=tuple(self._get_node_name(given) for given in node.inputs),
            attributes={**node.attrs, **({"source": _format_source(node.source)} if node.source else {})},
            type=_make_tensor_type(node.types),
        )


def _format_source(source):
    return f"{source[0]}:{source[1]}"


def _make_tensor_type(types):
    tensor_types = tuple(TensorType(kind.dtype.lower(), tuple(kind.shape)) for kind in types)
    return tensor_types[0] if len(tensor_types) == 1 else tensor_types or None


def _get_constant_value(node: ValueNode) -> Any:
    kind = _make_tensor_type(node.types)
    value = node.value
    if value is None or (isinstance(kind, TensorType) and kind.shape):
        return kind
    return value.item() if hasattr(value, "item") else value
