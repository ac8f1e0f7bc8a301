"""Sharding rules of embedding lookups and of scatter operations into their tables."""

import math
from typing import Any

from msnb.ops import operations as P
from msnb.parallel.rules import Call, Rule, rules

_LETTERS = "abcdefghijklmnopqrstuvw"
_MANUAL = ("manual_split", "manual_split_with_offset")


@rules.register(P.Gather, P.SparseGatherV2, P.EmbeddingLookup)
def _gather_rule(call: Call) -> Rule:
    """Return the rule of a lookup. If the table's row axis is sharded, each device looks up its own rows, and an
    all-reduce adds the results.
    """
    table, indices = call.shapes[0], call.shapes[1]
    if any(call.settings.get(name) is not None for name in _MANUAL):
        return _manual_split_rule(call)
    letters, axis = _LETTERS[: len(table)], call.settings.get("axis", 0) % len(table)
    index_letters = _LETTERS[len(table) : len(table) + len(indices)]

    def find_error(shard_counts: dict[str, int], devices: int) -> str:
        if shard_counts.get(letters[axis], 1) > 1 and any(shard_counts.get(c, 1) > 1 for c in index_letters):
            return f"cuts the rows of the table, along axis {axis}, and the indices: one of them has to stay whole"
        return ""

    least = 1 if call.settings.get("data_parallel") else None  # r1.1: the strategy describes only the table
    return Rule(
        [letters, index_letters],
        [letters[:axis] + index_letters + letters[axis + 1 :]],
        min_inputs=least,
        find_error=find_error,
    )


def check_manual_split(operator: str, settings: dict[str, Any]) -> None:
    """Raise an error for a manually split table, which needs a strategy.

    Raises:
        RuntimeError: If the table is split manually.
    """
    if any(settings.get(name) is not None for name in _MANUAL):
        raise RuntimeError(f"For '{operator}', a table that is split by hand needs a strategy: call shard().")


def manual_split_rows(settings: dict[str, Any]) -> list[Any]:
    """Return the number of table rows of each field, or [] if the table is not split manually."""
    with_offset = settings.get("manual_split_with_offset")
    return list(settings.get("manual_split") or ()) if with_offset is None else [entry[0] for entry in with_offset]


def _manual_split_rule(call):
    """Return the rule for "manual_split": each field, along the second axis of the indices, has its own table rows."""
    table, indices, settings = call.shapes[0], call.shapes[1], call.settings
    rows = manual_split_rows(settings)

    def find_error(shard_counts: dict[str, int], devices: int) -> str:
        if settings.get("axis", 0) or settings.get("offset", 0):
            return "splits a table by hand, which is done for axis and offset 0 alone"
        if not all(type(n) is int and n > 0 for n in rows) or sum(rows) != table[0] or len(rows) != shard_counts["a"]:
            expected = f"{shard_counts['a']} positive ints of that sum"
            return f"splits {table[0]} rows by hand into {tuple(rows)}, which should be {expected}"
        fields = indices[1] // shard_counts["a"]
        if min(rows) < fields:
            return f"splits rows by hand into {tuple(rows)}, of which each device needs {fields} for its fields"
        if math.prod(shard_counts.values()) < devices:
            return f"splits a table by hand, which has to use all {devices} devices (device_num)"
        return ""

    return Rule(["ab", ".a"], [".ab"], find_error=find_error)


@rules.register(P.UnsortedSegmentSum, P.UnsortedSegmentMin, P.UnsortedSegmentMax, P.UnsortedSegmentProd)
def _segment_rule(call: Call) -> Rule:
    """Return the rule of a segment reduction: its input may be sharded, the segments are replicated."""
    letters, indices = _LETTERS[: len(call.shapes[0])], call.shapes[1]
    return Rule([letters, letters[: len(indices)]], ["." + letters[len(indices) :]], num_inputs=2)
