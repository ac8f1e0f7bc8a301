"""Information about the devices of JAX."""

from typing import Any, NamedTuple

from msnb import context

__all__ = [
    "device_count",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
]


class DeviceProperties(NamedTuple):
    """Properties of a device. Memory is in bytes, 0 if JAX does not count it.

    Attributes:
        name (str): Product name of the device.
        total_memory (int): Memory available to XLA.
        free_memory (int): Free part of that memory.
    """

    name: str
    total_memory: int
    free_memory: int


def _get_device(device_id: int, device_target: str | None) -> Any:
    devices = context.devices(device_target)
    if not isinstance(device_id, int) or isinstance(device_id, bool):
        raise TypeError(f"'device_id' should be an int, but got {device_id!r}.")
    if not 0 <= device_id < len(devices):
        raise ValueError(f"'device_id' should be below {len(devices)}, the number of devices, but got {device_id}.")
    return devices[device_id]


def device_count(device_target: str | None = None) -> int:
    """Return the number of devices of a kind.

    Args:
        device_target (str): "CPU", "GPU" or "TPU". Default: None, the current device target.

    Returns:
        int.

    Raises:
        ValueError: If there is no device of this kind.

    Examples:
        >>> mindspore.hal.device_count("CPU")
        1
    """
    return len(context.devices(device_target))


def is_available(device_target: str) -> bool:
    """Return True if there is a device of a kind.

    Args:
        device_target (str): "CPU", "GPU", "TPU" or "Ascend".

    Returns:
        bool.
    """
    try:
        return bool(context.devices(device_target))
    except ValueError:
        return False


def is_initialized(device_target: str) -> bool:
    """Return True if a device of a kind is ready for use. This is so for every available device.

    Args:
        device_target (str): "CPU", "GPU", "TPU" or "Ascend".

    Returns:
        bool.
    """
    return is_available(device_target)


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """Return the product name of a device.

    Args:
        device_id (int): Index of the device.
        device_target (str): Kind of the device. Default: None, the current device target.

    Returns:
        str.

    Raises:
        ValueError: If there is no such device.
    """
    return _get_device(device_id, device_target).device_kind


def get_device_capability(device_id: int, device_target: str | None = None) -> tuple[int, int] | None:
    """Return the compute capability of an NVIDIA GPU.

    Args:
        device_id (int): Index of the device.
        device_target (str): Kind of the device. Default: None, the current device target.

    Returns:
        Union[tuple[int, int], None], None for other devices.

    Raises:
        ValueError: If there is no such device.
    """
    capability = str(getattr(_get_device(device_id, device_target), "compute_capability", ""))
    major, _, minor = capability.partition(".")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None


def get_device_properties(device_id: int, device_target: str | None = None) -> DeviceProperties:
    """Return name and memory of a device.

    Args:
        device_id (int): Index of the device.
        device_target (str): Kind of the device. Default: None, the current device target.

    Returns:
        DeviceProperties.

    Raises:
        ValueError: If there is no such device.
    """
    device = _get_device(device_id, device_target)
    stats = device.memory_stats() or {}
    limit = stats.get("bytes_limit", 0)
    return DeviceProperties(device.device_kind, limit, max(limit - stats.get("bytes_in_use", 0), 0))


def get_arch_list(device_target: str | None = None) -> list[str] | None:
    """Return the compute capabilities of the available GPUs, such as "sm_90".

    Args:
        device_target (str): Kind of the devices. Default: None, the current device target.

    Returns:
        Union[list[str], None], None for other devices.

    Raises:
        ValueError: If there is no such device.
    """
    capabilities = {get_device_capability(i, device_target) for i in range(device_count(device_target))} - {None}
    return [f"sm_{major}{minor}" for major, minor in sorted(capabilities)] or None  # type: ignore[misc]
