"""`FakeQuantParam`: an operator that records in a graph how values are quantised."""

from typing import Any

import jax

from msnb.common.quant_dtype import QuantDtype
from msnb.core.errors.messages import describe
from msnb.core.operator.user_primitive import PrimitiveWithInfer

__all__ = ["FakeQuantParam"]


class FakeQuantParam(PrimitiveWithInfer):
    """Returns its input unchanged. Its attributes describe how a deployed network stores the values as integers.

    Args:
        quant_dtype (QuantDtype): Type of the integers.
        quant_algo_name (str): Name of the quantisation method; `FakeQuantParam.attr_value_linear_quant_algo_name` for a
            scale and a zero point.
        is_per_channel (bool): Whether each channel has its own scale and zero point.
        kwargs: Further attributes of the operator.

    Inputs:
        - **input_x** (Tensor) - Any shape and dtype.

    Outputs:
        Tensor, `input_x`.

    Raises:
        TypeError: If `quant_dtype` is not a QuantDtype, or another argument has a wrong type.

    Examples:
        >>> from mindspore.common.dtype import QuantDtype
        >>> from mindspore.ops.operations._quant_ops import FakeQuantParam
        >>> quant = FakeQuantParam.linear_quant_param(QuantDtype.INT8, 0.5, 1)
        >>> quant.linear_quant_scale
        [0.5]
        >>> print(quant(Tensor([0.25, 1.0], mindspore.float32)))
        [0.25 1.  ]
    """

    attr_key_linear_quant_scale = "linear_quant_scale"
    attr_key_linear_quant_zero_point = "linear_quant_zero_point"
    attr_value_linear_quant_algo_name = "linear_quant_algo"

    def __init__(self, quant_dtype: QuantDtype, quant_algo_name: str, is_per_channel: bool, **kwargs: Any) -> None:
        super().__init__("FakeQuantParam")
        given = {"quant_dtype": quant_dtype, "quant_algo_name": quant_algo_name, "is_per_channel": is_per_channel}
        for (name, value), kind in zip(given.items(), (QuantDtype, str, bool), strict=True):
            if not isinstance(value, kind):
                raise TypeError(
                    f"For 'FakeQuantParam', '{name}' should be a {kind.__name__}, but got {describe(value)}."
                )
        for name, value in (given | kwargs).items():
            self.add_prim_attr(name, value)

    @classmethod
    def linear_quant_param(
        cls,
        quant_dtype: QuantDtype,
        scale: float | list[float] | tuple[float, ...],
        zp: int | list[int] | tuple[int, ...],
        is_per_channel: bool = False,
        **kwargs: Any,
    ) -> "FakeQuantParam":
        """Create the operator for integers q that represent (q - zp) * scale. `scale` and `zp` may be lists with one
        entry per channel.

        Raises:
            TypeError: If `scale` is neither a float nor a list or tuple, or `zp` neither an int nor a list or tuple.
        """
        for name, value, kind in (("scale", scale, float), ("zp", zp, int)):
            if not isinstance(value, (kind, list, tuple)) or isinstance(value, bool):
                raise TypeError(
                    f"For 'FakeQuantParam', '{name}' should be of {kind.__name__}s, but got {describe(value)}."
                )
        kwargs[cls.attr_key_linear_quant_scale] = list(scale) if isinstance(scale, (list, tuple)) else [scale]
        kwargs[cls.attr_key_linear_quant_zero_point] = list(zp) if isinstance(zp, (list, tuple)) else [zp]
        return cls(quant_dtype, cls.attr_value_linear_quant_algo_name, is_per_channel, **kwargs)

    def kernel(self, input_x: jax.Array) -> jax.Array:
        """Return the input."""
        return input_x
