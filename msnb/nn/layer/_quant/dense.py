"""Dense with simulated quantisation of the weight."""

from msnb.common.arguments import answered
from msnb.common.kinds import Bool, PositiveInt, readable
from msnb.common.quant_dtype import QuantDtype
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_least_dims
from msnb.nn._kinds import Initial
from msnb.nn.cell import Cell
from msnb.nn.layer._quant.observer import IntegerType, QuantConfig, quant_config_default, weight_observer
from msnb.nn.layer.basic import Activation, Dense


class DenseQuant(Dense):
    """
    Dense whose weight is rounded to the grid of an integer type (simulated quantisation).

    Args:
        in_channels (int): Number of input features.
        out_channels (int): Number of output features.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial bias. Default: "zeros".
        has_bias (bool): As in Dense. Default: True.
        activation (Union[str, Cell, Primitive]): As in Dense. Default: None.
        quant_config (QuantConfig): Factories of the weight and activation observers, see
            `compression.quant.create_quant_config`. Default: FakeQuantWithMinMaxObserver for both.
        quant_dtype (QuantDtype): The simulated integer type. Default: QuantDtype.INT8.

    Inputs:
        - **x** (Tensor) - with `in_channels` features in the last axis.

    Outputs:
        Tensor with `out_channels` features in the last axis.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: As in Dense.

    Examples:
        >>> net = nn.DenseQuant(3, 6)
        >>> print(net(Tensor(np.ones((2, 3)), mindspore.float32)).shape)
        (2, 6)
    """

    @answered
    @readable
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        weight_init: Initial = "normal",
        bias_init: Initial = "zeros",
        has_bias: Bool = True,
        activation: Activation = None,
        quant_config: QuantConfig = quant_config_default,
        quant_dtype: IntegerType = QuantDtype.INT8,
    ) -> None:
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        self.quant_config = quant_config
        self.quant_dtype = quant_dtype
        self.fake_quant_weight: Cell = weight_observer(quant_config, quant_dtype, out_channels)

    def construct(self, x: Tensor) -> Tensor:
        """Return the output features."""
        check_least_dims(self.cls_name, x, 1)
        is_matrix = x.ndim == 2
        rows = x if is_matrix else self.reshape(x, (-1, x.shape[-1]))
        y = self.matmul(rows, self.fake_quant_weight(self.weight))
        if self.has_bias:
            y = self.bias_add(y, self.bias)
        if not is_matrix:
            y = self.reshape(y, (*x.shape[:-1], self.out_channels))
        return self.activation(y) if self.activation_flag else y
