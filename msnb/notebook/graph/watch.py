"""`msnb.watch`: check conditions on the values of a training, and show the hits on the graph."""

from collections.abc import Callable, Iterable
from typing import Any, Self

from msnb.insight.debugger.pause import debugger
from msnb.insight.watchpoints.conditions import as_watchpoints
from msnb.insight.watchpoints.hits import Hit
from msnb.insight.watchpoints.watch import Watch
from msnb.nn.cell import Cell
from msnb.notebook.graph import cell_breakpoints
from msnb.notebook.graph.api import of_program
from msnb.notebook.graph.node_values import NodeValues
from msnb.notebook.graph.view import HEIGHT, GraphView

_ACTIONS = ("record", "raise", "pause")


class ViewedWatch(Watch):
    """A watch whose hits can be shown on the graph. One that pauses also pauses at the breakpoints of cells."""

    _starts_debugger = False

    def __enter__(self) -> Self:
        super().__enter__()
        if self.at == "pause" and not debugger.is_started:
            breakpoints = cell_breakpoints.breakpoints()
            if breakpoints:
                self._starts_debugger = True
                debugger.start(pauses_first=False, breakpoints=breakpoints)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            if self._starts_debugger:
                self._starts_debugger = False
                debugger.stop()
        finally:
            super().__exit__(kind, error, traceback)

    def view(self, step: int | None = None, height: int = HEIGHT) -> GraphView:
        """Return the graph of a step, coloured by the number of hits of each node.

        A click on a node shows its values in that step.

        Args:
            step (int): number of a step with hits. Default: None, the first step with hits whose inputs are stored, or
                the last step if there was no hit.
            height (int): height in pixels. Default: 560.

        Returns:
            GraphView.

        Raises:
            ValueError: If no step has run, or the inputs of `step` are not stored.
        """
        hits = self.hits
        run = self.stored_run(step)
        replay = self.replay_of(run)
        graph_view = of_program(replay.program, replay.program.name, height=height)
        stage = next(iter(graph_view.graphs))
        graph_view.show_values(NodeValues(lambda _: replay, stage, [run.step]))
        of_step = [hit for hit in self.on_graph(hits, run) if hit.step == run.step and hit.node is not None]
        graph_view.set_column("hits", _make_hit_column(of_step, graph_view.graph))
        return graph_view


def _make_hit_column(hits: Iterable[Hit], graph: Any) -> dict[str, Any]:
    by_node: dict[int, list[Hit]] = {}
    for hit in hits:
        by_node.setdefault(hit.node, []).append(hit)
    nodes = [node.id for node in graph.all_nodes()]
    return {
        "values": [len(by_node[ident]) if ident in by_node else None for ident in nodes],
        "label": "hits of watchpoints",
        "note": [" ".join(hit.describe() for hit in by_node[i][:5]) if i in by_node else None for i in nodes],
        "fold": "sum",
    }


def watch(
    net: Cell,
    *conditions: Any,
    nodes: str | int | list[Any] | None = None,
    every: int | None = None,
    at: str | Callable[[Hit], Any] = "record",
) -> ViewedWatch:
    """Check conditions in every step of a training: a context manager around any loop, or a callback of `Model.train`.

    The check is compiled into the step. If it detects a possible hit, the step runs again on the same inputs, and the
    conditions are evaluated on every watched value in float64. The watch does not change values, gradients or
    Parameters of the training.

    Args:
        net (Cell): the network that is trained, or its training step.
        conditions (Union[str, tuple, Callable]): an id or abbreviation such as ``"TO"``; an id with parameters such as
            ``("weight_too_large", {"abs_mean_gt": 10})``, or with a band such as ``("GL", {"band": 4})``; or a function
            of a Tensor that returns a bool, for every node. Default: MindInsight's recommended conditions.
        nodes (Union[str, int, list]): query of the watched nodes, as in the search of the graph view. A weight and its
            gradient belong to the nodes that read the weight. Default: None, all nodes.
        every (int): check every n-th step. Default: None, each step; conditions that read every value of all nodes are
            checked in each 10th.
        at (Union[str, Callable]): action at a hit. ``"record"`` only records it, ``"raise"`` raises an error that names
            step, node and line, ``"pause"`` shows the step and waits, and a function is called with each Hit. Default:
            "record".

    Returns:
        ViewedWatch, with ``hits``, ``table()``, ``recheck(...)`` and ``view()``.

    Raises:
        TypeError: If `net` is no Cell, or a condition or `at` is of another type.
        ValueError: If a condition, a parameter, `every` or `at` is unknown or out of range, or no node matches.

    Examples:
        >>> with msnb.watch(net, "TO", ("weight_too_large", {"abs_mean_gt": 10}), at="raise") as watch:
        ...     model.train(1, dataset)
        >>> watch.table()
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'watch', 'net' should be a Cell, but got {type(net).__name__}.")
    if every is not None and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
        raise ValueError(f"For 'watch', 'every' should be an int of at least 1, but got {every!r}.")
    if isinstance(at, str) and at not in _ACTIONS:
        raise ValueError(f"For 'watch', 'at' should be one of {', '.join(_ACTIONS)} or a function, but got {at!r}.")
    if not isinstance(at, str) and not callable(at):
        raise TypeError(f"For 'watch', 'at' should be a str or a function, but got {at!r}.")
    return ViewedWatch(net, as_watchpoints(conditions), nodes, every, at)
