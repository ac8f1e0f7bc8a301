"""DATA_PARALLEL and HYBRID_PARALLEL modes in several processes. As in MindSpore, each process has its own examples,
Parameters and loss.

Every process runs the program on its own data, and waits for the others only in communication operators. Arrays stay on
the process's own device before and after a call, so all other code works as in a single process. A program without
communication does not involve other processes: for example, rank 0 may evaluate while the other ranks do not.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxprs_in_params
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from msnb.communication._comm_helper import world_rank, world_size
from msnb.core.compat.jax_private import argument_signature
from msnb.core.sharding.partitioner import ArrayShardings
from msnb.core.state import trace_state
from msnb.parallel.modes.data_parallel import RANK, Replicas


class Processes(Replicas):
    """Define how each connected process runs a program on its own examples."""

    def __init__(self) -> None:
        super().__init__(world_size())

    def within(self, value: Any) -> Any:
        """Return the argument unchanged: it is this process's batch; see `Partitioner`."""
        return value

    def places(self, program: Any) -> ArrayShardings | None:
        """Return the shardings of a traced program's arrays, which each process stores for itself; see
        `Partitioner`.
        """
        groups = communication_groups(program.jaxpr.jaxpr)
        if not groups:
            return None
        mesh = process_mesh()
        # This sharding claims that the arrays of all processes are equal. They differ, but JAX does not check that.
        per_process = NamedSharding(mesh, PartitionSpec())
        error_index = program.n_results - 1 if program.errors else None
        rest = [per_process] * (program.random + len(program._arguments))

        def around(graph_form: Callable[..., Any]) -> Callable[..., Any]:
            return _shard_map_program(graph_form, mesh, error_index, groups)

        written, read = [per_process] * len(program.written), [per_process] * len(program.read)
        return ArrayShardings(written, read, rest, around, bring=None, calling=PerProcessCall)


class PerProcessCall:
    """Call a compiled program in all processes together. Each process passes and receives arrays on its own device.

    Args:
        call (Callable): The `jax.jit` function of arrays on the devices of all processes.
        places (Places): The shardings of these arrays.
    """

    def __init__(self, call: Any, places: ArrayShardings) -> None:
        self.call = call
        self._places = places
        sharding = next(iter((*places.written, *places.read, *places.rest)))
        self._local_sharding = SingleDeviceSharding(next(iter(sharding.addressable_devices)))
        self.clear_cache: Callable[[], None] = call.clear_cache

    def __call__(self, written: list[Any], read: list[Any], *rest: Any) -> tuple[list[Any], tuple[Any, ...]]:
        new, outs = self.call(*self._convert_arguments(self._globalize_argument, written, read, *rest))
        return [a.addressable_data(0) for a in new], tuple([a.addressable_data(0) for a in outs])

    def lower(self, *arguments: Any) -> Any:
        """Return the call as StableHLO for the arguments of `__call__`."""
        return self.call.lower(*self._convert_arguments(_make_abstract_argument, *arguments))

    def _globalize_argument(self, value, sharding):
        """Return the arrays of all processes as one array, which JAX treats as replicated."""
        local = (
            value
            if getattr(value, "sharding", None) == self._local_sharding
            else jax.device_put(value, self._local_sharding)
        )
        return jax.make_array_from_single_device_arrays(local.shape, sharding, [local])

    def _convert_arguments(self, convert, written, read, *rest):
        places = self._places
        # Not strict, because frozen Parameters are not passed.
        return (
            [convert(a, sharding) for a, sharding in zip(written, places.written, strict=True)],
            [convert(a, sharding) for a, sharding in zip(read, places.read, strict=False)],
            *[convert(a, sharding) for a, sharding in zip(rest, places.rest, strict=True)],
        )


def _make_abstract_argument(value, sharding):
    abstract = argument_signature(value) if not isinstance(value, jax.ShapeDtypeStruct) else value
    return jax.ShapeDtypeStruct(abstract.shape, abstract.dtype, sharding=sharding)


def process_mesh() -> Mesh:
    """Return the mesh of the first device of each process, in the order of their ranks."""
    first: dict[int, Any] = {}
    for device in jax.devices():
        first.setdefault(device.process_index, device)
    return Mesh(np.array([first[rank] for rank in sorted(first)]), (RANK,), axis_types=(AxisType.Auto,))


def communication_groups(jaxpr: Any) -> list[Any]:
    """Return the distinct groups in which a graph communicates, in the graph's order. None is the group of all
    devices.
    """
    groups: list[Any] = []
    for eqn in jaxpr.eqns:
        if RANK in _get_axis_names(eqn.params):
            if eqn.primitive.name != "axis_index":
                groups.append(eqn.params.get("axis_index_groups"))
        for graph in jaxprs_in_params(eqn.params):
            groups += communication_groups(graph)
    return [group for index, group in enumerate(groups) if group not in groups[:index]]


def _get_axis_names(params):
    """Return the mesh axis names in an equation's parameters."""
    axis_names = params.get("axes", params.get("axis_name", ()))
    return axis_names if isinstance(axis_names, (tuple, list)) else (axis_names,)


def _shard_map_program(form, mesh, error_index, groups):
    """Return a function that all processes run, from `form`, a function of one process's arrays.

    An error code in one process becomes the error code of all processes that it communicates with.
    """

    def share_error_code(error_code):
        for group in groups:
            error_code = jax.lax.pmax(error_code, RANK, axis_index_groups=group)
        return error_code

    def local(params, extra, arrays):
        new, outs = form(params, extra, arrays)
        return new, tuple([share_error_code(o) if i == error_index else o for i, o in enumerate(outs)])

    replicated = PartitionSpec()
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(replicated, replicated, replicated),
        out_specs=(replicated, replicated),
        check_vma=False,
    )


def run_in_all_processes(fn: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return `fn` as a function that each process of a group calls with its own arrays. Return None in a single
    process.

    Outside a graph, a communication operator runs through such a function.
    """
    if world_size() == 1:
        return None
    replicated, partitioner = PartitionSpec(), Processes()
    mesh = process_mesh()
    sharding = NamedSharding(mesh, replicated)

    def local(*arrays):
        previous, trace_state.thread.spread = trace_state.thread.spread, partitioner
        try:
            return fn(*arrays)
        finally:
            trace_state.thread.spread = previous

    call = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=replicated, out_specs=replicated, check_vma=False))

    def run(*arrays):
        return jax.tree.map(local_shard, call(*[make_global(a, sharding) for a in arrays]))

    return run


def make_global(value: Any, sharding: NamedSharding) -> jax.Array:
    """Return the values of all processes as one array, which JAX treats as replicated."""
    local = jax.device_put(value, next(iter(sharding.addressable_devices)))
    return jax.make_array_from_single_device_arrays(local.shape, sharding, [local])


def local_shard(value: jax.Array) -> jax.Array:
    """Return this process's shard of an array of all processes."""
    return value.addressable_data(0)


def broadcast(parameters: Iterable[Any]) -> None:
    """Assign the values of process 0 to the Parameters of all other processes."""
    if world_size() == 1:
        return
    parameters = list(parameters)
    for p, value in zip(parameters, broadcast_arrays([p._array for p in parameters]), strict=True):
        p._rebind_array(value)


def broadcast_arrays(arrays: list[jax.Array]) -> list[jax.Array]:
    """Return the arrays of process 0 on each process's own device. All processes call it."""
    replicated, is_first = NamedSharding(process_mesh(), PartitionSpec()), world_rank() == 0

    def sum_values(values):
        return [jax.lax.psum(v, RANK) for v in values]

    run = jax.jit(
        jax.shard_map(
            sum_values, mesh=replicated.mesh, in_specs=replicated.spec, out_specs=replicated.spec, check_vma=False
        )
    )
    inputs = [make_global(array if is_first else jax.numpy.zeros_like(array), replicated) for array in arrays]
    return [local_shard(new).astype(array.dtype) for new, array in zip(run(inputs), arrays, strict=True)]
