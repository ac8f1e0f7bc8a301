"""`msnb.timeline`: record the steps of a training, and look at the values of any node in any step."""

from pathlib import Path
from typing import Any

from msnb.insight.debugger.timeline import Timeline, parse_size
from msnb.nn.cell import Cell
from msnb.notebook.graph.api import of_program
from msnb.notebook.graph.node_values import NodeValues
from msnb.notebook.graph.view import HEIGHT, GraphView
from msnb.notebook.graph.why_view import why


class ViewedTimeline(Timeline):
    """A timeline that a notebook shows as a graph with a slider over the steps."""

    def view(self, labels: Any = None, height: int = HEIGHT) -> GraphView:
        """Return a view of the steps. A click on a node shows its values in the selected step.

        Args:
            labels (Any): tokens for the axes of attention, as for `GraphView.run`. Default: None.
            height (int): height in pixels. Default: 560.

        Returns:
            GraphView.

        Raises:
            ValueError: If no step was recorded.
        """
        program = self.replay().program
        steps = [step for step in self.steps if self.program_of(step) is program]
        graph_view = of_program(program, program.name, height=height)
        graph_view.show_values(NodeValues(self.replay, next(iter(graph_view.graphs)), steps, labels))
        return graph_view

    def why(self, target: Any, step: int | None = None) -> Any:
        """Explain the gradient of a Parameter or a node in one step, see `msnb.why`."""
        return why(target, step=step, timeline=self)

    def _ipython_display_(self):
        if len(self):
            self.view()._ipython_display_()
        else:
            print(repr(self))


def timeline(net: Any, every: int = 1, memory: str | int = "256MB", disk: str | Path | None = None) -> ViewedTimeline:
    """Record the steps of a training: a context manager around any training loop or `Model.train`.

    Args:
        net (Cell): the network that is trained, or its training step.
        every (int): record every n-th step; the others run at full speed. With `disk`, all batches are stored, and
            every n-th step can be viewed. Default: 1.
        memory (Union[str, int]): bytes for the inputs of steps, such as ``"256MB"``. The oldest steps are dropped.
            Default: "256MB".
        disk (Union[str, Path]): folder for the batch of each step and the Parameters of every 50th step. No step is
            dropped then. Default: None, memory only.

    For a training in GRAPH mode, the values of a step are bitwise those of the training. For a training in PYNATIVE
    mode, a step starts from the exact Parameters but runs compiled: values are equal up to rounding, and random numbers
    differ.

    Returns:
        ViewedTimeline.

    Raises:
        TypeError: If `net` is no Cell.
        ValueError: If `every` or `memory` is out of range.

    Examples:
        >>> with msnb.timeline(net) as t:
        ...     model.train(1, dataset)
        >>> t.value("op:MatMul", step=2).shape
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'timeline', 'net' should be a Cell, but got {type(net).__name__}.")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"For 'timeline', 'every' should be an int of at least 1, but got {every!r}.")
    return ViewedTimeline(net, every, parse_size(memory), Path(disk) if disk is not None else None)
