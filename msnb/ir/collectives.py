"""What the communication of a compiled program sends: by its kind, how many devices take part, and what it makes.

Around a ring of n devices an all-reduce of b bytes sends 2 b (n-1)/n, an all-gather that makes b bytes, a
reduce-scatter of b and an all-to-all of b each b (n-1)/n, a permutation b.
"""

import math
import re
from collections.abc import Sequence

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_LISTED = re.compile(r"(?:replica_groups|source_target_pairs)=\{\{([^}]*)\}")
_IOTA = re.compile(r"replica_groups=\[(\d+),(\d+)\]")
_MESH = re.compile(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}")
_SIZE = re.compile(r"'(\w+)'=(\d+)")
_AXIS = re.compile(r"'(\w+)'(?::\(\d+\)(\d+))?")  # 'x', or of it a part: 'x':(2)4


def group_of(kind: str, told: str, devices: int) -> int:
    """How many devices take part in one group.

    Args:
        kind (str): one of `KINDS`.
        told (str): what stands behind the operands of the instruction.
        devices (int): how many the program runs on.
    """
    listed, iota = _LISTED.search(told), _IOTA.search(told)
    if kind == "collective-permute":
        return 2
    if iota:
        return int(iota[2])
    named = _MESH.search(told)
    if named:
        sizes = dict(_SIZE.findall(named[1]))
        return math.prod(int(part or sizes[axis]) for axis, part in _AXIS.findall(named[2]))
    return len(listed[1].split(",")) if listed and listed[1] else devices


def made_by(kind: str, sizes: Sequence[int], started: bool) -> int:
    """Bytes that an instruction makes on each device, of the bytes of its results.

    Args:
        kind (str): one of `KINDS`.
        sizes (Sequence[int]): bytes of each of its results.
        started (bool): whether it only starts; it says its operands then, besides.
    """
    if started and kind in ("all-gather", "collective-permute"):
        sizes = sizes[len(sizes) // 2 :]
    return sum(sizes)


def sent_by(kind: str, size: float, group: int) -> float:
    """Bytes that each device sends in one run.

    Args:
        kind (str): one of `KINDS`.
        size (float): bytes that it makes on each device.
        group (int): how many devices take part.
    """
    if group < 2:
        return 0.0
    share = (group - 1) / group
    return {"all-reduce": 2 * share, "reduce-scatter": group * share, "collective-permute": 1.0}.get(kind, share) * size
