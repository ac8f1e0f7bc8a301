"""Conversion of networks to Bayesian networks."""

import inspect
from collections.abc import Callable
from typing import Any

from msnb.common.kinds import checked
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.nn import optim
from msnb.nn.cell import Cell
from msnb.nn.layer.basic import Dense
from msnb.nn.layer.conv import Conv2d
from msnb.nn.probability.bnn_layers.bnn_cell_wrapper import Factor, WithBNNLossCell
from msnb.nn.probability.bnn_layers.conv_variational import ConvReparam
from msnb.nn.probability.bnn_layers.dense_variational import DenseReparam
from msnb.nn.wrap.cell_wrapper import TrainOneStepCell

__all__ = ["TransformToBNN"]

_OF_DENSE = ("in_channels", "has_bias", "out_channels", "activation")
_OF_CONV = (
    "in_channels",
    "out_channels",
    "pad_mode",
    "kernel_size",
    "stride",
    "has_bias",
    "padding",
    "dilation",
    "group",
)
_Arguments = Callable[[Any], dict[str, Any]]


def _get_dense_args(layer):
    return {name: getattr(layer, name) for name in _OF_DENSE}


def _get_conv_args(layer):
    return {name: getattr(layer, name) for name in _OF_CONV}


class TransformToBNN:
    """
    Replaces layers of a network by Bayesian layers, in place.

    Args:
        trainable_dnn (Cell): The training step, a `TrainOneStepCell`, which contains the network.
        dnn_factor (Union[int, float]): See `WithBNNLossCell`. Default: 1.
        bnn_factor (Union[int, float]): See `WithBNNLossCell`. Default: 1.

    Raises:
        TypeError: If a factor is no number, or `trainable_dnn` no training step.
        ValueError: If a factor is negative.

    Examples:
        >>> from mindspore.nn.probability.transforms import TransformToBNN
        >>> net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
        >>> optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        >>> bayesian_step = TransformToBNN(step, 1, 0.001).transform_to_bnn_model()
        >>> print(type(net[0]).__name__)
        DenseReparam
    """

    @checked
    def __init__(self, trainable_dnn: Cell, dnn_factor: Factor = 1, bnn_factor: Factor = 1) -> None:
        net_with_loss: Any = getattr(trainable_dnn, "network", None)
        if not hasattr(net_with_loss, "_loss_fn") or not hasattr(trainable_dnn, "optimizer"):
            raise TypeError(
                f"For 'TransformToBNN', 'trainable_dnn' should be a TrainOneStepCell of a WithLossCell, "
                f"but got {describe(trainable_dnn)}."
            )
        self.optimizer: Any = trainable_dnn.optimizer
        self.sens: Any = getattr(trainable_dnn, "sens", 1.0)
        self.backbone: Any = net_with_loss.backbone_network
        self.loss_fn: Any = net_with_loss._loss_fn
        self.dnn_factor = dnn_factor
        self.bnn_factor = bnn_factor

    def transform_to_bnn_model(
        self,
        get_dense_args: _Arguments = _get_dense_args,
        get_conv_args: _Arguments = _get_conv_args,
        add_dense_args: dict[str, Any] | None = None,
        add_conv_args: dict[str, Any] | None = None,
    ) -> TrainOneStepCell:
        """
        Replace every Dense by a DenseReparam and every Conv2d by a ConvReparam.

        Args:
            get_dense_args (Callable): Function from a Dense layer to the arguments of the DenseReparam that replaces
                it. Default: sizes, bias and activation of the Dense.
            get_conv_args (Callable): Function from a Conv2d to the arguments of the ConvReparam that replaces it.
                Default: the arguments of the Conv2d.
            add_dense_args (dict): Further arguments of each DenseReparam. Default: None.
            add_conv_args (dict): Further arguments of each ConvReparam. Default: None.

        Returns:
            Cell, the training step of the Bayesian network.

        Raises:
            TypeError: If the optimizer is not from `mindspore.nn`.
            ValueError: If its Parameters are in groups.
        """
        self._replace_layers(self.backbone, Dense, DenseReparam, get_dense_args, add_dense_args)
        self._replace_layers(self.backbone, Conv2d, ConvReparam, get_conv_args, add_conv_args)
        return self._build_training_step()

    def transform_to_bnn_layer(
        self,
        dnn_layer_type: type,
        bnn_layer_type: type,
        get_args: _Arguments | None = None,
        add_args: dict[str, Any] | None = None,
    ) -> TrainOneStepCell:
        """
        Replace the layers of one type.

        Args:
            dnn_layer_type (type): nn.Dense or nn.Conv2d.
            bnn_layer_type (type): DenseReparam or ConvReparam.
            get_args (Callable): Function from a layer to the arguments of the layer that replaces it. Default: None,
                see `transform_to_bnn_model`.
            add_args (dict): Further arguments of the new layers. Default: None.

        Returns:
            Cell, the training step of the Bayesian network.

        Raises:
            TypeError: If the optimizer is not from `mindspore.nn`.
            ValueError: If a type is not one of these, or the optimizer's Parameters are in groups.
        """
        for argument, layer_type, allowed in (
            ("dnn_layer_type", dnn_layer_type, (Dense, Conv2d)),
            ("bnn_layer_type", bnn_layer_type, (DenseReparam, ConvReparam)),
        ):
            if layer_type not in allowed:
                names = " or ".join(c.__name__ for c in allowed)
                raise ValueError(
                    f"For 'transform_to_bnn_layer', '{argument}' should be {names}, but got {describe(layer_type)}."
                )
        usual = _get_dense_args if dnn_layer_type is Dense else _get_conv_args
        self._replace_layers(self.backbone, dnn_layer_type, bnn_layer_type, get_args or usual, add_args)
        return self._build_training_step()

    def _replace_layers(self, net, old, new, get_args, add_args):
        for name, cell in net.name_cells().items():
            if isinstance(cell, old):
                setattr(net, name, new(**get_args(cell), **(add_args or {})))
            else:
                self._replace_layers(cell, old, new, get_args, add_args)

    def _build_training_step(self):
        for path, param in self.backbone.parameters_and_names():
            param.name = path  # Parameters of the new layers have no prefix yet
        optimizer = _rebuild_optimizer(self.optimizer, self.backbone.trainable_params())
        loss = WithBNNLossCell(self.backbone, self.loss_fn, self.dnn_factor, self.bnn_factor)
        return TrainOneStepCell(loss, optimizer, self.sens)


def _rebuild_optimizer(optimizer, parameters):
    """Return an optimizer of the same class and with the same settings for other Parameters."""
    kind = type(optimizer)
    if kind.__name__ not in optim.__all__:
        names = ", ".join(optim.__all__)
        raise TypeError(f"For 'TransformToBNN', the optimizer should be one of {names}, but got {kind.__name__}.")
    if optimizer.is_group:
        raise ValueError("For 'TransformToBNN', the optimizer's Parameters should not be in groups: they are replaced.")
    settings = {}
    for name in inspect.signature(kind.__init__).parameters:
        value = getattr(optimizer, name, None)
        if isinstance(value, Tensor):  # a Parameter is one, too
            value = value.asnumpy().squeeze().tolist()
        if isinstance(value, (bool, int, float, list, Cell)):
            settings[name] = value
    if "weight_decay" in settings:
        # the optimizer stores the decay multiplied by the loss scale
        settings["weight_decay"] /= optimizer.loss_scale
    return kind(parameters, **settings)
