"""Settings of a GPU."""

from msnb import hal
from msnb.device_context.gpu import op_precision, op_tuning

__all__ = ["device_count", "is_available", "op_precision", "op_tuning"]


def is_available() -> bool:
    """Return True if JAX has a GPU.

    Returns:
        bool.
    """
    return hal.is_available("GPU")


def device_count() -> int:
    """Return the number of devices of this kind.

    Returns:
        int.

    Raises:
        ValueError: If there is none.
    """
    return hal.device_count("GPU")
