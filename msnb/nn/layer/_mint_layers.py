"""Layers of `mindspore.mint.nn`. In `mindspore.nn` most of their names end in Ext."""

from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.initializer import Normal, initializer
from msnb.common.kinds import Bool, DType, Float, Int, Kind, OneOf, PositiveInt, accept_value, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteFloat, FiniteNumber
from msnb.nn._kinds import (
    AboveZero,
    Initial,
    OptionalTensor,
    Share,
    first_bias,
    first_weight,
)
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = [
    "Dropout2dExt",
    "DropoutExt",
    "EmbeddingExt",
    "LayerNormExt",
    "Linear",
    "LogSoftmaxExt",
    "PReLUExt",
]

InPlace = Annotated[bool, OneOf(False, otherwise="the result is a Tensor of its own")]


def _check_shape(value):
    sizes = value if isinstance(value, (tuple, list)) else (value,)
    if not sizes:
        raise ValueError
    return tuple(accept_value(PositiveInt, size) for size in sizes)


Sizes = Annotated[int | tuple[int, ...] | list[int], Kind("a positive int, or a tuple or list of them", _check_shape)]


class Linear(Cell):
    r"""
    Fully connected layer: :math:`x W^T + b`.

    Args:
        in_features (int): Number of input features.
        out_features (int): Number of output features.
        bias (bool): Whether b is added. Default: True.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): Initial W. Default: None, HeUniform(sqrt(5)).
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): Initial b. Default: None,
            Uniform(1 / sqrt(in_features)).
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **x** (Tensor) - with `in_features` features in the last axis.

    Outputs:
        Tensor with `out_features` features in the last axis.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or a given Tensor has another shape.

    Examples:
        >>> net = nn.Linear(3, 2, weight_init="ones", bias=False)
        >>> print(net(Tensor([[1.0, 2.0, 3.0]], mindspore.float32)))
        [[6. 6.]]
    """

    @checked
    def __init__(
        self,
        in_features: PositiveInt,
        out_features: PositiveInt,
        bias: Bool = True,
        weight_init: Initial | None = None,
        bias_init: Initial | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in_features: int = in_features
        self.out_features: int = out_features
        self.has_bias: bool = bias
        kind = dtype or mstype.float32
        start = initializer(first_weight(weight_init), [out_features, in_features], kind)
        self.weight: Parameter = Parameter(start, "weight")
        self.bias: Parameter | None = None
        if bias:
            self.bias = Parameter(initializer(first_bias(bias_init, in_features), [out_features], kind), "bias")

    def construct(self, x: Tensor) -> Tensor:
        """Return the output features."""
        return F.dense(x, self.weight, self.bias)

    def extend_repr(self) -> str:
        """Return the sizes for `repr`."""
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return f"{text}, has_bias=True" if self.has_bias else text


class LayerNormExt(Cell):
    r"""
    Layer normalisation (Ba et al., 2016) over the last axes: :math:`y = w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        normalized_shape (Union[int, tuple[int], list[int]]): The shape of the last axes.
        eps (float): Added to the variance under the square root. Default: 1e-5.
        elementwise_affine (bool): Whether w and b are learned. Default: True.
        bias (bool): Whether b is learned. Default: True.
        dtype (mindspore.dtype): Element type of the Parameters. Default: None, float32.

    Inputs:
        - **input** (Tensor) - its last axes have the shape `normalized_shape`.

    Outputs:
        Tensor of the shape and type of `input`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a size is less than 1, or the input has another shape.

    Examples:
        >>> print(nn.LayerNormExt(2)(Tensor([[1.0, 3.0]], mindspore.float32)).asnumpy().round(3))
        [[-1.  1.]]
    """

    @checked
    def __init__(
        self,
        normalized_shape: Sizes,
        eps: FiniteFloat = 1e-5,
        elementwise_affine: Bool = True,
        bias: Bool = True,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape: Any = normalized_shape
        self.eps: float = eps
        self.elementwise_affine: bool = elementwise_affine
        kind = dtype or mstype.float32
        self.weight: Parameter | None = None
        self.bias: Parameter | None = None
        if elementwise_affine:
            self.weight = Parameter(initializer("ones", normalized_shape, kind), "weight")
            if bias:
                self.bias = Parameter(initializer("zeros", normalized_shape, kind), "bias")

    def construct(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        if tuple(input.shape[-len(self.normalized_shape) :]) != self.normalized_shape:
            raise ValueError(
                f"For '{self.cls_name}', the last axes of the input should be {self.normalized_shape}, but got shape "
                f"{tuple(input.shape)}."
            )
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        """Return shape, epsilon and `elementwise_affine` for `repr`."""
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class PReLUExt(Cell):
    """
    PReLU: a learned slope for negative numbers, one for all channels or one per channel (He et al., 2015).

    Args:
        num_parameters (int): Number of learned slopes: 1, or the size of axis 1 of the input. Default: 1.
        init (float): Initial value of the slopes. Default: 0.25.
        dtype (mindspore.dtype): Element type of the Parameter. Default: None, float32.

    Inputs:
        - **input** (Tensor) - float, of shape (N, C, ...).

    Outputs:
        Tensor of the shape and type of `input`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `num_parameters` is less than 1, or neither 1 nor the number of channels.

    Examples:
        >>> print(nn.PReLUExt()(Tensor([[-1.0, 2.0]], mindspore.float32)))
        [[-0.25  2.  ]]
    """

    @checked
    def __init__(self, num_parameters: PositiveInt = 1, init: FiniteNumber = 0.25, dtype: DType | None = None) -> None:
        super().__init__()
        start = initializer(init, [num_parameters], dtype or mstype.float32)
        self.weight: Parameter = Parameter(start, "weight")

    def construct(self, input: Tensor) -> Tensor:
        """Return the rectified numbers."""
        return F.prelu(input, self.weight)


class LogSoftmaxExt(Cell):
    """
    Logarithm of Softmax.

    Args:
        dim (int): The axis of the sum. Default: None, which is 0 for inputs with 0, 1 or 3 dimensions, and 1 for
            others.

    Inputs:
        - **x** (Tensor) - float, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `dim` is no int.
        ValueError: If `x` has no such axis.

    Examples:
        >>> print(nn.LogSoftmaxExt(-1)(Tensor([[1.0, 1.0]], mindspore.float32)))
        [[-0.6931472 -0.6931472]]
    """

    @checked
    def __init__(self, dim: Int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        """Return the logarithms."""
        return F.log_softmax(x, (0 if x.ndim in (0, 1, 3) else 1) if self.dim is None else self.dim)


class DropoutExt(Cell):
    """
    Dropout: in training, random elements become 0 and the others are scaled, so that the expected sum is unchanged.

    Args:
        p (float): Probability that an element becomes 0, in [0, 1]. Default: 0.5.
        inplace (bool): No effect: the result is a new Tensor. Default: False.

    Inputs:
        - **input** (Tensor) - float, of any shape.

    Outputs:
        Tensor of the shape and type of `input`.

    Raises:
        TypeError: If `p` is no number.
        ValueError: If it is out of range.

    Examples:
        >>> net = nn.DropoutExt(0.2).set_train()
        >>> print(net(Tensor(np.ones((2, 3)), mindspore.float32)).shape)
        (2, 3)
    """

    _may_return_input = True

    @checked
    def __init__(self, p: Share = 0.5, inplace: InPlace = False) -> None:
        super().__init__()
        self.p = float(p)
        self.inplace = inplace

    def construct(self, input: Tensor) -> Tensor:
        """Apply dropout."""
        return F.dropout(input, self.p, self.training)


class Dropout2dExt(DropoutExt):
    """
    Dropout of channels of images: in training, random channels become 0 and the others are scaled, so that the expected
    sum is unchanged.

    Args:
        p (float): Probability that a channel becomes 0, in [0, 1]. Default: 0.5.
        inplace (bool): No effect: the result is a new Tensor. Default: False.

    Inputs:
        - **input** (Tensor) - float, of shape (N, C, H, W).

    Outputs:
        Tensor of the shape and type of `input`.

    Raises:
        TypeError: If `p` is no number.
        ValueError: If it is out of range, or the input has a wrong number of dimensions.

    Examples:
        >>> net = nn.Dropout2dExt(0.2).set_train()
        >>> print(net(Tensor(np.ones((2, 3, 4, 4)), mindspore.float32)).shape)
        (2, 3, 4, 4)
    """

    def construct(self, input: Tensor) -> Tensor:
        """Apply dropout."""
        return F.dropout2d(input, self.p, self.training)


class EmbeddingExt(Cell):
    """
    Embedding table: look up a learned vector for each index.

    Args:
        num_embeddings (int): Number of vectors.
        embedding_dim (int): Length of each vector.
        padding_idx (int): Index of a vector that is initialised to 0 and not trained. Default: None.
        max_norm (float): Maximum norm of a vector; longer vectors are scaled down when they are looked up. Default:
            None.
        norm_type (float): Order of that norm. Default: 2.0.
        scale_grad_by_freq (bool): Divide the gradient of a vector by how often the input has its index.
            Default: False.
        sparse (bool): Only False. Default: False.
        _weight (Tensor): Initial table. Default: None, values of a normal distribution.
        _freeze (bool): Whether the table is not trained. Default: False.
        dtype (mindspore.dtype): Element type of the table. Default: None, float32.

    Inputs:
        - **input** (Tensor) - indices, int32 or int64, of any shape.

    Outputs:
        Tensor with an additional axis for the vectors.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or `_weight` has another shape.

    Examples:
        >>> net = nn.EmbeddingExt(4, 2)
        >>> print(net(Tensor([[1, 0, 3]], mindspore.int32)).shape)
        (1, 3, 2)
    """

    @checked
    def __init__(
        self,
        num_embeddings: PositiveInt,
        embedding_dim: PositiveInt,
        padding_idx: Int | None = None,
        max_norm: AboveZero | None = None,
        norm_type: Float = 2.0,
        scale_grad_by_freq: Bool = False,
        sparse: Annotated[bool, OneOf(False)] = False,
        _weight: OptionalTensor = None,
        _freeze: Bool = False,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        shape = (num_embeddings, embedding_dim)
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"For '{self.cls_name}', 'padding_idx' should be in [{-num_embeddings}, {num_embeddings}), "
                f"but got {padding_idx}."
            )
        if _weight is not None and tuple(_weight.shape) != shape:
            raise ValueError(f"For '{self.cls_name}', '_weight' should have shape {shape}, but got {_weight.shape}.")
        self.num_embeddings: int = num_embeddings
        self.embedding_dim: int = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type: float = norm_type
        self.scale_grad_by_freq: bool = scale_grad_by_freq
        self.sparse: bool = sparse
        self.dtype: Any = dtype or mstype.float32
        if _weight is None:
            start = initializer(Normal(1.0, 0.0), shape, self.dtype).asnumpy().copy()
            if padding_idx is not None:
                start[padding_idx] = 0
            _weight = Tensor(start, self.dtype)
        self.weight: Parameter = Parameter(_weight, "weight", requires_grad=not _freeze)

    def construct(self, input: Tensor) -> Tensor:
        """Return the vectors."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)

    def extend_repr(self) -> str:
        """Return the sizes and settings for `repr`."""
        names = (
            "num_embeddings",
            "embedding_dim",
            "padding_idx",
            "max_norm",
            "norm_type",
            "scale_grad_by_freq",
            "dtype",
        )
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)
