"""Extract the forward part of a graph that contains a gradient: the program before differentiation."""

from .anf import CNode, FuncGraph, ParameterNode


def has_gradient(graph: "FuncGraph") -> bool:
    """Return whether a graph contains a gradient."""
    return any(node.direction == "backward" for node in graph.all_nodes())


def forward_of(graph: FuncGraph) -> FuncGraph:
    """Return the forward program of a graph. Backward and update nodes are removed, and so are nodes that only these
    read.

    JAX differentiates while it traces, so this program never existed separately. It is the same computation, but its
    operators do not return residuals. It returns the results of the graph that forward nodes compute. It keeps a node
    that has no readers in the graph, such as a check of labels.

    Args:
        graph (FuncGraph): a program with a gradient.

    Returns:
        FuncGraph with new nodes.
    """
    needed, forward_nodes = set(), {node: None for node in graph.nodes if node.direction == "forward"}
    results = len(graph.outputs) - graph.written
    is_forward = frozenset(forward_nodes)
    forward_outputs = [(pair, index >= results) for index, pair in enumerate(graph.outputs) if pair[0] in forward_nodes]
    outputs = [pair for pair, _ in forward_outputs]
    all_sources = {source for node in graph.nodes for source in _iterate_producers(node)}
    # a node without readers, such as a check, stays
    ends = {node for node, _ in outputs} | (forward_nodes.keys() - all_sources)
    for node in reversed(forward_nodes):  # nodes that only the gradient reads are dropped too
        if node in ends or node in needed or not outputs:
            needed.add(node)
            needed.update(_iterate_producers(node))
    forward_nodes = [node for node in forward_nodes if node in needed]
    read = {}
    for node in forward_nodes:
        for source, slot in _iterate_read_values(node):
            read.setdefault(source, set()).add(slot)
    for node, slot in outputs:
        read.setdefault(node, set()).add(slot)
    parameters = [node for node in graph.parameters if node in read]
    forward_graph = _GraphCopy(read).graph(graph.name, parameters, forward_nodes, outputs)
    forward_graph.written = sum(written for _, written in forward_outputs)
    forward_graph.result_names = [
        name for name, (node, _) in zip(graph.result_names, graph.outputs, strict=False) if node in is_forward
    ]
    return forward_graph


def _iterate_read_values(node):
    """Yield (producer, slot) for each value that a node and its branches or loop bodies read."""
    yield from node.uses
    for inner in node.graphs:
        for below in inner.nodes:
            yield from _iterate_read_values(below)
        yield from inner.outputs


def _iterate_producers(node):
    return (source for source, _ in _iterate_read_values(node))


class _GraphCopy:
    """Copies nodes with new numbers. Results that nothing reads are omitted."""

    def __init__(self, read):
        self.read = read
        self.copies, self.slots = {}, {}
        self.count = 0

    def graph(self, name, parameters, nodes, outputs, feeds=(), free=0):
        for node in parameters:
            self.copies[node] = ParameterNode(node.name, node.types, node.is_weight, node.requires_grad)
        cnodes = [self.node(node) for node in nodes]
        return FuncGraph(
            name, [self.copies[node] for node in parameters], cnodes, [self.use(*pair) for pair in outputs], feeds, free
        )

    def use(self, source, slot):
        return self.copies.get(source, source), self.slots.get(source, {}).get(slot, slot)

    def node(self, node):
        number, self.count = self.count, self.count + 1
        inputs = [self.use(source, slot) for source, slot in node.uses]
        slots = sorted(self.read.get(node, ())) or list(range(len(node.types)))[:1]
        graphs = ()
        if node.graphs:  # a loop returns all results of its body, so none is omitted
            slots = list(range(len(node.types)))
            graphs = tuple(
                self.graph(inner.name, inner.parameters, inner.nodes, inner.outputs, inner.feeds, inner.free)
                for inner in node.graphs
            )
        copy = CNode(
            node.op,
            tuple(source for source, _ in inputs),
            tuple(slot for _, slot in inputs),
            tuple(node.types[slot] for slot in slots),
            attrs=node.attrs,
            scope=node.scope,
            direction=node.direction,
            source=node.source,
            graphs=graphs,
            id=number,
            flops=node.flops,
            nbytes=node.nbytes,
            kernel=node.kernel,
            instruction=node.instruction,
            origins=node.origins,
        )
        self.copies[node], self.slots[node] = copy, {slot: position for position, slot in enumerate(slots)}
        return copy
