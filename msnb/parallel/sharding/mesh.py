"""The devices of a sharded program as a mesh whose axes are prime factors of the number of devices.

A strategy splits each axis of a Tensor into a number of shards. The mesh axes for these numbers are taken in the
mesh's order: with 8 devices ``(2, 4)`` takes the first axis for 2 and the other two for 4, as MindSpore's device matrix
does. Tracing needs no devices; it uses an abstract mesh.
"""

import functools
import math
import os
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

from msnb import context
from msnb.communication._comm_helper import world_size
from msnb.core.compat.jax_private import create_cpu_devices

_MAX_CPU_DEVICES = 64  # limit of the number of devices that one CPU emulates


def prime_factors(number: int) -> tuple[int, ...]:
    """Return the prime factors of a number in ascending order. 1 has none."""
    primes, divisor = [], 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            primes.append(divisor)
            number //= divisor
        divisor += 1
    return (*primes, number) if number > 1 else tuple(primes)


def _make_mesh_axes(number):
    sizes = prime_factors(number)
    return sizes, tuple(f"d{i}" for i in range(len(sizes))), (AxisType.Auto,) * len(sizes)


@functools.cache
def named_mesh(number: int) -> AbstractMesh:
    """Return the abstract mesh of `number` devices."""
    sizes, names, types = _make_mesh_axes(number)
    return AbstractMesh(sizes, names, axis_types=types)


def all_devices() -> list[Any]:
    """Return the devices of all processes, of the platform that the context names."""
    kind = context.device().platform
    return sorted(jax.devices(kind), key=lambda device: (device.process_index, device.id))


def first_devices(number: int) -> list[Any]:
    """Return the first devices of the platform that the context names, those of all processes in the order of their
    ranks.

    Raises:
        RuntimeError: If there are fewer devices.
    """
    devices = all_devices() if world_size() > 1 else context.devices()
    if len(devices) < number and world_size() == 1 and devices[0].platform == "cpu" and _can_emulate_devices(number):
        devices = _add_cpu_devices(number) or devices
    if len(devices) < number:
        raise RuntimeError(_format_device_shortage(number, devices))
    return devices[:number]


def device_mesh(number: int) -> Mesh:
    """Return the mesh of the first `number` devices of the platform that the context names.

    Raises:
        RuntimeError: If there are fewer devices.
    """
    return _make_mesh(tuple(first_devices(number)))


_added_cpus: list[Any] = []  # CPU devices that were added after JAX had computed something


def _add_cpu_devices(number):
    """Return at least `number` CPU devices after JAX was initialized with fewer, or None if it cannot add any.

    The new devices exist in addition to the first ones. Arrays on those are copied as between any two devices.
    """
    if len(_added_cpus) < number:
        _reserve_device_threads(number)
        _added_cpus[:] = create_cpu_devices(number) or ()
    return _added_cpus or None


@functools.lru_cache(maxsize=16)
def _make_mesh(devices):
    sizes, names, types = _make_mesh_axes(len(devices))
    return Mesh(np.array(devices).reshape(sizes), names, axis_types=types)


def _format_device_shortage(number, devices):
    platform = devices[0].platform
    available = _format_verb_and_count(len(devices), platform.upper())
    shortage = f"The program is spread over {number} devices (device_num), but there {available}."
    if world_size() > 1:
        return f"{shortage} Leave device_num out: it is that of all processes."
    advice = f"Without the devices, msnb.parallel.plan(net, batch, devices={number}) tells what they would do."
    if platform != "cpu":
        return f"{shortage} Set device_num to as many. {advice}"
    if number > _MAX_CPU_DEVICES:
        return f"{shortage} A CPU counts as {_MAX_CPU_DEVICES} at most. {advice}"
    if not _can_emulate_devices(number):
        return f"{shortage} So it stands in XLA_FLAGS, as xla_force_host_platform_device_count. {advice}"
    return (
        f"{shortage} This JAX counts a CPU as several when that is said before anything is computed: restart, and call "
        f"context.set_auto_parallel_context(device_num={number}) first. {advice}"
    )


def _format_verb_and_count(count, kind):
    return f"is 1 {kind}" if count == 1 else f"are {count} {kind}s"


def take_axes(mesh: AbstractMesh | Mesh, shard_counts: tuple[int, ...]) -> list[tuple[str, ...]]:
    """Select mesh axes for each number of shards, and return one tuple of their names per number. The first axes of the
    mesh that fit are left unused.

    Raises:
        ValueError: If the product of `shard_counts` does not divide the number of devices.

    Examples:
        >>> from msnb.parallel.sharding.mesh import named_mesh, take_axes
        >>> take_axes(named_mesh(8), (2, 1, 2))
        [('d1',), (), ('d2',)]
    """
    number = math.prod(mesh.shape.values())
    if number % math.prod(shard_counts):
        raise ValueError(f"{math.prod(shard_counts)} parts cannot be spread evenly over {number} devices")
    free = list(mesh.shape.items())
    return [_take_axes_of_product(free, count) for count in (number // math.prod(shard_counts), *shard_counts)][1:]


def _take_axes_of_product(free, count):
    """Remove from `free` the first axes whose sizes multiply to `count`, and return their names."""
    axes = []
    for prime in prime_factors(count):
        index = next(i for i, (_, size) in enumerate(free) if size == prime)
        axes.append(free.pop(index)[0])
    return tuple(axes)


def sharding(mesh: AbstractMesh | Mesh, axes: list[tuple[str, ...]]) -> NamedSharding:
    """Return the sharding of a Tensor from the mesh axes of each of its axes."""
    return NamedSharding(mesh, PartitionSpec(*(a or None for a in axes)))


def request_devices(number: int) -> None:
    """Make JAX emulate `number` devices on a CPU if nothing has been computed yet. More than 64 devices are not
    emulated.

    A number of devices in XLA_FLAGS has precedence.
    """
    if not _can_emulate_devices(number):
        return
    try:
        jax.config.update("jax_num_cpu_devices", max(number, jax.config.jax_num_cpu_devices))
    except RuntimeError:  # something has been computed: see `_add_cpu_devices`
        return
    _reserve_device_threads(number)


def _can_emulate_devices(number):
    """Return True if one CPU may emulate `number` devices."""
    return number <= _MAX_CPU_DEVICES and "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", "")


def _reserve_device_threads(number):
    # Devices wait for one another in threads, of which XLA starts one per processor. With fewer threads than devices
    # they would wait forever.
    if int(os.environ.get("NPROC", 0)) < 2 * number:
        os.environ["NPROC"] = str(2 * number)
