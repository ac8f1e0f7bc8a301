"""Graphs within graphs, once all are there: what nobody uses goes, what comes from outside becomes a parameter."""

from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, ValueNode


def close(graph: FuncGraph) -> None:
    """Let each sub-graph have a parameter, its first ones, for each value of the graphs around it that it uses."""
    for node in graph.nodes:
        for inner in node.graphs:
            close(inner)
        if node.graphs:
            _take(node)


def _take(node: CNode) -> None:
    """Make free values of a node's sub-graphs its inputs."""
    inputs, slots = list(node.inputs), list(node.slots)
    for graph in node.graphs:
        own = {*graph.parameters, *graph.nodes}
        found: dict[tuple[AnfNode, int], ParameterNode] = {}

        def taken(source, slot, own=own, found=found):
            if source in own or isinstance(source, ValueNode):
                return source, slot
            if (source, slot) not in found:
                name = source.name if isinstance(source, ParameterNode) else f"free_{len(found)}"
                found[source, slot] = ParameterNode(name, (source.types[slot],))
            return found[source, slot], 0

        for inside in graph.nodes:
            uses = [taken(*use) for use in inside.uses]
            inside.inputs, inside.slots = tuple(u[0] for u in uses), tuple(u[1] for u in uses)
        graph.outputs[:] = [taken(*output) for output in graph.outputs]
        feeds = []
        for source, slot in found:
            if (source, slot) not in zip(inputs, slots):
                inputs.append(source)
                slots.append(slot)
            feeds.append(list(zip(inputs, slots)).index((source, slot)))
        graph.parameters[:0] = found.values()
        for parameter in found.values():
            parameter.func_graph = graph
        graph.feeds = (*feeds, *graph.feeds)
        graph.free = len(found)
    node.inputs, node.slots = tuple(inputs), tuple(slots)


def freeze(graph: FuncGraph) -> None:
    """Parameters that an operator only measures with, such as the mean of BatchNorm, have no gradient."""
    for node in graph.all_nodes():
        if node.op == "BatchNorm":
            for source in node.inputs[3:5]:
                if isinstance(source, ParameterNode):
                    source.requires_grad = False
