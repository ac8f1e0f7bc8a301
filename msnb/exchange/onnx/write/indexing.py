"""Lowerings of what takes parts by index."""

from typing import Any

import numpy as np

from msnb.ops import operations as ops
from msnb.ops.index import _TensorGetItem, _TensorGetRow

from .builder import Extent, lowerings
from .primitives import start_of

_ALL, _NUMBER, _NEW, _ARRAY = ":", "i", "new", "array"  # entries of a plan, see msnb/ops/index.py


@lowerings.register(_TensorGetRow)
def _row(b, x, index):
    return b.op("Gather", x, _kept_inside(b, index, x.shape[0]), axis=0)


def _kept_inside(b, index, count):
    """A number that counts an axis, as msnb takes it: it is moved to the nearest that there is."""
    if index.known is not None and not isinstance(count, Extent):
        return b.const(np.int64(min(max(int(index.known), 0), count - 1)))
    (found,) = start_of(b, [index], [count], [1]) if count != 1 else (0,)
    return b.squeeze(found, [0]) if hasattr(found, "name") else b.const(np.int64(found))


def _index(b, indices):
    return indices if indices.dtype in ("int32", "int64") else b.cast(indices, "int64")


@lowerings.register(ops.Gather, ops.SparseGatherV2)
def _gather(b, params, indices, *, axis, batch_dims=0):
    """One node, as models have it; an index beyond the end is an error there, too."""
    if batch_dims:
        return NotImplemented
    return b.op("Gather", params, _index(b, indices), axis=axis)


@lowerings.register(ops.GatherD)
def _gather_d(b, x, index, *, dim):
    return b.op("GatherElements", x, _index(b, index), axis=dim)


@lowerings.register(ops.GatherNd)
def _gather_nd(b, input_x, indices):
    return b.op("GatherND", input_x, b.cast(indices, "int64"))


@lowerings.register(ops.ReverseSequence)
def _reverse_sequence(b, x, seq_lengths, *, seq_dim, batch_dim):
    time, batch = seq_dim % x.rank, batch_dim % x.rank
    if {time, batch} != {0, 1}:
        return NotImplemented
    kind = b.computing(x.dtype)
    lengths = b.cast(seq_lengths, "int64")
    return b.op("ReverseSequence", b.cast(x, kind), lengths, time_axis=time, batch_axis=batch)


@lowerings.register(_TensorGetItem)
def _item(b, x, starts, tensors, *, plan):
    """Slices and numbers; index Tensors are left to what the kernel does."""
    if _ARRAY in plan:
        return NotImplemented
    starts = iter(starts)
    sliced: dict[str, list[Any]] = {"begin": [], "end": [], "axes": [], "steps": []}
    numbers, new, dimension, place = [], [], 0, 0
    for entry in plan:
        if entry == _NEW:
            new.append(place)
            place += 1
            continue
        if entry == _NUMBER:
            numbers.append((dimension, next(starts)))
        elif entry != _ALL:
            length, step = entry
            start = next(starts)
            if start.known is None:
                return NotImplemented
            first = int(start.known)
            if step < 0:  # its start is the lowest index of the window
                first += (int(length) - 1) * -step
            stop = first + int(length) * step
            sliced["begin"].append(first)
            sliced["end"].append(stop if stop >= 0 else -(2**62))
            sliced["axes"].append(dimension)
            sliced["steps"].append(step)
        if entry != _NUMBER:
            place += 1
        dimension += 1
    if any(isinstance(n, Extent) for n in sliced["end"]):
        return NotImplemented
    shape = x.shape
    if sliced["axes"]:
        plain = all(step == 1 for step in sliced["steps"])
        x = b.slice(x, sliced["begin"], sliced["end"], sliced["axes"], None if plain else sliced["steps"])
    for axis, index in reversed(numbers):
        x = b.op("Gather", x, _kept_inside(b, index, shape[axis]), axis=axis)
    x.shape = tuple(n for i, n in enumerate(b.shape) if i not in new)
    return b.unsqueeze(x, new)


@lowerings.register(ops.Slice)
def _slice(b, x, *, begin, size):
    if any(isinstance(n, Extent) for n in (*begin, *size)):
        chosen = [i for i in range(x.rank) if begin[i] != 0 or size[i] not in (-1, x.shape[i])]
    else:
        chosen = list(range(x.rank))
    end = [2**62 if size[i] == -1 else begin[i] + size[i] for i in chosen]
    return b.slice(x, [begin[i] for i in chosen], end, chosen) if chosen else x


@lowerings.register(ops.TopK)
def _top_k(b, x, *, k, sorted):
    kind = b.computing(x.dtype)
    if not x.rank or k < 0:
        return NotImplemented
    return b.ops("TopK", b.cast(x, kind), b.ints([k]), count=2, dtypes=[kind, "int64"], axis=-1, largest=1, sorted=1)


@lowerings.register(ops.Sort)
def _sort(b, x, *, axis, descending):
    kind = b.computing(x.dtype)
    if not x.rank or x.dtype == "bool" or isinstance(x.shape[axis], Extent):
        return NotImplemented
    return b.ops(
        "TopK",
        b.cast(x, kind),
        b.ints([x.shape[axis]]),
        count=2,
        dtypes=[kind, "int64"],
        axis=axis,
        largest=int(descending),
        sorted=1,
    )
