"""The devices of a sharded program as a mesh whose axes are prime factors of their number.

A strategy cuts each axis of a Tensor into a number of parts. Whatever the numbers are, the parts are taken from the
mesh in its order: with 8 devices ``(2, 4)`` takes its first axis for the one and the other two for the other, as
MindSpore's device matrix does. Tracing needs no devices: it is done with a mesh of names.
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
from msnb.core._jax_private import further_cpus

_MOST = 64  # devices that a CPU counts as, when it is asked to


def factors(number: int) -> tuple[int, ...]:
    """The prime factors of a number, the smallest first; none of 1."""
    found, divisor = [], 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return (*found, number) if number > 1 else tuple(found)


def _shape(number):
    sizes = factors(number)
    return sizes, tuple(f"d{i}" for i in range(len(sizes))), (AxisType.Auto,) * len(sizes)


@functools.cache
def named_mesh(number: int) -> AbstractMesh:
    """The mesh of so many devices, with names alone."""
    sizes, names, types = _shape(number)
    return AbstractMesh(sizes, names, axis_types=types)


def all_devices() -> list[Any]:
    """The devices of all processes, of the kind that the context names."""
    kind = context.device().platform
    return sorted(jax.devices(kind), key=lambda device: (device.process_index, device.id))


def first_devices(number: int) -> list[Any]:
    """The first devices of the kind that the context names, those of all processes in the order of their ranks.

    Raises:
        RuntimeError: If there are fewer.
    """
    devices = all_devices() if world_size() > 1 else context.devices()
    if len(devices) < number and world_size() == 1 and devices[0].platform == "cpu" and _may_count(number):
        devices = _further(number) or devices
    if len(devices) < number:
        raise RuntimeError(_too_few(number, devices))
    return devices[:number]


def device_mesh(number: int) -> Mesh:
    """The same mesh with the first devices of the kind that the context names.

    Raises:
        RuntimeError: If there are fewer.
    """
    return _meshed(tuple(first_devices(number)))


_furthers: list[Any] = []  # devices that a CPU counts as since something had been computed, when that was said


def _further(number):
    """So many devices, or more, of a CPU that JAX has counted as fewer; None where it cannot count anew.

    They stand beside those that JAX began with, and what lies on these goes over as between any two devices.
    """
    if len(_furthers) < number:
        _make_room_for(number)
        _furthers[:] = further_cpus(number) or ()
    return _furthers or None


@functools.lru_cache(maxsize=16)
def _meshed(devices):
    sizes, names, types = _shape(len(devices))
    return Mesh(np.array(devices).reshape(sizes), names, axis_types=types)


def _too_few(number, devices):
    kind = devices[0].platform
    said = f"The program is spread over {number} devices (device_num), but there {_are(len(devices), kind.upper())}."
    if world_size() > 1:
        return f"{said} Leave device_num out: it is that of all processes."
    planned = f"Without the devices, msnb.parallel.plan(net, batch, devices={number}) tells what they would do."
    if kind != "cpu":
        return f"{said} Set device_num to as many. {planned}"
    if number > _MOST:
        return f"{said} A CPU counts as {_MOST} at most. {planned}"
    if not _may_count(number):
        return f"{said} So it stands in XLA_FLAGS, as xla_force_host_platform_device_count. {planned}"
    return (
        f"{said} This JAX counts a CPU as several when that is said before anything is computed: restart, and call "
        f"context.set_auto_parallel_context(device_num={number}) first. {planned}"
    )


def _are(count, kind):
    return f"is 1 {kind}" if count == 1 else f"are {count} {kind}s"


def take_axes(mesh: AbstractMesh | Mesh, parts: tuple[int, ...]) -> list[tuple[str, ...]]:
    """Which axes of the mesh cut into so many parts, one tuple for each number; what is left stands at the front.

    Raises:
        ValueError: If the numbers do not divide that of the devices.

    Examples:
        >>> from msnb.parallel.mesh import named_mesh, take_axes
        >>> take_axes(named_mesh(8), (2, 1, 2))
        [('d1',), (), ('d2',)]
    """
    number = math.prod(mesh.shape.values())
    if number % math.prod(parts):
        raise ValueError(f"{math.prod(parts)} parts cannot be spread evenly over {number} devices")
    free = list(mesh.shape.items())
    return [_take(free, part) for part in (number // math.prod(parts), *parts)][1:]


def _take(free, part):
    """Remove from `free` the first axes whose sizes multiply to `part`."""
    axes = []
    for prime in factors(part):
        at = next(i for i, (_, size) in enumerate(free) if size == prime)
        axes.append(free.pop(at)[0])
    return tuple(axes)


def sharding(mesh: AbstractMesh | Mesh, axes: list[tuple[str, ...]]) -> NamedSharding:
    """How a Tensor lies on a mesh whose axes are cut by these of the mesh."""
    return NamedSharding(mesh, PartitionSpec(*(a or None for a in axes)))


def ask_for_devices(number: int) -> None:
    """Let a CPU count as so many devices from the beginning, if nothing has been computed; over 64 are for planning.

    Who has said in XLA_FLAGS how many there are keeps them.
    Devices wait for one another in threads of which XLA takes as many as there are processors: fewer than devices, and
    they wait for ever.
    """
    if not _may_count(number):
        return
    try:
        jax.config.update("jax_num_cpu_devices", max(number, jax.config.jax_num_cpu_devices))
    except RuntimeError:  # something has been computed: see `_further`
        return
    _make_room_for(number)


def _may_count(number):
    """Whether a CPU may count as so many devices."""
    return number <= _MOST and "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", "")


def _make_room_for(number):
    if int(os.environ.get("NPROC", 0)) < 2 * number:
        os.environ["NPROC"] = str(2 * number)
