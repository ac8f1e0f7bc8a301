"""Sources of a `DumpAnalyzer`: the files of a dump, or the steps of a timeline, as one list of tensors."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from msnb.insight.debugger.timeline import Timeline
from msnb.insight.dump import file_names

NodeKey = tuple[int, str, str, str]  # rank, graph, name and type of an operator
_BIN = re.compile(
    r"(?P<name>.+)_(?P<io>input|output)_(?P<slot>\d+)_shape_(?P<shape>[\d_]+)_(?P<dtype>[A-Za-z0-9]+)_\w+\.bin"
)
_NUMBER = re.compile(r"\d+")
# Line of an operator in a graph that `msnb.ir.printer` wrote. Lines in MindSpore's own graph files do not match.
_CALL = re.compile(r"\s*%(?P<id>\d+)\(\[CNode\]\) = (?P<op>[^(]+)(?P<call>\(.*?\))(?: \{.*\})? : \(.*")
_COMMENT = re.compile(r"  # (?P<name>(?:(?!  # ).)+-op\d+)(?:  # (?P<line>(?:(?!  # ).)+))?")
_OPERAND = re.compile(r"%(\d+)(?:\[\d+\])?(?=[,)])")


class Entry(NamedTuple):
    """One tensor of a source.

    Attributes:
        node (tuple): rank, graph, name and type of its operator.
        io (str): "input" or "output".
        slot (int): index among the inputs or outputs.
        iteration (int): number of the iteration.
        key (Any): argument of `Source.read`.
    """

    node: NodeKey
    io: str
    slot: int
    iteration: int
    key: Any


class Source:
    """The tensors of a dump or timeline.

    Attributes:
        entries (list[Entry]): The tensors, in the order of iterations and execution.
        stacks (dict[tuple, str]): "file:line" of operators; empty if it is not known.
        edges (dict[tuple, list[tuple]]): The operators that each operator reads; empty if they are not known.
    """

    entries: list[Entry]
    stacks: dict[NodeKey, str]
    edges: dict[NodeKey, list[NodeKey]]

    def __init__(self, limit: int | None) -> None:
        self.entries, self.stacks, self.edges = [], {}, {}
        self._limit = limit

    @property
    def nodes(self) -> list[NodeKey]:
        """Return the keys of all operators."""
        return list(dict.fromkeys([*self.stacks, *(entry.node for entry in self.entries)]))

    def read(self, key: Any) -> np.ndarray | None:
        """Return the value of an entry; None if there is none."""
        raise NotImplementedError

    def _check_size(self, nbytes, name):
        if self._limit is not None and nbytes > self._limit:
            raise ValueError(f"{name} has {nbytes} bytes, more than 'mem_limit', {self._limit >> 20} MB.")


class FolderSource(Source):
    """The files of a dump of msnb or of MindSpore.

    Args:
        folder (Path): The folder of the dump, which is 'path' in its settings.
        limit (int): Largest size of a value in bytes; None for no limit.

    Raises:
        ValueError: If the folder does not exist or has no tensors.
    """

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        super().__init__(limit)
        if not folder.is_dir():
            raise ValueError(f"There is no folder {folder}.")
        for rank_folder in sorted(folder.glob("rank_*")):
            self._read_rank_folder(rank_folder, int(rank_folder.name.removeprefix("rank_")))
        for iteration in sorted(folder.glob("*/device_*/iteration_*"), key=_parse_number_in_name):
            self._read_r1_iteration(iteration)
        if not self.entries:
            raise ValueError(
                f"{folder} has no tensors of a dump. They are in rank_0/NET/GRAPH/ITERATION, or in "
                "NET/device_0/iteration_0 in r1.1's form."
            )

    def _read_rank_folder(self, folder, rank):
        full_names = {}  # name with "_" for "/" -> name
        for order in sorted(folder.glob(str(file_names.order_path("*")))):
            for line in order.read_text(encoding="utf-8").splitlines()[1:]:
                full_names[file_names.flat_name(line.partition(",")[0])] = line.partition(",")[0]
        iterations = (path for path in folder.glob("*/*/*") if path.is_dir() and path.name.isdigit())
        for iteration in sorted(iterations, key=lambda path: (int(path.name), path)):
            long_names, tensors = file_names.long_names(iteration), []
            for path in iteration.glob("*.npy"):
                name = file_names.parse_npy_name(long_names.get(path.name, path.name))
                if name is not None:
                    tensors.append((name.time, name, path))
            for _, name, path in sorted(tensors, key=lambda tensor: tensor[:2]):
                node = rank, iteration.parent.name, full_names.get(name.name, name.name), name.op
                self.entries.append(Entry(node, name.io, name.slot, int(iteration.name), path))
        operators = {entry.node[:3]: entry.node for entry in self.entries}
        for path in sorted(folder.glob(str(file_names.graph_path("*")))):
            self._read_graph(path, rank, operators)

    def _read_graph(self, path, rank, operators):
        """Read lines of code and edges from the text of a graph. `operators` has the operators with files."""
        graph, keys = _parse_number_in_name(path), {}
        for call in _parse_calls(path.read_text(encoding="utf-8", errors="replace")):
            op = re.sub(r"^grad(?=[A-Z])", "", call["op"])
            key = rank, str(graph), call["name"], op
            keys[call["id"]] = key = operators.get(key[:3], key)
            self.stacks[key] = call["line"] or ""
            inputs = [keys[ident] for ident in _OPERAND.findall(call["call"]) if ident in keys]
            self.edges[key] = list(dict.fromkeys(inputs))

    def _read_r1_iteration(self, folder):
        rank, graph = int(folder.parent.name.removeprefix("device_")), folder.parent.parent.name
        long_names = file_names.long_names(folder)
        for path in sorted(folder.glob("*.bin")):
            match = _BIN.fullmatch(long_names.get(path.name, path.name))
            if match is None:
                continue
            name = match["name"].replace("--", "/")
            node = rank, graph, name, re.sub(r"-op\d+$", "", name.rpartition("/")[2])
            shape = tuple(map(int, match["shape"].split("_")))
            key = path, match["dtype"].lower(), () if shape == (0,) and path.stat().st_size else shape
            self.entries.append(Entry(node, match["io"], int(match["slot"]), _parse_number_in_name(folder), key))

    def read(self, key: Any) -> np.ndarray | None:
        """Return the array of a file."""
        path = key if isinstance(key, Path) else key[0]
        self._check_size(path.stat().st_size, path.name)
        if isinstance(key, Path):
            return np.load(path, allow_pickle=False)
        return np.frombuffer(path.read_bytes(), key[1]).reshape(key[2])


def _parse_calls(text):
    """Yield {id, op, call, name, line} of each operator in the text of a graph of msnb."""
    for line in text.splitlines():
        call = _CALL.match(line)
        comment = call and _COMMENT.search(line, line.rindex(" -> "))
        if comment:
            yield call.groupdict() | comment.groupdict()


def _parse_number_in_name(path):
    return int(_NUMBER.search(path.name)[0])


class TimelineSource(Source):
    """The steps of a timeline. A value is computed when it is read.

    Args:
        timeline (Timeline): The recorded steps.
        limit (int): Largest size of a value in bytes; None for no limit.
    """

    def __init__(self, timeline: Timeline, limit: int | None = None) -> None:
        super().__init__(limit)
        self._timeline = timeline
        for step in timeline.steps:
            program = timeline.program_of(step)
            nodes = list(timeline.graph(program).all_nodes())
            keys = {node.id: (0, program.name, node.fullname, node.op) for node in nodes}
            for node in nodes:
                key = keys[node.id]
                self.stacks[key] = "" if node.source is None else f"{node.source[0]}:{node.source[1]}"
                inputs = [keys[source.id] for source in node.inputs if getattr(source, "id", None) in keys]
                self.edges[key] = list(dict.fromkeys(inputs))
                self.entries += [Entry(key, "output", i, step, (step, node, i)) for i in range(len(node.types))]

    def read(self, key: Any) -> np.ndarray | None:
        """Return the value of a node's result; None if it can't be read, as in the condition of a `while`."""
        step, node, slot = key
        try:
            value = self._timeline.replay(step).output(node, slot)
        except ValueError:
            return None
        self._check_size(value.nbytes, node.fullname)
        return np.asarray(value)
