"""Epistemic and aleatoric uncertainty of the outputs of a network."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Bool, Instance, OneOf, PositiveInt, check, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer.basic import Dense, Dropout, Identity
from msnb.nn.layer.container import SequentialCell
from msnb.nn.layer.conv import Conv2d
from msnb.nn.loss.classification import SoftmaxCrossEntropyWithLogits
from msnb.nn.loss.regression import MSELoss
from msnb.nn.optim.adam import Adam
from msnb.ops import functional as F
from msnb.ops.random.normal import StandardNormal
from msnb.train._load_checkpoint import load_checkpoint
from msnb.train._load_into_net import load_param_into_net
from msnb.train.callback import CheckpointConfig, LossMonitor, ModelCheckpoint
from msnb.train.model import Model

__all__ = ["UncertaintyEvaluation"]

_SAMPLES = 10  # runs of a network, and samples of noise for a loss


class UncertaintyEvaluation:
    """
    Evaluates how uncertain the outputs of a network are: because the network knows too little (epistemic uncertainty),
    and because the data are noisy (aleatoric uncertainty). For each kind a separate network is trained on first use, or
    read from a checkpoint.

    Args:
        model (Cell): The network. For the epistemic uncertainty it is changed: it gets a Dropout layer if it has none.
        train_dataset (Dataset): Batches of data and labels to train the two networks with.
        task_type (str): "regression" or "classification".
        num_classes (int): The number of classes, for "classification". Default: None.
        epochs (int): Training epochs of each network. Default: 1.
        epi_uncer_model_path (str): Path for the network of the epistemic uncertainty: with `save_model` the folder for
            its checkpoints, otherwise the checkpoint to read. Default: None, it is trained and not saved.
        ale_uncer_model_path (str): As `epi_uncer_model_path`, for the aleatoric uncertainty. Default: None.
        save_model (bool): Whether the networks are saved. Default: False.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If `task_type` is neither of these, a number is less than 1, or a path is missing with `save_model`.

    Examples:
        >>> from mindspore.nn.probability.toolbox import UncertaintyEvaluation
        >>> net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Dense(8, 3))
        >>> evaluation = UncertaintyEvaluation(net, None, "classification", num_classes=3)
        >>> print(evaluation.eval_epistemic_uncertainty(Tensor(np.ones((2, 4)), mindspore.float32)).shape)
        (2, 3)
    """

    @checked
    def __init__(
        self,
        model: Annotated[Cell, Instance(Cell)],
        train_dataset: Any,
        task_type: Annotated[str, OneOf("regression", "classification")],
        num_classes: int | None = None,
        epochs: PositiveInt = 1,
        epi_uncer_model_path: str | None = None,
        ale_uncer_model_path: str | None = None,
        save_model: Bool = False,
    ) -> None:
        if task_type == "classification":
            check(PositiveInt, num_classes, "num_classes", "UncertaintyEvaluation")
        if save_model and (epi_uncer_model_path is None or ale_uncer_model_path is None):
            raise ValueError(
                "For 'UncertaintyEvaluation', 'save_model' needs 'epi_uncer_model_path' and 'ale_uncer_model_path'."
            )
        self.epi_model: Cell = model
        self.ale_model: Cell = deepcopy(model)
        self.train_dataset = train_dataset
        self.task_type: str = task_type
        self.num_classes = num_classes
        self.epochs: int = epochs
        self.epi_uncer_model_path = epi_uncer_model_path
        self.ale_uncer_model_path = ale_uncer_model_path
        self.save_model: bool = save_model
        self.epi_uncer_model: EpistemicUncertaintyModel | None = None
        self.ale_uncer_model: AleatoricUncertaintyModel | None = None

    def eval_epistemic_uncertainty(self, eval_data: Tensor) -> np.ndarray:
        """
        Return the epistemic uncertainty: the variance of the outputs over ten runs with random Dropout (Gal and
        Ghahramani, 2015).

        Args:
            eval_data (Tensor): The data, of shape (N, C, H, W) or another shape that the network takes.

        Returns:
            numpy.ndarray of the shape of the network's output.

        Raises:
            ValueError: If the network has neither a Dropout nor a Dense or Conv2d layer.
        """
        if self.epi_uncer_model is None:
            net = EpistemicUncertaintyModel(self.epi_model)
            if not net.drop_count and self.train_dataset is not None:
                loss = MSELoss()
                if self.task_type == "classification":
                    loss = SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
                self._train_or_load(net, loss, self.epi_uncer_model_path, "checkpoint_epi_uncer_model")
            self.epi_uncer_model = net
        net = self.epi_uncer_model.draw()
        return np.var([net(eval_data).asnumpy() for _ in range(_SAMPLES)], axis=0)

    def eval_aleatoric_uncertainty(self, eval_data: Tensor) -> np.ndarray:
        """
        Return the aleatoric uncertainty: the sum of the squares of the learnt noise of the outputs (Kendall and Gal,
        2017).

        Args:
            eval_data (Tensor): The data, of shape (N, C, H, W) or another shape that the network takes.

        Returns:
            numpy.ndarray of shape (N,).

        Raises:
            ValueError: If there is no dataset to train with, or a network for regression has no Dense layer.
        """
        if self.train_dataset is None:
            raise ValueError("For 'eval_aleatoric_uncertainty', UncertaintyEvaluation needs a 'train_dataset'.")
        if self.ale_uncer_model is None:
            net = AleatoricUncertaintyModel(self.ale_model, self.num_classes, self.task_type)
            self._train_or_load(
                net, AleatoricLoss(self.task_type), self.ale_uncer_model_path, "checkpoint_ale_uncer_model"
            )
            self.ale_uncer_model = net
        _, noise = self.ale_uncer_model(eval_data)
        return F.reduce_sum(F.square(noise), 1).asnumpy()

    def _train_or_load(self, net, loss, path, prefix):
        """Train a network, or load its checkpoint if there is one."""
        if path is not None and not self.save_model:
            load_param_into_net(net, load_checkpoint(path))
            return
        callbacks: list[Any] = [LossMonitor()]
        if self.save_model:
            config = CheckpointConfig(keep_checkpoint_max=self.epochs)
            callbacks.insert(0, ModelCheckpoint(prefix=prefix, directory=path, config=config))
        model = Model(net, loss, Adam(net.trainable_params()))
        model.train(self.epochs, self.train_dataset, callbacks=callbacks, dataset_sink_mode=False)


class EpistemicUncertaintyModel(Cell):
    """A network whose Dropout layers stay active in evaluation. If it has none, one is inserted after its first Dense
    or Conv2d layer.

    Args:
        epi_model (Cell): The network, which is changed.
    """

    def __init__(self, epi_model: Cell) -> None:
        super().__init__()
        self.drop_count: int = sum(1 for _ in _iterate_dropouts(epi_model))
        if not self.drop_count and not _insert_dropout(epi_model):
            raise ValueError(
                "The epistemic uncertainty needs a network with a Dropout layer, or a Dense or Conv2d layer to put one "
                "behind."
            )
        self.epi_model = epi_model

    def draw(self) -> "EpistemicUncertaintyModel":
        """Set all Cells to evaluation mode and Dropout layers to training mode. Returns self."""
        self.set_train(False)
        for cell in _iterate_dropouts(self):
            cell.set_train(True)
        return self

    def construct(self, x: Tensor) -> Tensor:
        """Return the network's output."""
        return self.epi_model(x)


def _iterate_dropouts(net: Cell) -> Iterator[Cell]:
    return (cell for _, cell in net.cells_and_names() if isinstance(cell, Dropout))


def _insert_dropout(net):
    """Insert a Dropout after the first Dense or Conv2d layer. Returns whether there is such a layer."""
    for name, cell in net.name_cells().items():
        if isinstance(cell, (Conv2d, Dense)):
            setattr(net, name, SequentialCell([cell, Dropout(keep_prob=0.5)]))
            return True
        if _insert_dropout(cell):
            return True
    return False


class AleatoricUncertaintyModel(Cell):
    """A network that returns each output together with an estimate of its noise.

    Args:
        ale_model (Cell): The network, which is changed for a regression.
        num_classes (int): The number of classes.
        task (str): "regression" or "classification".
    """

    def __init__(self, ale_model: Cell, num_classes: int | None, task: str) -> None:
        super().__init__()
        self.task: str = task
        self.pred_layer: Cell = Identity()
        if task == "classification":
            self.var_layer: Cell = Dense(num_classes, num_classes, "normal", "zeros")
        else:
            dense = [(name, cell) for name, cell in ale_model.name_cells().items() if isinstance(cell, Dense)]
            if not dense:
                raise ValueError("The aleatoric uncertainty of a regression needs a network that holds a Dense layer.")
            name, last = dense[-1]
            self.pred_layer = last
            self.var_layer = Dense(last.in_channels, last.out_channels, "normal", "zeros")
            setattr(ale_model, name, Identity())
        self.ale_model = ale_model

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return (output, its noise): for a classification its standard deviation, for a regression the logarithm of
        its variance.
        """
        features = self.ale_model(x)
        return self.pred_layer(features), self.var_layer(features)


class AleatoricLoss(Cell):
    """The loss of an output and its estimated noise.

    Args:
        task (str): "regression" or "classification".
    """

    def __init__(self, task: str) -> None:
        super().__init__()
        self.task: str = task
        self.entropy: Cell = SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, data_pred: tuple[Tensor, Tensor], y: Tensor) -> Tensor:
        """Return the mean loss."""
        pred, noise = data_pred
        if self.task == "classification":
            samples = StandardNormal.functional((_SAMPLES,))
            return sum(self.entropy(pred + samples[i] * noise, y) for i in range(_SAMPLES)) / _SAMPLES
        return F.reduce_mean(0.5 * F.exp(-noise) * F.square(y - pred) + 0.5 * noise)
