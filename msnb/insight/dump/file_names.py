"""Folders and file names of dumps, as MindSpore r1.1 and MindSpore 1.5 to 2.x name them.

r1.1: ``NET/device_0/iteration_3/Default--conv-Conv2d--Conv2D-op0_output_0_shape_2_6_Float32_DefaultFormat.bin``.

Later: ``rank_0/NET/GRAPH/3/Conv2D.Default_conv-Conv2d_Conv2D-op0.TASK.STREAM.TIME.output.0.DefaultFormat.Float32.npy``.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msnb._util.atomic_file import writing

_LONGEST = 255  # bytes of a file name
_TABLE = "mapping.csv"  # name in the folder -> the long name
_NUMBER = re.compile(r"-op\d+$")
_NPY = re.compile(
    r"(?P<op>[^.]+)\.(?P<name>.+)\.(?P<task>\d+)\.(?P<stream>\d+)\.(?P<time>\d+)\.(?P<io>input|output)\.(?P<slot>\d+)"
    r"\.(?P<format>[A-Za-z0-9_]+)(?:\.(?P<dtype>[A-Za-z0-9]+))?\.npy"
)


class TensorName(NamedTuple):
    """The name of the file of one tensor.

    Attributes:
        op (str): type of the operator, or ``"Parameter"``.
        name (str): name of the operator with its scope, where ``/`` is ``_``.
        io (str): ``"input"`` or ``"output"``.
        slot (int): index of the tensor among the inputs or outputs.
        dtype (str): element type, such as ``"Float32"``; "" if the name does not contain it.
        time (int): microseconds since 1970.
    """

    op: str
    name: str
    io: str
    slot: int
    dtype: str = ""
    time: int = 0


def names_within_scopes(names: Sequence[str]) -> list[str]:
    """Renumber operators as MindSpore 2 does: those of one type in one Cell get ``-op0``, ``-op1`` and so on.

    Args:
        names (Sequence[str]): names as in r1.1, where one count runs through the graph.
    """
    counts: Counter[str] = Counter()
    renamed = []
    for name in names:
        base = _NUMBER.sub("", name)
        renamed.append(f"{base}-op{counts[base]}")
        counts[base] += 1
    return renamed


def npy_name(tensor: TensorName) -> str:
    """Return the file name of MindSpore 1.5 and later."""
    name = flat_name(tensor.name)
    return f"{tensor.op}.{name}.0.0.{tensor.time}.{tensor.io}.{tensor.slot}.DefaultFormat.{tensor.dtype}.npy"


def bin_name(tensor: TensorName, shape: tuple[int, ...]) -> str:
    """Return the file name of MindSpore r1.1."""
    dims = "_".join(map(str, shape)) or "0"
    name = tensor.name.replace("/", "--")
    return f"{name}_{tensor.io}_{tensor.slot}_shape_{dims}_{tensor.dtype}_DefaultFormat.bin"


def order_path(graph: int | str) -> Path:
    """Return the path of the file with the execution order of a graph, in the folder of a process. `graph` can be
    ``*``.
    """
    return Path("execution_order", f"ms_execution_order_graph_{graph}.csv")


def graph_path(graph: int | str) -> Path:
    """Return the path of the file with the text of a graph, in the folder of a process. `graph` can be ``*``."""
    return Path("graphs", f"ms_output_trace_code_graph_{graph}.ir")


def flat_name(name: str) -> str:
    """Return the name of an operator in the form that file names of MindSpore 1.5 and later contain."""
    return name.replace("/", "_").replace(".", "_")


def parse_npy_name(name: str) -> TensorName | None:
    """Parse a file name of MindSpore 1.5 and later. Return None for another name."""
    match = _NPY.fullmatch(name)
    if match is None:
        return None
    return TensorName(
        match["op"], match["name"], match["io"], int(match["slot"]), match["dtype"] or "", int(match["time"])
    )


def is_too_long(name: str) -> bool:
    """Return True if a file name is longer than file systems allow."""
    return len(name.encode()) > _LONGEST


def write_long_names(folder: Path, names: dict[str, str]) -> None:
    """Write ``mapping.csv``. Each row has a file name and the long name that it replaces."""
    with writing(folder / _TABLE, "w", durable=False, encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(names.items())


def long_names(folder: Path) -> dict[str, str]:
    """Return {file name: long name} of the files of a folder whose names were too long."""
    table = folder / _TABLE
    if not table.is_file():
        return {}
    with open(table, encoding="utf-8", newline="") as file:
        return {row[0]: row[1] for row in csv.reader(file) if len(row) == 2}
