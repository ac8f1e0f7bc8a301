"""Lowerings of places in ordered rows: as many as stand before them."""

from msnb.ops import operations as ops

from .builder import Builder, Value, lowerings


def _counted(b: Builder, ordered: Value, values: Value, behind: bool) -> Value:
    """For each value, by how many of its row it is preceded; of those that are equal by none, or by all."""
    ordered, values = (b.cast(v, b.computing(v.dtype)) for v in (ordered, values))
    lines = b.unsqueeze(ordered, [ordered.rank - 1]) if ordered.rank > 1 else ordered  # each value meets its row
    before = b.op("LessOrEqual" if behind else "Less", lines, b.unsqueeze(values, [values.rank]), dtype="bool")
    kind = b.dtype if b.dtype in ("int32", "int64") else "int64"
    return b.op("ReduceSum", b.cast(before, kind), b.ints([-1]), keepdims=0)


@lowerings.register(ops.LowerBound)
def _lower_bound(b, sorted_x, values, *, out_type):
    return _counted(b, sorted_x, values, behind=False)


@lowerings.register(ops.UpperBound)
def _upper_bound(b, sorted_x, values, *, out_type):
    return _counted(b, sorted_x, values, behind=True)


@lowerings.register(ops.SearchSorted)
def _search_sorted(b, sorted_sequence, values, *, right, dtype=None):
    return _counted(b, *b.common(sorted_sequence, values), behind=right)
