"""The communication in a compiled program: what XLA put in, with the bytes that each device sends.

Around a ring of n devices an all-reduce of b bytes sends 2 b (n-1)/n, an all-gather that makes b bytes, a
reduce-scatter of b and an all-to-all of b each b (n-1)/n, a permutation b. What stands in the body of a loop is counted
as often as XLA says that it runs, once where it does not say.
"""

import math
import re
from collections import defaultdict
from typing import Any, NamedTuple

from msnb.core.compile import program_of
from msnb.ir.hlo import ARRAY, COMPUTATION, TYPES

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_CALL = re.compile(rf"^\s*(?:ROOT )?%?[\w.\-]+ = (.+?) ({'|'.join(KINDS)})(-start)?\((.*)$")
_LISTED = re.compile(r"(?:replica_groups|source_target_pairs)=\{\{([^}]*)\}")
_IOTA = re.compile(r"replica_groups=\[(\d+),(\d+)\]")
_MESH = re.compile(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}")
_SIZE = re.compile(r"'(\w+)'=(\d+)")
_AXIS = re.compile(r"'(\w+)'(?::\(\d+\)(\d+))?")  # 'x', or of it a part: 'x':(2)4
_LOOP = re.compile(r"while\(.*body=%?([\w.\-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')


class Collective(NamedTuple):
    """One communication of a program.

    Attributes:
        kind (str): "all-reduce", "all-gather", "reduce-scatter", "all-to-all" or "collective-permute".
        devices (int): How many take part in one group.
        bytes (float): What each of them sends, in all runs.
        times (int): How often it runs.
    """

    kind: str
    devices: int
    bytes: float
    times: int


def collectives(hlo: str, devices: int) -> list[Collective]:
    """The communication in the text of a compiled program.

    Args:
        hlo (str): What ``program.compiled().as_text()`` gives.
        devices (int): How many the program runs on.
    """
    lines = hlo.splitlines()
    times = _times(lines)
    found, inside = [], ""
    for line in lines:
        opened = COMPUTATION.match(line)
        if opened:
            inside = opened[2]
        call = _CALL.match(line)
        if call is None:
            continue
        made, kind, started, rest = call.groups()
        group, runs = _group(rest, kind, devices), times.get(inside, 1)
        found.append(Collective(kind, group, runs * _sent(kind, _size(made, kind, bool(started)), group), runs))
    return found


def communication_of(root: Any, *args: Any) -> list[Collective]:
    """The communication in what a Cell or function is compiled to in GRAPH mode for these arguments.

    Args:
        root (Union[Cell, Callable]): What is called; a train step, to see what training sends.
        args: Its arguments.

    Returns:
        list[Collective], empty where one device computes all.

    Examples:
        >>> communication_of(nn.ReLU(), Tensor(np.ones((8, 4)), mindspore.float32))
        []
    """
    program = program_of(root, *args)
    if program.spread is None:
        return []
    return collectives(program.compiled().as_text(), program.spread.devices)


def total(found: list[Collective]) -> dict[str, float]:
    """Bytes that each device sends, by kind."""
    summed: dict[str, float] = defaultdict(float)
    for one in found:
        summed[one.kind] += one.bytes
    return dict(summed)


def _times(lines):
    """{computation: how often it runs in one run of the program}."""
    calls, inside = {}, ""
    for line in lines:
        opened = COMPUTATION.match(line)
        if opened:
            inside = opened[2]
        loop = _LOOP.search(line)
        if loop:
            trips = _TRIPS.search(line)
            calls[loop[1]] = inside, int(trips[1]) if trips else 1
    times = {}

    def runs(name):
        if name not in times:
            around, trips = calls.get(name, ("", 1))
            times[name] = trips * (runs(around) if around else 1)
        return times[name]

    return {name: runs(name) for name in calls}


def _size(made, kind, started):
    """Bytes of what a call makes on each device; what has only started says its operands besides."""
    sizes = [_bytes(*array) for array in ARRAY.findall(made)]
    if started and kind in ("all-gather", "collective-permute"):
        sizes = sizes[len(sizes) // 2 :]
    return sum(sizes)


def _bytes(kind, dims):
    size = TYPES.get(kind, ("", 1))[1]  # those that have no name there are of 8 bits or fewer
    return math.prod(int(n) for n in dims.split(",") if n) * size


def _group(rest, kind, devices):
    listed, iota = _LISTED.search(rest), _IOTA.search(rest)
    if kind == "collective-permute":
        return 2
    if iota:
        return int(iota[2])
    named = _MESH.search(rest)
    if named:
        sizes = dict(_SIZE.findall(named[1]))
        return math.prod(int(part or sizes[axis]) for axis, part in _AXIS.findall(named[2]))
    return len(listed[1].split(",")) if listed and listed[1] else devices


def _sent(kind, size, group):
    if group < 2:
        return 0.0
    share = (group - 1) / group
    return {"all-reduce": 2 * share, "reduce-scatter": group * share, "collective-permute": 1.0}.get(kind, share) * size
