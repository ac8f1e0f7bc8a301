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
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from msnb.communication._comm_helper import world_rank, world_size
from msnb.core import trace
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

        return Places([own] * len(program.written), [own] * len(program.read), rest, around, apart=True)


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
    mesh = process_mesh()
    own, first = NamedSharding(mesh, PartitionSpec()), world_rank() == 0

    def of_first(values):
        return [jax.lax.psum(v, RANK) for v in values]

    run = jax.jit(
        jax.shard_map(of_first, mesh=mesh, in_specs=PartitionSpec(), out_specs=PartitionSpec(), check_vma=False)
    )
    parameters = list(parameters)
    given = []
    for p in parameters:
        value = p._array if first else jax.numpy.zeros_like(p._array)
        given.append(jax.make_array_from_single_device_arrays(value.shape, own, [value]))
    for p, value in zip(parameters, run(given), strict=True):
        p._assign(value.addressable_data(0).astype(p._array.dtype))
