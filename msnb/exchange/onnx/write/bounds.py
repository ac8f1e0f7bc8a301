"""Lowerings to ONNX: searches in sorted sequences. The result is the number of elements before a value."""

from msnb.ops import operations as ops

from .builder import Builder, Value, lowerings


def _count_preceding_elements(b: Builder, ordered: Value, values: Value, is_right: bool) -> Value:
    """Count, for each value, the elements of the sorted sequence that are less than it, or less or equal if
    `is_right`.
    """
    ordered, values = (b.cast(v, b.computing(v.dtype)) for v in (ordered, values))
    expanded = (
        b.unsqueeze(ordered, [ordered.rank - 1]) if ordered.rank > 1 else ordered
    )  # each value is compared with its own sequence
    is_before = b.op("LessOrEqual" if is_right else "Less", expanded, b.unsqueeze(values, [values.rank]), dtype="bool")
    kind = b.dtype if b.dtype in ("int32", "int64") else "int64"
    return b.op("ReduceSum", b.cast(is_before, kind), b.ints([-1]), keepdims=0)


@lowerings.register(ops.LowerBound)
def _lower_lower_bound(b, sorted_x, values, *, out_type):
    return _count_preceding_elements(b, sorted_x, values, is_right=False)


@lowerings.register(ops.UpperBound)
def _lower_upper_bound(b, sorted_x, values, *, out_type):
    return _count_preceding_elements(b, sorted_x, values, is_right=True)


@lowerings.register(ops.SearchSorted)
def _lower_search_sorted(b, sorted_sequence, values, *, right, dtype=None):
    return _count_preceding_elements(b, *b.common(sorted_sequence, values), is_right=right)
