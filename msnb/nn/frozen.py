"""`frozen`: compile the weights of a network into the program as constants, for fast inference."""

from typing import Any

from msnb.core.errors.messages import describe
from msnb.nn.cell import Cell
from msnb.nn.wrap.cell_wrapper import title_of

__all__ = ["Frozen", "frozen"]


class Frozen(Cell):
    """A Cell with constant weights, returned by `frozen`."""

    _holds = "network"
    _compile_always = True
    _freezes = True  # see Program.frozen

    def __init__(self, network: Cell) -> None:
        super().__init__(auto_prefix=False)
        self.network = network

    def _title(self):
        return title_of(self.network)

    def construct(self, *inputs: Any) -> Any:
        return self.network(*inputs)


def frozen(network: Cell) -> Frozen:
    """Return a Cell that runs `network` for inference, with its weights as constants of the compiled program.

    XLA then lays out each weight once, at compile time, and not in each call. The program is as large as the weights
    and takes longer to compile. It is compiled in both modes. A changed weight is detected: the next call compiles
    again, with a message.

    Args:
        network (Cell): The network in evaluation mode, `network.set_train(False)`.

    Returns:
        Cell, with the signature and the gradient of `network`.

    Raises:
        TypeError: If `network` is not a Cell.
        ValueError: If `network` is in training mode.

    Examples:
        >>> import msnb
        >>> net = nn.Dense(4, 2, weight_init="ones")
        >>> predict = msnb.frozen(net)
        >>> print(predict(Tensor(np.ones((1, 4), np.float32))))
        [[4. 4.]]
    """
    if not isinstance(network, Cell):
        raise TypeError(f"For 'frozen', 'network' should be a Cell, but got {describe(network)}.")
    if network.training:
        raise ValueError(f"{type(network).__name__} is set to train; call set_train(False) before it is frozen.")
    return Frozen(network)
