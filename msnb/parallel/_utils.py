"""Parallel settings that networks and training code read."""

import numpy as np

from msnb import context, log
from msnb.common.dtype import float32
from msnb.common.seed import get_seed
from msnb.communication.management import get_group_size, get_rank
from msnb.context import ParallelMode
from msnb.core.tensor.tensor import Tensor
from msnb.parallel.sharding.mesh import all_devices

_SETTINGS = context._parallel
_AUTO_MODES = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _get_parallel_mode():
    return _SETTINGS.values.parallel_mode


def _is_in_auto_parallel_mode():
    return _get_parallel_mode() in _AUTO_MODES


def _get_full_batch():
    return _SETTINGS.values.full_batch


def _get_pipeline_stages():
    return _SETTINGS.values.pipeline_stages


def _check_full_batch():
    """Raise RuntimeError if `full_batch` is set in a mode that does not support it."""
    if _get_full_batch() and _get_parallel_mode() not in _AUTO_MODES:
        raise RuntimeError(
            f"full_batch=True belongs to parallel_mode 'semi_auto_parallel' or 'auto_parallel', "
            f"but the mode is '{_get_parallel_mode()}'."
        )


def _need_to_full():
    """Return True if each device receives only its part of a batch, but the graph takes the full batch."""
    return _get_parallel_mode() in _AUTO_MODES and not _get_full_batch()


def _to_full_shapes(shapes, device_num):
    """Return `shapes` with the first axis of each multiplied by `device_num`."""
    return [tuple(size * device_num if i == 0 else size for i, size in enumerate(shape)) for shape in shapes]


def _to_full_tensor(elem, device_num, global_rank, scaling_sens=None):
    """Return Tensors of the full batch size: the rows of this device have the values of `elem`, all other rows are
    zero.

    Raises:
        ValueError: If `global_rank` is not below `device_num`, or an element is neither Tensor nor numpy array.
    """
    if global_rank >= device_num:
        raise ValueError(f"The global rank should be below the number of devices {device_num}, but got {global_rank}.")
    tensors = []
    for element in elem if isinstance(elem, (tuple, list)) else (elem,):
        if not isinstance(element, (Tensor, np.ndarray)):
            raise ValueError(
                f"Elements should be Tensors or numpy arrays, but got {element!r} ({type(element).__name__})."
            )
        values = element.asnumpy() if isinstance(element, Tensor) else element
        full = np.zeros(_to_full_shapes([values.shape], device_num)[0], values.dtype)
        batch = values.shape[0] if values.ndim else 0
        full[global_rank * batch : (global_rank + 1) * batch] = values
        tensors.append(Tensor(full))
    if scaling_sens:
        tensors.append(Tensor(scaling_sens, float32))
    return tuple(tensors)


def _get_gradients_mean():
    return _SETTINGS.values.gradients_mean


def _get_device_num():
    """Return the number of devices.

    It is 1 in stand-alone mode, otherwise the context's `device_num`, otherwise the number of processes, or of all
    their devices where one program runs on all of them.
    """
    if _get_parallel_mode() == ParallelMode.STAND_ALONE:
        return 1
    if "device_num" in _SETTINGS.assigned:
        return _SETTINGS.values.device_num
    is_one_program = get_group_size() > 1 and _is_in_auto_parallel_mode()
    return len(all_devices()) if is_one_program else get_group_size()


def _get_global_rank():
    """Return the rank of this device: 0 in stand-alone mode, otherwise the context's value or the process's rank."""
    if _get_parallel_mode() == ParallelMode.STAND_ALONE:
        return 0
    return _SETTINGS.values.global_rank if "global_rank" in _SETTINGS.assigned else get_rank()


def _get_parameter_broadcast():
    broadcast = _SETTINGS.values.parameter_broadcast
    has_copies = _get_parallel_mode() in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)
    if has_copies and not broadcast and get_seed() is None and _get_device_num() > 1:
        log.warning("Devices start from different parameters: call set_seed, or set parameter_broadcast=True.")
    return broadcast


def _device_number_check(parallel_mode, device_number):
    """Raise ValueError if there are several devices in stand-alone mode."""
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(f"In parallel_mode 'stand_alone' the device number should be 1, but got {device_number}.")


def _parameter_broadcast_check(parallel_mode, parameter_broadcast):
    """Raise ValueError if Parameters are to be broadcast in a mode that has one copy of them."""
    if parameter_broadcast is True and parallel_mode in (ParallelMode.STAND_ALONE, *_AUTO_MODES):
        raise ValueError(
            f"parameter_broadcast=True belongs to parallel_mode 'data_parallel' or 'hybrid_parallel', "
            f"but the mode is '{parallel_mode}'."
        )


def _is_sharding_propagation():
    """Return True if the search mode is sharding propagation: strategies of some operators determine those of all
    others.
    """
    return _SETTINGS.values.auto_parallel_search_mode == "sharding_propagation"


def _get_enable_parallel_optimizer():
    """Return True if the optimizer's state is sharded over devices."""
    return _SETTINGS.values.enable_parallel_optimizer


def _parallel_predict_check():
    """Raise RuntimeError if the settings do not allow Model.predict."""
    if not _is_in_auto_parallel_mode():
        return
    if not _get_full_batch():
        raise RuntimeError(
            "Model.predict in a parallel mode needs the whole batch on each device: set full_batch=True."
        )
    if _SETTINGS.values.enable_parallel_optimizer:
        raise RuntimeError("Model.predict cannot run with a parallel optimizer: set enable_parallel_optimizer=False.")


def _reset_op_id():
    """Do nothing: the operators of each program are numbered from 0, see `parallel.graph.operator_calls`."""
