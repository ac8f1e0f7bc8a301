"""Stochastic variational inference."""

from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.kinds import Instance, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.probability.infer.variational.elbo import ELBO
from msnb.nn.wrap.cell_wrapper import TrainOneStepCell

__all__ = ["SVI"]


class SVI:
    """
    Stochastic variational inference (Blei, Kucukelbir and McAuliffe, 2016): training with the ELBO as loss.

    Args:
        net_with_loss (Cell): The network with its loss, a `WithLossCell` or one like it, whose `_loss_fn` is an ELBO.
        optimizer (Cell): Updates the Parameters of the network.

    Raises:
        TypeError: If the loss is no ELBO, or `optimizer` is no Cell.

    Examples:
        >>> from mindspore.nn.probability.dpn import VAE
        >>> from mindspore.nn.probability.infer import ELBO, SVI
        >>> vae = VAE(nn.Dense(6, 4), nn.Dense(4, 6), hidden_size=4, latent_size=2)
        >>> svi = SVI(nn.WithLossCell(vae, ELBO()), nn.Adam(vae.trainable_params()))
        >>> print(svi.get_train_loss())
        0.0
    """

    @checked
    def __init__(self, net_with_loss: Cell, optimizer: Annotated[Cell, Instance(Cell)]) -> None:
        self.net_with_loss = net_with_loss
        self.loss_fn: Any = getattr(net_with_loss, "_loss_fn", None)
        if not isinstance(self.loss_fn, ELBO):
            raise TypeError("For 'SVI', the loss of 'net_with_loss' should be an ELBO, kept as '_loss_fn'.")
        self.optimizer = optimizer
        self._loss = 0.0

    @checked
    def run(self, train_dataset: Any, epochs: PositiveInt = 10) -> Cell:
        """
        Train the network.

        Args:
            train_dataset (Dataset): Batches with the columns "image" and "label".
            epochs (int): Number of passes over the data set. Default: 10.

        Returns:
            Cell, the network without its loss.

        Raises:
            TypeError: If `epochs` is no int.
            ValueError: If `epochs` is less than 1, a column is missing, or there are no batches.
        """
        step = TrainOneStepCell(self.net_with_loss, self.optimizer)
        step.set_train()
        for _ in range(epochs):
            total, count = 0.0, 0
            for row in train_dataset.create_dict_iterator(num_epochs=1):
                if not {"image", "label"} <= row.keys():
                    raise ValueError(
                        f"For 'SVI.run', 'train_dataset' should have the columns 'image' and 'label', "
                        f"but has {', '.join(row)}: rename them."
                    )
                images, labels = Tensor(row["image"], mstype.float32), Tensor(row["label"], mstype.int32)
                count += len(images)
                total += step(images, labels).asnumpy()
            if not count:
                raise ValueError("For 'SVI.run', 'train_dataset' gave no batches.")
            self._loss = total / count
        return self.net_with_loss.backbone_network

    def get_train_loss(self) -> float:
        """Return the loss per image of the last epoch; 0.0 before `run`."""
        return self._loss
