"""Blocks of a converted network: Conv2d or Dense in integer arithmetic, or in floats with the recorded ranges as
attributes."""

from collections.abc import Mapping
from typing import Any

from msnb.common import dtype as mstype
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import operations as P


class QuantBlock(Cell):
    """
    Conv2d or Dense in 8-bit integer arithmetic. Input and output are floats. It cannot be trained.

    Args:
        core_op (Primitive): Conv2D or MatMul.
        weight (Tensor): The weight, int8; for MatMul of shape (in, out).
        quant_op (Quant): Quantises the input.
        dequant_op (Dequant): Converts the integer sums to floats.
        dequant_scale (Tensor): Product of the quantisation steps of input and weight.
        bias (Tensor): The bias in multiples of `dequant_scale`, int32. Default: None.
        activation (Union[Cell, Primitive]): Activation after the operator. Default: None.
        weight_offset (Tensor): Zero point of the weight: one integer, or one per channel. Default: None, 0.

    Inputs:
        - **x** (Tensor) - (N, C, H, W) or (..., C), float.

    Outputs:
        Tensor, float32.
    """

    def __init__(
        self,
        core_op: Primitive,
        weight: Tensor,
        quant_op: P.Quant,
        dequant_op: P.Dequant,
        dequant_scale: Tensor,
        bias: Tensor | None = None,
        activation: Cell | Primitive | None = None,
        weight_offset: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.core_op = core_op
        self.weight = weight
        self.quant = quant_op
        self.dequant = dequant_op
        self.dequant_scale = dequant_scale
        self.bias = bias
        self.has_bias: bool = bias is not None
        self.activation = activation
        self.has_act: bool = activation is not None
        self.weight_offset: Tensor = Tensor([0], mstype.int32) if weight_offset is None else weight_offset
        self.cast: P.Cast = P.Cast()
        self.reshape: P.Reshape = P.Reshape()

    def construct(self, x: Tensor) -> Tensor:
        """Return the dequantised result of integer arithmetic."""
        shape = x.shape
        is_product = self.weight.ndim == 2
        if is_product and x.ndim != 2:
            x = self.reshape(x, (-1, shape[-1]))
        # The operators take floats; float64 represents every sum of such integers exactly.
        steps = self.cast(self.quant(x), mstype.float64) - round(self.quant.offset)
        along = (1, -1) if is_product else (-1, 1, 1, 1)
        offset = self.reshape(self.cast(self.weight_offset, mstype.float64), along)
        y = self.core_op(steps, self.cast(self.weight, mstype.float64) - offset)
        if self.has_bias:
            y = y + self.reshape(self.cast(self.bias, mstype.float64), along if is_product else (1, -1, 1, 1))
        y = self.dequant(self.cast(y, mstype.int32), self.dequant_scale)
        y = self.cast(y, mstype.float32)
        if is_product and len(shape) != 2:
            y = self.reshape(y, (*shape[:-1], self.weight.shape[1]))
        return self.activation(y) if self.has_act else y

    def extend_repr(self) -> str:
        """Return operators and shapes for `repr`."""
        text = f"quant={self.quant}, core_op={self.core_op.name}, weight=shape{list(self.weight.shape)}"
        if self.has_bias:
            text += f", bias=shape{list(self.bias.shape)}"
        return text + (f", activation={self.activation}" if self.has_act else "")


class QuantMindirBlock(Cell):
    """
    Conv2d or Dense in floats whose operator has the ranges of weight, input and output as attributes. An exporter can
    convert it to integers.

    Args:
        core_op (Primitive): Conv2D or MatMul.
        weight (Tensor): The weight; for MatMul of shape (in, out).
        bias (Tensor): The bias. Default: None.
        activation (Union[Cell, Primitive]): Activation after the operator. Default: None.
        param_dict (dict): The attributes by name: numbers, arrays or strings. Numbers are converted to arrays. An
            attribute None is omitted. Default: None.

    Inputs:
        - **x** (Tensor) - (N, C, H, W) or (N, C), float.

    Outputs:
        Tensor, of the type of `x`.
    """

    def __init__(
        self,
        core_op: Primitive,
        weight: Tensor,
        bias: Tensor | None = None,
        activation: Cell | Primitive | None = None,
        param_dict: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        for name, value in (param_dict or {}).items():
            if value is not None:
                core_op.add_prim_attr(name, value if isinstance(value, str) else Tensor(value).asnumpy())
        self.core_op = core_op
        self.weight = weight
        self.bias = bias
        self.has_bias: bool = bias is not None
        self.activation = activation
        self.has_act: bool = activation is not None
        self.bias_add: P.BiasAdd = P.BiasAdd()

    def construct(self, x: Tensor) -> Tensor:
        """Return the result, computed in floats."""
        y = self.core_op(x, self.weight)
        if self.has_bias:
            y = self.bias_add(y, self.bias)
        return self.activation(y) if self.has_act else y

    def extend_repr(self) -> str:
        """Return the operator and shapes for `repr`."""
        return f"core_op={self.core_op}, weight=shape{list(self.weight.shape)}"
