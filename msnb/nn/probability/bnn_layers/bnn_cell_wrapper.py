"""`WithBNNLossCell`: a Bayesian network together with its loss."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from msnb.common.arguments import refuse_classes
from msnb.common.kinds import Between, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Real
from msnb.nn.cell import Cell
from msnb.nn.probability.bnn_layers._variational import Variational

__all__ = ["WithBNNLossCell"]

Factor = Annotated[float, Between(Real, 0, None)]


class WithBNNLossCell(Cell):
    """
    A network with its loss. The divergences of the Bayesian layers are added to the loss: `dnn_factor *
    loss_fn(backbone(data), label) + bnn_factor * sum of compute_kl_loss()`.

    Args:
        backbone (Cell): The network.
        loss_fn (Cell): The loss function of network output and label.
        dnn_factor (Union[int, float]): Factor of the loss, not negative. Default: 1.
        bnn_factor (Union[int, float]): Factor of the divergences, not negative. Default: 1.

    Inputs:
        - **x** (Tensor) - Input of the network.
        - **label** (Tensor) - The target of the network.

    Outputs:
        Tensor, of the shape of the loss.

    Raises:
        TypeError: If a factor is no number.
        ValueError: If a factor is negative.

    Examples:
        >>> from mindspore.nn.probability import bnn_layers
        >>> net = bnn_layers.DenseReparam(16, 1)
        >>> net_with_loss = bnn_layers.WithBNNLossCell(nn.SequentialCell(net), nn.MSELoss(), bnn_factor=0.1)
        >>> data = Tensor(np.ones((2, 16)), mindspore.float32)
        >>> print(net_with_loss(data, Tensor(np.ones((2, 1)), mindspore.float32)).shape)
        ()
    """

    _holds = "_backbone"

    @checked
    def __init__(self, backbone: Cell, loss_fn: Cell, dnn_factor: Factor = 1, bnn_factor: Factor = 1) -> None:
        refuse_classes("WithBNNLossCell", backbone=backbone, loss_fn=loss_fn)
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn
        self.dnn_factor = dnn_factor
        self.bnn_factor = bnn_factor
        self.kl_loss: list[Callable[[], Tensor]] = [
            layer.compute_kl_loss for layer in _iterate_bayesian_layers(backbone)
        ]

    def construct(self, x: Any, label: Any) -> Tensor:
        """Return the loss."""
        loss = self._loss_fn(self._backbone(x), label) * self.dnn_factor
        return loss + sum(divergence() for divergence in self.kl_loss) * self.bnn_factor

    @property
    def backbone_network(self) -> Cell:
        """The network without its loss."""
        return self._backbone


def _iterate_bayesian_layers(net: Cell) -> Iterator[Variational]:
    """Yield the Bayesian layers of a network, including the network."""
    return (cell for _, cell in net.cells_and_names() if isinstance(cell, Variational))
