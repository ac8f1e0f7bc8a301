"""Tensor indexing and assignment: ``x[1, ..., 2:5]``, ``x[mask]``, ``x[i] = v``, with numpy's semantics.

An index is split into a plan, numbers and index Tensors, see `_index_plan`. The plan is static: there is a compiled
kernel for each plan. Integers and slice starts are traced scalars, so ``x[i]`` in a loop runs one compiled kernel for
every `i`.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.common.kinds import Tensors, Value
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.autocast import cast_tensor, is_constant
from msnb.core.operator.cases import F, Flags, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.operator_types import operand
from msnb.core.operator.value_checks import Check, Range
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.tensor import Tensor
from msnb.core.tensor.views import base_of, view_of
from msnb.ops._check import wide
from msnb.ops._index_plan import ALL, ARRAY, NEW, NUMBER, entry_of, plan_of
from msnb.ops.array.cast import cast_array


@operator(casts_inputs=False)
def _TensorGetRow(x, index):
    """Return x[index] for one position of the first dimension.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.
        - **index** (int) - The position, from 0.

    Outputs:
        Tensor of shape x.shape[1:].
    """
    return jax.lax.dynamic_index_in_dim(x, index, 0, keepdims=False)


def _compute_bounding_block(x, starts, plan):
    """Return the start indices and the lengths, per dimension, of the block of `x` that an index without arrays
    covers."""
    starts = iter(starts)
    begins, lengths, dimension = [], [], 0
    for entry in plan:
        if entry == NEW:
            continue
        if entry == ALL:
            begins.append(0)
            lengths.append(x.shape[dimension])
        elif entry == NUMBER:
            begins.append(next(starts))
            lengths.append(1)
        else:
            length, step = entry
            begins.append(next(starts))
            lengths.append((length - 1) * abs(step) + 1 if length else 0)
        dimension += 1
    return begins, lengths


def _build_numpy_index(tensors, plan):
    """Build an index for jnp from a plan with arrays. In the plan, a slice is a tuple (start, stop, step)."""
    arrays = iter(tensors)
    return tuple(
        wide(next(arrays))
        if entry == ARRAY
        else None
        if entry == NEW
        else slice(None)
        if entry == ALL
        else slice(*entry)
        for entry in plan
    )


def _check_index_tensors(x, tensors, plan):
    """Raise ValueError if index Tensors do not broadcast, IndexError if they read an axis of length 0."""
    shapes = [np.shape(indices) for indices in tensors]
    try:
        selected = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"For 'Tensor', index Tensors of shapes {shapes} do not broadcast.") from None
    axis = 0
    for entry in plan:
        if entry == ARRAY and x.shape[axis] == 0 and 0 not in selected:
            raise IndexError(f"For 'Tensor', axis {axis} of shape {x.shape} has no element that an index could read.")
        axis += entry != NEW


def _yield_index_ranges(inputs):
    """Yield the valid range of each index Tensor: the length of its dimension.

    Plain numbers are not included, because `plan_of` has checked them.
    """
    tensors, dimension = iter(inputs["tensors"]), 0
    for entry in inputs["plan"]:
        if entry == ARRAY:
            values, length = next(tensors), inputs["x"].shape[dimension]
            if not isinstance(values, int):
                yield Range(values, length, -length)
        dimension += entry != NEW


_IN_RANGE = Check("index", _yield_index_ranges, IndexError)


@operator(checks=[_IN_RANGE])
def _TensorGetItem(x, starts: Tensors, tensors: Tensors, plan: Value):
    """Return the part ``x[...]`` of a Tensor.

    Inputs:
        - **x** (Tensor) - Of any shape.
        - **starts** (tuple[int]) - Integers of the index and first indices of its slices.
        - **tensors** (tuple[Tensor]) - Index Tensors.
        - **plan** (tuple) - The kind of each entry of the index.

    Outputs:
        Tensor of the element type of `x`.
    """
    if ARRAY in plan:
        _check_index_tensors(x, tensors, plan)
        return x.at[_build_numpy_index(tensors, plan)].get(mode="fill")
    if starts:
        x = jax.lax.dynamic_slice(x, *_compute_bounding_block(x, starts, plan))
    rest = tuple(
        0 if entry == NUMBER else None if entry == NEW else slice(None) if entry == ALL else slice(None, None, entry[1])
        for entry in plan
    )
    return x[rest]


def _broadcast_value(value, shape, dtype):
    """Broadcast `value` to `shape` and cast it to `dtype`. `value` may have additional leading dimensions of length
    1."""
    value = cast_array(value, dtype)
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    try:
        return jnp.broadcast_to(value, shape)
    except ValueError:
        raise ValueError(
            f"For 'Tensor assignment', a value of shape {value.shape} does not broadcast to the indexed "
            f"part of shape {tuple(shape)}."
        ) from None


@operator(checks=[_IN_RANGE])
def _TensorSetItem(x, value, starts: Tensors, tensors: Tensors, plan: Value):
    """Return a copy of a Tensor after ``x[...] = value``.

    Inputs:
        - **x** (Tensor) - Of any shape.
        - **value** (Union[Tensor, Number]) - The new values, which broadcast to the shape of ``x[...]``.
        - **starts** (tuple[int]) - Integers of the index and first indices of its slices.
        - **tensors** (tuple[Tensor]) - Index Tensors.
        - **plan** (tuple) - The kind of each entry of the index.

    Outputs:
        Tensor of the shape and element type of `x`.
    """
    if ARRAY in plan:
        _check_index_tensors(x, tensors, plan)
        index = _build_numpy_index(tensors, plan)
        part = jax.eval_shape(lambda a: a[index], x).shape
        return x.at[index].set(_broadcast_value(value, part, x.dtype), mode="drop")
    begins, lengths = _compute_bounding_block(x, starts, plan)
    counts = [entry[0] if isinstance(entry, tuple) else None for entry in plan if entry != NEW]
    counts = [n if c is None else c for c, n in zip(counts, lengths, strict=True)]
    dimension, part = 0, []
    for entry in plan:
        if entry == NEW:
            part.append(1)
            continue
        if entry != NUMBER:
            part.append(counts[dimension])
        dimension += 1
    block = _broadcast_value(value, part, x.dtype).reshape(counts)
    steps = [entry[1] if isinstance(entry, tuple) else 1 for entry in plan if entry != NEW]
    if all(step == 1 for step in steps):
        return jax.lax.dynamic_update_slice(x, block, begins)
    if 0 in counts:
        return x
    # `begins` are the lowest indices of the block. A slice with a negative step starts at the highest index instead.
    first = [b if s > 0 else b + n - 1 for b, n, s in zip(begins, lengths, steps, strict=True)]
    mesh = [
        (f + s * jnp.arange(c)).reshape([-1 if e == d else 1 for e in range(x.ndim)])
        for d, (f, s, c) in enumerate(zip(first, steps, counts, strict=True))
    ]
    return x.at[tuple(mesh)].set(block)


@operator
def _TensorSetMask(x, mask, value):
    """Return a copy of a Tensor after ``x[mask] = value``.

    Inputs:
        - **x** (Tensor) - Of any shape.
        - **mask** (Tensor) - Of bool, with the shape of the first dimensions of `x`.
        - **value** (Union[Tensor, Number]) - One value for all selected elements, one value for each of them, or a
          Tensor that broadcasts to the shape of `x`.

    Outputs:
        Tensor of the shape and element type of `x`.
    """
    rest = x.shape[mask.ndim :]
    expanded = mask.reshape(mask.shape + (1,) * len(rest))
    value = cast_array(value, x.dtype)
    if value.shape == x.shape:
        return jnp.where(expanded, value, x)
    if value.ndim == len(rest) + 1 and value.shape[0] != 1:
        # The n-th True of the mask takes the n-th value.
        position = jnp.clip(jnp.cumsum(mask.reshape(-1)) - 1, 0, value.shape[0] - 1).reshape(mask.shape)
        return jnp.where(expanded, _broadcast_value(value[position], x.shape, x.dtype), x)
    if value.ndim > len(rest) and value.shape[:1] == (1,):
        value = value[0]
    _broadcast_value(value, rest, x.dtype)
    return jnp.where(expanded, value, x)


_row = _TensorGetRow()
_get = _TensorGetItem.operator
_set = _TensorSetItem.operator
_set_mask = _TensorSetMask()
_kernels = LruCache()
_thread = trace_state.thread
_FEW = 64


def _run_index_kernel(op, operands, numbers, tensors, plan):
    """Run the index operator `op` on its Tensor operands and an index in the form of `plan_of`."""
    key = op.name, len(numbers), len(tensors), plan
    kernel = _kernels.get(key)
    if kernel is None:
        layout = (*[1] * len(operands), (len(numbers),), (len(tensors),), -1)
        kernel = _kernels.keep(key, op.kernel({}, layout, (plan,)))
    boxes = [*operands, *numbers, *tensors]
    return op.run(kernel, boxes, [operand(b, op.name, "index") for b in boxes])


def getitem(x, index):
    """Return ``x[index]`` of a Tensor.

    Args:
        x (Tensor): The Tensor.
        index (Union[int, slice, None, bool, Tensor, list, tuple, Ellipsis]): The index.

    Returns:
        Tensor.

    Raises:
        IndexError: If the index is out of range, too long, or of an unknown kind. A compiled graph only checks index
            Tensors with ``check_indices``. Without it, elements out of range are NaN.
        ValueError: If a mask is traced, because the shape of the result depends on its values.
    """
    if _thread.frame is not None and (part := _index_constant_array(x._array, index)) is not None:
        return part
    if _thread.compute_dtype is not None and is_constant(x) and not (_thread.casts_all and _is_basic(index)):
        x = cast_tensor(x, _thread.compute_dtype)
    if type(index) is int and x._array.ndim:
        length = x._array.shape[0]
        if not -length <= index < length:
            raise IndexError(f"The index {index} is out of range for dimension 0 of length {length}, shape {x.shape}.")
        return _row(x, index + length if index < 0 else index)
    numbers, tensors, plan = plan_of(index, x._array.shape)
    return _run_index_kernel(_get, (x,), numbers, tensors, plan)


def _is_basic(index):
    """Return True if an index selects a view, as slices and integers do."""
    parts = index if type(index) is tuple else (index,)
    return all(part is None or part is Ellipsis or type(part) in (int, slice) for part in parts)


def _index_constant_array(array, index):
    """Index a small constant array of integers, such as a shape, and return the result as a constant. Return None for
    other arrays.
    """
    if is_tracer(array) or array.dtype.kind not in "iu" or array.size > _FEW:
        return None
    if not all(type(i) in (int, slice) for i in (index if type(index) is tuple else (index,))):
        return None
    return Tensor(np.asarray(array)[index])


def setitem(x, index, value):
    """Return a copy of a Tensor after ``x[index] = value``.

    Args:
        x (Tensor): The Tensor.
        index (Union[int, slice, None, bool, Tensor, list, tuple, Ellipsis]): The index.
        value (Union[Tensor, Number, list, tuple]): The new values, which are converted to the element type of `x`.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        IndexError: If the index is out of range, too long, or of an unknown kind. A compiled graph only checks index
            Tensors with ``check_indices``. Without it, writes out of range are skipped.
        ValueError: If the value does not broadcast to ``x[index]``.
        TypeError: If the value does not consist of numbers.
    """
    if not isinstance(value, (Tensor, bool, int, float, complex)):
        if not isinstance(value, (list, tuple, np.ndarray, np.generic)):
            raise TypeError(f"A Tensor takes a Tensor, a number, or a list of them, but got {describe(value)}.")
        value = Tensor(value)
    if isinstance(index, np.ndarray) or isinstance(index, list):
        index = entry_of(index)
    if isinstance(index, Tensor) and index._array.dtype == bool and index.ndim:
        return _assign_masked_elements(x, index, value)
    numbers, tensors, plan = plan_of(index, x._array.shape)
    return _run_index_kernel(_set, (x, value), numbers, tensors, plan)


def _assign_masked_elements(x, mask, value):
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"A mask of shape {mask.shape} does not fit a Tensor of shape {x.shape}.")
    rest = x.ndim - mask.ndim
    if (
        isinstance(value, Tensor)
        and value.ndim == rest + 1
        and value.shape[0] != 1
        and value.shape != x.shape
        and not is_tracer(mask._array)
    ):
        count = int(np.count_nonzero(np.asarray(mask._array)))
        if value.shape[0] != count:
            raise ValueError(
                f"For 'Tensor assignment', the mask marks {count} elements, but there are {value.shape[0]} values."
            )
    return _set_mask(x, mask, value)


@spelling(_TensorGetItem, method="__getitem__")
def _tensor_getitem(self: Tensor, index: Any) -> Tensor:
    """Return the elements that an index selects."""
    return view_of(self, index, getitem(self, index))


@spelling(_TensorSetItem, _TensorSetMask, method="__setitem__", generation=1)
def _tensor_setitem(self: Tensor, index: Any, value: Any) -> Tensor:
    """Write `value` to the elements that an index selects."""
    if base_of(self) is not None:
        log.once(
            "x[i] is a copy in MindSpore r1.1, and what is put into it is not put into x: x[i][j] = 0 is x[i, j] = 0 "
            "there. With --api 2 both reach x, as in MindSpore 2, and so they do in GRAPH mode."
        )
    return _write_item(self, index, value)


@differs_in_api2("what is put into `x[i]` is put into `x`, too, in PYNATIVE mode")
@spelling(_TensorSetItem, _TensorSetMask, method="__setitem__", generation=2)
def _setitem_api2(self: Tensor, index: Any, value: Any) -> Tensor:
    """Write `value` to the elements that an index selects. If the Tensor is a view, write to its bases too."""
    part = _write_item(self, index, value)
    while view := base_of(part):
        base, base_index = view
        part = _write_item(base, base_index, part)
    return self


def _write_item(x, index, value):
    new = setitem(x, index, value)
    x._rebind_array(new._array)
    x._node = new._node
    return x


CASES = [
    case(_TensorGetRow, F(3, 2), 1),
    case(_TensorGetItem, F(3, 4), (1, 0), (), ("i", (2, 3))),
    case(_TensorSetItem, F(3, 4), F(2), (1, 0), (), ("i", (2, 3))),
    case(_TensorSetMask, F(3), Flags(3), F(3)),
]
