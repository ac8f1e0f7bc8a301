"""Basic layers: Dense, Dropout, Flatten, OneHot. Layers on norms, matrices and images are re-exported."""

from typing import TYPE_CHECKING, Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.kinds import (
    Between,
    Bool,
    DType,
    Float,
    Int,
    Kind,
    NonNegInt,
    OneOf,
    PositiveInt,
    StrictFloat,
    accept_value,
    checked,
)
from msnb.core.operator import api_generations
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import check_least_dims
from msnb.nn._kinds import FIRST_WEIGHTS, Initial, NumberType, first_bias, first_weight
from msnb.nn.cell import Cell
from msnb.nn.layer._image_resize import Pad, ResizeBilinear, Unfold
from msnb.nn.layer._matrix_diagonal import MatrixDiag, MatrixDiagPart, MatrixSetDiag, Tril, Triu
from msnb.nn.layer._norm.vector_norm import ClipByNorm, L1Regularizer, Norm
from msnb.nn.layer._reshape import Flatten, Roll, Unflatten
from msnb.nn.layer.activation import get_activation
from msnb.ops import operations as P

if TYPE_CHECKING:  # used in annotations only
    pass

__all__ = [
    "Dropout",
    "Flatten",
    "Dense",
    "ClipByNorm",
    "Norm",
    "OneHot",
    "Pad",
    "Unfold",
    "Tril",
    "Triu",
    "ResizeBilinear",
    "MatrixDiag",
    "MatrixDiagPart",
    "MatrixSetDiag",
    "L1Regularizer",
    "Identity",
    "Roll",
    "Unflatten",
]


def _check_activation(value):
    layer = get_activation(value) if isinstance(value, str) else value
    if layer is not None and not isinstance(layer, (Cell, Primitive)):
        raise TypeError
    return layer


# The name of an activation is replaced by its layer.
Activation = Annotated[
    str | Cell | Primitive | None, Kind("the name of an activation, a Cell, a Primitive or None", _check_activation)
]


@differs_in_api2(FIRST_WEIGHTS, weight_init=None, bias_init=None)
class Dense(Cell):
    r"""
    Fully connected layer: :math:`f(x W^T + b)`.

    Args:
        in_channels (int): Number of input features.
        out_channels (int): Number of output features.
        weight_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial W; None is HeUniform(sqrt(5)).
            Default: "normal", in MindSpore 2 None.
        bias_init (Union[Tensor, str, Initializer, numbers.Number, None]): Initial b; None is
            Uniform(1 / sqrt(in_channels)). Default: "zeros", in MindSpore 2 None.
        has_bias (bool): Whether b is added. Default: True.
        activation (Union[str, Cell, Primitive]): The function f. Default: None, the identity.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **x** (Tensor) - with `in_channels` features in the last axis.

    Outputs:
        Tensor with `out_channels` features in the last axis.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or a given Tensor has another shape.

    Examples:
        >>> net = nn.Dense(3, 2, weight_init="ones")
        >>> print(net(Tensor([[1.0, 2.0, 3.0]], mindspore.float32)))
        [[6. 6.]]
    """

    @checked
    def __init__(
        self,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        weight_init: Initial | None = "normal",
        bias_init: Initial | None = "zeros",
        has_bias: Bool = True,
        activation: Activation = None,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.has_bias: bool = has_bias
        self.weight: Parameter = Parameter(
            initializer(first_weight(weight_init), [out_channels, in_channels], dtype), "weight"
        )
        self.matmul: P.MatMul = P.MatMul(transpose_b=True)
        self.bias: Parameter | None = None
        if has_bias:
            self.bias = Parameter(initializer(first_bias(bias_init, in_channels), [out_channels], dtype), "bias")
            self.bias_add: P.BiasAdd = P.BiasAdd()
        self.reshape: P.Reshape = P.Reshape()
        self.activation = activation
        self.activation_flag: bool = activation is not None

    @property
    def _input_requirement(self):
        return self.in_channels, -1, f"a last axis of {self.in_channels}"

    def construct(self, x: Tensor) -> Tensor:
        """Return the output features."""
        check_least_dims(self.cls_name, x, 1)
        is_matrix = x.ndim == 2
        y = self.matmul(x if is_matrix else self.reshape(x, (-1, x.shape[-1])), self.weight)
        if self.has_bias:
            y = self.bias_add(y, self.bias)
        if not is_matrix:
            y = self.reshape(y, (*x.shape[:-1], self.out_channels))
        return self.activation(y) if self.activation_flag else y

    def extend_repr(self) -> str:
        """Return sizes, bias and activation for `repr`."""
        settings = {"input_channels": self.in_channels, "output_channels": self.out_channels}
        if self.has_bias:
            settings["has_bias"] = True
        if self.activation_flag:
            settings["activation"] = self.activation
        return ", ".join(f"{name}={value}" for name, value in settings.items())


def _accept_keep_prob(value):
    """Return `keep_prob` if it is a float in (0, 1]. As in MindSpore, the range is checked before the type."""
    if not 0 < accept_value(Float, value) <= 1:
        raise ValueError
    return accept_value(StrictFloat, value)


@differs_in_api2("'p' comes after 'keep_prob'", "keep_prob", "p", "dtype")
class Dropout(Cell):
    r"""
    Dropout (Srivastava et al., 2014): in training, random elements become 0 and the others are scaled so that the
        expected sum is unchanged. In evaluation, the initial mode, the input is returned unchanged.

    Args:
        keep_prob (float): Probability that an element is not dropped, in (0, 1]. Default: 0.5.
        dtype (:class:`mindspore.dtype`): No effect: the result has the type of the input. Default: mindspore.float32.
        p (float): Probability that an element becomes 0, in [0, 1). MindSpore 2 has it instead of `keep_prob`.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If a probability is no float, or `dtype` no type of numbers.
        ValueError: If a probability is out of range.

    Examples:
        >>> net = nn.Dropout(keep_prob=0.8).set_train()
        >>> print(net(Tensor(np.ones((2, 3)), mindspore.float32)).shape)
        (2, 3)
    """

    _may_return_input = True

    @checked
    def __init__(
        self,
        keep_prob: Annotated[float, Kind("a float in (0, 1]", _accept_keep_prob)] = 0.5,
        dtype: Annotated[
            Any, OneOf(mstype.float32, otherwise="the result has the type of the input", among=NumberType)
        ] = mstype.float32,
        *,
        p: Annotated[float, Between(Float, 0, 1, high_in=False)] | None = None,
    ) -> None:
        super().__init__()
        self.keep_prob: float = keep_prob if p is None else 1.0 - p
        self.p: float | None = p
        self.dropout: P.Dropout = P.Dropout(self.keep_prob)

    @property
    def dropout_gen_mask(self) -> P.Dropout:
        """The dropout operator, under its name in r1.1, whose networks call `shard` on it."""
        return self.dropout

    dropout_do_mask = dropout_gen_mask

    def construct(self, x: Tensor) -> Tensor:
        """Apply dropout."""
        if self.training and self.keep_prob != 1:
            return self.dropout(x)[0]
        return x

    def extend_repr(self) -> str:
        """Return the probability for `repr`."""
        if api_generations.shared == 1:
            return f"keep_prob={self.keep_prob}"
        return f"p={round(1 - self.keep_prob, 12) if self.p is None else self.p}"


class Identity(Cell):
    """
    Return the input unchanged.

    Inputs:
        - **x** (Any) - anything.

    Outputs:
        `x`.

    Examples:
        >>> print(nn.Identity()(Tensor([1, 2])))
        [1 2]
    """

    _may_return_input = True

    def construct(self, x: Any) -> Any:
        """Return `x`."""
        return x


class OneHot(Cell):
    """
    One-hot vectors: `on_value` at the index, `off_value` elsewhere.

    Args:
        axis (int): Axis of the one-hot vectors in the output; -1 is the last. Default: -1.
        depth (int): Length of the vectors. Default: 1.
        on_value (float): The value at the index. Default: 1.0.
        off_value (float): The value elsewhere. Default: 0.0.
        dtype (:class:`mindspore.dtype`): The element type. Default: mindspore.float32.

    Inputs:
        - **indices** (Tensor) - the indices, int32 or int64, of any shape.

    Outputs:
        Tensor with one axis more.

    Raises:
        TypeError: If `axis` or `depth` is no int, or `indices` are no integers.
        ValueError: If `axis` is out of range, or `depth` is negative.

    Examples:
        >>> print(nn.OneHot(depth=3)(Tensor([2, 0], mindspore.int32)))
        [[0. 0. 1.]
         [1. 0. 0.]]
    """

    @checked
    def __init__(
        self,
        axis: Int = -1,
        depth: NonNegInt = 1,
        on_value: float = 1.0,
        off_value: float = 0.0,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self.onehot: P.OneHot = P.OneHot(axis)
        self.depth: int = depth
        self.on_value: Tensor = Tensor(on_value, dtype)
        self.off_value: Tensor = Tensor(off_value, dtype)

    def construct(self, indices: Tensor) -> Tensor:
        """Return the vectors."""
        return self.onehot(indices, self.depth, self.on_value, self.off_value)
