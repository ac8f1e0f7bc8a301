"""DATA_PARALLEL and HYBRID_PARALLEL modes: each device runs the full program on its part of the examples, as a
MindSpore process does.

The program is traced with the batch of one device, so losses and BatchNorm statistics are those of that batch. Devices
communicate only through communication operators, which `nn.DistributedGradReducer` applies to the gradients. Each
device updates its own moving averages; reading or saving uses those of the first device.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from msnb import log
from msnb.core.sharding.partitioner import ArrayShardings
from msnb.parallel.sharding.mesh import first_devices

RANK = "rank"  # the axis of the mesh


class Replicas:
    """Run a copy of a program on each device, with its own data and Parameters.

    Args:
        devices (int): Number of devices.
    """

    def __init__(self, devices: int) -> None:
        self.devices, self.stages = devices, 1
        self.axes: list[tuple[str, int]] = [(RANK, devices)]

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of a kernel, which one device runs on its own data; see `Partitioner`."""
        return kernel.run(*arrays)

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """Raise NotImplementedError: there are no stages; see `Partitioner`."""
        raise NotImplementedError("A pipeline has stages in parallel_mode 'semi_auto_parallel'.")

    def hold(self, array: Any, _strategy: tuple[int, ...], _what: str) -> Any:
        """Return the array unchanged: this mode ignores strategies; see `Partitioner`."""
        log.once(
            "shard() of Cells and functions acts in the modes 'semi_auto_parallel' and 'auto_parallel'; here every "
            "device computes the whole program on its rows."
        )
        return array

    def layouts(self, _program: Any, /) -> dict[str, Any]:
        """Return an empty dict: all Parameters are replicated; see `Partitioner`."""
        return {}

    def shards(self, _program: Any, /) -> dict[str, Any]:
        """Return an empty dict: this mode ignores strategies; see `Partitioner`."""
        return {}

    def operators(self, _program: Any, /) -> int:
        """Return 0: no strategies are searched; see `Partitioner`."""
        return 0


class DataParallel(Replicas):
    """Split the batch axis of arguments over the devices of one process; see `Replicas`."""

    def within(self, value: Any) -> Any:
        """Return the shape and type of one device's batch of an argument; see `Partitioner`."""
        shape = np.shape(value)
        if not shape:
            return value
        if shape[0] % self.devices:
            raise ValueError(
                f"An argument of shape {shape} cannot be divided by rows over {self.devices} devices (device_num); "
                f"give a batch of a multiple of {self.devices}."
            )
        return jax.ShapeDtypeStruct((shape[0] // self.devices, *shape[1:]), value.dtype)

    def places(self, program: Any) -> ArrayShardings:
        """Return the shardings of a traced program's arrays; see `Partitioner`."""
        mesh = Mesh(np.array(first_devices(self.devices)), (RANK,), axis_types=(AxisType.Auto,))
        replicated = NamedSharding(mesh, PartitionSpec())
        specs = [PartitionSpec(RANK) if np.ndim(a) else PartitionSpec() for a in program._arguments]
        rest = [replicated] * program.random + [NamedSharding(mesh, spec) for spec in specs]
        error_index = program.n_results - 1 if program.errors else None

        def around(graph_form: Callable[..., Any]) -> Callable[..., Any]:
            return _shard_map_program(graph_form, mesh, specs, error_index)

        return ArrayShardings([replicated] * len(program.written), [replicated] * len(program.read), rest, around)


def _shard_map_program(form, mesh, argument_specs, error_index):
    """Return a function of global arrays that runs `form`, a function of one device's arrays, on each device.

    Results of the devices are combined. A floating point scalar becomes the mean over devices. Any other scalar is
    taken from the first device. Arrays are concatenated along the first axis. The error code at `error_index` is the
    maximum.
    """

    def local(params, extra, arrays):
        new, outs = form(params, extra, arrays)
        return new, tuple([jnp.expand_dims(o, 0) for o in outs])

    def combine(index, out):
        if index == error_index:
            return out.max(0)
        if out.ndim > 1:
            return out.reshape(-1, *out.shape[2:])
        return out.mean(0).astype(out.dtype) if jnp.issubdtype(out.dtype, jnp.inexact) else out[0]

    def run(params, extra, arrays):
        specs = PartitionSpec(), PartitionSpec(), list(argument_specs)
        sharded = jax.shard_map(
            local, mesh=mesh, in_specs=specs, out_specs=(PartitionSpec(), PartitionSpec(RANK)), check_vma=False
        )
        new, outs = sharded(list(params), tuple(extra), list(arrays))
        return new, tuple([combine(i, o) for i, o in enumerate(outs)])

    return run
