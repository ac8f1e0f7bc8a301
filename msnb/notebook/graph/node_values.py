"""The values of nodes in a graph view: answers to the page, columns of statistics, and previews for the saved form."""

import contextlib
import io
import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb import log
from msnb.core.support.lru_cache import LruCache
from msnb.core.support.weak_identity import ObjectKey, weakly
from msnb.insight.debugger.replay import Replay, program_inputs
from msnb.ir.compare import compare
from msnb.ir.stages import Stages
from msnb.notebook.display.html import number, two_numbers
from msnb.notebook.graph.value_data import check_labels, extremes, shows_attention, value_data

_SAVED = 2 << 20  # maximum bytes of previews in a saved notebook
_EXPORT = 64 << 20  # maximum bytes of a value that the page saves as a file
_DATA = 64  # number of cached results of `value_data`


class Caller:
    """Calls the network of a view with other inputs.

    Args:
        net (Union[Cell, Callable]): the network.
        program (Program): the program that the view shows.
        inputs (tuple): arguments of the last call.
        name (str): name of the graph.
    """

    def __init__(self, net: Any, program: Any, inputs: tuple[Any, ...], name: str) -> None:
        self.program = program
        self._get_net, self._name = lambda: net, name
        self._inputs: tuple[tuple[Any, ...], dict[str, Any]] | None = inputs, {}

    def call(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
        """Return (program, its inputs) of a call. Without arguments the last call is repeated."""
        if inputs or kwargs:
            self._inputs = inputs, kwargs
        net = self._get_net()
        if net is None:
            raise ValueError("The network of this view is gone. Call msnb.view with the current network.")
        if self._inputs is None:
            raise ValueError("The view was closed, and its inputs are gone. Pass them: run(x).")
        return program_inputs(net, *self._inputs[0], **self._inputs[1])

    def release(self) -> None:
        """Reference the network weakly from now on, and neither its program nor its inputs."""
        self._get_net, self.program, self._inputs = weakly(self._get_net()), None, None

    def with_net(self, net: Any, program: Any) -> "Caller":
        """Return a Caller of another version of the network, with the inputs of the last call."""
        other = Caller(net, program, (), self._name)
        other._inputs = self._inputs
        return other

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


def with_values_of(before: Replay, program: Any, arrays: list[Any]) -> list[Any]:
    """Return inputs of a program in which rebuilt Parameters have the values of the previous version of the network.

    A Cell whose constructor has changed is rebuilt with Parameters without values. Other Cells share their Parameters
    with the previous version.

    Raises:
        ValueError: If a Parameter is new, or its shape has changed.
    """
    earlier = before.program.params
    shared = {id(p) for p in earlier}
    stored = {p.name: array for p, array in zip(earlier, before.inputs, strict=False)}
    inputs = list(arrays)
    for index, parameter in enumerate(program.params):
        if id(parameter) not in shared:
            array = stored.get(parameter.name)
            if array is None or array.shape != parameter.shape:
                raise ValueError(f"{parameter.name} {list(parameter.shape)} is new and has no values yet")
            inputs[index] = array
    return inputs


def describe_change(old: Replay, new: Replay) -> tuple[str, dict[str, Any] | None]:
    """Compare the values of two versions of a network on the same inputs.

    Returns:
        tuple, a line about the results, and a column for `GraphView.set_column` with the relative change of each node:
        norm of the difference / norm of the old value. The column is None if the values of one do not fit in memory.
    """
    before, after = old.results, new.results
    lines = []
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        name = "output" if len(before) == 1 else f"output {index}"
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            lines.append(f"{name}: {list(one.shape)} became {list(other.shape)}")
        elif not one.ndim:
            numbers = two_numbers(one[()], other[()])
            is_same = numbers[0] == numbers[1]
            lines.append(f"{name} is the same, {numbers[0]}" if is_same else f"{name}: {' → '.join(numbers)}")
        else:
            change = relative_change(one, other)
            lines.append(f"{name} changes by {number(100 * change)} %" if change else f"{name} is the same")
    if not (old.has_statistics and new.has_statistics):
        return "; ".join(lines), None
    nodes = list(new.graph.all_nodes())
    values: list[float | None] = [None] * len(nodes)
    positions = {node.id: index for index, node in enumerate(nodes)}
    old_nodes = {node.id: node for node in old.graph.all_nodes()}
    for first, second in compare(old.graph, new.graph).links:
        try:
            pair = [np.asarray(old.output(old_nodes[first])), np.asarray(new.output(nodes[positions[second]]))]
        except ValueError:  # the node has no value that can be read
            continue
        if pair[0].shape == pair[1].shape and pair[0].dtype.kind in "fiu":
            change = relative_change(*pair)
            values[positions[second]] = change if np.isfinite(change) else None
    column = {"values": values, "label": "relative change", "fold": "max", "scale": "linear"}
    return "; ".join(lines), column


def relative_change(old: np.ndarray, new: np.ndarray) -> float:
    """Return the norm of the difference of two arrays, divided by the norm of the first."""
    wide = old.astype(np.float64)
    size = float(np.linalg.norm(wide))
    change = float(np.linalg.norm(new.astype(np.float64) - wide))
    return change / size if size else float(change > 0)


class NodeValues:
    """The values of one graph, for one step or for the steps of a timeline.

    Args:
        replay_of (Callable): returns the Replay of a step from its number.
        stage (str): name in the view of the graph of the complete program in MindSpore's operators.
        steps (Sequence[int]): numbers of the steps. Default: (0,), a single run.
        labels (Any): tokens for the axes of attention, see `value_data.tokens_of`. Default: None.
        saves (bool): True if previews of the viewed nodes are saved with the notebook. Default: True.
    """

    def __init__(
        self,
        replay_of: Callable[[int], Replay],
        stage: str,
        steps: Sequence[int] = (0,),
        labels: Any = None,
        saves: bool = True,
    ) -> None:
        check_labels(labels)
        self.stage = stage
        self.steps = list(steps)
        self.step: int = self.steps[-1]
        self.labels, self.saves = labels, saves
        self._replay_of = replay_of
        self._previews: dict[tuple[int, int], Any] = {}  # (node, sample) -> its data, most recently viewed last
        self._lock = threading.Lock()  # a subshell's thread answers requests while a cell runs
        self._data: LruCache = LruCache(_DATA)  # by array, which can be the output of a node and the input of others
        self._delayed: deque[Callable[[], None]] | None = None  # answers that wait for `prepare`
        self._delayed_lock = threading.Lock()

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

    def prepare(self, node: Any) -> None:
        """Start a thread that compiles and computes the values around a node; see `delay`."""

        def compute():
            with contextlib.suppress(Exception):  # a later request for the node raises and shows the error
                self.data_of(node)
            while (act := self._pop_delayed_answer()) is not None:
                try:
                    act()
                except Exception as error:  # the page may be closed; the other answers are still sent
                    log.warning("A value could not be sent to its graph view: %s: %s", type(error).__name__, error)

        self._delayed = deque()
        threading.Thread(target=compute, name="msnb-values").start()

    def _pop_delayed_answer(self):
        with self._delayed_lock:
            if not self._delayed:
                self._delayed = None
                return None
            return self._delayed.popleft()

    def delay(self, act: Callable[[], None]) -> bool:
        """Call `act` on the thread of `prepare` when it has computed its values.

        Returns:
            bool. False if no such thread is running; `act` is then not called.
        """
        with self._delayed_lock:
            if self._delayed is not None:
                self._delayed.append(act)
            return self._delayed is not None

    def _get_cached_value_data(self, title, array, sample, labels, op, order, part=""):
        """Return `value_data`, computed once for each array."""
        if array is None or part.strip():
            return value_data(title, array, sample, labels, op, order, part)
        key = ObjectKey(array), sample, labels is not None, shows_attention(op), order
        data = self._data.get(key) or self._data.recall(key)
        if data is None:
            data = self._data.keep(key, value_data(title, array, sample, labels, op, order))
        return {**data, "title": title}

    def data_of(
        self,
        node: Any,
        sample: int = 0,
        round: tuple[int, ...] | None = None,
        order: str = "energy",
        part: str = "",
    ) -> list[dict[str, Any]]:
        """Return the values around a node as data for JSON: outputs, inputs, gradient, Parameters and their updates.

        Args:
            node (CNode): the node.
            sample (int): index of the example. Default: 0.
            round (tuple[int]): iteration of each loop around the node. Default: None, the last.
            order (str): order of the maps, ``"energy"`` or ``"index"``. Default: "energy".
            part (str): slice of the table of the main output. Default: "", the last two axes.
        """
        with self._lock:
            replay = self.replay
            main, entries = replay.main_slot(node), []
            slots = sorted(range(len(node.types)), key=lambda slot: (slot != main, slot))
            for slot in slots:
                is_main = slot == main
                title = "output" if is_main else f"output {slot}"
                try:
                    array = replay.output(node, slot, round)
                    iterations = replay.iterations(node, slot, round)
                except ValueError as error:
                    entries.append({"title": title, "type": "", "note": str(error)})
                    continue
                shown = self.labels if is_main else None
                entries.append(
                    self._get_cached_value_data(title, array, sample, shown, node.op, order, part if is_main else "")
                )
                if iterations:
                    entries[-1]["iterations"] = iterations
                    entries[-1]["round"] = round
                elif replay.rounds(node, slot) == 0:
                    entries[-1]["note"] = "It is in a branch that did not run."
            parameters = {name for name, _, _ in replay.weights(node)}
            for name, array in replay.operands(node, round):
                if name not in parameters and array is not None and getattr(array, "ndim", 0):
                    entries.append(self._get_cached_value_data(f"input {name}", array, sample, self.labels, "", order))
            gradient = replay.gradient(node)
            if gradient is not None:
                entries.append(self._get_cached_value_data("gradient of the output", gradient, sample, None, "", order))
            for name, array, new in replay.weights(node):
                entries.append(self._get_cached_value_data(name, array, None, None, "", order))
                if new is not None:
                    entries.append(self._get_parameter_update_data(name, array, new, order))
            return entries

    def _get_parameter_update_data(self, name, old, new, order):
        key = "update", ObjectKey(new), order
        data = self._data.get(key) or self._data.recall(key)
        if data is None:
            update = np.asarray(new) - np.asarray(old)
            data = self._data.keep(key, value_data("", update, None, None, "", order))
        return {**data, "title": f"update of {name}"}

    def _node(self, ident):
        return next((node for node in self.replay.graph.all_nodes() if node.id == ident), None)

    def answer(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request of the page for the values of a node."""
        ident, sample = int(content.get("node", -1)), max(int(content.get("sample", 0)), 0)
        reply = {"kind": "value", "node": ident, "step": self.step, "sample": sample, "key": content.get("key", "")}
        node, round = self._node(ident), content.get("round")
        if node is None:
            return {**reply, "values": []}
        order, part = content.get("order", "energy"), str(content.get("part", ""))
        try:
            values = self.data_of(node, sample, tuple(map(int, round)) if round else None, order, part)
        except Exception as error:  # send every error as the answer, because the page waits for one
            return {**reply, "values": [], "problem": f"{type(error).__name__}: {error}"[:300]}
        self._previews.pop((ident, sample), None)
        self._previews[ident, sample] = values
        return {**reply, "values": values}

    def hover_rows(self) -> dict[str, Any]:
        """Return the three numbers that the page shows under the pointer, {node: [mean magnitude, min, max]}.

        The result is empty if the values of the program do not fit in memory at once, because their statistics would
        then need another compilation.
        """
        replay = self.replay
        reply = {"kind": "hover", "step": self.step, "rows": {}}
        if replay.has_statistics:
            with self._lock:
                rows = replay.statistics()
            names = ("abs_mean", "min", "max")
            reply["rows"] = {str(ident): [number(row[name]) for name in names] for ident, row in rows.items()}
        return reply

    def excite(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the examples of the batch that excite a channel of a node most and least, for the page."""
        ident, channel = int(content.get("node", -1)), int(content.get("channel", 0))
        reply = {"kind": "excite", "node": ident, "channel": channel, "step": self.step, "examples": []}
        node = self._node(ident)
        if node is None:
            return reply
        with self._lock:
            values = np.asarray(self.replay.output(node))
            if values.ndim < 2 or not 0 <= channel < values.shape[1]:
                return reply
            return {**reply, "examples": extremes(values, channel, self._find_example_images(len(values)))}

    def _find_example_images(self, count):
        """Return the input of the network with a picture for each example, None if there is none."""
        replay = self.replay
        for entry, array in zip(replay.graph.parameters, replay.inputs, strict=False):
            if not entry.is_weight and getattr(array, "ndim", 0) >= 3 and array.shape[0] == count:
                return np.asarray(array)
        return None

    def file(self, content: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Return (message, buffers) with a value as the bytes of an .npy file, for the page to save."""
        ident, title = int(content.get("node", -1)), str(content.get("title", "output"))
        reply = {"kind": "file", "name": f"{title.replace(' ', '_').replace('%', '')}-{ident}.npy"}
        round = content.get("round")
        with self._lock:
            array = self._find_array_by_title(self._node(ident), title, tuple(map(int, round)) if round else None)
        if array is None:
            return {**reply, "problem": "This value can't be read."}, []
        if array.nbytes > _EXPORT:
            size = array.nbytes >> 20
            return {**reply, "problem": f"The value has {size} MiB: take it in Python with view.value({ident})."}, []
        file = io.BytesIO()
        np.save(file, np.asarray(array))
        return reply, [file.getvalue()]

    def _find_array_by_title(self, node, title, round):
        """Return the value of a node that a tab of the page names."""
        replay = self.replay
        if node is None:
            return None
        if title.startswith("output"):
            return replay.output(node, int(title.partition(" ")[2]) if " " in title else None, round)
        if title == "gradient of the output":
            return replay.gradient(node)
        for name, array in replay.operands(node, round):
            if title == f"input {name}":
                return array
        for name, array, new in replay.weights(node):
            if title == name:
                return array
            if title == f"update of {name}":
                return np.asarray(new) - np.asarray(array)
        return None

    def saved(self) -> dict[str, Any]:
        """Return {node: values} for a saved view: all values of the most recently viewed nodes, up to `_SAVED` bytes,
        and the statistics of the others.
        """
        previews, nbytes = {}, 0
        replay = self.replay
        if self.saves and replay.has_statistics:
            nodes = {node.id: node for node in replay.graph.all_nodes()}
            for ident, row in replay.statistics().items():
                rows = [
                    [name.replace("_", " "), number(row[name])] for name in STATISTICS if row[name] or name in _ALWAYS
                ]
                kind = nodes[ident].types[replay.main_slot(nodes[ident])].short()
                previews[str(ident)] = {"sample": 0, "values": [{"title": "output", "type": kind, "stats": rows}]}
        seen = set()
        for (ident, sample), values in reversed(list(self._previews.items()) if self.saves else []):
            nbytes += len(json.dumps(values))
            if nbytes > _SAVED:
                break
            if ident not in seen:
                previews[str(ident)] = {"sample": sample, "values": values}
                seen.add(ident)
        return previews
