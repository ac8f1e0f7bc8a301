"""The program before it was differentiated: the forward part of a graph that holds a gradient."""

from .anf import CNode, FuncGraph, ParameterNode


def has_gradient(graph: "FuncGraph") -> bool:
    """Return whether a gradient is taken somewhere in a graph."""
    return any(node.direction == "backward" for node in graph.all_nodes())


def forward_of(graph: FuncGraph) -> FuncGraph:
    """The forward program of a graph: its nodes without backward and update, without what only those read.

    JAX differentiates while it traces, so this program never existed on its own; it is the same computation without
    the results that operators keep for their gradients. Its results are those of the graph that need no gradient;
    what nothing reads in the graph, such as a check of labels, stays.

    Args:
        graph (FuncGraph): a program with a gradient.

    Returns:
        FuncGraph, of nodes of its own.
    """
    wanted, kept = set(), {node: None for node in graph.nodes if node.direction == "forward"}
    results = len(graph.outputs) - graph.written
    given = [(pair, place >= results) for place, pair in enumerate(graph.outputs) if pair[0] in kept]
    outputs = [pair for pair, _ in given]
    ever = {source for node in graph.nodes for source in _sources(node)}
    ends = {node for node, _ in outputs} | (kept.keys() - ever)  # a check has readers in neither program
    for node in reversed(kept):  # what only the gradient reads goes too
        if node in ends or node in wanted or not outputs:
            wanted.add(node)
            wanted.update(_sources(node))
    kept = [node for node in kept if node in wanted]
    read = {}
    for node in kept:
        for source, slot in _uses(node):
            read.setdefault(source, set()).add(slot)
    for node, slot in outputs:
        read.setdefault(node, set()).add(slot)
    parameters = [node for node in graph.parameters if node in read]
    made = _Copy(read).graph(graph.name, parameters, kept, outputs)
    made.written = sum(written for _, written in given)
    return made


def _uses(node):
    """(producer, slot) that a node and its branches or bodies read."""
    yield from node.uses
    for inner in node.graphs:
        for below in inner.nodes:
            yield from _uses(below)
        yield from inner.outputs


def _sources(node):
    return (source for source, _ in _uses(node))


class _Copy:
    """Copies nodes, numbered anew, with those of their results that are read."""

    def __init__(self, read):
        self.read = read
        self.made, self.slots = {}, {}
        self.count = 0

    def graph(self, name, parameters, nodes, outputs, feeds=(), free=0):
        for node in parameters:
            self.made[node] = ParameterNode(node.name, node.types, node.is_weight, node.requires_grad)
        made = [self.node(node) for node in nodes]
        return FuncGraph(
            name, [self.made[node] for node in parameters], made, [self.use(*pair) for pair in outputs], feeds, free
        )

    def use(self, source, slot):
        return self.made.get(source, source), self.slots.get(source, {}).get(slot, slot)

    def node(self, node):
        number, self.count = self.count, self.count + 1
        inputs = [self.use(source, slot) for source, slot in node.uses]
        slots = sorted(self.read.get(node, ())) or list(range(len(node.types)))[:1]
        graphs = ()
        if node.graphs:  # a loop's results are its body's: all stay
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
        self.made[node], self.slots[node] = copy, {slot: place for place, slot in enumerate(slots)}
        return copy
