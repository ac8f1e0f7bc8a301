"""Communication operations of a compiled program: kind, number of devices, and bytes.

On a ring of n devices an all-reduce of b bytes sends 2 b (n-1)/n; an all-gather with a result of b bytes, a
reduce-scatter of b and an all-to-all of b each send b (n-1)/n; a permutation sends b.
"""

import math
import re
from collections.abc import Sequence

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_LISTED = re.compile(r"(?:replica_groups|source_target_pairs)=\{\{([^}]*)\}")
_IOTA = re.compile(r"replica_groups=\[(\d+),(\d+)\]")
_MESH = re.compile(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}")
_SIZE = re.compile(r"'(\w+)'=(\d+)")
_AXIS = re.compile(r"'(\w+)'(?::\(\d+\)(\d+))?")  # 'x', or a part of that axis: 'x':(2)4


def group_size(kind: str, attributes: str, devices: int) -> int:
    """Return the number of devices in one group.

    Args:
        kind (str): one of `KINDS`.
        attributes (str): the text after the operands of the instruction.
        devices (int): number of devices that the program runs on.
    """
    listed, iota = _LISTED.search(attributes), _IOTA.search(attributes)
    if kind == "collective-permute":
        return 2
    if iota:
        return int(iota[2])
    named = _MESH.search(attributes)
    if named:
        sizes = dict(_SIZE.findall(named[1]))
        return math.prod(int(part or sizes[axis]) for axis, part in _AXIS.findall(named[2]))
    return len(listed[1].split(",")) if listed and listed[1] else devices


def result_bytes(kind: str, sizes: Sequence[int], started: bool) -> int:
    """Return the bytes that an instruction produces on each device, from the bytes of its results.

    Args:
        kind (str): one of `KINDS`.
        sizes (Sequence[int]): bytes of each result of the instruction.
        started (bool): whether the instruction only starts the operation; its results then include its operands.
    """
    if started and kind in ("all-gather", "collective-permute"):
        sizes = sizes[len(sizes) // 2 :]
    return sum(sizes)


def sent_bytes(kind: str, size: float, group: int) -> float:
    """Return the bytes that each device sends in one run of the operation.

    Args:
        kind (str): one of `KINDS`.
        size (float): bytes of the result on each device.
        group (int): number of devices in a group.
    """
    if group < 2:
        return 0.0
    share = (group - 1) / group
    return {"all-reduce": 2 * share, "reduce-scatter": group * share, "collective-permute": 1.0}.get(kind, share) * size
