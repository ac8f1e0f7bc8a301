"""Observers: Cells that record the range of values and round the values to the grid of an integer type."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NamedTuple

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import Bool, Instance, NonNegInt, PositiveInt, checked
from msnb.common.quant_dtype import QuantDtype
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Real, Share
from msnb.nn.cell import Cell
from msnb.ops import operations as P

IntegerType = Annotated[QuantDtype, Instance(QuantDtype)]


class Prepared:
    """A factory of observers: an observer class with some of its arguments bound.

    Args:
        make (Callable): Creates the observer.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make: Callable[..., Any] = make

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.make(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Prepared({self.make!r})"

    def partial_init(self, **options: Any) -> "Prepared":
        """Return a copy with more arguments bound. Arguments of a call override bound ones."""
        return Prepared(partial(self.make, **options))


class UniformQuantObserver(Cell):
    """
    Base class of observers with equally spaced grid points.

    Args:
        quant_dtype (QuantDtype): The simulated integer type. Only its number of bits matters. Default:
            QuantDtype.INT8.
        per_channel (bool): Whether each channel has a separate range. Default: False.
        symmetric (bool): Whether 0 is the middle of the range. Default: False.
        narrow_range (bool): Whether the smallest integer is left out. Default: False.
        num_channels (int): Number of channels. Default: 1.
    """

    @checked
    def __init__(
        self,
        quant_dtype: IntegerType = QuantDtype.INT8,
        per_channel: Bool = False,
        symmetric: Bool = False,
        narrow_range: Bool = False,
        num_channels: PositiveInt = 1,
    ) -> None:
        super().__init__()
        self.quant_dtype = quant_dtype
        self.num_bits: int = quant_dtype.num_bits
        self.per_channel: bool = per_channel
        self.symmetric: bool = symmetric
        self.narrow_range: bool = narrow_range
        self.num_channels: int = num_channels

    @classmethod
    def partial_init(cls, **options: Any) -> Prepared:
        """Return the class with these arguments bound, for a QuantConfig."""
        return Prepared(partial(cls, **options))


class FakeQuantWithMinMaxObserver(UniformQuantObserver):
    r"""
    Simulated quantisation: values are rounded to the grid of an integer type between the smallest and the largest
    observed value. In training the range moves with each batch, and the gradient of the rounding is 1 (straight-through
    estimator).

    Args:
        min_init (Union[int, float]): Lower end of the range before the first batch. Default: -6.
        max_init (Union[int, float]): Upper end of the range before the first batch. Default: 6.
        ema (bool): Whether the range is an exponential moving average; otherwise it is that of the last batch.
            Default: False.
        ema_decay (float): Weight of the old range in each update. Default: 0.999.
        per_channel (bool): Whether each channel has a separate range. Default: False.
        channel_axis (int): The axis of the channels: 0 for weights, 1 for images. Default: 1.
        num_channels (int): Number of channels. Default: 1.
        quant_dtype (QuantDtype): The simulated integer type. Only its number of bits matters. Default:
            QuantDtype.INT8.
        symmetric (bool): Whether 0 is the middle of the range. Default: False.
        narrow_range (bool): Whether the smallest integer is left out. Default: False.
        quant_delay (int): Number of first training steps in which ranges are recorded and nothing is rounded. Default:
            0.

    Inputs:
        - **x** (Tensor) - of any shape; for `per_channel` with `num_channels` along `channel_axis`.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or `min_init` is not below `max_init`.

    Examples:
        >>> net = nn.FakeQuantWithMinMaxObserver()
        >>> print(net(Tensor([[1.0, 2.1], [-2.1, 0.0]], mindspore.float32)))
        [[ 0.9882354  2.1176472]
         [-2.1176472  0.       ]]
    """

    @checked
    def __init__(
        self,
        min_init: Real = -6,
        max_init: Real = 6,
        ema: Bool = False,
        ema_decay: Share = 0.999,
        per_channel: Bool = False,
        channel_axis: NonNegInt = 1,
        num_channels: PositiveInt = 1,
        quant_dtype: IntegerType = QuantDtype.INT8,
        symmetric: Bool = False,
        narrow_range: Bool = False,
        quant_delay: NonNegInt = 0,
    ) -> None:
        super().__init__(quant_dtype, per_channel, symmetric, narrow_range, num_channels)
        if not min_init < max_init:
            raise ValueError(
                f"For '{self.cls_name}', 'min_init' should be below 'max_init', but got {min_init} and {max_init}."
            )
        self.min_init = min_init
        self.max_init = max_init
        self.ema: bool = ema
        self.ema_decay = ema_decay
        self.channel_axis: int = channel_axis
        self.quant_delay: int = quant_delay
        self.minq: Parameter = self._create_range_parameter("quant_min", min_init)
        self.maxq: Parameter = self._create_range_parameter("quant_max", max_init)
        grid: dict[str, Any] = {"num_bits": self.num_bits, "symmetric": symmetric, "narrow_range": narrow_range}
        if per_channel:
            axis = {"channel_axis": channel_axis}
            self.ema_update = P.MinMaxUpdatePerChannel(ema=ema, ema_decay=ema_decay, **axis)
            self.fake_quant_train = P.FakeQuantPerChannel(quant_delay=quant_delay, **grid, **axis)
            self.fake_quant_infer = P.FakeQuantPerChannel(training=False, **grid, **axis)
        else:
            self.ema_update = P.MinMaxUpdatePerLayer(ema=ema, ema_decay=ema_decay)
            self.fake_quant_train = P.FakeQuantPerLayer(quant_delay=quant_delay, **grid)
            self.fake_quant_infer = P.FakeQuantPerLayer(training=False, **grid)
        self.assign: P.Assign = P.Assign()
        if quant_delay:
            # MindSpore has no such Parameter: its operator counts its own calls.
            self.quant_step: Parameter = Parameter(Tensor([0], mstype.int32), "quant_step", requires_grad=False)
            self.assign_add: P.AssignAdd = P.AssignAdd()

    def _create_range_parameter(self, name, value):
        channels = self.num_channels if self.per_channel else 1
        return Parameter(initializer(value, [channels]), name, requires_grad=False)

    def construct(self, x: Tensor) -> Tensor:
        """Return the rounded numbers."""
        if not self.training:
            return self.fake_quant_infer(x, self.minq, self.maxq)
        low, high = self.ema_update(x, self.minq, self.maxq)
        self.assign(self.minq, low)
        self.assign(self.maxq, high)
        if not self.quant_delay:
            return self.fake_quant_train(x, low, high)
        y = self.fake_quant_train(x, low, high, self.quant_step)
        self.assign_add(self.quant_step, Tensor([1], mstype.int32))
        return y

    def extend_repr(self) -> str:
        """Return the type and the range for `repr`."""
        names = ("quant_dtype", "symmetric", "narrow_range", "ema", "ema_decay", "per_channel", "channel_axis")
        names += ("num_channels", "quant_delay", "min_init", "max_init")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class QuantConfig(NamedTuple):
    """Factories of the observers of a layer.

    Attributes:
        weight (Callable): Creates the observer of the weight.
        activation (Callable): Creates the observer of activations.
    """

    weight: Callable[..., Any]
    activation: Callable[..., Any]


quant_config_default: QuantConfig = QuantConfig(FakeQuantWithMinMaxObserver, FakeQuantWithMinMaxObserver)


def weight_observer(quant_config: QuantConfig, quant_dtype: QuantDtype, num_channels: int) -> Cell:
    """Return the observer of a weight whose axis 0 is the output channels."""
    return quant_config.weight(
        min_init=-6, max_init=6, ema=False, channel_axis=0, num_channels=num_channels, quant_dtype=quant_dtype
    )


def flow_observer(quant_config: QuantConfig, quant_dtype: QuantDtype, ema: bool, ema_decay: float) -> Cell:
    """Return the observer of activations."""
    return quant_config.activation(min_init=-6, max_init=6, ema=ema, ema_decay=ema_decay, quant_dtype=quant_dtype)
