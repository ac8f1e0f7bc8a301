"""The communication in a compiled program: what XLA put in, with the bytes that each device sends.

How many bytes each kind sends is told in `msnb.ir.collectives`. What stands in the body of a loop is counted as often
as XLA says that it runs, once where it does not say.
"""

import math
import re
from collections import defaultdict
from typing import Any, NamedTuple

from msnb.core.compile import program_of
from msnb.ir.collectives import KINDS, group_of, made_by, sent_by
from msnb.ir.hlo import ARRAY, COMPUTATION, TYPES

_CALL = re.compile(rf"^\s*(?:ROOT )?%?[\w.\-]+ = (.+?) ({'|'.join(KINDS)})(-start)?\((.*)$")
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
        group, runs = group_of(kind, rest, devices), times.get(inside, 1)
        size = made_by(kind, [_bytes(*array) for array in ARRAY.findall(made)], bool(started))
        found.append(Collective(kind, group, runs * sent_by(kind, size, group), runs))
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


def _bytes(kind, dims):
    size = TYPES.get(kind, ("", 1))[1]  # those that have no name there are of 8 bits or fewer
    return math.prod(int(n) for n in dims.split(",") if n) * size
