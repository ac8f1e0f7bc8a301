"""Activations, sums and products with simulated quantisation."""

from typing import Annotated

from msnb.common.kinds import Bool, Instance, checked
from msnb.common.quant_dtype import QuantDtype
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Share
from msnb.nn.cell import Cell
from msnb.nn.layer._quant.observer import IntegerType, QuantConfig, flow_observer, quant_config_default
from msnb.ops import operations as P


class ActQuant(Cell):
    """
    Apply an activation, and round its result to the grid of an integer type (simulated quantisation).

    Args:
        activation (Cell): The activation.
        ema (bool): Whether the range is an exponential moving average. Default: False.
        ema_decay (float): Weight of the old range in each update. Default: 0.999.
        fake_before (bool): Whether the input is quantised too. Default: False.
        quant_config (QuantConfig): Factories of the weight and activation observers, see
            `compression.quant.create_quant_config`. Default: FakeQuantWithMinMaxObserver for both.
        quant_dtype (QuantDtype): The simulated integer type. Default: QuantDtype.INT8.

    Inputs:
        - **x** (Tensor) - of any shape.

    Outputs:
        Tensor of the shape and type of the activation's output.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `ema_decay` is not in [0, 1].

    Examples:
        >>> net = nn.ActQuant(nn.ReLU())
        >>> print(net(Tensor([[1.0, 2.1, -1.0]], mindspore.float32)))
        [[0.9882354 2.1176472 0.       ]]
    """

    @checked
    def __init__(
        self,
        activation: Annotated[Cell, Instance(Cell)],
        ema: Bool = False,
        ema_decay: Share = 0.999,
        fake_before: Bool = False,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: IntegerType = QuantDtype.INT8,
    ) -> None:
        super().__init__()
        self.act = activation
        self.fake_before: bool = fake_before
        if fake_before:
            self.fake_quant_act_before: Cell = flow_observer(quant_config, quant_dtype, ema, ema_decay)
        self.fake_quant_act: Cell = flow_observer(quant_config, quant_dtype, ema, ema_decay)

    def construct(self, x: Tensor) -> Tensor:
        """Return the quantised result."""
        if self.fake_before:
            x = self.fake_quant_act_before(x)
        return self.fake_quant_act(self.act(x))

    def get_origin(self) -> Cell:
        """Return the wrapped activation."""
        return self.act


class TensorAddQuant(Cell):
    """
    Add two Tensors, and round the sum to the grid of an integer type (simulated quantisation).

    Args:
        ema_decay (float): Weight of the old range in each update. Default: 0.999.
        quant_config (QuantConfig): Factories of the weight and activation observers, see
            `compression.quant.create_quant_config`. Default: FakeQuantWithMinMaxObserver for both.
        quant_dtype (QuantDtype): The simulated integer type. Default: QuantDtype.INT8.

    Inputs:
        - **x1** (Tensor) - of any shape.
        - **x2** (Tensor) - of a shape that broadcasts with `x1`.

    Outputs:
        Tensor of the shape that both broadcast to.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `ema_decay` is not in [0, 1].

    Examples:
        >>> net = nn.TensorAddQuant()
        >>> print(net(Tensor([1.0, -2.0], mindspore.float32), Tensor([1.1, 1.0], mindspore.float32)))
        [ 2.1176472 -0.9882354]
    """

    @checked
    def __init__(
        self,
        ema_decay: Share = 0.999,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: IntegerType = QuantDtype.INT8,
    ) -> None:
        super().__init__()
        self.fake_quant_act: Cell = flow_observer(quant_config, quant_dtype, True, ema_decay)
        self.add: P.TensorAdd = P.TensorAdd()

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the quantised sum."""
        return self.fake_quant_act(self.add(x1, x2))


class MulQuant(Cell):
    """
    Multiply two Tensors element by element, and round the product to the grid of an integer type (simulated
    quantisation).

    Args:
        ema_decay (float): Weight of the old range in each update. Default: 0.999.
        quant_config (QuantConfig): Factories of the weight and activation observers, see
            `compression.quant.create_quant_config`. Default: FakeQuantWithMinMaxObserver for both.
        quant_dtype (QuantDtype): The simulated integer type. Default: QuantDtype.INT8.

    Inputs:
        - **x1** (Tensor) - of any shape.
        - **x2** (Tensor) - of a shape that broadcasts with `x1`.

    Outputs:
        Tensor of the shape that both broadcast to.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `ema_decay` is not in [0, 1].

    Examples:
        >>> net = nn.MulQuant()
        >>> print(net(Tensor([1.0, -2.0], mindspore.float32), Tensor([2.1, 0.5], mindspore.float32)))
        [ 2.1176472 -0.9882354]
    """

    @checked
    def __init__(
        self,
        ema_decay: Share = 0.999,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: IntegerType = QuantDtype.INT8,
    ) -> None:
        super().__init__()
        self.fake_quant_act: Cell = flow_observer(quant_config, quant_dtype, True, ema_decay)
        self.mul: P.Mul = P.Mul()

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the quantised product."""
        return self.fake_quant_act(self.mul(x1, x2))
