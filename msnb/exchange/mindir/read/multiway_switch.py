"""Replace a Switch among many graphs by nested Switches between two."""

import numpy as np

from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

_BOOL, _INT32 = TensorType("Bool", (), 1), TensorType("Int32", (), 4)


def split_switches(graph: FuncGraph) -> None:
    """Replace each Switch among more than two graphs by Switches between two, in subgraphs too."""
    nodes = []
    for node in graph.nodes:
        for inner in node.graphs:
            split_switches(inner)
        if node.op == "Switch" and len(node.graphs) > 2:
            nodes.append(_split_switch(node, 0))
        nodes.append(node)
    graph.nodes[:] = nodes


def _split_switch(node, first):
    """Make a Switch choose between its first graph and a new graph that contains all others. Return the node of the
    condition.
    """
    index, slot = node.inputs[0], node.slots[0]
    number = ValueNode(np.array(first, np.int32), (_INT32,))
    is_first = CNode("Equal", (index, number), (slot, 0), (_BOOL,), scope=node.scope, source=node.source)
    first_graph, *others = node.graphs
    if len(others) == 1:
        node.graphs = (others[0], first_graph)
    else:
        parameters = [ParameterNode(f"given_{i}", (source.types[s],)) for i, (source, s) in enumerate(node.uses)]
        inner = CNode(
            "Switch",
            parameters,
            (0,) * len(parameters),
            node.types,
            scope=node.scope,
            source=node.source,
            graphs=tuple(others),
        )
        inner_condition = _split_switch(inner, first + 1)
        outputs = [(inner, i) for i in range(len(node.types))]
        rest = FuncGraph(
            "others", parameters, [inner_condition, inner], outputs, (len(node.inputs), *range(1, len(node.inputs)))
        )
        node.graphs = (rest, first_graph)
        node.inputs, node.slots = (*node.inputs, index), (*node.slots, slot)
    node.inputs, node.slots = (is_first, *node.inputs[1:]), (0, *node.slots[1:])
    return is_first
