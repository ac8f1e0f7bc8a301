"""A layer applied to each time step of a sequence."""

from collections.abc import Callable
from typing import Annotated, Any

from msnb.common.kinds import Int, Kind, checked
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_least_dims
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["TimeDistributed"]


def _check_layer(value):
    if not isinstance(value, (Cell, Primitive)):
        raise TypeError
    return value


Layer = Annotated[Cell | Primitive | Callable[..., Any], Kind("a Cell or a Primitive", _check_layer)]


class TimeDistributed(Cell):
    """
    Apply one layer to every time step of a sequence.

    Args:
        layer (Union[Cell, Primitive]): The layer.
        time_axis (int): The time axis.
        reshape_with_axis (int): An axis that the time axis is merged into, so that the layer is called once. It is
            correct if the layer treats elements along that axis independently, such as the batch. Default: None, one
            call per time step.

    Inputs:
        - **inputs** (Tensor) - of at least 3 dimensions.

    Outputs:
        Tensor, the results with the times in the same axis.

    Raises:
        TypeError: If `layer` has the wrong type, or an axis is no int.
        ValueError: If the input has fewer dimensions, or the layer changes the axis that the time axis was merged into.

    Examples:
        >>> net = nn.TimeDistributed(nn.Dense(3, 6), time_axis=1, reshape_with_axis=0)
        >>> print(net(Tensor(np.ones((32, 10, 3)), mindspore.float32)).shape)
        (32, 10, 6)
    """

    @checked
    def __init__(self, layer: Layer, time_axis: Int, reshape_with_axis: Int | None = None) -> None:
        super().__init__()
        self.layer: Any = layer
        self.time_axis: int = time_axis
        self.reshape_with_axis = reshape_with_axis

    def construct(self, inputs: Tensor) -> Tensor:
        """Return the stacked results of all time steps."""
        check_least_dims(self.cls_name, inputs, 3)
        times = self.time_axis % inputs.ndim
        if self.reshape_with_axis is None:
            return F.stack([self.layer(x) for x in F.unbind(inputs, times)], times)
        joined = self.reshape_with_axis % inputs.ndim
        if joined == times:
            raise ValueError(f"For '{self.cls_name}', the times cannot be joined with their own axis {joined}.")
        position = joined - (times < joined)  # position of the other axis after the time axis is removed
        order = [axis for axis in range(inputs.ndim) if axis != times]
        order.insert(position, times)  # the time axis comes right before the axis it is merged into
        x = F.transpose(inputs, tuple(order))
        many = x.shape[position : position + 2]
        out = self.layer(x.reshape((*x.shape[:position], many[0] * many[1], *x.shape[position + 2 :])))
        if out.ndim <= position or out.shape[position] != many[0] * many[1]:
            raise ValueError(
                f"For '{self.cls_name}', 'layer' should leave axis {position} as long as it is, {many[0] * many[1]}, "
                f"but gave shape {tuple(out.shape)}; try without 'reshape_with_axis'."
            )
        out = out.reshape((*out.shape[:position], *many, *out.shape[position + 1 :]))
        rest = [axis for axis in range(out.ndim) if axis != position]
        rest.insert(times, position)
        return F.transpose(out, tuple(rest))
