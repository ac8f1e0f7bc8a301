"""Read dumps and timelines: select tensors, check conditions, follow edges. Names are those of MindInsight 1.6."""

import csv
import dataclasses
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from msnb._util.atomic_file import writing
from msnb.insight.debugger.timeline import Timeline
from msnb.insight.dump.sources import FolderSource, Source, TimelineSource
from msnb.insight.watchpoints import conditions

_STATISTICS = ("max", "min", "avg", "nan", "inf", "zero", "size")


@dataclasses.dataclass(frozen=True)
class Node:
    """One operator of a dump.

    Attributes:
        rank (int): number of the process.
        graph_name (str): folder of the graph in the dump, or the name of the program.
        name (str): name with its scope, such as "Default/conv-Conv2d/Conv2D-op0".
        op (str): type of the operator, such as "Conv2D"; "Parameter" for a Parameter.
        stack (str): "file:line" of the user's code; "" if the dump does not have it.
    """

    rank: int
    graph_name: str
    name: str
    op: str
    stack: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass(frozen=True)
class DebuggerTensor:
    """One input or output of an operator in one iteration.

    Attributes:
        node (Node): the operator.
        io (str): "input" or "output".
        slot (int): index among the inputs or the outputs.
        iteration (int): number of the iteration.
    """

    node: Node
    io: str
    slot: int
    iteration: int
    _source: Source = dataclasses.field(repr=False, compare=False)
    _key: Any = dataclasses.field(repr=False, compare=False)

    @property
    def rank(self) -> int:
        """Return the number of the process."""
        return self.node.rank

    def value(self) -> np.ndarray | None:
        """Return the numbers; None if the dump has statistics only.

        Raises:
            ValueError: If the value is larger than `mem_limit` of the analyzer.
        """
        return self._source.read(self._key)


class Watchpoint:
    """A condition and the tensors that it is checked on.

    Args:
        tensors (Iterable[DebuggerTensor]): the tensors, as `DumpAnalyzer.select_tensors` returns them.
        condition (Union[str, tuple]): a condition of `msnb.watch`, such as ``"TO"`` or ``("TL", {"max_gt": 10})``, or
            one of the functions below, such as `TensorTooLargeCondition`.

    Raises:
        ValueError: If the condition is unknown or a value is out of range.
    """

    def __init__(self, tensors: Iterable[DebuggerTensor], condition: Any) -> None:
        self.tensors = list(tensors)
        self.condition = conditions.as_watchpoint(condition)
        if (
            self.condition.function is not None
            or self.condition.band is not None
            or self.condition.condition.id == "dead"
        ):
            raise ValueError(f"{self.condition.title} needs a running training; use msnb.watch.")

    def __repr__(self) -> str:
        return f"Watchpoint({self.condition.title}, {len(self.tensors)} tensors)"


@dataclasses.dataclass(frozen=True)
class WatchpointHit:
    """A tensor that meets a condition, or could not be checked.

    Attributes:
        tensor (DebuggerTensor): the tensor.
        watchpoint (Watchpoint): the condition and its tensors.
        met (list): (parameter, preset, actual value) of each parameter that is met.
        error_code (int): why the condition could not be checked: bits 1 NaN, 2 infinity, 4 no previous value.
    """

    tensor: DebuggerTensor
    watchpoint: Watchpoint = dataclasses.field(repr=False)
    met: list[tuple[str, Any, Any]]
    error_code: int = 0

    @property
    def error_msg(self) -> str:
        """Return the reason why the condition could not be checked; "" if it was."""
        return conditions.describe_error(self.error_code)


def TensorTooLargeCondition(**presets: float) -> conditions.Watchpoint:
    """Condition: a statistic is above its threshold: `abs_mean_gt`, `max_gt`, `min_gt` or `mean_gt`."""
    return conditions.as_watchpoint(("TL", presets))


def TensorTooSmallCondition(**presets: float) -> conditions.Watchpoint:
    """Condition: a statistic is below its threshold: `abs_mean_lt`, `max_lt`, `min_lt` or `mean_lt`."""
    return conditions.as_watchpoint(("TS", presets))


def TensorRangeCondition(**presets: float) -> conditions.Watchpoint:
    """Condition: the share of values in a range, or max - min, is above or below a threshold."""
    return conditions.as_watchpoint(("TR", presets))


def TensorOverflowCondition() -> conditions.Watchpoint:
    """Condition: a value is NaN or infinite."""
    return conditions.as_watchpoint("TO")


def OperatorOverflowCondition() -> conditions.Watchpoint:
    """Condition: an operator has a result that is NaN or infinite."""
    return conditions.as_watchpoint("OO")


def TensorAllZeroCondition(zero_percentage_ge: float = 100.0) -> conditions.Watchpoint:
    """Condition: at least this share of the values is 0, in percent."""
    return conditions.as_watchpoint(("TZ", {"zero_percentage_ge": zero_percentage_ge}))


def TensorUnchangedCondition(rtol: float = 1e-5, atol: float = 1e-8) -> conditions.Watchpoint:
    """Condition: |x - before| <= atol + rtol * |before| for all values. `before` is the tensor in the previous dumped
    iteration.
    """
    return conditions.as_watchpoint(("WNC", {"rtol": rtol, "atol": atol}))


def TensorChangeBelowThresholdCondition(
    abs_mean_update_ratio_lt: float, epsilon: float = 1e-9
) -> conditions.Watchpoint:
    """Condition: mean |x - before| / (mean |before| + epsilon) is below a threshold."""
    return conditions.as_watchpoint(("WCS", {"abs_mean_update_ratio_lt": abs_mean_update_ratio_lt, "epsilon": epsilon}))


def TensorChangeAboveThresholdCondition(
    abs_mean_update_ratio_gt: float, epsilon: float = 1e-9
) -> conditions.Watchpoint:
    """Condition: mean |x - before| / (mean |before| + epsilon) is above a threshold."""
    return conditions.as_watchpoint(("WCL", {"abs_mean_update_ratio_gt": abs_mean_update_ratio_gt, "epsilon": epsilon}))


class DumpAnalyzer:
    """Selects and checks the values of a dump, or of a timeline.

    Args:
        dump_dir (Union[str, Path, Timeline]): folder of a dump by msnb, MindSpore r1.1 or MindSpore 1.5 to 2.x; or a
            timeline, see `msnb.timeline`.
        mem_limit (int): largest size of one value in MB. Default: None, no limit.

    Raises:
        ValueError: If the folder has no dump.

    Examples:
        >>> import os, tempfile
        >>> from msnb.insight.dump import DumpAnalyzer, TensorTooLargeCondition, Watchpoint
        >>> folder = os.path.join(tempfile.mkdtemp(), "rank_0", "Net", "0", "3")
        >>> os.makedirs(folder)
        >>> name = "ReLU.Default_relu-ReLU_ReLU-op0.0.0.1.output.0.DefaultFormat.Float32.npy"
        >>> np.save(os.path.join(folder, name), np.float32([0, 7]))
        >>> analyzer = DumpAnalyzer(folder[: folder.index("rank_0")])
        >>> tensors = analyzer.select_tensors("ReLU")
        >>> [hit] = analyzer.check_watchpoints([Watchpoint(tensors, TensorTooLargeCondition(max_gt=5))])
        >>> hit.met, hit.tensor.iteration
        ([('max_gt', 5.0, 7.0)], 3)
    """

    def __init__(self, dump_dir: "str | Path | Timeline", mem_limit: int | None = None) -> None:
        limit = None if mem_limit is None else mem_limit << 20
        self._source: Source = (
            TimelineSource(dump_dir, limit) if isinstance(dump_dir, Timeline) else FolderSource(Path(dump_dir), limit)
        )
        self._nodes = {key: Node(*key) for key in self._source.nodes}
        for key, stack in self._source.stacks.items():
            self._nodes[key] = dataclasses.replace(self._nodes[key], stack=stack)

    # ------------------------------------------------------------------ selecting
    def get_ranks(self) -> list[int]:
        """Return the numbers of the processes in the dump."""
        return sorted({entry.node[0] for entry in self._source.entries})

    def get_iterations(self, ranks: Sequence[int] | None = None) -> list[int]:
        """Return the numbers of the iterations in the dump, of all processes or of `ranks`."""
        return sorted({e.iteration for e in self._source.entries if ranks is None or e.node[0] in ranks})

    def select_nodes(
        self,
        query_string: str,
        use_regex: bool = False,
        select_by: str = "node_name",
        ranks: Sequence[int] | None = None,
        case_sensitive: bool = True,
    ) -> list[Node]:
        """Return the operators whose name contains a text.

        Args:
            query_string (str): the text, or a regular expression that occurs in the name.
            use_regex (bool): True for a regular expression. Default: False.
            select_by (str): "node_name", or "code_stack" for the line of code. Default: "node_name".
            ranks (Sequence[int]): the processes. Default: None, all.
            case_sensitive (bool): False if upper and lower case are equal. Default: True.

        Raises:
            ValueError: If the expression or `select_by` is wrong, or the dump has no lines of code.
        """
        if select_by not in ("node_name", "code_stack"):
            raise ValueError(f"'select_by' should be 'node_name' or 'code_stack', but got {select_by!r}.")
        if select_by == "code_stack" and not self._source.stacks:
            raise ValueError("This dump has no lines of code; select by 'node_name', or analyze a timeline.")
        try:
            pattern = re.compile(
                query_string if use_regex else re.escape(query_string), 0 if case_sensitive else re.IGNORECASE
            )
        except re.error as error:
            raise ValueError(f"{query_string!r} is no regular expression: {error}.") from None
        return [
            node
            for node in self._nodes.values()
            if pattern.search(node.name if select_by == "node_name" else node.stack)
            and (ranks is None or node.rank in ranks)
        ]

    def select_tensors(
        self,
        query_string: str,
        use_regex: bool = False,
        select_by: str = "node_name",
        iterations: Sequence[int] | None = None,
        ranks: Sequence[int] | None = None,
        slots: Sequence[int] | None = None,
        case_sensitive: bool = True,
    ) -> list[DebuggerTensor]:
        """Return the tensors of the operators that `select_nodes` selects, in the order of iterations and execution.

        Args:
            query_string (str), use_regex (bool), select_by (str), ranks (Sequence[int]), case_sensitive (bool): as for
                `select_nodes`.
            iterations (Sequence[int]): the iterations. Default: None, all.
            slots (Sequence[int]): indices among the inputs or outputs. Default: None, all.

        Raises:
            ValueError: As for `select_nodes`.
        """
        nodes = set(self.select_nodes(query_string, use_regex, select_by, ranks, case_sensitive))
        return [
            DebuggerTensor(node, entry.io, entry.slot, entry.iteration, self._source, entry.key)
            for entry in self._source.entries
            if (node := self._nodes[entry.node]) in nodes
            and (iterations is None or entry.iteration in iterations)
            and (slots is None or entry.slot in slots)
        ]

    # ------------------------------------------------------------------ values
    def check_watchpoints(
        self, watchpoints: Iterable[Watchpoint], error_on_no_value: bool = False
    ) -> list[WatchpointHit]:
        """Return the tensors that meet a condition, and those that could not be checked because of NaN or infinities.

        Conditions for changes compare a tensor with the same tensor in the previous dumped iteration.

        Args:
            watchpoints (Iterable[Watchpoint]): conditions and tensors.
            error_on_no_value (bool): True raises an error at a tensor without a value. Default: False, the tensor is
                skipped.

        Raises:
            ValueError: If a tensor has no value and `error_on_no_value` is True.
        """
        hits = []
        for watchpoint in watchpoints:
            before = self._map_to_previous_tensors() if watchpoint.condition.condition.needs_previous else {}
            for tensor in watchpoint.tensors:
                value = tensor.value()
                if value is None:
                    if error_on_no_value:
                        raise ValueError(f"{tensor.node.name} has no value in iteration {tensor.iteration}.")
                    continue
                if value.dtype.kind not in "fiub":
                    continue
                previous = before.get((tensor.node, tensor.io, tensor.slot, tensor.iteration))
                verdict = conditions.check(watchpoint.condition, value, None if previous is None else previous.value())
                if verdict.met or verdict.error_code & ~conditions.NO_PREVIOUS:
                    hits.append(WatchpointHit(tensor, watchpoint, verdict.met, verdict.error_code))
        return hits

    def _map_to_previous_tensors(self):
        latest: dict[Any, DebuggerTensor] = {}
        previous = {}
        for tensor in sorted(self.select_tensors(""), key=lambda tensor: tensor.iteration):
            key = tensor.node, tensor.io, tensor.slot
            if key in latest:
                previous[*key, tensor.iteration] = latest[key]
            latest[key] = tensor
        return previous

    def compute_statistics(self, tensors: Iterable[DebuggerTensor]) -> dict[DebuggerTensor, dict[str, float]]:
        """Return {tensor: {max, min, avg, nan, inf, zero, size}}. Tensors without a value are left out."""
        return {tensor: _compute_statistics(value) for tensor in tensors if (value := tensor.value()) is not None}

    def summary_statistics(
        self, tensors: Iterable[DebuggerTensor], overflow_value: float = 65500, out_path: str | Path = "."
    ) -> Path:
        """Write ``statistics_summary.csv``: for each tensor of an operator its extremes over the iterations.

        Args:
            tensors (Iterable[DebuggerTensor]): the tensors.
            overflow_value (float): iterations with a larger absolute value are counted. Default: 65500.
            out_path (Union[str, Path]): folder of the file. Default: ".".

        Returns:
            Path of the file.
        """
        groups: dict[Any, list[dict[str, float]]] = {}
        for tensor, numbers in self.compute_statistics(tensors).items():
            groups.setdefault((tensor.node, tensor.io, tensor.slot), []).append(numbers)
        path = Path(out_path) / "statistics_summary.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path, "w", durable=False, encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(
                ("rank", "node", "io", "slot", "iterations", "max", "min", "with nan", "with inf", "overflowing")
            )
            for (node, io, slot), numbers in groups.items():
                least, most = min(n["min"] for n in numbers), max(n["max"] for n in numbers)
                counts = [sum(test(n) for n in numbers) for test in (_has_nan, _has_inf)]
                overflowing = sum(max(abs(n["max"]), abs(n["min"])) > overflow_value for n in numbers)
                rows.writerow((node.rank, node.name, io, slot, len(numbers), most, least, *counts, overflowing))
        return path

    # ------------------------------------------------------------------ edges
    def get_input_nodes(self, node: Node) -> list[Node]:
        """Return the operators whose results an operator reads.

        Raises:
            ValueError: If the dump has no edges.
        """
        return [self._nodes[key] for key in self._get_edges()[_key(node)] if key in self._nodes]

    def get_output_nodes(self, node: Node) -> list[Node]:
        """Return the operators that read a result of an operator.

        Raises:
            ValueError: If the dump has no edges.
        """
        key = _key(node)
        return [self._nodes[other] for other, inputs in self._get_edges().items() if key in inputs]

    def list_affected_nodes(self, tensor: DebuggerTensor) -> list[Node]:
        """Return the operators that read a tensor, directly or through others.

        Raises:
            ValueError: If the dump has no edges.
        """
        reached, pending = {}, [tensor.node]
        while pending:
            for node in self.get_output_nodes(pending.pop()):
                if node not in reached:
                    reached[node] = True
                    pending.append(node)
        return list(reached)

    def export_graphs(self, output_dir: str | Path | None = None) -> list[Path]:
        """Write ``graph_N.csv`` for each graph: operators, types, lines of code and inputs. MindInsight writes .xls
        files instead.

        Args:
            output_dir (Union[str, Path]): folder of the files. Default: None, the current folder.
        """
        folder = Path(output_dir or ".")
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for number, graph in enumerate(dict.fromkeys((node.rank, node.graph_name) for node in self._nodes.values())):
            paths.append(folder / f"graph_{number}.csv")
            with writing(paths[-1], "w", durable=False, encoding="utf-8", newline="") as file:
                rows = csv.writer(file)
                rows.writerow(("rank", "graph", "node", "type", "code", "inputs"))
                for key, node in self._nodes.items():
                    if (node.rank, node.graph_name) == graph:
                        inputs = ";".join(other[2] for other in self._source.edges.get(key, ()))
                        rows.writerow((*graph, node.name, node.op, node.stack, inputs))
        return paths

    def _get_edges(self):
        if not self._source.edges:
            raise ValueError(
                "This dump has no edges between its operators; analyze a timeline of the training instead."
            )
        return self._source.edges


def _key(node):
    return node.rank, node.graph_name, node.name, node.op


def _compute_statistics(value):
    numbers = value.astype(np.float64) if value.dtype.kind != "c" else np.abs(value)
    finite = numbers[np.isfinite(numbers)]
    extremes = [float(f(finite)) if finite.size else float("nan") for f in (np.max, np.min, np.mean)]
    counts = np.isnan(numbers).sum(), np.isinf(numbers).sum(), (numbers == 0).sum(), numbers.size
    return dict(zip(_STATISTICS, (*extremes, *map(int, counts)), strict=True))


def _has_nan(statistics):
    return statistics["nan"] > 0


def _has_inf(statistics):
    return statistics["inf"] > 0
