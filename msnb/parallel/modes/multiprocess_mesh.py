"""SEMI_AUTO_PARALLEL and AUTO_PARALLEL in several processes: the devices of all processes form one mesh.

Each process runs the same script. A Parameter is one array on all devices, and each process stores the shards of its
own devices. The initial value of a Parameter is that of process 0. With ``full_batch=True`` each process passes every
argument in full. Otherwise it passes its own examples, and receives its own examples of each result with the batch
size of an argument. All other results are replicated to every process.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from msnb.communication._comm_helper import world_rank, world_size
from msnb.communication._coordination import wait_for_all
from msnb.core.compat.jax_private import argument_signature
from msnb.core.sharding.partitioner import ArrayShardings
from msnb.core.tensor.tensor import Tensor
from msnb.parallel.modes.multiprocess_data_parallel import broadcast_arrays


def extend_to_processes(places: ArrayShardings, program: Any, mesh: Mesh, full_batch: bool) -> ArrayShardings:
    """Convert the shardings of a program in a single process to its shardings in one of several processes."""
    batch_sharded = PartitionSpec(mesh.axis_names)
    arguments = places.rest[program.random :]
    if not full_batch:
        shapes = [np.shape(a) for a in program._arguments]
        _check_batch_sizes(shapes, mesh.size // world_size())
        arguments = [NamedSharding(mesh, batch_sharded if shape else PartitionSpec()) for shape in shapes]
    random_numbers = [NamedSharding(mesh, batch_sharded)] * program.random
    make_call = functools.partial(
        GlobalMeshCall, random=program.random, results=program.n_results, full_batch=full_batch
    )

    def around(graph_form: Callable[..., Any]) -> Callable[..., Any]:
        inner = graph_form if places.around is None else places.around(graph_form)
        return lambda params, extra, arrays: inner(params, tuple(of_all[0] for of_all in extra), arrays)

    replicated = NamedSharding(mesh, PartitionSpec())
    return places._replace(
        rest=[*random_numbers, *arguments], around=around, results=replicated, bring=shard_from_first, calling=make_call
    )


def _check_batch_sizes(shapes, devices):
    """Raise ValueError if a batch of this process cannot be split evenly over its devices."""
    for shape in shapes:
        if shape and shape[0] % devices:
            raise ValueError(
                f"An argument of shape {shape} cannot be divided by rows over the {devices} devices of this process; "
                f"give a batch of a multiple of {devices}, or the whole batch to each process with full_batch=True."
            )


class GlobalMeshCall:
    """Call a compiled program in all processes together, with Parameters on the devices of all processes.

    Args:
        call (Callable): The `jax.jit` function of arrays on the devices of all processes.
        places (Places): The shardings of these arrays.
        random (int): 1 if the first argument is a random number, otherwise 0. The random number of process 0 is used.
        results (int): Number of outputs that are results of the program, without extra outputs.
        full_batch (bool): True if each process passes the full batch.
    """

    def __init__(self, call: Any, places: ArrayShardings, random: int, results: int, full_batch: bool) -> None:
        self.call, self._places = call, places
        self._random, self._results, self._full_batch = random, results, full_batch
        self.clear_cache: Callable[[], None] = call.clear_cache

    def __call__(self, written: list[Any], read: list[Any], *rest: Any) -> tuple[list[Any], tuple[Any, ...]]:
        batch_sizes = set() if self._full_batch else {np.shape(a)[0] for a in rest[self._random :] if np.ndim(a)}
        new, outs = self.call(written, read, *map(self._globalize_argument, range(len(rest)), rest, self._places.rest))
        return new, tuple(
            [self._extract_local_result(i, out.addressable_data(0), batch_sizes) for i, out in enumerate(outs)]
        )

    def _globalize_argument(self, index, value, sharding):
        """Return an argument as one array of all processes."""
        if index < self._random:
            return _concatenate_batches(np.full(len(sharding.addressable_devices), value), sharding)
        if np.ndim(value) and not self._full_batch:
            return _concatenate_batches(value, sharding)
        return shard_full_value(value, sharding)

    def _extract_local_result(self, index, value, batch_sizes):
        """Return a result in this process: the rows of its own examples if the result has a batch axis, otherwise the
        full result.
        """
        batch_size = value.shape[0] // world_size() if value.ndim and index < self._results else None
        if batch_size not in batch_sizes or batch_size * world_size() != value.shape[0]:
            return value
        return jax.lax.slice_in_dim(value, batch_size * world_rank(), batch_size * (world_rank() + 1))

    def lower(self, written: list[Any], read: list[Any], *rest: Any) -> Any:
        """Return the call as StableHLO for the arguments of `__call__`."""
        return self.call.lower(
            written, read, *map(self._make_abstract_argument, range(len(rest)), rest, self._places.rest)
        )

    def _make_abstract_argument(self, index, value, sharding):
        abstract = value if isinstance(value, jax.ShapeDtypeStruct) else argument_signature(value)
        shape = tuple(abstract.shape)
        if index < self._random:
            shape = (sharding.mesh.size,)
        elif shape and not self._full_batch:
            shape = (shape[0] * world_size(), *shape[1:])
        return jax.ShapeDtypeStruct(shape, abstract.dtype, sharding=sharding)


def shard_full_value(value: Any, sharding: NamedSharding) -> jax.Array:
    """Return one array of all processes from a value that each process has in full. Nothing is sent."""
    local_indices = sharding.addressable_devices_indices_map(np.shape(value))
    shards = [jax.device_put(_slice_value(value, index), device) for device, index in local_indices.items()]
    return jax.make_array_from_single_device_arrays(np.shape(value), sharding, shards)


def _slice_value(value, index):
    if all(bounds in (slice(None), slice(0, size)) for bounds, size in zip(index, np.shape(value))):
        return value
    on_cpu = not isinstance(value, jax.Array) or value.device.platform == "cpu"
    return np.asarray(value)[index] if on_cpu else value[index]


def _concatenate_batches(value, sharding):
    """Return the batches of all processes as one array, sharded along its first axis."""
    local_devices = [device for device in sharding.mesh.devices.flat if device in sharding.addressable_devices]
    shard_size = np.shape(value)[0] // len(local_devices)
    shards = [
        jax.device_put(_slice_value(value, (slice(i * shard_size, (i + 1) * shard_size),)), device)
        for i, device in enumerate(local_devices)
    ]
    global_shape = np.shape(value)[0] * (sharding.mesh.size // len(local_devices)), *np.shape(value)[1:]
    return jax.make_array_from_single_device_arrays(global_shape, sharding, shards)


def shard_from_first(arrays: list[jax.Array], shardings: list[NamedSharding]) -> list[jax.Array]:
    """Return arrays sharded over the devices of all processes. If each process has an array, the one of process 0 is
    used.
    """
    results: list[Any] = list(arrays)
    local = [i for i, array in enumerate(arrays) if array.is_fully_addressable]
    for i, value in zip(local, broadcast_arrays([arrays[i] for i in local]) if local else (), strict=True):
        results[i] = shard_full_value(value, shardings[i])
    for i in sorted(set(range(len(arrays))) - set(local)):  # in an order that is equal in all processes
        results[i] = jax.jit(lambda x: x, out_shardings=shardings[i])(arrays[i])
    return results


def whole(tensor: Tensor) -> Tensor:
    """Gather a Tensor that is sharded over several processes, and return it with all values. All processes have to
    call this function.

    Args:
        tensor (Tensor): A Tensor or Parameter, for example of a network after a step in "semi_auto_parallel" mode.

    Returns:
        Tensor of this process. In a single process, or if each process has all values, a copy.

    Raises:
        TypeError: If it is not a Tensor.
        RuntimeError: If another process does not call it within a minute.

    Examples:
        >>> weight = msnb.parallel.whole(net.fc1.weight)
        >>> weight.shape
        (3, 2048)
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For 'whole', 'tensor' should be a Tensor, but got {type(tensor).__name__}.")
    return gather_tensors({"": tensor}, "msnb.parallel.whole")[""]


def gather_tensors(values: dict[str, Any], purpose: str) -> dict[str, Any]:
    """Return `values` with every Tensor that is sharded over several processes gathered; see :func:`whole`.

    Args:
        values (dict): Tensors and other values by name.
        purpose (str): The action that needs them, for errors.
    """
    remote = {
        name: v._array for name, v in values.items() if isinstance(v, Tensor) and not is_locally_available(v._array)
    }
    if not remote:
        return dict(values)
    wait_for_all(purpose)
    gathered = {name: Tensor(_replicate_array(array).addressable_data(0)) for name, array in remote.items()}
    return {name: gathered.get(name, value) for name, value in values.items()}


def local_parts(values: dict[str, Any]) -> dict[str, Any]:
    """Return `values` with this process's block of every Tensor that is sharded over processes. Nothing is sent."""
    remote = {
        name: v._array for name, v in values.items() if isinstance(v, Tensor) and not is_locally_available(v._array)
    }
    return {
        name: Tensor(_assemble_local_block(remote[name])) if name in remote else value for name, value in values.items()
    }


def _assemble_local_block(array):
    """Return the shards of this process's devices as one array."""
    shards = {tuple(bounds.start or 0 for bounds in shard.index): shard.data for shard in array.addressable_shards}
    first = [min(starts) for starts in zip(*shards)]
    last = [max(start[k] + data.shape[k] for start, data in shards.items()) for k in range(array.ndim)]
    if sum(data.size for data in shards.values()) != math.prod(b - a for a, b in zip(first, last)):
        raise RuntimeError(
            f"What the devices of this process have of a Tensor of shape {array.shape} is not one part of it, but "
            f"{len(shards)} with others between them: save with integrated_save=True."
        )
    block = np.empty([b - a for a, b in zip(first, last)], array.dtype)
    for start, data in shards.items():
        block[tuple(slice(s - a, s - a + n) for s, a, n in zip(start, first, data.shape))] = np.asarray(data)
    return block


def is_locally_available(array: jax.Array) -> bool:
    """Return True if this process has all values of an array."""
    return array.is_fully_addressable or array.is_fully_replicated


def _replicate_array(array):
    replicated = NamedSharding(array.sharding.mesh, PartitionSpec())
    return jax.jit(lambda x: x, out_shardings=replicated)(array)
