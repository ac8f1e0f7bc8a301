"""`msnb.patch`: activation patching, the effect of each node on a metric, as a table and on the graph."""

from collections.abc import Callable
from typing import Any

from msnb.insight.interventions.patching import DEFAULT_NODES, Patching, measure_effects
from msnb.notebook.graph.api import of_program
from msnb.notebook.graph.view import HEIGHT, GraphView


class ViewedPatching(Patching):
    """The effects of nodes, which can be shown on the graph."""

    def view(self, height: int = HEIGHT) -> GraphView:
        """Return the graph of the network. The nodes are coloured by their effects.

        Args:
            height (int): height in pixels. Default: 560.
        """
        graph_view = of_program(self.program, self.program.name, height=height)
        graph_view.set_column("effect", self.column())
        return graph_view

    def _ipython_display_(self):
        from IPython.display import display  # lazy, to spare the import outside notebooks

        display(self.largest(10))
        self.view()._ipython_display_()


def patch(
    net: Any,
    clean: Any,
    corrupt: Any,
    metric: Callable[..., Any],
    nodes: Any = DEFAULT_NODES,
    attribution: bool = False,
) -> ViewedPatching:
    """Activation patching: measure how much each node of a network contributes to the difference between two inputs.

    The network runs on `corrupt` once per node, with the value of this node replaced by its value on `clean`. The
    effect of a node is the change of the metric. For the other direction, exchange the two inputs.

    Args:
        net (Union[Cell, Callable]): the network.
        clean (Union[Tensor, tuple]): input, or inputs, of the first run.
        corrupt (Union[Tensor, tuple]): input, or inputs, of the second run, of the same shapes and dtypes.
        metric (Callable): takes the results of the network and returns one number as a Tensor. It is traced.
        nodes (Any): query of the nodes, as in the search of the graph view. Default: "op:Add".
        attribution (bool): True to estimate all effects from one gradient: (clean - corrupt) * gradient. It takes
            about four passes for any number of nodes, and is exact where the network is linear. Default: False.

    Returns:
        ViewedPatching. A notebook shows it as text and as a graph that is coloured by the effects; ``table()`` has a
        row per node.

    Raises:
        ValueError: If the inputs differ in shape or dtype, the metric is not one number, or no node can be patched.

    Examples:
        >>> import msnb
        >>> from msnb import Tensor, nn
        >>> net = nn.SequentialCell(nn.Dense(2, 3, weight_init="ones"), nn.ReLU())
        >>> clean, corrupt = Tensor([[1.0, 1.0]]), Tensor([[0.0, 1.0]])
        >>> result = msnb.patch(net, clean, corrupt, lambda y: y[0, 0], nodes="op:ReLU")
        >>> [round(row["effect"], 3) for row in result.table()]
        [1.0]
    """
    return ViewedPatching(**vars(measure_effects(net, clean, corrupt, metric, nodes, attribution)))
