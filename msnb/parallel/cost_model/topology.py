"""Device properties for the strategy search: mesh axes, cost of a byte along each axis, and memory of a device."""

import math

from msnb import context
from msnb.communication._processes import world
from msnb.parallel._cost_model_context import _costs
from msnb.parallel.cost_model.transfer_cost import MeshCostModel
from msnb.parallel.sharding.mesh import named_mesh, prime_factors

BETWEEN = 12.0  # cost of a byte between hosts relative to one inside a host, as in `hardware.PRESETS["a100"]`


def search_axes(devices: int) -> dict[str, tuple[str, ...]]:
    """Return the mesh axes that the search for strategies uses, each as a tuple of axes of the device mesh.

    With several hosts these are the hosts and the devices inside each. Otherwise there are two axes of similar size.

    Args:
        devices (int): Number of devices.
    """
    names, hosts = named_mesh(devices).axis_names, _count_hosts(devices)
    split = _count_leading_primes_that_fit(devices, lambda size: size == hosts) if hosts > 1 else 0
    if split:
        axes = {"hosts": names[:split], "inside": names[split:]}
    else:
        half = _count_leading_primes_that_fit(devices, lambda size: size**2 <= devices)
        axes = {"outer": names[:half], "inner": names[half:]}
    return {axis: group for axis, group in axes.items() if group}


def make_cost_model(names: dict[str, tuple[str, ...]], devices: int) -> MeshCostModel:
    """Return a cost model for the mesh axes of the search.

    Args:
        names (dict[str, tuple[str, ...]]): The axes, see `search_axes`.
        devices (int): Number of devices.
    """
    shape = named_mesh(devices).shape
    sizes = {axis: math.prod(shape[n] for n in group) for axis, group in names.items()}
    return MeshCostModel(sizes, {axis: BETWEEN if axis == "hosts" else 1.0 for axis in names})


def device_memory() -> float | None:
    """Return the memory of a device in bytes: the value of `set_cost_model_context`, otherwise the one that the
    accelerator reports, otherwise None, as for a CPU.
    """
    if "device_memory_capacity" in _costs.assigned:
        return _costs.values.device_memory_capacity
    stats = context.devices()[0].memory_stats() or {}
    return stats.get("bytes_limit")


def _count_hosts(devices: int) -> int:
    """Return the number of machines if each has equally many devices, otherwise 1."""
    processes = world()
    number = processes.size // processes.local_size
    return number if processes.size % processes.local_size == 0 and devices % number == 0 and devices > number else 1


def _count_leading_primes_that_fit(devices, fits):
    """Return the largest n for which `fits` accepts the product of the first n prime factors of `devices`."""
    primes = prime_factors(devices)
    return max((n for n in range(1, len(primes)) if fits(math.prod(primes[:n]))), default=0)
