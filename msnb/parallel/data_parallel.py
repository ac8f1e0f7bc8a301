"""DATA_PARALLEL and HYBRID_PARALLEL: each device runs the whole program on its rows, as a process of MindSpore's does.

The program is traced with the rows that one device has. Losses and the statistics of BatchNorm are those of these rows;
what brings devices together are communication operators, which `nn.DistributedGradReducer` puts behind the gradients.
Each device keeps its own moving averages; what is read, or saved, is what the first one has.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from msnb import log
from msnb.core.spreading import Places
from msnb.parallel.mesh import first_devices

RANK = "rank"  # the axis of the mesh


class Replicas:
    """A program that each of several devices runs on what it has, with Parameters of its own.

    Args:
        devices (int): How many they are.
    """

    def __init__(self, devices: int) -> None:
        self.devices, self.stages = devices, 1
        self.axes: list[tuple[str, int]] = [(RANK, devices)]

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of a kernel: one device runs it on what it has; see `core.spreading`."""
        return kernel.run(*arrays)

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """Refused, as there are no stages; see `core.spreading`."""
        raise NotImplementedError("A pipeline has stages in parallel_mode 'semi_auto_parallel'.")

    def hold(self, array: Any, _strategy: tuple[int, ...], _what: str) -> Any:
        """An array as it is, for strategies are for other modes; see `core.spreading`."""
        log.once(
            "shard() of Cells and functions acts in the modes 'semi_auto_parallel' and 'auto_parallel'; here every "
            "device computes the whole program on its rows."
        )
        return array

    def layouts(self, _program: Any, /) -> dict[str, Any]:
        """None: each device has the whole of all Parameters; see `core.spreading`."""
        return {}

    def shards(self, _program: Any, /) -> dict[str, Any]:
        """None: strategies are for other modes; see `core.spreading`."""
        return {}

    def operators(self, _program: Any, /) -> int:
        """None, likewise; see `core.spreading`."""
        return 0


class DataParallel(Replicas):
    """How a program is spread by the rows of its arguments over the devices of one process; see `Replicas`."""

    def within(self, value: Any) -> Any:
        """The rows of an argument that one device has; see `core.spreading`."""
        shape = np.shape(value)
        if not shape:
            return value
        if shape[0] % self.devices:
            raise ValueError(
                f"An argument of shape {shape} cannot be divided by rows over {self.devices} devices (device_num); "
                f"give a batch of a multiple of {self.devices}."
            )
        return jax.ShapeDtypeStruct((shape[0] // self.devices, *shape[1:]), value.dtype)

    def places(self, program: Any) -> Places:
        """Where the arrays of a traced program are to be; see `core.spreading`."""
        mesh = Mesh(np.array(first_devices(self.devices)), (RANK,), axis_types=(AxisType.Auto,))
        whole = NamedSharding(mesh, PartitionSpec())
        cuts = [PartitionSpec(RANK) if np.ndim(a) else PartitionSpec() for a in program._arguments]
        rest = [whole] * program.random + [NamedSharding(mesh, spec) for spec in cuts]
        failing = program.n_results - 1 if program.errors else None

        def around(form: Callable[..., Any]) -> Callable[..., Any]:
            return _around(form, mesh, cuts, failing)

        return Places([whole] * len(program.written), [whole] * len(program.read), rest, around)


def _around(form, mesh, cuts, failing):
    """A graph of one device's arrays as a function of whole ones.

    A number that devices do not agree about is their mean, an array of more axes is put together along the first, and
    of the verdicts on what went wrong, at `failing`, there is one.
    """

    def local(params, extra, arrays):
        new, outs = form(params, extra, arrays)
        return new, tuple([jnp.expand_dims(o, 0) for o in outs])

    def joined(index, out):
        if index == failing:
            return out.max(0)
        if out.ndim > 1:
            return out.reshape(-1, *out.shape[2:])
        return out.mean(0).astype(out.dtype) if jnp.issubdtype(out.dtype, jnp.inexact) else out[0]

    def run(params, extra, arrays):
        specs = PartitionSpec(), PartitionSpec(), list(cuts)
        spread = jax.shard_map(
            local, mesh=mesh, in_specs=specs, out_specs=(PartitionSpec(), PartitionSpec(RANK)), check_vma=False
        )
        new, outs = spread(list(params), tuple(extra), list(arrays))
        return new, tuple([joined(i, o) for i, o in enumerate(outs)])

    return run
