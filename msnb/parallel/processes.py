"""DATA_PARALLEL and HYBRID_PARALLEL in several processes, each with its own rows, Parameters and loss, as MindSpore's.

Every process runs the program on what it has; where devices communicate, they wait for each other. What a process has
stays on its own device before and after, so that everything else works as it does in one process. A program in which
nobody communicates is a process's own: rank 0 may evaluate while others do not.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxprs_in_params
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from msnb.communication._comm_helper import world_rank, world_size
from msnb.core import trace
from msnb.core._jax_private import argument_like
from msnb.core.spreading import Places
from msnb.parallel.data_parallel import RANK, Replicas


class Processes(Replicas):
    """How a program is spread over the processes that have joined."""

    def __init__(self) -> None:
        super().__init__(world_size())

    def within(self, value: Any) -> Any:
        """An argument as it is: these are this process's rows; see `core.spreading`."""
        return value

    def places(self, program: Any) -> Places | None:
        """Where the arrays of a traced program are: each process has its own; see `core.spreading`."""
        groups = talking(program.jaxpr.jaxpr)
        if not groups:
            return None
        mesh = process_mesh()
        own = NamedSharding(mesh, PartitionSpec())  # of each process; that they are equal, as this says, nobody asks
        failing = program.n_results - 1 if program.errors else None
        rest = [own] * (program.random + len(program._arguments))

        def around(form: Callable[..., Any]) -> Callable[..., Any]:
            return _around(form, mesh, failing, groups)

        written, read = [own] * len(program.written), [own] * len(program.read)
        return Places(written, read, rest, around, bring=None, calling=Apart)


class Apart:
    """A call of several processes at once; each hands over the arrays of its own device, and is given such.

    Args:
        call (Callable): What `jax.jit` has made of arrays that lie on the devices of all.
        places (Places): Where they lie.
    """

    def __init__(self, call: Any, places: Places) -> None:
        self.call = call
        self._places = places
        place = next(iter((*places.written, *places.read, *places.rest)))
        self._own = SingleDeviceSharding(next(iter(place.addressable_devices)))
        self.clear_cache: Callable[[], None] = call.clear_cache

    def __call__(self, written: list[Any], read: list[Any], *rest: Any) -> tuple[list[Any], tuple[Any, ...]]:
        new, outs = self.call(*self._joined(self._whole, written, read, *rest))
        return [a.addressable_data(0) for a in new], tuple([a.addressable_data(0) for a in outs])

    def lower(self, *arguments: Any) -> Any:
        """The call as StableHLO, for arguments as it is given them."""
        return self.call.lower(*self._joined(_joined_like, *arguments))

    def _whole(self, value, place):
        """What each process has as one array; of each the whole, as far as JAX knows."""
        own = value if getattr(value, "sharding", None) == self._own else jax.device_put(value, self._own)
        return jax.make_array_from_single_device_arrays(own.shape, place, [own])

    def _joined(self, join, written, read, *rest):
        where = self._places
        return (
            [join(a, place) for a, place in zip(written, where.written, strict=True)],
            [join(a, place) for a, place in zip(read, where.read, strict=False)],  # frozen ones are not handed over
            *[join(a, place) for a, place in zip(rest, where.rest, strict=True)],
        )


def _joined_like(value, place):
    kind = argument_like(value) if not isinstance(value, jax.ShapeDtypeStruct) else value
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, sharding=place)


def process_mesh() -> Mesh:
    """The first device of each process, in the order of their ranks."""
    first: dict[int, Any] = {}
    for device in jax.devices():
        first.setdefault(device.process_index, device)
    return Mesh(np.array([first[rank] for rank in sorted(first)]), (RANK,), axis_types=(AxisType.Auto,))


def talking(jaxpr: Any) -> list[Any]:
    """The groups in which a graph asks anything of other devices, in its order; all of them are None."""
    found: list[Any] = []
    for eqn in jaxpr.eqns:
        if RANK in _names(eqn.params):
            if eqn.primitive.name != "axis_index":
                found.append(eqn.params.get("axis_index_groups"))
        for graph in jaxprs_in_params(eqn.params):
            found += talking(graph)
    return [group for place, group in enumerate(found) if group not in found[:place]]


def _names(params):
    """The axes that an equation speaks of."""
    named = params.get("axes", params.get("axis_name", ()))
    return named if isinstance(named, (tuple, list)) else (named,)


def _around(form, mesh, failing, groups):
    """A graph of one process's arrays, as one that all of them run. What went wrong in one goes wrong in all that it
    communicates with."""

    def told(verdict):
        for group in groups:
            verdict = jax.lax.pmax(verdict, RANK, axis_index_groups=group)
        return verdict

    def local(params, extra, arrays):
        new, outs = form(params, extra, arrays)
        return new, tuple([told(o) if i == failing else o for i, o in enumerate(outs)])

    own = PartitionSpec()
    return jax.shard_map(local, mesh=mesh, in_specs=(own, own, own), out_specs=(own, own), check_vma=False)


def together(fn: Callable[..., Any]) -> Callable[..., Any] | None:
    """A function of arrays as one that every process of its groups calls with its own; None where there is one process.

    Outside of a graph each operator that communicates is such a call.
    """
    if world_size() == 1:
        return None
    own, spread = PartitionSpec(), Processes()
    mesh = process_mesh()
    place = NamedSharding(mesh, own)

    def local(*arrays):
        before, trace.thread.spread = trace.thread.spread, spread
        try:
            return fn(*arrays)
        finally:
            trace.thread.spread = before

    call = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=own, out_specs=own, check_vma=False))

    def run(*arrays):
        return jax.tree.map(own_part, call(*[of_all(a, place) for a in arrays]))

    return run


def of_all(value: Any, place: NamedSharding) -> jax.Array:
    """What each process has as one array; of each the whole, as far as JAX knows."""
    own = jax.device_put(value, next(iter(place.addressable_devices)))
    return jax.make_array_from_single_device_arrays(own.shape, place, [own])


def own_part(value: jax.Array) -> jax.Array:
    """What this process has of an array of all."""
    return value.addressable_data(0)


def broadcast(parameters: Iterable[Any]) -> None:
    """Give the Parameters of process 0 to all others."""
    if world_size() == 1:
        return
    parameters = list(parameters)
    for p, value in zip(parameters, of_first([p._array for p in parameters]), strict=True):
        p._assign(value)


def of_first(arrays: list[jax.Array]) -> list[jax.Array]:
    """What process 0 has of arrays that each process has, on the own device of each; all of them call it."""
    own, first = NamedSharding(process_mesh(), PartitionSpec()), world_rank() == 0

    def told(values):
        return [jax.lax.psum(v, RANK) for v in values]

    run = jax.jit(jax.shard_map(told, mesh=own.mesh, in_specs=own.spec, out_specs=own.spec, check_vma=False))
    given = [of_all(array if first else jax.numpy.zeros_like(array), own) for array in arrays]
    return [own_part(new).astype(array.dtype) for new, array in zip(run(given), arrays, strict=True)]
