"""The mesh of the devices that a plan is for: hosts, devices inside each, and what a byte along each axis costs."""

import math
from collections.abc import Mapping, Sequence

from msnb.core.errors import describe
from msnb.parallel.planning.hardware import Hardware


def mesh_of(devices: int, mesh: Sequence[int] | Mapping[str, int] | None, hardware: Hardware) -> dict[str, int]:
    """The axes of a mesh by name, each with its number of devices.

    Raises:
        ValueError: If they do not multiply to the number of devices.
    """
    if mesh is None:
        inside = math.gcd(devices, hardware.devices_a_host)
        sizes = {"hosts": devices // inside, "inside": inside}
        sizes = {axis: size for axis, size in sizes.items() if size > 1}
    elif isinstance(mesh, Mapping):
        sizes = dict(mesh)
    else:
        sizes = {f"axis{i}": size for i, size in enumerate(mesh)}
    if math.prod(sizes.values()) != devices or not sizes:
        raise ValueError(f"For 'plan', 'mesh' should have {devices} devices, at least 2, but got {describe(mesh)}.")
    return sizes


def weights_of(mesh: dict[str, int], hardware: Hardware) -> dict[str, float]:
    """What a byte along each axis costs, 1 where all its devices are in one host."""
    found, stride = {}, 1
    for axis in reversed(mesh):
        stride *= mesh[axis]
        found[axis] = 1.0 if stride <= hardware.devices_a_host else hardware.inside / hardware.between
    return {axis: found[axis] for axis in mesh}
