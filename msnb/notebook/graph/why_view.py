"""`msnb.why`: the reason for a small, zero or NaN gradient, as text and as a graph on which the path is marked."""

import math
from typing import Any

from msnb.insight.debugger.timeline import Timeline, timeline_of
from msnb.insight.debugger.why import Explanation, Target, explain_gradient, explain_step, names_parameter
from msnb.notebook.graph.api import of_program
from msnb.notebook.graph.view import HEIGHT, GraphView


class Answer:
    """The answer of `why`. It shows itself as text, and in a notebook also as a graph.

    Args:
        explanation (Explanation): the answer.
    """

    def __init__(self, explanation: Explanation) -> None:
        self.explanation: Explanation = explanation

    @property
    def text(self) -> str:
        """The answer in sentences, then the path from the loss to the target with the factor of each node."""
        return self.explanation.text

    @property
    def reasons(self) -> list[Any]:
        """The causes that the numbers show, the most important first: objects with ``kind``, ``text`` and ``node``."""
        return self.explanation.reasons

    @property
    def path(self) -> list[Any]:
        """The nodes from the loss to the target, as objects with ``node``, ``arriving``, ``leaving``, ``factor``."""
        return self.explanation.path

    @property
    def rounds(self) -> list[Any]:
        """The gradients by round of each `while` on the path, as objects with ``name``, ``variables``, ``after``,
        ``source``, ``contributions`` and ``table()``."""
        return self.explanation.rounds

    @property
    def norm(self) -> float:
        """Norm of the gradient; NaN if it is not a number."""
        return self.explanation.norm

    def view(self, height: int = HEIGHT) -> GraphView:
        """Return the graph of the loss. The nodes on the path are coloured by the gradient that arrives at them.

        Args:
            height (int): height in pixels. Default: 560.
        """
        explanation = self.explanation
        graph_view = of_program(explanation.program, explanation.graph.name, height=height)
        values, notes = {}, {}
        for passage in explanation.path:
            if passage.node is not None:
                values[passage.node.id] = passage.arriving
                notes[passage.node.id] = (
                    f"{passage.arriving:.3g} arrives, {passage.leaving:.3g} goes on, factor {passage.factor:.3g}"
                )
        for reason in explanation.reasons:
            if reason.node is not None:
                notes[reason.node.id] = reason.text
        nodes = list(graph_view.graph.all_nodes())
        finite = [value for value in values.values() if math.isfinite(value)]
        column = {
            "values": [values.get(node.id) for node in nodes],
            "note": [notes.get(node.id) for node in nodes],
            "label": f"gradient on the way to {explanation.target}",
            "fold": "max",
            "scale": "log" if finite and min(finite) > 0 else "linear",
        }
        graph_view.set_column("path", column)
        return graph_view

    def _ipython_display_(self):
        print(self.text)
        self.view()._ipython_display_()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def why(
    target: Target, loss_net: Any = None, *inputs: Any, step: int | None = None, timeline: Timeline | None = None
) -> Answer:
    """Explain the gradient of a Parameter or a node: where it becomes small, zero or NaN on the path from the loss.

    The answer has sentences with numbers and lines, and the path from the loss to the target. Each node of the path
    has a factor: the norm of the gradient that leaves it, divided by the norm of the gradient that arrives. The answer
    names operators that stop the gradient, ReLUs that pass nothing, saturated functions, and the first NaN. It only has
    statements that the numbers prove. No Parameter is changed.

    Args:
        target (Union[Parameter, str, int, CNode]): the Parameter or its name; or a node of the graph of `loss_net`: a
            query with a field, such as ``"op:ReLU line:12"``, a number, or the node itself. If a query matches several
            nodes, the first counts.
        loss_net (Union[Cell, Callable]): returns the loss, such as ``nn.WithLossCell(net, loss_fn)``. Default: None,
            that of a recorded step.
        inputs: the inputs of `loss_net`.
        step (int): a step of a timeline, used instead of `loss_net` and `inputs`. Default: None, the last step.
        timeline (Timeline): the timeline. Default: None, the timeline that has recorded the Parameter most recently;
            for a node, the latest timeline.

    Returns:
        Answer.

    Raises:
        TypeError: If `loss_net` can't be called, or `target` is of another type.
        ValueError: If the loss is no scalar, the Parameter belongs to another network, no node matches, or no step is
            recorded.

    Examples:
        >>> answer = msnb.why(net.fc1.weight, nn.WithLossCell(net, loss), x, y)
        >>> answer = msnb.why("op:Conv2D", nn.WithLossCell(net, loss), x, y)
        >>> with msnb.timeline(net) as t:
        ...     model.train(1, dataset)
        >>> later = msnb.why(net.fc1.weight, step=2)
    """
    if loss_net is None:
        if inputs:
            raise ValueError("For 'why', 'inputs' are those of 'loss_net', which is missing.")
        recorded = timeline_of(target if names_parameter(target) else None) if timeline is None else timeline
        if recorded is None:
            raise ValueError(
                "For 'why', pass the network that returns the loss and its inputs, such as "
                "msnb.why(net.fc1.weight, loss_net, x, y), or record the training in msnb.timeline(net) first."
            )
        return Answer(explain_step(target, recorded.replay(step)))
    if step is not None or timeline is not None:
        raise ValueError("For 'why', 'step' and 'timeline' select a recorded step: leave out 'loss_net' then.")
    return Answer(explain_gradient(target, loss_net, *inputs))
