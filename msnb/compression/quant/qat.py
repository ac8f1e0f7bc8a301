"""Quantisation-aware training: training in floats with simulated integer arithmetic (Jacob et al., 2018).

`nn.Conv2dBnAct` and `nn.DenseBnAct` are converted to their quantised forms, which keep the Parameters.
"""

import re
from typing import Annotated, Any

from msnb import nn
from msnb.common.kinds import Bool, NonNegInt, OneOrEach, checked
from msnb.common.quant_dtype import QuantDtype
from msnb.compression.quant.quantizer import OptimizeOption, Options, Quantizer
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.nn.layer import quant
from msnb.nn.layer._quant.observer import IntegerType, QuantConfig, flow_observer

__all__ = ["QuantizationAwareTraining", "create_quant_config"]

# One value for both weights and activations, or a pair (weights, activations).
Delays = Annotated[int | tuple[int, ...] | list[int], OneOrEach(NonNegInt)]
Types = Annotated[QuantDtype | tuple[QuantDtype, ...] | list[QuantDtype], OneOrEach(IntegerType)]
Choices = Annotated[bool | tuple[bool, ...] | list[bool], OneOrEach(Bool)]

QUANTISED_OPERATORS = ("TensorAdd", "Add", "Sub", "Mul", "RealDiv")
PLAIN = (nn.ReLU, nn.ReLU6, nn.Sigmoid)  # activations followed by an observer
BOTH_SIDES = (nn.LeakyReLU, nn.HSigmoid, nn.HSwish)  # activations between two observers


def _split_weight_and_activation(name, value):
    """Return (value for weights, value for activations) from one value or a pair."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(values) <= 2:
        raise ValueError(f"'{name}' should be one value, or one for weights and one for what flows, but got {value!r}.")
    return values[0], values[-1]


@checked
def create_quant_config(
    quant_observer: Any = (nn.FakeQuantWithMinMaxObserver, nn.FakeQuantWithMinMaxObserver),
    quant_delay: Delays = (0, 0),
    quant_dtype: Types = (QuantDtype.INT8, QuantDtype.INT8),
    per_channel: Choices = (False, False),
    symmetric: Choices = (False, False),
    narrow_range: Choices = (False, False),
) -> QuantConfig:
    """Create the configuration of the observers of quantised layers. Each argument is one value, or a pair of values
    for weights and for activations.

    Args:
        quant_observer (Union[Observer, list, tuple]): The observer classes. Default: FakeQuantWithMinMaxObserver.
        quant_delay (Union[int, list, tuple]): Number of training steps before rounding begins; ranges are recorded from
            the first step. Default: (0, 0).
        quant_dtype (Union[QuantDtype, list, tuple]): The simulated types. Default: INT8 for both.
        per_channel (Union[bool, list, tuple]): Whether to use one range per channel. Default: (False, False).
        symmetric (Union[bool, list, tuple]): Whether to use ranges with 0 in the middle. Default: (False, False).
        narrow_range (Union[bool, list, tuple]): Whether to leave out the smallest integer. Default: (False, False).

    Returns:
        QuantConfig.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If there are more than two values.

    Examples:
        >>> from mindspore.compression.quant import create_quant_config
        >>> config = create_quant_config(per_channel=(True, False), symmetric=(True, False))
        >>> print(nn.Conv2dQuant(3, 8, 5, quant_config=config).fake_quant_weight.minq.shape)
        (8,)
    """
    settings = {
        "quant_delay": _split_weight_and_activation("quant_delay", quant_delay),
        "quant_dtype": _split_weight_and_activation("quant_dtype", quant_dtype),
        "per_channel": _split_weight_and_activation("per_channel", per_channel),
        "symmetric": _split_weight_and_activation("symmetric", symmetric),
        "narrow_range": _split_weight_and_activation("narrow_range", narrow_range),
    }
    observers = _split_weight_and_activation("quant_observer", quant_observer)
    return QuantConfig(
        *(observer.partial_init(**{k: v[i] for k, v in settings.items()}) for i, observer in enumerate(observers))
    )


class _AddFakeQuantInput(nn.Cell):
    """Wrap a network with one input, and quantise the input first.

    Args:
        network (Cell): The network, whose Parameters keep their names.
        quant_delay (int): Number of training steps before rounding begins; ranges are recorded from the first step.
            Default: 0.
    """

    def __init__(self, network: nn.Cell, quant_delay: int = 0) -> None:
        super().__init__(auto_prefix=False)
        self.fake_quant_input: nn.Cell = quant.FakeQuantWithMinMaxObserver(quant_delay=quant_delay, ema=True)
        self.fake_quant_input.update_parameters_name("fake_quant_input.")
        self.network: nn.Cell = network

    def construct(self, data: Tensor) -> Any:
        """Return the result of the network for the quantised input."""
        return self.network(self.fake_quant_input(data))


class _AddFakeQuantAfterSubCell(nn.Cell):
    """Wrap a Cell or an operator, and quantise its result.

    Args:
        subcell (Union[Cell, Primitive, function]): The Cell or operator.
        quant_config (QuantConfig): Creates the observer.
        quant_dtype (QuantDtype): The simulated type.
    """

    def __init__(self, subcell: Any, quant_config: QuantConfig, quant_dtype: QuantDtype) -> None:
        super().__init__(auto_prefix=False)
        self.subcell = subcell
        self.fake_quant_act: nn.Cell = flow_observer(quant_config, quant_dtype, True, 0.999)

    def construct(self, *data: Any) -> Tensor:
        """Return the quantised result."""
        return self.fake_quant_act(self.subcell(*data))


class QuantizationAwareTraining(Quantizer):
    """Converts a network for quantisation-aware training: weights and activations are rounded to the grid of an integer
    type in the forward pass, and gradients ignore the rounding. Each argument from `quant_delay` to `narrow_range` is
    one value, or a pair of values for weights and for activations.

    Args:
        bn_fold (bool): Fold batch normalisation into the convolution before it. Default: True.
        freeze_bn (int): The first step that uses running statistics, for `one_conv_fold=False`. Default: 10000000.
        quant_delay (Union[int, list, tuple]): Number of training steps before rounding begins; ranges are recorded from
            the first step. Default: (0, 0).
        quant_dtype (Union[QuantDtype, list, tuple]): The simulated types. Default: INT8 for both.
        per_channel (Union[bool, list, tuple]): Whether to use one range per channel. Default: (False, False).
        symmetric (Union[bool, list, tuple]): Whether to use ranges with 0 in the middle. Default: (False, False).
        narrow_range (Union[bool, list, tuple]): Whether to leave out the smallest integer. Default: (False, False).
        optimize_option (Union[OptimizeOption, list, tuple]): The methods. With an empty list, nothing is converted.
            Default: OptimizeOption.QAT.
        one_conv_fold (bool): Whether folded layers are Conv2dBnFoldQuantOneConv instead of Conv2dBnFoldQuant, which
            computes two convolutions. Default: True.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If a number is negative, there are more than two values, or `per_channel` is set for activations.

    Examples:
        >>> from mindspore.compression.quant import QuantizationAwareTraining
        >>> net = nn.SequentialCell([nn.Conv2dBnAct(1, 6, 5, activation="relu"), nn.Flatten(), nn.DenseBnAct(384, 10)])
        >>> net = QuantizationAwareTraining(per_channel=[True, False], symmetric=[True, False]).quantize(net)
        >>> print(net[0].conv.cls_name, net(Tensor(np.ones((2, 1, 8, 8)), mindspore.float32)).shape)
        Conv2dQuant (2, 10)
    """

    @checked
    def __init__(
        self,
        bn_fold: Bool = True,
        freeze_bn: NonNegInt = 10000000,
        quant_delay: Delays = (0, 0),
        quant_dtype: Types = (QuantDtype.INT8, QuantDtype.INT8),
        per_channel: Choices = (False, False),
        symmetric: Choices = (False, False),
        narrow_range: Choices = (False, False),
        optimize_option: Options = OptimizeOption.QAT,
        one_conv_fold: Bool = True,
    ) -> None:
        super().__init__(optimize_option)
        if _split_weight_and_activation("per_channel", per_channel)[1]:
            # The number of channels is known for weights, but not for an activation.
            raise ValueError(
                "For 'QuantizationAwareTraining', 'per_channel' is for weights alone; write per_channel=(True, False)."
            )
        self.bn_fold = bn_fold
        self.freeze_bn = freeze_bn
        self.one_conv_fold = one_conv_fold
        self.weight_qdelay, self.act_qdelay = _split_weight_and_activation("quant_delay", quant_delay)
        self.weight_dtype, self.act_dtype = _split_weight_and_activation("quant_dtype", quant_dtype)
        self.weight_channel, self.act_channel = _split_weight_and_activation("per_channel", per_channel)
        self.weight_symmetric, self.act_symmetric = _split_weight_and_activation("symmetric", symmetric)
        self.weight_range, self.act_range = _split_weight_and_activation("narrow_range", narrow_range)
        self.quant_config: QuantConfig = create_quant_config(
            quant_delay=quant_delay,
            quant_dtype=quant_dtype,
            per_channel=per_channel,
            symmetric=symmetric,
            narrow_range=narrow_range,
        )

    def quantize(self, network: nn.Cell) -> nn.Cell:
        """Convert a network in place and return it.

        Each `nn.Conv2dBnAct` and `nn.DenseBnAct` is converted. The result of each operator TensorAdd, Add, Sub, Mul or
        RealDiv that is an attribute of one of the network's own Cells is quantised. Trained Parameters stay; those
        of folded normalisations move to the convolution. The training mode is kept.

        Args:
            network (Cell): The network.

        Raises:
            TypeError: If `network` is not a Cell.
            ValueError: If nothing in it can be converted, or an activation is none of ReLU, ReLU6, Sigmoid, LeakyReLU,
                HSigmoid and HSwish.
        """
        if not isinstance(network, nn.Cell):
            raise TypeError(
                f"For 'quantize', the network should be a Cell, but got {network!r} of type {type(network).__name__}."
            )
        if OptimizeOption.QAT not in self.optimize_option:
            return network
        network.update_cell_prefix()
        if not self._convert_cell(network, ""):
            raise ValueError(
                f"For 'quantize', {type(network).__name__} has nothing to quantise; build it of nn.Conv2dBnAct and "
                f"nn.DenseBnAct instead of nn.Conv2d, nn.BatchNorm2d and nn.Dense."
            )
        network.update_cell_type("quant")
        network.set_train(network.training)
        return network

    def _convert_cell(self, cell, path):
        """Convert the layers and operators of `cell`, whose attribute path is `path`, and return their number."""
        if isinstance(cell, (nn.Conv2dBnAct, nn.DenseBnAct)):
            is_conv = isinstance(cell, nn.Conv2dBnAct)
            if hasattr(cell.conv if is_conv else cell.dense, "fake_quant_weight"):
                return 0  # it was converted under another path, or in an earlier call
            convert = self._convert_conv if is_conv else self._convert_dense
            convert(cell)
            self._quantise_layer_output(cell)
            if path:
                cell.update_parameters_name(path + ".")
            return 1
        children = cell.name_cells().items()
        count = sum(self._convert_cell(inner, f"{path}.{name}" if path else name) for name, inner in children)
        return count + self._convert_operators(cell, path)

    def _convert_operators(self, cell, path):
        if type(cell).__module__.startswith("msnb.nn."):  # operators inside a layer of msnb are not converted
            return 0
        operators = [
            (name, value)
            for name, value in vars(cell).items()
            if name[0] != "_" and isinstance(value, Primitive) and value.name in QUANTISED_OPERATORS
        ]
        used_names = set()
        for name, primitive in operators:
            follower = _AddFakeQuantAfterSubCell(primitive, self.quant_config, self.act_dtype)
            # MindSpore names the range after the operator's type. The second operator of a type gets another name here.
            word = re.sub(r"(?<=.)([A-Z])", r"_\1", primitive.name).lower()
            word = name if word in used_names else word
            used_names.add(word)
            follower.update_parameters_name(f"{path}.{word}." if path else f"{word}.")
            delattr(cell, name)
            cell.insert_child_to_cell(name, follower)
        return len(operators)

    def _convert_conv(self, cell):
        conv = cell.conv
        settings = {
            "kernel_size": conv.kernel_size,
            "stride": conv.stride,
            "pad_mode": conv.pad_mode,
            "padding": conv.padding,
            "dilation": conv.dilation,
            "group": conv.group,
            "has_bias": conv.has_bias,
            "weight_init": "zeros",  # replaced below; a random initializer would advance the seed
            "quant_config": self.quant_config,
            "quant_dtype": self.weight_dtype,
        }
        if not cell.has_bn:
            quantised = quant.Conv2dQuant(conv.in_channels, conv.out_channels, **settings)
        else:
            norm = cell.batchnorm
            # In `norm` the momentum is the weight of the old average; in the quantised layers, that of the new value.
            settings |= {"eps": norm.eps, "momentum": 1 - norm.momentum}
            if not self.bn_fold:
                quantised = quant.Conv2dBnWithoutFoldQuant(conv.in_channels, conv.out_channels, **settings)
            elif self.one_conv_fold:
                quantised = quant.Conv2dBnFoldQuantOneConv(conv.in_channels, conv.out_channels, **settings)
            else:
                settings["freeze_bn"] = self.freeze_bn
                quantised = quant.Conv2dBnFoldQuant(conv.in_channels, conv.out_channels, **settings)
            norm_owner = quantised if self.bn_fold else quantised.batchnorm
            for name in ("gamma", "beta", "moving_mean", "moving_variance"):
                norm_owner.insert_param_to_cell(name, getattr(norm, name))
            cell.batchnorm = None
            cell.has_bn = False
        _move_parameters(conv, quantised)
        cell.conv = quantised

    def _convert_dense(self, cell):
        dense = cell.dense
        quantised = quant.DenseQuant(
            dense.in_channels,
            dense.out_channels,
            weight_init="zeros",
            has_bias=dense.has_bias,
            quant_config=self.quant_config,
            quant_dtype=self.weight_dtype,
        )
        _move_parameters(dense, quantised)
        cell.dense = quantised

    def _quantise_layer_output(self, cell):
        """Add an observer after the activation of a layer. A layer without one gets an observer if `after_fake` is
        set.
        """
        if cell.has_act:
            cell.activation = self._convert_activation(cell.activation)
        elif cell.after_fake:
            cell.has_act = True
            del cell.activation
            cell.activation = _AddFakeQuantAfterSubCell(nn.Identity(), self.quant_config, self.act_dtype)

    def _convert_activation(self, activation):
        if type(activation) in PLAIN:
            return quant.ActQuant(activation, quant_config=self.quant_config, quant_dtype=self.act_dtype)
        if type(activation) in BOTH_SIDES:
            return quant.ActQuant(
                activation, ema=True, fake_before=True, quant_config=self.quant_config, quant_dtype=self.act_dtype
            )
        names = ", ".join(kind.__name__ for kind in (*PLAIN, *BOTH_SIDES))
        raise ValueError(f"For 'quantize', an activation should be one of {names}, but got {activation!r}.")


def _move_parameters(layer, quantised):
    """Move the Parameters of a layer to the quantised layer that replaces it."""
    quantised.weight = layer.weight
    if layer.has_bias:
        quantised.bias = layer.bias
