"""A warning after the first step of a training without an optimizer, if no Parameter has changed."""

from msnb import log
from msnb.nn.cell import Cell


class IdleCheck:
    """Stores the trainable Parameters of a network before its first step, to find out whether the network changes them
    itself.

    Args:
        network (Cell): The network that a Model without an optimizer calls in each step.
    """

    def __init__(self, network):
        # called on the class, as networks may have an attribute of that name
        self._before = [(param, param._array) for param in Cell.trainable_params(network)]

    def look(self):
        """Compare the Parameters after the first step, and warn if none has changed. Returns None, so that the caller
        drops this object."""
        if self._before and all(param._array is array for param, array in self._before):
            log.warning(
                "This Model has no optimizer: the network runs, but nothing is learnt. Give it one, such as "
                "Model(net, loss_fn, nn.Momentum(net.trainable_params(), 0.01, 0.9))."
            )
