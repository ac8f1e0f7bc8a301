"""Which device computes, as MindSpore 2 asks and is asked: `set_device` is `set_context` with two names."""

from msnb import context
from msnb.common.kinds import Bool, check

__all__ = ["set_device", "get_current_device", "set_deterministic"]


class DeviceInfo(tuple[str, int]):
    """A device: the pair of its kind and its number, which are attributes as well."""

    @property
    def device_target(self) -> str:
        """Kind of the device, as `set_context(device_target=...)` names it."""
        return self[0]

    @property
    def device_id(self) -> int:
        """Its number among those of its kind."""
        return self[1]


def set_device(device_target: str, device_id: int | None = None) -> None:
    """
    Choose the device that computes; unlike in MindSpore, at any time.

    Args:
        device_target (str): "CPU", "GPU" or "TPU"; "Ascend" takes the best device that XLA has.
        device_id (int): Which of several. Default: None, the first.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If there is no such device on this machine.

    Examples:
        >>> mindspore.set_device("CPU")
        >>> mindspore.get_current_device()
        ('CPU', 0)
    """
    context.set_context(device_target=device_target, device_id=0 if device_id is None else device_id)


def get_current_device() -> DeviceInfo:
    """
    The device that computes.

    Returns:
        DeviceInfo, the pair `(device_target, device_id)`.
    """
    return DeviceInfo((context.get_context("device_target"), context.get_context("device_id")))


def set_deterministic(deterministic: bool) -> None:
    """
    Ask for the same bits from the same inputs on a GPU: `set_context(deterministic="ON")`, which says what to set.

    Args:
        deterministic (bool): Whether to.

    Raises:
        TypeError: If it is no bool.
    """
    on = check(Bool, deterministic, "deterministic", "set_deterministic")
    context.set_context(deterministic="ON" if on else "OFF")
