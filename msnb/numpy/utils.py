"""What `mindspore.numpy` makes Tensors with, under the module path that libraries for MindSpore 2 import from."""

from typing import Any

from msnb.core.tensor.tensor import Tensor


def _to_tensor(*args: Any) -> Any:
    """Each argument as a Tensor; alone a number stays one.

    Args:
        args (Union[Tensor, int, float, bool, list, tuple]): What becomes Tensors.

    Returns:
        Union[Tensor, tuple[Tensor]], a tuple for several.
    """
    if len(args) == 1 and isinstance(args[0], (int, float)):
        return args[0]
    made = tuple(arg if isinstance(arg, Tensor) else Tensor(arg) for arg in args)
    return made[0] if len(made) == 1 else made
