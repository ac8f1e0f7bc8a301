"""Select a device as in MindSpore 2: `set_device` calls `set_context` with two settings."""

from typing import Self

from msnb import context
from msnb.common.kinds import Bool, check

__all__ = ["set_device", "get_current_device", "set_deterministic", "DeviceCtx"]


class DeviceInfo(tuple[str, int]):
    """A device as the pair (kind, index). The attributes `device_target` and `device_id` are the same two values."""

    @property
    def device_target(self) -> str:
        """Return the kind of the device, as in `set_context(device_target=...)`."""
        return self[0]

    @property
    def device_id(self) -> int:
        """Return the index of the device among the devices of its kind."""
        return self[1]


def set_device(device_target: str, device_id: int | None = None) -> None:
    """
    Select the device for computations. Unlike in MindSpore, it can be changed at any time.

    Args:
        device_target (str): "CPU", "GPU" or "TPU"; "Ascend" takes the best device that XLA has.
        device_id (int): Index of the device. Default: None, the first.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If there is no such device.

    Examples:
        >>> mindspore.set_device("CPU")
        >>> mindspore.get_current_device()
        ('CPU', 0)
    """
    context.set_context(device_target=device_target, device_id=0 if device_id is None else device_id)


def get_current_device() -> DeviceInfo:
    """
    Return the device for computations.

    Returns:
        DeviceInfo, the pair `(device_target, device_id)`.
    """
    return DeviceInfo((context.get_context("device_target"), context.get_context("device_id")))


class DeviceCtx:
    """
    Context manager in which computations run on a device, as after `set_device`.

    Args:
        name (str): "CPU", "GPU", "TPU" or "Ascend".
        device_id (int): Index of the device. Default: None, the first.

    Raises:
        ValueError: On entry, if there is no such device. "meta", Tensors without data, is not available.

    Examples:
        >>> with mindspore.DeviceCtx("CPU"):
        ...     print(Tensor([1.0]) + 1)
        [2.]
    """

    def __init__(self, name: str, device_id: int | None = None) -> None:
        self.name: str = name
        self.device_id: int | None = device_id
        self._outer: list[DeviceInfo] = []

    def __enter__(self) -> Self:
        if self.name == "meta":
            raise ValueError("Tensors without data (device 'meta') are not available; make the network on a device.")
        outer = get_current_device()
        set_device(self.name, self.device_id)
        self._outer.append(outer)
        return self

    def __exit__(self, *error: object) -> None:
        set_device(*self._outer.pop())


def set_deterministic(deterministic: bool) -> None:
    """
    Request bitwise reproducible results on a GPU: `set_context(deterministic="ON")`, which logs the flag to set.

    Args:
        deterministic (bool): True to request reproducible results.

    Raises:
        TypeError: If it is not a bool.
    """
    on = check(Bool, deterministic, "deterministic", "set_deterministic")
    context.set_context(deterministic="ON" if on else "OFF")
