"""Settings of an Ascend, for which XLA has no backend. None has an effect, which is said once."""

from msnb.device_context.ascend import op_debug, op_precision, op_tuning

__all__ = ["device_count", "is_available", "op_debug", "op_precision", "op_tuning"]


def is_available() -> bool:
    """Return False: XLA has no backend for an Ascend.

    Returns:
        bool, False.
    """
    return False


def device_count() -> int:
    """Raise an error: XLA has no backend for an Ascend.

    Raises:
        RuntimeError: Always.
    """
    raise RuntimeError("There is no Ascend here: XLA has no backend for it.")
