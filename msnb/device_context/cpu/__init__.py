"""Settings of a CPU."""

from msnb import hal
from msnb.device_context.cpu import op_tuning
from msnb.device_context.cpu.op_tuning import threads_num

__all__ = ["device_count", "is_available", "op_tuning", "threads_num"]


def is_available() -> bool:
    """Return True if JAX has a CPU.

    Returns:
        bool.
    """
    return hal.is_available("CPU")


def device_count() -> int:
    """Return the number of devices of this kind.

    Returns:
        int.

    Raises:
        ValueError: If there is none.
    """
    return hal.device_count("CPU")
