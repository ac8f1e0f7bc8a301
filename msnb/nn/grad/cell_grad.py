"""`Jvp` and `Vjp`: derivatives of a network as Cells. The equivalent functions are `mindspore.ops.jvp` and `vjp`."""

from collections.abc import Callable
from typing import Any

from msnb.common.kinds import checked
from msnb.core.transforms.functional import jvp, vjp
from msnb.nn._kinds import CallableKind
from msnb.nn.cell import Cell

__all__ = ["Jvp", "Vjp"]


class _Derivative(Cell):
    @checked
    def __init__(self, fn: CallableKind) -> None:
        super().__init__()
        self.fn: Callable[..., Any] = fn

    def _split_inputs_and_vector(self, args):
        if len(args) < 2:
            raise ValueError(f"For '{self.cls_name}', inputs and a vector behind them are wanted, but got {len(args)}.")
        return args[:-1], args[-1]


class Jvp(_Derivative):
    """
    Compute the output of a network and its directional derivative `J @ v` (forward mode).

    Args:
        fn (Union[Cell, Callable]): The network.

    Inputs:
        - **args** (Tensor) - the inputs of the network, then the direction: a Tensor, or a tuple with one Tensor
            per input.

    Outputs:
        Tuple of the output and the directional derivative.

    Raises:
        TypeError: If `fn` cannot be called.
        ValueError: If there are less than two inputs.

    Examples:
        >>> x, v = Tensor([2.0], mindspore.float32), Tensor([1.0], mindspore.float32)
        >>> print(nn.Jvp(lambda x: x**3)(x, v)[1])
        [12.]
    """

    def construct(self, *args: Any) -> tuple[Any, Any]:
        """Return (output, directional derivative)."""
        inputs, direction = self._split_inputs_and_vector(args)
        return jvp(self.fn, inputs, direction)


class Vjp(_Derivative):
    """
    Compute the output of a network and the vector-Jacobian product `v @ J` (reverse mode).

    Args:
        fn (Union[Cell, Callable]): The network.

    Inputs:
        - **args** (Tensor) - the inputs of the network, then the vector, with the structure of the output.

    Outputs:
        Tuple of the output and the gradient: a Tensor for one input, a tuple for several.

    Raises:
        TypeError: If `fn` cannot be called.
        ValueError: If there are less than two inputs.

    Examples:
        >>> x, v = Tensor([2.0], mindspore.float32), Tensor([1.0], mindspore.float32)
        >>> print(nn.Vjp(lambda x: x**3)(x, v)[1])
        [12.]
    """

    def construct(self, *args: Any) -> tuple[Any, Any]:
        """Return (output, gradient)."""
        inputs, vector = self._split_inputs_and_vector(args)
        out, pull = vjp(self.fn, *inputs)
        gradients = pull(vector)
        return out, gradients[0] if len(gradients) == 1 else gradients
