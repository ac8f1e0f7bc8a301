"""The interface between tracing and `msnb.parallel`: partitioners, device groups, sharding constraints.

`constraints` is loaded on first use and is imported by its own name.
"""

from msnb.core.sharding.partitioner import (
    ArrayShardings,
    DeviceGroup,
    Groups,
    Partitioner,
    members,
    on_one_device,
    partition_as,
    provide,
    size,
)

__all__ = [
    "ArrayShardings",
    "DeviceGroup",
    "Groups",
    "Partitioner",
    "members",
    "on_one_device",
    "partition_as",
    "provide",
    "size",
]
