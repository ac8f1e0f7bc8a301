"""Slices of a Tensor and the devices that have each slice.

A layout is a device matrix (the grid of devices) and a tensor map (for each axis of the Tensor the axis of the
device matrix, counted from the last one, that splits it; -1 splits nothing).
"""

from collections.abc import Sequence

import numpy as np

from msnb.communication.management import get_group_size, get_rank
from msnb.core.tensor.tensor import Tensor


def _get_tensor_strategy(dev_mat, tensor_map):
    """Return the number of slices along each axis of the Tensor."""
    return [1 if axis == -1 else dev_mat[-axis - 1] for axis in tensor_map]


def _get_tensor_slice_index(device_arrangement, tensor_strategy, tensor_map, rank_index):
    """Return the index, in row-major order, of the slice on the device `rank_index`."""
    coordinates = np.unravel_index(rank_index, device_arrangement)
    slice_coordinates = [0 if axis == -1 else int(coordinates[-axis - 1]) for axis in tensor_map]
    return int(np.ravel_multi_index(slice_coordinates, tensor_strategy)) if slice_coordinates else 0


def _chunk_tensor_by_strategy(np_tensor, strategy):
    """Return all slices of an array in row-major order.

    Raises:
        TypeError: If `np_tensor` is not a numpy array.
        ValueError: If `strategy` does not have one entry per axis, or an axis cannot be split evenly.
    """
    if not isinstance(np_tensor, np.ndarray):
        raise TypeError(f"Only a numpy array can be split, but got {type(np_tensor).__name__}.")
    if len(strategy) != np_tensor.ndim:
        raise ValueError(
            f"The strategy should have one entry for each of the {np_tensor.ndim} axes, but got {strategy}."
        )
    slices = [np_tensor]
    for axis, count in enumerate(strategy):
        slices = [piece for block in slices for piece in np.split(block, count, axis=axis)]
    return slices


def _get_slice_index(dev_mat, tensor_map):
    """Return the index, in row-major order, of the slice that this process has."""
    return _get_tensor_slice_index(dev_mat, _get_tensor_strategy(dev_mat, tensor_map), tensor_map, get_rank())


def _load_tensor(tensor, dev_mat, tensor_map):
    """Return this process's slice of `tensor` as a numpy array."""
    slices = _chunk_tensor_by_strategy(tensor.asnumpy(), _get_tensor_strategy(dev_mat, tensor_map))
    return slices[_get_slice_index(dev_mat, tensor_map)]


def _load_tensor_by_layout(tensor, layout):
    """Return this process's slice of `tensor`. `layout` is (device matrix, tensor map, unused, unused, evenly split,
    group).

    Raises:
        TypeError: If `layout` is not a tuple.
        ValueError: If `layout` is too short.
        RuntimeError: If the layout does not split evenly.
    """
    if not isinstance(layout, tuple):
        raise TypeError(f"The layout should be a tuple, but got {layout!r} ({type(layout).__name__}).")
    if len(layout) < 6:
        raise ValueError(f"The layout should have 6 entries, but got {len(layout)}.")
    dev_mat, tensor_map, _, _, even, group = layout[:6]
    if not even:
        raise RuntimeError("A Tensor can only be split evenly, but the layout says otherwise.")
    if tensor.size == 1:
        return tensor
    local_slice = _load_tensor(tensor, dev_mat, tensor_map)
    return Tensor(np.split(local_slice, get_group_size(group))[get_rank(group)] if group else local_slice)


def _reshape_param_data(param_data, dev_mat, tensor_map):
    """Return the full Tensor from `param_data`, which has the slices of all devices concatenated on its first axis."""
    return Tensor(join_slices(np.split(param_data.asnumpy(), int(np.prod(dev_mat)), axis=0), dev_mat, tensor_map)[0])


def join_slices(
    slices: Sequence[np.ndarray], dev_mat: Sequence[int], tensor_map: Sequence[int]
) -> tuple[np.ndarray, list[int]]:
    """Join the slices of all devices, given in device order. Return (full array, number of rows of each slice in
    row-major order).

    Raises:
        ValueError: If the slices do not fit together.
    """
    strategy = _get_tensor_strategy(dev_mat, tensor_map)
    # Several devices may have the same slice; the last one is used.
    by_index = {
        _get_tensor_slice_index(dev_mat, strategy, tensor_map, rank): block for rank, block in enumerate(slices)
    }
    blocks = np.empty(strategy, dtype=object)
    for index, block in by_index.items():
        blocks[np.unravel_index(index, strategy)] = block
    return np.block(blocks.tolist()), [len(block) for _, block in sorted(by_index.items())]
