"""Says of a training without an optimizer, after its first step, that nothing is learnt."""

from msnb import log
from msnb.nn.cell import Cell


class Idle:
    """The trainable Parameters of a network before its first step. One that trains itself changes some of them.

    Args:
        network (Cell): What a Model without an optimizer calls in each step.
    """

    def __init__(self, network):
        self._before = [
            (param, param._array) for param in Cell.trainable_params(network)
        ]  # networks may hold that name

    def look(self):
        """Compare, after the first step. Returns None: there is nothing to look at any more."""
        if self._before and all(param._array is array for param, array in self._before):
            log.warning(
                "This Model has no optimizer: the network runs, but nothing is learnt. Give it one, such as "
                "Model(net, loss_fn, nn.Momentum(net.trainable_params(), 0.01, 0.9))."
            )
