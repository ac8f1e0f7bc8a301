"""The devices as a search sees them: axes to cut along, what a byte along each costs, and what a device can keep."""

import math

from msnb import context
from msnb.communication._processes import world
from msnb.parallel._cost_model_context import _costs
from msnb.parallel.mesh import named_mesh, prime_factors
from msnb.parallel.search.costs import MeshCostModel

BETWEEN = 12.0  # what a byte between hosts costs, where one inside a host costs 1; that of `hardware.PRESETS["a100"]`


def grouped(devices: int) -> dict[str, tuple[str, ...]]:
    """The axes that the search cuts by, each some of the mesh's: the hosts and what is inside of each where there are
    several, else two that are as equal as they can be.

    Args:
        devices (int): How many there are.
    """
    names, hosts = named_mesh(devices).axis_names, _hosts(devices)
    at = _first(devices, lambda size: size == hosts) if hosts > 1 else 0
    if at:
        found = {"hosts": names[:at], "inside": names[at:]}
    else:
        half = _first(devices, lambda size: size**2 <= devices)
        found = {"outer": names[:half], "inner": names[half:]}
    return {axis: group for axis, group in found.items() if group}


def machines(names: dict[str, tuple[str, ...]], devices: int) -> MeshCostModel:
    """The axes with their sizes and weights.

    Args:
        names (dict[str, tuple[str, ...]]): The axes, see `grouped`.
        devices (int): How many devices there are.
    """
    shape = named_mesh(devices).shape
    sizes = {axis: math.prod(shape[n] for n in group) for axis, group in names.items()}
    return MeshCostModel(sizes, {axis: BETWEEN if axis == "hosts" else 1.0 for axis in names})


def memory() -> float | None:
    """Bytes that a device can keep: what `set_cost_model_context` says, else what an accelerator says of itself; None
    where nobody says anything, as of a CPU."""
    if "device_memory_capacity" in _costs.assigned:
        return _costs.values.device_memory_capacity
    told = context.devices()[0].memory_stats() or {}
    return told.get("bytes_limit")


def _hosts(devices: int) -> int:
    """How many machines the devices are in, where each has as many; else 1."""
    own = world()
    number = own.size // own.local_size
    return number if own.size % own.local_size == 0 and devices % number == 0 and devices > number else 1


def _first(devices, fits):
    """How many of the prime factors multiply to the largest number that fits."""
    primes = prime_factors(devices)
    return max((n for n in range(1, len(primes)) if fits(math.prod(primes[:n]))), default=0)
