"""`BiDense`: a bilinear layer of two inputs."""

import math

from msnb.common import dtype as mstype
from msnb.common.initializer import Uniform, initializer
from msnb.common.kinds import Bool, DType, PositiveInt, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_least_dims
from msnb.nn._kinds import Initial
from msnb.nn._upcast import round_to_inputs, widen
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["BiDense"]


class BiDense(Cell):
    r"""
    Bilinear layer of two inputs: :math:`y_k = x_1^T W_k x_2 + b_k`.

    Args:
        in1_channels (int): Number of features of the first input.
        in2_channels (int): Number of features of the second input.
        out_channels (int): Number of output features.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial W. Default: None,
            Uniform(1 / sqrt(in1_channels)).
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial b. Default: None, the same distribution as
            the default of `weight_init`.
        has_bias (bool): Whether b is added. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **input1** (Tensor) - of shape (..., in1_channels).
        - **input2** (Tensor) - of shape (..., in2_channels), with the leading axes of `input1`.

    Outputs:
        Tensor of shape (..., out_channels).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or the shapes do not fit.

    Examples:
        >>> net = nn.BiDense(2, 3, 1, weight_init="ones", bias_init="zeros")
        >>> print(net(Tensor([[1.0, 2.0]], mindspore.float32), Tensor([[1.0, 1.0, 2.0]], mindspore.float32)))
        [[12.]]
    """

    @checked
    def __init__(
        self,
        in1_channels: PositiveInt,
        in2_channels: PositiveInt,
        out_channels: PositiveInt,
        weight_init: Initial | None = None,
        bias_init: Initial | None = None,
        has_bias: Bool = True,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.in1_channels: int = in1_channels
        self.in2_channels: int = in2_channels
        self.out_channels: int = out_channels
        self.has_bias: bool = has_bias
        usual = Uniform(1 / math.sqrt(in1_channels))
        start = initializer(
            usual if weight_init is None else weight_init, [out_channels, in1_channels, in2_channels], dtype
        )
        self.weight: Parameter = Parameter(start, "weight")
        if has_bias:
            start = initializer(usual if bias_init is None else bias_init, [out_channels], dtype)
            self.bias: Parameter = Parameter(start, "bias")

    def construct(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return the output features."""
        check_least_dims(self.cls_name, input1, 1, "'input1'")
        around = tuple(input1.shape[:-1])
        expected_shapes = (*around, self.in1_channels), (*around, self.in2_channels)
        if (tuple(input1.shape), tuple(input2.shape)) != expected_shapes:
            raise ValueError(
                f"For '{self.cls_name}', the inputs should have shapes (..., {self.in1_channels}) and (..., "
                f"{self.in2_channels}), alike otherwise, but got {tuple(input1.shape)} and {tuple(input2.shape)}."
            )
        first = widen(input1).reshape((-1, self.in1_channels))
        second = widen(input2).reshape((-1, self.in2_channels))
        by_first = F.matmul(first, widen(self.weight.transpose(1, 2, 0)).reshape((self.in1_channels, -1)))
        products = by_first.reshape((-1, self.in2_channels, self.out_channels)) * F.expand_dims(second, -1)
        out = F.reduce_sum(products, 1)
        out = out + self.bias if self.has_bias else out
        return round_to_inputs(out.reshape((*around, self.out_channels)), input1, input2)

    def extend_repr(self) -> str:
        """Return the sizes for `repr`."""
        text = f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, out_channels={self.out_channels}"
        return f"{text}, has_bias=True" if self.has_bias else text
