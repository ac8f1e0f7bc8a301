"""Lowerings to ONNX: LowerBound, UpperBound and SearchSorted. Each counts the elements of a sorted sequence before a
value.
"""

from msnb.ops import operations as ops

from .builder import Builder, Value, lowerings


def _count_preceding_elements(b: Builder, ordered: Value, values: Value, is_right: bool) -> Value:
    """Count, for each value, the elements of `ordered` that are less than it. If `is_right`, equal elements count
    too.
    """
    ordered, values = (b.cast(v, b.computing(v.dtype)) for v in (ordered, values))
    # each row of values is compared with its own row
    expanded = b.unsqueeze(ordered, [ordered.rank - 1]) if ordered.rank > 1 else ordered
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
