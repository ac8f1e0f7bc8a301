"""The precision of float32 operators of a GPU."""

from msnb import context
from msnb.common.kinds import Bool, checked

__all__ = ["conv_allow_tf32", "matmul_allow_tf32"]


@checked
def matmul_allow_tf32(value: Bool) -> None:
    """Allow TensorFloat-32 in matrix products: `set_context(gpu_config={"matmul_allow_tf32": value})`.

    Args:
        value (bool): True to allow it.

    Raises:
        TypeError: If `value` is not a bool.
    """
    context.set_context(gpu_config={"matmul_allow_tf32": value})


@checked
def conv_allow_tf32(value: Bool) -> None:
    """Allow TensorFloat-32 in convolutions: `set_context(gpu_config={"conv_allow_tf32": value})`.

    Args:
        value (bool): True to allow it.

    Raises:
        TypeError: If `value` is not a bool.
    """
    context.set_context(gpu_config={"conv_allow_tf32": value})
