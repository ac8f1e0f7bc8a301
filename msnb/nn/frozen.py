"""A network whose weights are constants of its program: the quickest way to run one that is trained no more."""

from typing import Any

from msnb.core.errors.messages import describe
from msnb.nn.cell import Cell
from msnb.nn.wrap.cell_wrapper import title_of

__all__ = ["Frozen", "frozen"]


class Frozen(Cell):
    """What `frozen` makes."""

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
    """`network` for inference, with its weights compiled into the program.

    XLA then brings each weight into the order it wants once, when it compiles, and not in each call. The program is as
    large as the weights, and takes longer to compile. It is compiled in both modes. A weight that has changed is seen:
    the next call compiles anew, and says so.

    Args:
        network (Cell): In evaluation, `network.set_train(False)`.

    Returns:
        Cell, called as `network` is; its gradient is that of `network`.

    Raises:
        TypeError: If `network` is not a Cell.
        ValueError: If it is set to train.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
