"""SEMI_AUTO_PARALLEL and AUTO_PARALLEL in several processes: the devices of all of them are one mesh.

Each process runs the same script. A Parameter is one array that lies on all devices, of which a process has a part;
where it is not there yet, what process 0 has of it counts. With ``full_batch=True`` each process brings the whole of
each argument, else its own rows, and gets its own rows of what has as many. All else that is handed out comes whole to
each of them.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from msnb.communication._agreeing import meet
from msnb.communication._comm_helper import world_rank, world_size
from msnb.core._jax_private import argument_like
from msnb.core.spreading import Places
from msnb.core.tensor import Tensor
from msnb.parallel.processes import of_first


def over_processes(places: Places, program: Any, mesh: Mesh, full_batch: bool) -> Places:
    """Where the arrays of a program are to be in one of several processes, from where they are to be in one of one."""
    rows = PartitionSpec(mesh.axis_names)
    arguments = places.rest[program.random :]
    if not full_batch:
        shapes = [np.shape(a) for a in program._arguments]
        _check_rows(shapes, mesh.size // world_size())
        arguments = [NamedSharding(mesh, rows if shape else PartitionSpec()) for shape in shapes]
    numbers = [NamedSharding(mesh, rows)] * program.random
    calling = functools.partial(Joint, random=program.random, results=program.n_results, full_batch=full_batch)

    def around(form: Callable[..., Any]) -> Callable[..., Any]:
        inner = form if places.around is None else places.around(form)
        return lambda params, extra, arrays: inner(params, tuple(of_all[0] for of_all in extra), arrays)

    whole = NamedSharding(mesh, PartitionSpec())
    return places._replace(
        rest=[*numbers, *arguments], around=around, results=whole, bring=spread_from_first, calling=calling
    )


def _check_rows(shapes, devices):
    """ValueError where the devices of a process cannot have equal parts of its rows."""
    for shape in shapes:
        if shape and shape[0] % devices:
            raise ValueError(
                f"An argument of shape {shape} cannot be divided by rows over the {devices} devices of this process; "
                f"give a batch of a multiple of {devices}, or the whole batch to each process with full_batch=True."
            )


class Joint:
    """A call of several processes at once, with Parameters that lie on the devices of all.

    Args:
        call (Callable): What `jax.jit` has made of arrays that lie on the devices of all.
        places (Places): Where they lie.
        random (int): 1 where the first argument is a random number, of which that of process 0 counts, else 0.
        results (int): How many of what comes out are the program's own.
        full_batch (bool): Whether each process has all rows.
    """

    def __init__(self, call: Any, places: Places, random: int, results: int, full_batch: bool) -> None:
        self.call, self._places = call, places
        self._random, self._results, self._full_batch = random, results, full_batch
        self.clear_cache: Callable[[], None] = call.clear_cache

    def __call__(self, written: list[Any], read: list[Any], *rest: Any) -> tuple[list[Any], tuple[Any, ...]]:
        counts = set() if self._full_batch else {np.shape(a)[0] for a in rest[self._random :] if np.ndim(a)}
        new, outs = self.call(written, read, *map(self._given, range(len(rest)), rest, self._places.rest))
        return new, tuple([self._own(i, out.addressable_data(0), counts) for i, out in enumerate(outs)])

    def _given(self, index, value, place):
        """An argument as one array of all processes."""
        if index < self._random:
            return _by_rows(np.full(len(place.addressable_devices), value), place)
        if np.ndim(value) and not self._full_batch:
            return _by_rows(value, place)
        return of_whole(value, place)

    def _own(self, index, value, counts):
        """What one process is given of a result: its rows of what has as many as all brought."""
        rows = value.shape[0] // world_size() if value.ndim and index < self._results else None
        if rows not in counts or rows * world_size() != value.shape[0]:
            return value
        return jax.lax.slice_in_dim(value, rows * world_rank(), rows * (world_rank() + 1))

    def lower(self, written: list[Any], read: list[Any], *rest: Any) -> Any:
        """The call as StableHLO, for arguments as it is given them."""
        return self.call.lower(written, read, *map(self._like, range(len(rest)), rest, self._places.rest))

    def _like(self, index, value, place):
        kind = value if isinstance(value, jax.ShapeDtypeStruct) else argument_like(value)
        shape = tuple(kind.shape)
        if index < self._random:
            shape = (place.mesh.size,)
        elif shape and not self._full_batch:
            shape = (shape[0] * world_size(), *shape[1:])
        return jax.ShapeDtypeStruct(shape, kind.dtype, sharding=place)


def of_whole(value: Any, place: NamedSharding) -> jax.Array:
    """What each process has the whole of as one array of all; nothing is sent."""
    own = place.addressable_devices_indices_map(np.shape(value))
    parts = [jax.device_put(_part(value, index), device) for device, index in own.items()]
    return jax.make_array_from_single_device_arrays(np.shape(value), place, parts)


def _part(value, index):
    if all(cut in (slice(None), slice(0, size)) for cut, size in zip(index, np.shape(value))):
        return value
    on_cpu = not isinstance(value, jax.Array) or value.device.platform == "cpu"
    return np.asarray(value)[index] if on_cpu else value[index]


def _by_rows(value, place):
    """The rows that each process has as one array of all."""
    here = [device for device in place.mesh.devices.flat if device in place.addressable_devices]
    each = np.shape(value)[0] // len(here)
    parts = [jax.device_put(_part(value, (slice(i * each, (i + 1) * each),)), device) for i, device in enumerate(here)]
    whole = np.shape(value)[0] * (place.mesh.size // len(here)), *np.shape(value)[1:]
    return jax.make_array_from_single_device_arrays(whole, place, parts)


def spread_from_first(arrays: list[jax.Array], places: list[NamedSharding]) -> list[jax.Array]:
    """Arrays on the devices of all processes: what process 0 has of those that each has for itself."""
    found: list[Any] = list(arrays)
    local = [i for i, array in enumerate(arrays) if array.is_fully_addressable]
    for i, value in zip(local, of_first([arrays[i] for i in local]) if local else (), strict=True):
        found[i] = of_whole(value, places[i])
    for i in sorted(set(range(len(arrays))) - set(local)):  # all processes in one order
        found[i] = jax.jit(lambda x: x, out_shardings=places[i])(arrays[i])
    return found


def whole(tensor: Tensor) -> Tensor:
    """A Tensor with all values of one that lies on the devices of several processes. All of them call it.

    Args:
        tensor (Tensor): A Tensor or Parameter, such as a network has after a step in "semi_auto_parallel" mode.

    Returns:
        Tensor, which is this process's own; in one process, or where each has all values, a copy.

    Raises:
        TypeError: If it is no Tensor.
        RuntimeError: If another process does not call it within a minute.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> weight = msnb.parallel.whole(net.fc1.weight)
        >>> weight.shape
        (3, 2048)
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For 'whole', 'tensor' should be a Tensor, but got {type(tensor).__name__}.")
    return gathered({"": tensor}, "msnb.parallel.whole")[""]


def gathered(values: dict[str, Any], what: str) -> dict[str, Any]:
    """Values by name, with those Tensors whole that lie on the devices of several processes; see :func:`whole`.

    Args:
        values (dict): Tensors, and what else there is.
        what (str): What they are wanted for, for errors.
    """
    away = {name: v._array for name, v in values.items() if isinstance(v, Tensor) and not is_here(v._array)}
    if not away:
        return dict(values)
    meet(what)
    found = {name: Tensor(_gather(array).addressable_data(0)) for name, array in away.items()}
    return {name: found.get(name, value) for name, value in values.items()}


def parts(values: dict[str, Any]) -> dict[str, Any]:
    """Values by name, with the part of each Tensor that this process has, where others have others; nobody waits."""
    away = {name: v._array for name, v in values.items() if isinstance(v, Tensor) and not is_here(v._array)}
    return {name: Tensor(_own_part(away[name])) if name in away else value for name, value in values.items()}


def _own_part(array):
    """What the devices of this process have of an array, as one."""
    shards = {tuple(cut.start or 0 for cut in shard.index): shard.data for shard in array.addressable_shards}
    first = [min(places) for places in zip(*shards)]
    last = [max(start[k] + data.shape[k] for start, data in shards.items()) for k in range(array.ndim)]
    if sum(data.size for data in shards.values()) != math.prod(b - a for a, b in zip(first, last)):
        raise RuntimeError(
            f"What the devices of this process have of a Tensor of shape {array.shape} is not one part of it, but "
            f"{len(shards)} with others between them: save with integrated_save=True."
        )
    found = np.empty([b - a for a, b in zip(first, last)], array.dtype)
    for start, data in shards.items():
        found[tuple(slice(s - a, s - a + n) for s, a, n in zip(start, first, data.shape))] = np.asarray(data)
    return found


def is_here(array: jax.Array) -> bool:
    """Whether this process has all values of an array."""
    return array.is_fully_addressable or array.is_fully_replicated


def _gather(array):
    whole_of_it = NamedSharding(array.sharding.mesh, PartitionSpec())
    return jax.jit(lambda x: x, out_shardings=whole_of_it)(array)
