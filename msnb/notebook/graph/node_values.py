"""The values of nodes in a graph view: answers to the page, columns of statistics, and previews for the saved form."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb.insight.debugger.replay import Replay, program_inputs
from msnb.ir.stages import Stages
from msnb.notebook.display.html import number
from msnb.notebook.graph.value_data import value_data

_SAVED = 2 << 20  # bytes of previews in a saved notebook


class Caller:
    """Runs of the network that a view shows, on other inputs.

    Args:
        net (Union[Cell, Callable]): the network.
        program (Program): the program that the view shows.
        inputs (tuple): arguments of the last call.
        name (str): name of the graph.
    """

    def __init__(self, net: Any, program: Any, inputs: tuple[Any, ...], name: str) -> None:
        self.program = program
        self._net, self._name = net, name
        self._inputs: tuple[tuple[Any, ...], dict[str, Any]] = inputs, {}

    def call(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        """Return (program, its inputs) of a call. Without arguments it is the last call."""
        if inputs or kwargs:
            self._inputs = inputs, kwargs
        return program_inputs(self._net, *self._inputs[0], **self._inputs[1])

    def stages(self, program: Any) -> Stages:
        """Return the stages of a program of this network."""
        return Stages(program, self._name)


_ALWAYS = ("abs_mean", "mean", "std", "min", "max")
STATISTICS = ("abs_mean", "mean", "std", "min", "max", "zeros", "nan", "inf")


def statistic_column(replay: Replay, graph: Any, stat: str) -> dict[str, Any]:
    """Return a column for `GraphView.set_column`: one statistic of the first output of each node.

    Raises:
        ValueError: If there is no such statistic.
    """
    if stat not in STATISTICS:
        raise ValueError(f"For 'values', 'stat' should be one of {', '.join(STATISTICS)}, but got {stat!r}.")
    rows = replay.statistics()
    values = [float(rows[node.id][stat]) if node.id in rows else None for node in graph.all_nodes()]
    finite = [value for value in values if value is not None and np.isfinite(value)]
    values = [value if value is None or np.isfinite(value) else None for value in values]
    scale = "log" if stat in ("abs_mean", "std") and finite and min(finite) > 0 else "linear"
    return {"values": values, "label": stat.replace("_", " "), "fold": "max", "scale": scale}


class NodeValues:
    """The values of one graph, for one step or for the steps of a timeline.

    Args:
        replay_of (Callable): returns the Replay of a step from its number.
        stage (str): name of the graph in the view, the complete program in MindSpore's operators.
        steps (Sequence[int]): numbers of the steps. Default: (0,), a single run.
        labels (list[str]): tokens for the axes of attention. Default: None.
        saves (bool): True if previews of the nodes that were looked at are saved with the notebook. Default: True.
    """

    def __init__(
        self,
        replay_of: Callable[[int], Replay],
        stage: str,
        steps: Sequence[int] = (0,),
        labels: list[str] | None = None,
        saves: bool = True,
    ) -> None:
        self.stage = stage
        self.steps = list(steps)
        self.step: int = self.steps[-1]
        self._replay_of, self._labels, self._saves = replay_of, labels, saves
        self._previews: dict[tuple[int, int], Any] = {}  # (node, sample) -> its data, in the order of the last looks
        self._lock = threading.Lock()  # a subshell of the kernel answers while a cell runs

    @property
    def replay(self) -> Replay:
        """The replay of the selected step."""
        return self._replay_of(self.step)

    def select_step(self, step: int) -> None:
        """Select a step of the timeline.

        Raises:
            ValueError: If there is no such step.
        """
        if step not in self.steps:
            raise ValueError(f"Step {step} is not among the recorded ones, {self.steps[0]} to {self.steps[-1]}.")
        self.step = step

    def data_of(self, node: Any, sample: int = 0, round: int | None = None) -> list[dict[str, Any]]:
        """Return the values around a node as data for JSON: outputs, inputs, gradient, Parameters and their updates."""
        with self._lock:
            replay = self.replay
            entries = []
            for slot in range(len(node.types)):
                title = "output" if len(node.types) == 1 else f"output {slot}"
                try:
                    array = replay.output(node, slot, round)
                except ValueError as error:
                    entries.append({"title": title, "type": "", "note": str(error)})
                    continue
                entries.append(value_data(title, array, sample, self._labels, node.op))
                rounds = replay.rounds(node, slot)
                if rounds is not None:
                    entries[-1]["rounds"] = rounds
            parameters = {name for name, _, _ in replay.weights(node)}
            for name, array in replay.operands(node):
                if name not in parameters and array is not None and getattr(array, "ndim", 0):
                    entries.append(value_data(f"input {name}", array, sample, self._labels))
            gradient = replay.gradient(node)
            if gradient is not None:
                entries.append(value_data("gradient of the output", gradient, sample))
            for name, array, new in replay.weights(node):
                entries.append(value_data(name, array, None))
                if new is not None:
                    entries.append(value_data(f"update of {name}", np.asarray(new) - np.asarray(array), None))
            return entries

    def answer(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request of the page for the values of a node."""
        nodes = {node.id: node for node in self.replay.graph.all_nodes()}
        ident, sample = int(content.get("node", -1)), int(content.get("sample", 0))
        reply = {"kind": "value", "node": ident, "step": self.step, "sample": sample}
        if ident not in nodes:
            return {**reply, "values": []}
        try:
            values = self.data_of(nodes[ident], sample, content.get("round"))
        except Exception as error:  # the page waits for an answer, whatever the error
            return {**reply, "values": [], "problem": f"{type(error).__name__}: {error}"[:300]}
        self._previews.pop((ident, sample), None)
        self._previews[ident, sample] = values
        return {**reply, "values": values}

    def saved(self) -> dict[str, Any]:
        """Return {node: values} for a saved view: all values of the nodes that were looked at last, within `_SAVED`
        bytes, and the statistics of the others.
        """
        previews, nbytes = {}, 0
        replay = self.replay
        if self._saves and replay.has_statistics:
            nodes = {node.id: node for node in replay.graph.all_nodes()}
            for ident, row in replay.statistics().items():
                rows = [
                    [name.replace("_", " "), number(row[name])] for name in STATISTICS if row[name] or name in _ALWAYS
                ]
                kind = nodes[ident].types[0].short()
                previews[str(ident)] = {"sample": 0, "values": [{"title": "output", "type": kind, "stats": rows}]}
        seen = set()
        for (ident, sample), values in reversed(list(self._previews.items()) if self._saves else []):
            nbytes += len(json.dumps(values))
            if nbytes > _SAVED:
                break
            if ident not in seen:
                previews[str(ident)] = {"sample": sample, "values": values}
                seen.add(ident)
        return previews
