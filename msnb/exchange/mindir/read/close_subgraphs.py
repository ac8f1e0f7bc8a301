"""Close subgraphs after reading: values of enclosing graphs that a subgraph uses become its parameters."""

from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, ValueNode


def close_subgraphs(graph: FuncGraph) -> None:
    """Add a parameter to each subgraph for each value of enclosing graphs that it uses. These parameters come first."""
    for node in graph.nodes:
        for inner in node.graphs:
            close_subgraphs(inner)
        if node.graphs:
            _lift_free_values(node)


def _lift_free_values(node: CNode) -> None:
    """Make the free values of a node's subgraphs inputs of the node."""
    inputs, slots = list(node.inputs), list(node.slots)
    for graph in node.graphs:
        local_nodes = {*graph.parameters, *graph.nodes}
        free: dict[tuple[AnfNode, int], ParameterNode] = {}

        def resolve(source, slot, local_nodes=local_nodes, free=free):
            if source in local_nodes or isinstance(source, ValueNode):
                return source, slot
            if (source, slot) not in free:
                name = source.name if isinstance(source, ParameterNode) else f"free_{len(free)}"
                free[source, slot] = ParameterNode(name, (source.types[slot],))
            return free[source, slot], 0

        for inner_node in graph.nodes:
            uses = [resolve(*use) for use in inner_node.uses]
            inner_node.inputs, inner_node.slots = tuple(u[0] for u in uses), tuple(u[1] for u in uses)
        graph.outputs[:] = [resolve(*output) for output in graph.outputs]
        feeds = []
        for source, slot in free:
            if (source, slot) not in zip(inputs, slots):
                inputs.append(source)
                slots.append(slot)
            feeds.append(list(zip(inputs, slots)).index((source, slot)))
        graph.parameters[:0] = free.values()
        for parameter in free.values():
            parameter.func_graph = graph
        graph.feeds = (*feeds, *graph.feeds)
        graph.free = len(free)
    node.inputs, node.slots = tuple(inputs), tuple(slots)


def freeze_statistics(graph: FuncGraph) -> None:
    """Mark the running statistics of BatchNorm as Parameters without a gradient."""
    for node in graph.all_nodes():
        if node.op == "BatchNorm":
            for source in node.inputs[3:5]:
                if isinstance(source, ParameterNode):
                    source.requires_grad = False
