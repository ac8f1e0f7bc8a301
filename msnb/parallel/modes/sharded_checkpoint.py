"""Save and load checkpoints in parts: each process writes the shards of its own devices, and reads those it needs,
through orbax.

A folder contains full Parameters, independent of the process that wrote each shard. A program with any number of
processes and devices can continue from it. The folder gets its final name when it is complete.
"""

import os
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from msnb.communication._coordination import wait_for_all
from msnb.core.errors.messages import describe
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor

if TYPE_CHECKING:  # for annotations only
    from msnb.nn.cell import Cell

__all__ = ["load_sharded", "save_sharded"]


def save_sharded(net: "Cell", folder: str | os.PathLike[str]) -> None:
    """Save the Parameters of a network. Each process writes the shards of its devices. All processes call it.

    Args:
        net (Cell): The network; the Parameters of a train step include those of the optimizer.
        folder (str): A folder that does not exist yet, on a file system that all processes share.

    Raises:
        TypeError: If `net` is not a Cell.
        ValueError: If two Parameters have the same name, or the folder exists.
        RuntimeError: If another process does not call it within a minute.
        ImportError: If orbax is not installed.
        OSError: If the folder cannot be written.

    Examples:
        >>> msnb.parallel.save_sharded(train_step, "epoch3")
        >>> msnb.parallel.load_sharded("epoch3", train_step)
        []
    """
    orbax, path = _import_orbax("save_sharded"), os.path.abspath(folder)
    parameters = _index_parameters_by_name("save_sharded", net)
    wait_for_all("msnb.parallel.save_sharded")
    if os.path.exists(path):
        raise ValueError(f"For 'save_sharded', {os.fspath(folder)!r} is there already; give each checkpoint its own.")
    # No process may create the folder before all have checked that it does not exist.
    wait_for_all("msnb.parallel.save_sharded")
    with orbax.StandardCheckpointer() as writer:
        writer.save(path, {name: _to_saveable_array(p._get_stored_array()) for name, p in parameters.items()})


def load_sharded(folder: str | os.PathLike[str], net: "Cell") -> list[str]:
    """Load the Parameters of a network from a folder of `save_sharded`. Each process reads the shards that its devices
    need.

    Args:
        folder (str): The folder. The program that wrote it may have had any number of processes and devices.
        net (Cell): The network. Names and shapes of its Parameters identify the values.

    Returns:
        list[str], Parameters of `net` that the folder does not have, which keep their values.

    Raises:
        TypeError: If `net` is not a Cell, or a Parameter has another type in the folder.
        ValueError: If there is no such folder, two Parameters have the same name, or a Parameter has another shape in
            the folder.
        ImportError: If orbax is not installed.
    """
    orbax, path = _import_orbax("load_sharded"), os.path.abspath(folder)
    parameters = _index_parameters_by_name("load_sharded", net)
    if not os.path.isdir(path):
        raise ValueError(f"For 'load_sharded', there is no folder {os.fspath(folder)!r}.")
    with orbax.StandardCheckpointer() as reader:
        try:
            saved = reader.metadata(path).item_metadata.tree
        except (AttributeError, FileNotFoundError, KeyError):
            raise ValueError(f"For 'load_sharded', {os.fspath(folder)!r} is no complete checkpoint.") from None
        targets = {name: _make_restore_target(p, saved[name]) for name, p in parameters.items() if name in saved}
        unused = {
            name: np.zeros(metadata.shape, metadata.dtype) for name, metadata in saved.items() if name not in targets
        }
        read = reader.restore(path, {**targets, **unused})
    for name in targets:
        value = read[name]
        if isinstance(value, jax.Array):
            parameters[name]._rebind_array(value)
        else:
            parameters[name].set_data(Tensor(value))
    return [name for name in parameters if name not in saved]


def _import_orbax(caller):
    try:
        import orbax.checkpoint  # an optional dependency
    except ImportError:
        raise ImportError(
            f"msnb.parallel.{caller} writes checkpoints of many devices with orbax: pip install 'msnb[cluster]'. "
            f"save_checkpoint writes one file and needs nothing."
        ) from None
    return orbax.checkpoint


def _index_parameters_by_name(caller, net) -> dict[str, Parameter]:
    if not hasattr(net, "get_parameters"):
        raise TypeError(f"For '{caller}', 'net' should be a Cell, but got {describe(net)}.")
    parameters: dict[str, Parameter] = {}
    for p in net.get_parameters():
        if parameters.setdefault(p.name, p) is not p:
            raise ValueError(f"For '{caller}', two Parameters are named '{p.name}': rename one of them.")
    return parameters


def _to_saveable_array(array) -> Any:
    """Return the array itself if it is on devices of several processes; otherwise a numpy array, which process 0
    writes.
    """
    return np.asarray(array) if array.is_fully_addressable else array


def _make_restore_target(p, metadata):
    """Return the type and sharding with which orbax reads a Parameter."""
    array = p._get_stored_array()
    if tuple(metadata.shape) != array.shape:
        raise ValueError(
            f"For 'load_sharded', the Parameter '{p.name}' has shape {array.shape}, but {tuple(metadata.shape)} in the "
            f"folder."
        )
    if np.dtype(metadata.dtype) != array.dtype:
        raise TypeError(
            f"For 'load_sharded', the Parameter '{p.name}' is {array.dtype}, but {np.dtype(metadata.dtype)} in the "
            f"folder."
        )
    if array.is_fully_addressable:
        return np.zeros(array.shape, array.dtype)
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)
