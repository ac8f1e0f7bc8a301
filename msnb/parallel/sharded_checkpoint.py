"""Checkpoints of which each process writes what its own devices have, and reads what they need: orbax writes them.

A folder holds all Parameters whole, whoever wrote which part, so that any number of processes and devices, one among
them, goes on from it. It gets its name when all of it is on the disk.
"""

import os
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from msnb.communication._agreeing import wait_for_all
from msnb.core.errors import describe
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor

if TYPE_CHECKING:  # named in annotations alone
    from msnb.nn.cell import Cell

__all__ = ["load_sharded", "save_sharded"]


def save_sharded(net: "Cell", folder: str | os.PathLike[str]) -> None:
    """Save the Parameters of a network, each process what its devices have of them. All processes call it.

    Args:
        net (Cell): The network; of a train step the Parameters of the optimizer are among them.
        folder (str): A folder that is not there yet, which all processes see.

    Raises:
        TypeError: If `net` is no Cell.
        ValueError: If two Parameters have the same name, or the folder is there.
        RuntimeError: If another process does not call it within a minute.
        ImportError: If orbax is not installed.
        OSError: If the folder cannot be written.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> msnb.parallel.save_sharded(train_step, "epoch3")
        >>> msnb.parallel.load_sharded("epoch3", train_step)
        []
    """
    orbax, path = _orbax("save_sharded"), os.path.abspath(folder)
    parameters = _by_name("save_sharded", net)
    wait_for_all("msnb.parallel.save_sharded")
    if os.path.exists(path):
        raise ValueError(f"For 'save_sharded', {os.fspath(folder)!r} is there already; give each checkpoint its own.")
    wait_for_all("msnb.parallel.save_sharded")  # nobody makes the folder before all have seen that it is not there
    with orbax.StandardCheckpointer() as writer:
        writer.save(path, {name: _written(p._stored()) for name, p in parameters.items()})


def load_sharded(folder: str | os.PathLike[str], net: "Cell") -> list[str]:
    """Give a network the Parameters of such a folder; each process reads what its devices need.

    Args:
        folder (str): What `save_sharded` has written, in a program of any number of processes and devices.
        net (Cell): The network. What its Parameters are called, and their shapes, say which are which.

    Returns:
        list[str], Parameters of `net` that the folder does not have, which keep their values.

    Raises:
        TypeError: If `net` is no Cell, or a Parameter has another type in the folder.
        ValueError: If there is no such folder, two Parameters have the same name, or one has another shape there.
        ImportError: If orbax is not installed.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    orbax, path = _orbax("load_sharded"), os.path.abspath(folder)
    parameters = _by_name("load_sharded", net)
    if not os.path.isdir(path):
        raise ValueError(f"For 'load_sharded', there is no folder {os.fspath(folder)!r}.")
    with orbax.StandardCheckpointer() as reader:
        try:
            there = reader.metadata(path).item_metadata.tree
        except (AttributeError, FileNotFoundError, KeyError):
            raise ValueError(f"For 'load_sharded', {os.fspath(folder)!r} is no complete checkpoint.") from None
        wanted = {name: _like(p, there[name]) for name, p in parameters.items() if name in there}
        rest = {name: np.zeros(kept.shape, kept.dtype) for name, kept in there.items() if name not in wanted}
        read = reader.restore(path, {**wanted, **rest})
    for name in wanted:
        value = read[name]
        if isinstance(value, jax.Array):
            parameters[name]._assign(value)
        else:
            parameters[name].set_data(Tensor(value))
    return [name for name in parameters if name not in there]


def _orbax(caller):
    try:
        import orbax.checkpoint  # an extra
    except ImportError:
        raise ImportError(
            f"msnb.parallel.{caller} writes checkpoints of many devices with orbax: pip install 'msnb[cluster]'. "
            f"save_checkpoint writes one file and needs nothing."
        ) from None
    return orbax.checkpoint


def _by_name(caller, net) -> dict[str, Parameter]:
    if not hasattr(net, "get_parameters"):
        raise TypeError(f"For '{caller}', 'net' should be a Cell, but got {describe(net)}.")
    found: dict[str, Parameter] = {}
    for p in net.get_parameters():
        if found.setdefault(p.name, p) is not p:
            raise ValueError(f"For '{caller}', two Parameters are named '{p.name}': rename one of them.")
    return found


def _written(array) -> Any:
    """What orbax writes: parts of what lies on devices of several processes; all else the first one writes whole."""
    return np.asarray(array) if array.is_fully_addressable else array


def _like(p, kept):
    """What orbax is to read of a Parameter: the parts that this process has of it, or the whole."""
    array = p._stored()
    if tuple(kept.shape) != array.shape:
        raise ValueError(
            f"For 'load_sharded', the Parameter '{p.name}' has shape {array.shape}, but {tuple(kept.shape)} in the "
            f"folder."
        )
    if np.dtype(kept.dtype) != array.dtype:
        raise TypeError(
            f"For 'load_sharded', the Parameter '{p.name}' is {array.dtype}, but {np.dtype(kept.dtype)} in the folder."
        )
    if array.is_fully_addressable:
        return np.zeros(array.shape, array.dtype)
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)
