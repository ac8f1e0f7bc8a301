"""Build the mesh of a plan: hosts, devices inside each host, and the cost of a byte along each axis."""

import math
from collections.abc import Mapping, Sequence

from msnb.core.errors.messages import describe
from msnb.parallel.planning.hardware import Hardware


def mesh_of(devices: int, mesh: Sequence[int] | Mapping[str, int] | None, hardware: Hardware) -> dict[str, int]:
    """Return the axes of a mesh as {name: number of devices}.

    Raises:
        TypeError: If `mesh` does not consist of ints.
        ValueError: If the product of these ints is not the number of devices.
    """
    numbers = mesh.values() if isinstance(mesh, Mapping) else mesh or ()
    if isinstance(mesh, str) or not all(type(number) is int for number in numbers):
        raise TypeError(
            f"For 'plan', 'mesh' should be ints, as in (2, {max(devices // 2, 1)}), or a dict of them by name, but got "
            f"{describe(mesh)}."
        )
    if mesh is None:
        inside = math.gcd(devices, hardware.devices_a_host)
        sizes = {"hosts": devices // inside, "inside": inside}
        sizes = {axis: size for axis, size in sizes.items() if size > 1}
    elif isinstance(mesh, Mapping):
        sizes = dict(mesh)
    else:
        sizes = {f"axis{i}": size for i, size in enumerate(mesh)}
    if math.prod(sizes.values()) != devices or any(size < 1 for size in sizes.values()):
        raise ValueError(
            f"For 'plan', 'mesh' should have as many devices as 'devices', {devices}, but got "
            f"{' x '.join(map(str, sizes.values()))}."
        )
    return sizes


def weights_of(mesh: dict[str, int], hardware: Hardware) -> dict[str, float]:
    """Return {axis: cost of a byte}; the cost is 1 if all devices of the axis are in one host."""
    weights, stride = {}, 1
    for axis in reversed(mesh):
        stride *= mesh[axis]
        weights[axis] = 1.0 if stride <= hardware.devices_a_host else hardware.inside / hardware.between
    return {axis: weights[axis] for axis in mesh}
