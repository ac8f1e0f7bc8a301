"""Define `_to_tensor` at the path from which libraries for MindSpore 2 import it."""

from typing import Any

from msnb.core.tensor.tensor import Tensor


def _to_tensor(*args: Any) -> Any:
    """Convert each argument to a Tensor. A number that is the only argument is returned unchanged.

    Args:
        args (Union[Tensor, int, float, bool, list, tuple]): The values to convert.

    Returns:
        Union[Tensor, tuple[Tensor]], a tuple for several arguments.
    """
    if len(args) == 1 and isinstance(args[0], (int, float)):
        return args[0]
    tensors = tuple(arg if isinstance(arg, Tensor) else Tensor(arg) for arg in args)
    return tensors[0] if len(tensors) == 1 else tensors
