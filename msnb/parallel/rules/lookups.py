"""The sharding rules of tables that are looked up, and of what is written back into their rows."""

import math
from typing import Any

from msnb.ops import operations as P
from msnb.parallel.rules import Call, Rule, rules

_LETTERS = "abcdefghijklmnopqrstuvw"
_MANUAL = ("manual_split", "manual_split_with_offset")


@rules.register(P.Gather, P.SparseGatherV2, P.EmbeddingLookup)
def _gather(call: Call) -> Rule:
    """A table that is cut along the axis of its rows: each device looks up those that it has, and they are added."""
    table, places = call.shapes[0], call.shapes[1]
    if any(call.settings.get(name) is not None for name in _MANUAL):
        return _by_fields(call)
    letters, axis = _LETTERS[: len(table)], call.settings.get("axis", 0) % len(table)
    found = _LETTERS[len(table) : len(table) + len(places)]

    def wrong(parts: dict[str, int], devices: int) -> str:
        if parts.get(letters[axis], 1) > 1 and any(parts.get(c, 1) > 1 for c in found):
            return f"cuts the rows of the table, along axis {axis}, and the indices: one of them has to stay whole"
        return ""

    least = 1 if call.settings.get("data_parallel") else None  # a mark of r1.1: the strategy is of the table
    return Rule([letters, found], [letters[:axis] + found + letters[axis + 1 :]], least=least, wrong=wrong)


def check_by_fields(operator: str, settings: dict[str, Any]) -> None:
    """Refuse a table that is split by hand and has no strategy.

    Raises:
        RuntimeError: If it is one.
    """
    if any(settings.get(name) is not None for name in _MANUAL):
        raise RuntimeError(f"For '{operator}', a table that is split by hand needs a strategy: call shard().")


def rows_of(settings: dict[str, Any]) -> list[Any]:
    """How many rows of a table belong to each field; none where it is not split by hand."""
    with_offset = settings.get("manual_split_with_offset")
    return list(settings.get("manual_split") or ()) if with_offset is None else [entry[0] for entry in with_offset]


def _by_fields(call):
    """The attribute "manual_split": each field, along the second axis of the indices, has rows of its own."""
    table, places, settings = call.shapes[0], call.shapes[1], call.settings
    rows = rows_of(settings)

    def wrong(parts: dict[str, int], devices: int) -> str:
        if settings.get("axis", 0) or settings.get("offset", 0):
            return "splits a table by hand, which is done for axis and offset 0 alone"
        if not all(type(n) is int and n > 0 for n in rows) or sum(rows) != table[0] or len(rows) != parts["a"]:
            wanted = f"{parts['a']} positive ints of that sum"
            return f"splits {table[0]} rows by hand into {tuple(rows)}, which should be {wanted}"
        fields = places[1] // parts["a"]
        if min(rows) < fields:
            return f"splits rows by hand into {tuple(rows)}, of which each device needs {fields} for its fields"
        if math.prod(parts.values()) < devices:
            return f"splits a table by hand, which has to use all {devices} devices (device_num)"
        return ""

    return Rule(["ab", ".a"], [".ab"], wrong=wrong)


@rules.register(P.UnsortedSegmentSum, P.UnsortedSegmentMin, P.UnsortedSegmentMax, P.UnsortedSegmentProd)
def _segments(call: Call) -> Rule:
    """What is joined may lie apart; of the segments each device has all."""
    letters, places = _LETTERS[: len(call.shapes[0])], call.shapes[1]
    return Rule([letters, letters[: len(places)]], ["." + letters[len(places) :]], told=2)
