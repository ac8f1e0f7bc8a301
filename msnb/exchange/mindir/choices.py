"""A choice among many as choices among two: is it the first one, or one of the others?"""

import numpy as np

from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode

_TRUTH, _NUMBER = TensorType("Bool", (), 1), TensorType("Int32", (), 4)


def in_twos(graph: FuncGraph) -> None:
    """Change each Switch among more than two graphs, in sub-graphs too."""
    nodes = []
    for node in graph.nodes:
        for inner in node.graphs:
            in_twos(inner)
        if node.op == "Switch" and len(node.graphs) > 2:
            nodes.append(_halve(node, 0))
        nodes.append(node)
    graph.nodes[:] = nodes


def _halve(node, first):
    """Let a Switch choose between its first graph and a graph with the others; what tells which one it is."""
    index, slot = node.inputs[0], node.slots[0]
    number = ValueNode(np.array(first, np.int32), (_NUMBER,))
    asked = CNode("Equal", (index, number), (slot, 0), (_TRUTH,), scope=node.scope, source=node.source)
    one, *others = node.graphs
    if len(others) == 1:
        node.graphs = (others[0], one)
    else:
        taken = [ParameterNode(f"given_{i}", (source.types[s],)) for i, (source, s) in enumerate(node.uses)]
        inner = CNode(
            "Switch", taken, (0,) * len(taken), node.types, scope=node.scope, source=node.source, graphs=tuple(others)
        )
        before = _halve(inner, first + 1)
        outputs = [(inner, i) for i in range(len(node.types))]
        rest = FuncGraph("others", taken, [before, inner], outputs, (len(node.inputs), *range(1, len(node.inputs))))
        node.graphs = (rest, one)
        node.inputs, node.slots = (*node.inputs, index), (*node.slots, slot)
    node.inputs, node.slots = (asked, *node.inputs[1:]), (0, *node.slots[1:])
    return asked
