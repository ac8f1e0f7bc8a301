"""The precision of operators of an Ascend. The settings have no effect."""

from msnb import log
from msnb.common.kinds import Bool, Str, checked

__all__ = ["conv_allow_hf32", "matmul_allow_hf32", "op_precision_mode", "precision_mode"]

_WHY = "XLA has no backend for an Ascend"


@checked
def precision_mode(mode: Str) -> None:
    """Choose mixed precision for all operators. It has no effect; `Cell.to_float` chooses the precision of a Cell.

    Args:
        mode (str): Name of the mode.

    Raises:
        TypeError: If `mode` is not a str.
    """
    log.unused("precision_mode", "Cell.to_float chooses the precision of a Cell", mode=mode)


@checked
def op_precision_mode(path: Str) -> None:
    """Read the precision of operators from a file. It has no effect.

    Args:
        path (str): The file.

    Raises:
        TypeError: If `path` is not a str.
    """
    log.unused("op_precision_mode", _WHY, path=path)


@checked
def matmul_allow_hf32(value: Bool) -> None:
    """Allow HFloat32 in matrix products. It has no effect.

    Args:
        value (bool): True to allow it.

    Raises:
        TypeError: If `value` is not a bool.
    """
    log.unused("matmul_allow_hf32", _WHY, value=value)


@checked
def conv_allow_hf32(value: Bool) -> None:
    """Allow HFloat32 in convolutions. It has no effect.

    Args:
        value (bool): True to allow it.

    Raises:
        TypeError: If `value` is not a bool.
    """
    log.unused("conv_allow_hf32", _WHY, value=value)
