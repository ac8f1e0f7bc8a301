"""Communication operations in a compiled program, with the bytes that each device sends.

`msnb.ir.collectives` defines the bytes of each kind. An operation in a loop counts as often as XLA says that the loop
runs, or once if XLA does not say.
"""

import math
import re
from collections import defaultdict
from typing import Any, NamedTuple

from msnb.core.program.program_cache import program_of
from msnb.ir.collectives import KINDS, group_size, result_bytes, sent_bytes
from msnb.ir.hlo import ARRAY, COMPUTATION, TYPES

_CALL = re.compile(rf"^\s*(?:ROOT )?%?[\w.\-]+ = (.+?) ({'|'.join(KINDS)})(-start)?\((.*)$")
_LOOP = re.compile(r"while\(.*body=%?([\w.\-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')


class Collective(NamedTuple):
    """One communication operation of a program.

    Attributes:
        kind (str): "all-reduce", "all-gather", "reduce-scatter", "all-to-all" or "collective-permute".
        devices (int): Number of devices in one group.
        bytes (float): Bytes that each device sends, in all runs.
        times (int): Number of runs.
    """

    kind: str
    devices: int
    bytes: float
    times: int


def collectives(hlo: str, devices: int) -> list[Collective]:
    """Return the communication operations in the text of a compiled program.

    Args:
        hlo (str): The text, ``program.compiled().as_text()``.
        devices (int): Number of devices that the program runs on.
    """
    lines = hlo.splitlines()
    times = _count_computation_runs(lines)
    operations, computation = [], ""
    for line in lines:
        header = COMPUTATION.match(line)
        if header:
            computation = header[2]
        call = _CALL.match(line)
        if call is None:
            continue
        result_type, kind, is_async_start, rest = call.groups()
        group, runs = group_size(kind, rest, devices), times.get(computation, 1)
        size = result_bytes(
            kind, [_count_array_bytes(*array) for array in ARRAY.findall(result_type)], bool(is_async_start)
        )
        operations.append(Collective(kind, group, runs * sent_bytes(kind, size, group), runs))
    return operations


def communication_of(root: Any, *args: Any) -> list[Collective]:
    """Return the communication operations in the GRAPH mode program that a Cell or function is compiled to for these
    arguments.

    Args:
        root (Union[Cell, Callable]): The Cell or function; a train step shows the communication of training.
        args: Its arguments.

    Returns:
        list[Collective], empty if the program runs on one device.

    Examples:
        >>> communication_of(nn.ReLU(), Tensor(np.ones((8, 4)), mindspore.float32))
        []
    """
    program = program_of(root, *args)
    if program.spread is None:
        return []
    return collectives(program.compiled().as_text(), program.spread.devices)


def memory_of(root: Any, *args: Any) -> int:
    """Return the bytes that each device stores before a GRAPH mode program runs: Parameters, inputs and the state of
    the optimizer, or their shards.

    Args:
        root (Union[Cell, Callable]): The Cell or function.
        args: Its arguments.

    Examples:
        >>> memory_of(nn.ReLU(), Tensor(np.ones((8, 4)), mindspore.float32))
        128
    """
    return program_of(root, *args).compiled().memory_analysis().argument_size_in_bytes


def total(operations: list[Collective]) -> dict[str, float]:
    """Return {kind of communication: number of bytes that each device sends}."""
    totals: dict[str, float] = defaultdict(float)
    for operation in operations:
        totals[operation.kind] += operation.bytes
    return dict(totals)


def _count_computation_runs(lines):
    """Return {computation: number of runs in one run of the program}."""
    calls, computation = {}, ""
    for line in lines:
        header = COMPUTATION.match(line)
        if header:
            computation = header[2]
        loop = _LOOP.search(line)
        if loop:
            trips = _TRIPS.search(line)
            calls[loop[1]] = computation, int(trips[1]) if trips else 1
    times = {}

    def runs(name):
        if name not in times:
            caller, trips = calls.get(name, ("", 1))
            times[name] = trips * (runs(caller) if caller else 1)
        return times[name]

    return {name: runs(name) for name in calls}


def _count_array_bytes(kind, dims):
    size = TYPES.get(kind, ("", 1))[1]  # types without an entry have 8 bits or fewer
    return math.prod(int(n) for n in dims.split(",") if n) * size
