"""Quantisation-aware training: a network is trained as its integers will behave, but in floats (Jacob et al., 2018).

`nn.Conv2dBnAct` and `nn.DenseBnAct` are what is converted: each becomes its quantised form, which keeps its Parameters.
"""

import re
from typing import Annotated, Any

from msnb import nn
from msnb.common.kinds import Bool, NonNegInt, OneOrEach, checked
from msnb.common.quant_dtype import QuantDtype
from msnb.compression.quant.quantizer import OptimizeOption, Options, Quantizer
from msnb.core.primitive import Primitive
from msnb.core.tensor import Tensor
from msnb.nn.layer import quant
from msnb.nn.layer._quant_observer import IntegerType, QuantConfig, flow_observer

__all__ = ["QuantizationAwareTraining", "create_quant_config"]

# One value for weights and for what flows, or one each.
Delays = Annotated[int | tuple[int, ...] | list[int], OneOrEach(NonNegInt)]
Types = Annotated[QuantDtype | tuple[QuantDtype, ...] | list[QuantDtype], OneOrEach(IntegerType)]
Choices = Annotated[bool | tuple[bool, ...] | list[bool], OneOrEach(Bool)]

QUANTISED_OPERATORS = ("TensorAdd", "Add", "Sub", "Mul", "RealDiv")
PLAIN = (nn.ReLU, nn.ReLU6, nn.Sigmoid)  # activations behind which to quantise
BOTH_SIDES = (nn.LeakyReLU, nn.HSigmoid, nn.HSwish)  # and before which, too


def _pair(name, value):
    """(for weights, for what flows)."""
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
    """
    What makes the observers of quantised layers. Each argument is one value, or one for weights and one for what flows
    through the network.

    Args:
        quant_observer (Union[Observer, list, tuple]): The observer classes. Default: FakeQuantWithMinMaxObserver.
        quant_delay (Union[int, list, tuple]): How many training steps only watch. Default: (0, 0).
        quant_dtype (Union[QuantDtype, list, tuple]): The types that are simulated. Default: INT8 for both.
        per_channel (Union[bool, list, tuple]): Whether each channel has a range of its own. Default: (False, False).
        symmetric (Union[bool, list, tuple]): Whether 0 is the middle of the range. Default: (False, False).
        narrow_range (Union[bool, list, tuple]): Whether the smallest integer is left out. Default: (False, False).

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
        "quant_delay": _pair("quant_delay", quant_delay),
        "quant_dtype": _pair("quant_dtype", quant_dtype),
        "per_channel": _pair("per_channel", per_channel),
        "symmetric": _pair("symmetric", symmetric),
        "narrow_range": _pair("narrow_range", narrow_range),
    }
    observers = _pair("quant_observer", quant_observer)
    return QuantConfig(
        *(observer.partial_init(**{k: v[i] for k, v in settings.items()}) for i, observer in enumerate(observers))
    )


class _AddFakeQuantInput(nn.Cell):
    """A network of one input, which is quantised on its way in.

    Args:
        network (Cell): The network, whose Parameters keep their names.
        quant_delay (int): How many training steps only watch. Default: 0.
    """

    def __init__(self, network: nn.Cell, quant_delay: int = 0) -> None:
        super().__init__(auto_prefix=False)
        self.fake_quant_input: nn.Cell = quant.FakeQuantWithMinMaxObserver(quant_delay=quant_delay, ema=True)
        self.fake_quant_input.update_parameters_name("fake_quant_input.")
        self.network: nn.Cell = network

    def construct(self, data: Tensor) -> Any:
        """What the network gives."""
        return self.network(self.fake_quant_input(data))


class _AddFakeQuantAfterSubCell(nn.Cell):
    """A Cell or an operator whose result is quantised.

    Args:
        subcell (Union[Cell, Primitive, function]): What is computed.
        quant_config (QuantConfig): What makes the observer.
        quant_dtype (QuantDtype): The type that is simulated.
    """

    def __init__(self, subcell: Any, quant_config: QuantConfig, quant_dtype: QuantDtype) -> None:
        super().__init__(auto_prefix=False)
        self.subcell = subcell
        self.fake_quant_act: nn.Cell = flow_observer(quant_config, quant_dtype, True, 0.999)

    def construct(self, *data: Any) -> Tensor:
        """The quantised result."""
        return self.fake_quant_act(self.subcell(*data))


class QuantizationAwareTraining(Quantizer):
    """
    Makes a network simulate the integers that it will be deployed with: weights and what flows are rounded, gradients
    go straight through. Each of `quant_delay` to `narrow_range` is one value, or one for weights and one for what
    flows.

    Args:
        bn_fold (bool): Whether batch normalisation is folded into the convolution before it. Default: True.
        freeze_bn (int): The step from which on the running statistics are used; for `one_conv_fold=False`. Default:
            10000000.
        quant_delay (Union[int, list, tuple]): How many training steps only watch. Default: (0, 0).
        quant_dtype (Union[QuantDtype, list, tuple]): The types that are simulated. Default: INT8 for both.
        per_channel (Union[bool, list, tuple]): Whether each channel has a range of its own. Default: (False, False).
        symmetric (Union[bool, list, tuple]): Whether 0 is the middle of the range. Default: (False, False).
        narrow_range (Union[bool, list, tuple]): Whether the smallest integer is left out. Default: (False, False).
        optimize_option (Union[OptimizeOption, list, tuple]): The ways; with none, nothing is converted. Default:
            OptimizeOption.QAT.
        one_conv_fold (bool): Whether folding does with one convolution. Default: True.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If a number is negative, there are more than two values, or channels of what flows are asked for.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
        if _pair("per_channel", per_channel)[1]:
            # How many channels flow is known where the weights are, and not at an activation.
            raise ValueError(
                "For 'QuantizationAwareTraining', 'per_channel' is for weights alone; write per_channel=(True, False)."
            )
        self.bn_fold = bn_fold
        self.freeze_bn = freeze_bn
        self.one_conv_fold = one_conv_fold
        self.weight_qdelay, self.act_qdelay = _pair("quant_delay", quant_delay)
        self.weight_dtype, self.act_dtype = _pair("quant_dtype", quant_dtype)
        self.weight_channel, self.act_channel = _pair("per_channel", per_channel)
        self.weight_symmetric, self.act_symmetric = _pair("symmetric", symmetric)
        self.weight_range, self.act_range = _pair("narrow_range", narrow_range)
        self.quant_config: QuantConfig = create_quant_config(
            quant_delay=quant_delay,
            quant_dtype=quant_dtype,
            per_channel=per_channel,
            symmetric=symmetric,
            narrow_range=narrow_range,
        )

    def quantize(self, network: nn.Cell) -> nn.Cell:
        """The network, converted in place.

        Each `nn.Conv2dBnAct` and `nn.DenseBnAct` in it is converted; so is each operator TensorAdd, Sub, Mul or
        RealDiv that one of its Cells has as an attribute. Trained Parameters stay, and those of normalisations that are
        folded move to the convolution. A network in training stays so.

        Args:
            network (Cell): The network.

        Raises:
            TypeError: If `network` is no Cell.
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
        if not self._convert(network, ""):
            raise ValueError(
                f"For 'quantize', {type(network).__name__} has nothing to quantise; build it of nn.Conv2dBnAct and "
                f"nn.DenseBnAct instead of nn.Conv2d, nn.BatchNorm2d and nn.Dense."
            )
        network.update_cell_type("quant")
        network.set_train(network.training)
        return network

    def _convert(self, cell, path):
        """How many layers and operators of `cell`, which `path` leads to, were converted."""
        if isinstance(cell, (nn.Conv2dBnAct, nn.DenseBnAct)):
            is_conv = isinstance(cell, nn.Conv2dBnAct)
            if hasattr(cell.conv if is_conv else cell.dense, "fake_quant_weight"):
                return 0  # it was there by another path, or in an earlier call
            convert = self._convert_conv if is_conv else self._convert_dense
            convert(cell)
            self._convert_result(cell)
            if path:
                cell.update_parameters_name(path + ".")
            return 1
        below = cell.name_cells().items()
        count = sum(self._convert(inner, f"{path}.{name}" if path else name) for name, inner in below)
        return count + self._convert_operators(cell, path)

    def _convert_operators(self, cell, path):
        if type(cell).__module__.startswith("msnb.nn."):  # what a layer is made of inside is its own
            return 0
        found = [
            (name, value)
            for name, value in vars(cell).items()
            if name[0] != "_" and isinstance(value, Primitive) and value.name in QUANTISED_OPERATORS
        ]
        taken = set()
        for name, primitive in found:
            follower = _AddFakeQuantAfterSubCell(primitive, self.quant_config, self.act_dtype)
            # MindSpore names the range by the operator; a second one of the kind would have the name of the first.
            word = re.sub(r"(?<=.)([A-Z])", r"_\1", primitive.name).lower()
            word = name if word in taken else word
            taken.add(word)
            follower.update_parameters_name(f"{path}.{word}." if path else f"{word}.")
            delattr(cell, name)
            cell.insert_child_to_cell(name, follower)
        return len(found)

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
            "weight_init": "zeros",  # it is replaced, and drawing numbers would move the seed
            "quant_config": self.quant_config,
            "quant_dtype": self.weight_dtype,
        }
        if not cell.has_bn:
            made = quant.Conv2dQuant(conv.in_channels, conv.out_channels, **settings)
        else:
            norm = cell.batchnorm
            # A normalisation keeps the share of the new value, the layers take that of the old one.
            settings |= {"eps": norm.eps, "momentum": 1 - norm.momentum}
            if not self.bn_fold:
                made = quant.Conv2dBnWithoutFoldQuant(conv.in_channels, conv.out_channels, **settings)
            elif self.one_conv_fold:
                made = quant.Conv2dBnFoldQuantOneConv(conv.in_channels, conv.out_channels, **settings)
            else:
                settings["freeze_bn"] = self.freeze_bn
                made = quant.Conv2dBnFoldQuant(conv.in_channels, conv.out_channels, **settings)
            holder = made if self.bn_fold else made.batchnorm
            for name in ("gamma", "beta", "moving_mean", "moving_variance"):
                holder.insert_param_to_cell(name, getattr(norm, name))
            cell.batchnorm = None
            cell.has_bn = False
        _take_over(conv, made)
        cell.conv = made

    def _convert_dense(self, cell):
        dense = cell.dense
        made = quant.DenseQuant(
            dense.in_channels,
            dense.out_channels,
            weight_init="zeros",
            has_bias=dense.has_bias,
            quant_config=self.quant_config,
            quant_dtype=self.weight_dtype,
        )
        _take_over(dense, made)
        cell.dense = made

    def _convert_result(self, cell):
        """What comes out is quantised behind its activation, or as it is."""
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
        known = ", ".join(kind.__name__ for kind in (*PLAIN, *BOTH_SIDES))
        raise ValueError(f"For 'quantize', an activation should be one of {known}, but got {activation!r}.")


def _take_over(layer, made):
    """The Parameters of the layer are those of what was made of it."""
    made.weight = layer.weight
    if layer.has_bias:
        made.bias = layer.bias
