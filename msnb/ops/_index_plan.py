"""Index plans. A plan has the kind of each entry of an index, without the numbers and Tensors in the index.

``x[i, 2:5]`` and ``x[j, 3:6]`` have equal plans, so both use one compiled kernel.
"""

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor, box

# An entry of a plan is one of these marks, or (length, step) for a slice. The start of a slice is not in the plan: it
# is one of the numbers that `plan_of` returns.
ALL, NUMBER, NEW, ARRAY = ":", "i", "new", "array"


def plan_of(index, shape):
    """Split an index of a Tensor of shape `shape` into (numbers, index Tensors, plan)."""
    items = [entry_of(i) for i in (index if isinstance(index, tuple) else (index,))]
    if sum(i is Ellipsis for i in items) > 1:
        raise IndexError("An index holds at most one ellipsis (...).")
    missing = len(shape) - sum(map(_count_indexed_dimensions, items))
    if missing < 0:
        raise IndexError(
            f"The index has {len(shape) - missing} places for a Tensor of {len(shape)} dimensions, "
            f"shape {tuple(shape)}."
        )
    for position, item in enumerate(items):
        if item is Ellipsis:
            items[position : position + 1] = [slice(None)] * missing
            break
    else:
        items += [slice(None)] * missing
    gather = any(isinstance(i, Tensor) for i in items)
    numbers, tensors, plan, dimension = [], [], [], 0
    for item in items:
        if item is None:
            plan.append(NEW)
        elif isinstance(item, bool):
            if not item:
                raise IndexError("Of the two bools only True indexes a Tensor: it adds a dimension, as None does.")
            plan.append(NEW)
        elif isinstance(item, Tensor):
            arrays = [item]
            if item._array.dtype == bool:
                masked_shape = shape[dimension : dimension + item.ndim]
                if item.shape != tuple(masked_shape):
                    raise IndexError(
                        f"A mask of shape {item.shape} does not fit dimensions of lengths {tuple(masked_shape)}."
                    )
                if not item.ndim:
                    plan.append(NEW)
                arrays = _find_true_coordinates(item)
            elif item._array.dtype.kind not in "iu":
                raise IndexError(f"A Tensor that indexes another is of int or bool, but got {item.dtype}.")
            tensors += arrays
            plan += [ARRAY] * len(arrays)
            dimension += len(arrays)
        else:
            length = shape[dimension]
            dimension += 1
            if isinstance(item, int):
                if not -length <= item < length:
                    raise IndexError(
                        f"The index {item} is out of range for dimension {dimension - 1} of length "
                        f"{length}, shape {tuple(shape)}."
                    )
                item = item + length if item < 0 else item
                (tensors if gather else numbers).append(item)
                plan.append(ARRAY if gather else NUMBER)
                continue
            plan.append(_plan_slice(item, length, numbers, gather))
    return numbers, tensors, tuple(plan)


def _plan_slice(item, length, numbers, gather):
    if item.start is None and item.stop is None and item.step is None:
        return ALL
    step = _convert_slice_bound(item.step)
    if step == 0:
        raise ValueError("The step of a slice should not be 0.")
    start, stop, step = slice(_convert_slice_bound(item.start), _convert_slice_bound(item.stop), step).indices(length)
    count = len(range(start, stop, step))
    if count == length and step == 1:
        return ALL
    if gather:
        return start, None if stop < 0 else stop, step
    numbers.append(0 if not count else start if step > 0 else start + (count - 1) * step)
    return count, step


# ---------------------------------------------------------------------- from an index to a plan
def entry_of(item):
    """Normalize one entry of an index: int, bool, slice, None, Ellipsis or Tensor."""
    if item is None or item is Ellipsis or isinstance(item, (int, slice, Tensor)):
        return item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, (list, tuple, range)):
        return _convert_list_to_tensor(item)
    if isinstance(item, np.ndarray) and item.dtype.kind in "iub":
        return box(item)
    if isinstance(item, jax.Array):
        return box(item)
    raise IndexError(
        f"A Tensor is indexed by int, slice, ..., None, bool, Tensor, or lists and tuples of them, "
        f"but got {describe(item)}."
    )


def _convert_list_to_tensor(items):
    """Convert a list of positions to a Tensor that holds a numpy array, which is a constant even during tracing."""
    try:
        if any(isinstance(v, Tensor) for v in items):
            return box(jnp.stack([jnp.asarray(v._array if isinstance(v, Tensor) else v) for v in items]))
        array = np.array(list(items), dtype=None if len(items) else np.int64)
    except (TypeError, ValueError):  # an element is no number, or rows have different lengths
        array = np.empty(0)
    if array.dtype.kind not in "iub":
        values = ", ".join(map(describe, items)) if any(isinstance(v, Tensor) for v in items) else repr(items)
        raise IndexError(f"A list that indexes a Tensor holds int or bool, all of one shape, but got {values}.")
    return box(array)


def _find_true_coordinates(mask):
    """Return the coordinates of the True elements of a mask, one index Tensor per dimension."""
    if is_tracer(mask._array):
        raise DataDependentShape(
            "x[mask]",
            "the number of elements",
            "write ops.select(mask, x, other) to keep the shape, or x[mask] = value to assign",
        )
    return [box(positions) for positions in np.nonzero(np.asarray(mask._array))]


def _convert_slice_bound(value):
    return value if value is None or isinstance(value, int) else value.__index__()


def _count_indexed_dimensions(item):
    """Return the number of dimensions of the indexed Tensor that one entry of an index selects from."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item._array.dtype == bool:
        return item.ndim
    return 1
