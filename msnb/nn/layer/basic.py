"""Basic layers: Dense, Dropout, Flatten, norms, one-hot; those on images and matrices are re-exported."""

import math

from msnb import log
from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.core.primitive import Primitive
from msnb.core.tensor import Parameter, Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer._matrix import MatrixDiag, MatrixDiagPart, MatrixSetDiag, Tril, Triu
from msnb.nn.layer._spatial import Pad, ResizeBilinear, Unfold
from msnb.nn.layer.activation import get_activation
from msnb.ops import operations as P

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
]


def activation_layer(activation):
    """The Cell or Primitive that `activation` (a name, a Cell, a Primitive or None) means."""
    layer = get_activation(activation) if isinstance(activation, str) else activation
    if layer is not None and not isinstance(layer, (Cell, Primitive)):
        raise TypeError(f"The activation must be str or Cell or Primitive, but got {activation!r}.")
    return layer


class L1Regularizer(Cell):
    """
    L1 regularisation: scale * sum(abs(weights)).

    Args:
        scale (Union[int, float]): The factor, greater than 0 and finite.

    Inputs:
        - **weights** (Tensor) - a number Tensor of any shape.

    Outputs:
        Tensor, a float32 scalar.

    Raises:
        TypeError: If `scale` is neither an int nor a float.
        ValueError: If `scale` is not greater than 0, or not finite.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.L1Regularizer(0.5)
        >>> output = net(Tensor(np.array([[1.0, -2.0], [-3.0, 4.0]]).astype(np.float32)))
        >>> print(output)
        5.0
    """

    def __init__(self, scale):
        super().__init__()
        Validator.check_value_type("scale", scale, [int, float], self.cls_name)
        if scale <= 0:
            raise ValueError(f"For 'L1Regularizer', 'scale' should be greater than 0, but got {scale}.")
        if math.isinf(scale) or math.isnan(scale):
            raise ValueError(f"For 'L1Regularizer', 'scale' should be finite, but got {scale}.")
        self.abs = P.Abs()
        self.reduce_sum = P.ReduceSum()
        self.scale = Tensor(scale, dtype=mstype.float32)

    def construct(self, weights):
        Validator.check_type_name("weights", weights.dtype, mstype.number_type, self.cls_name)
        return self.scale * self.reduce_sum(self.abs(weights))


class Dropout(Cell):
    r"""
    While training, set elements to zero at random and divide the others by `keep_prob` (Srivastava et al., 2014).
    After construction, and after `set_train(False)`, the input is returned as it is.

    Args:
        keep_prob (float): The probability of KEEPING an element, in (0, 1]. Default: 0.5.
        dtype (:class:`mindspore.dtype`): No effect: the result has the type of the input. Default: mindspore.float32.
        p (float): The probability of dropping, in [0, 1), as newer versions have it; instead of `keep_prob`.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `keep_prob` is not a float, or `dtype` not a number type.
        ValueError: If `keep_prob` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Dropout(keep_prob=0.8).set_train()
        >>> output = net(Tensor(np.ones([2, 2, 3]), mindspore.float32))
        >>> print(output.shape)
        (2, 2, 3)
    """

    def __init__(self, keep_prob=0.5, dtype=mstype.float32, *, p=None):
        super().__init__()
        if p is not None:
            Validator.check_value_type("p", p, [float, int], self.cls_name)
            if not 0 <= p < 1:
                raise ValueError(f"For 'Dropout', 'p' should be a number in range [0, 1), but got {p}.")
            keep_prob = 1.0 - p
        Validator.check_value_type("keep_prob", keep_prob, [float, int], self.cls_name)
        if keep_prob <= 0 or keep_prob > 1:
            raise ValueError(f"dropout probability should be a number in range (0, 1], but got {keep_prob}.")
        Validator.check_value_type("keep_prob", keep_prob, [float], self.cls_name)
        Validator.check_subclass("dtype", dtype, mstype.number_type, self.cls_name)
        log.unused(self.cls_name, "the result has the type of the input", dtype=dtype != mstype.float32)
        self.keep_prob = keep_prob
        self.dropout = P.Dropout(keep_prob)

    def construct(self, x):
        if not self.training or self.keep_prob == 1:
            return x
        output, _ = self.dropout(x)
        return output

    def extend_repr(self):
        return f"keep_prob={self.keep_prob}"


class Flatten(Cell):
    """
    Make a matrix: axis 0 stays, the others become one.

    Inputs:
        - **x** (Tensor) - of shape (N, ...).

    Outputs:
        Tensor of shape (N, X), where X is the product of the other sizes.

    Raises:
        TypeError: If `x` is not a Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Flatten()
        >>> output = net(Tensor(np.ones([2, 1, 3, 4]), mindspore.float32))
        >>> print(output.shape)
        (2, 12)
    """

    def __init__(self):
        super().__init__()
        self.reshape = P.Reshape()

    def construct(self, x):
        if not isinstance(x, Tensor):
            raise TypeError(f"For 'Flatten', the input should be a Tensor, but got {x!r} of type {type(x).__name__}.")
        return self.reshape(x, (x.shape[0], math.prod(x.shape[1:])))


class Identity(Cell):
    """
    Return the input as it is.

    Inputs:
        - **x** (Any) - anything.

    Outputs:
        `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def construct(self, x):
        return x


class Dense(Cell):
    r"""
    The fully connected layer: :math:`activation(x W^T + b)`.

    Args:
        in_channels (int): The size of the last axis of the input.
        out_channels (int): The size of the last axis of the output.
        weight_init (Union[Tensor, str, Initializer, numbers.Number]): The initial weight. Default: "normal".
        bias_init (Union[Tensor, str, Initializer, numbers.Number]): The initial bias. Default: "zeros".
        has_bias (bool): Whether a bias is added. Default: True.
        activation (Union[str, Cell, Primitive]): What is applied to the output. Default: None.

    Inputs:
        - **x** (Tensor) - of shape (..., in_channels).

    Outputs:
        Tensor of shape (..., out_channels).

    Raises:
        TypeError: If `in_channels` or `out_channels` is not an int, `has_bias` not a bool, or `activation` not one of
            the above.
        ValueError: If a size is less than 1, or the shape of a given Tensor does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Dense(3, 4)
        >>> output = net(Tensor(np.array([[180, 234, 154], [244, 48, 247]]), mindspore.float32))
        >>> print(output.shape)
        (2, 4)
    """

    def __init__(
        self, in_channels, out_channels, weight_init="normal", bias_init="zeros", has_bias=True, activation=None
    ):
        super().__init__()
        self.in_channels = Validator.check_positive_int(in_channels, "in_channels", self.cls_name)
        self.out_channels = Validator.check_positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = Validator.check_bool(has_bias, "has_bias")
        self.weight = Parameter(initializer(weight_init, [out_channels, in_channels]), name="weight")
        self.bias = None
        if has_bias:
            self.bias = Parameter(initializer(bias_init, [out_channels]), name="bias")
            self.bias_add = P.BiasAdd()
        self.matmul = P.MatMul(transpose_b=True)
        self.reshape = P.Reshape()
        self.activation = activation_layer(activation)
        self.activation_flag = self.activation is not None

    def construct(self, x):
        shape = x.shape
        if len(shape) != 2:
            x = self.reshape(x, (-1, shape[-1]))
        x = self.matmul(x, self.weight)
        if self.has_bias:
            x = self.bias_add(x, self.bias)
        if len(shape) != 2:
            x = self.reshape(x, (*shape[:-1], self.out_channels))
        if self.activation_flag:
            x = self.activation(x)
        return x

    def extend_repr(self):
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        if self.activation_flag:
            text += f", activation={self.activation}"
        return text


class ClipByNorm(Cell):
    r"""
    Clip to an L2 norm: :math:`x \cdot c / \max(\|x\|_2, c)`.

    Args:
        axis (Union[None, int, tuple(int)]): The axes of the norm, None for all. Default: None.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.
        - **clip_norm** (Tensor) - the greatest norm c, of shape () or broadcastable to `x`.

    Outputs:
        Tensor, float32, of the shape of `x`.

    Raises:
        TypeError: If `axis` is neither an int nor a tuple of ints, or `x` neither float16 nor float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.ClipByNorm()
        >>> x = Tensor(np.random.randint(0, 10, [4, 16]), mindspore.float32)
        >>> output = net(x, Tensor(np.array([100]).astype(np.float32)))
    """

    def __init__(self, axis=None):
        super().__init__()
        axis = () if axis is None else axis
        Validator.check_value_type("axis", axis, [int, tuple], self.cls_name)
        for i, item in enumerate(axis if isinstance(axis, tuple) else ()):
            Validator.check_value_type(f"axis[{i}]", item, [int], self.cls_name)
        self.axis = axis
        self.square = P.Square()
        self.reduce_sum = P.ReduceSum(keep_dims=True)
        self.sqrt = P.Sqrt()
        self.greater = P.Greater()
        self.select = P.Select()
        self.maximum = P.Maximum()
        self.ones_like = P.OnesLike()
        self.cast = P.Cast()
        self.reshape = P.Reshape()

    def construct(self, x, clip_norm):
        if x.dtype not in (mstype.float16, mstype.float32):
            raise TypeError(f"For 'ClipByNorm', the input type should be float32 or float16, but got {x.dtype}.")
        x = self.cast(x, mstype.float32)
        square_sum = self.reduce_sum(self.square(x), self.axis)
        # The square root has no gradient at 0: take it of 1 there and keep the 0.
        positive = self.greater(square_sum, 0)
        norm = self.select(
            positive, self.sqrt(self.select(positive, square_sum, self.ones_like(square_sum))), square_sum
        )
        clipped = x * clip_norm / self.maximum(norm, clip_norm)
        return self.reshape(clipped, x.shape)


class Norm(Cell):
    r"""
    The Euclidean norm along axes: :math:`\sqrt{\sum x^2}`.

    Args:
        axis (Union[tuple, int]): The axes, () for all. Default: ().
        keep_dims (bool): Whether the axes stay, with size 1. Default: False.

    Inputs:
        - **x** (Tensor) - a float Tensor of any shape.

    Outputs:
        Tensor without the axes, or with them at size 1.

    Raises:
        TypeError: If `axis` is neither a tuple nor an int, or `keep_dims` is not a bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Norm(axis=0)
        >>> output = net(Tensor(np.array([[4, 4, 9, 1], [2, 1, 3, 6]]), mindspore.float32))
        >>> print(output)
        [4.472136  4.1231055 9.486833  6.0827627]
    """

    def __init__(self, axis=(), keep_dims=False):
        super().__init__()
        Validator.check_value_type("axis", axis, [int, tuple], self.cls_name)
        Validator.check_value_type("keep_dims", keep_dims, [bool], self.cls_name)
        self.axis = axis
        self.keep_dims = keep_dims
        self.norm = P.Norm()

    def construct(self, x):
        return self.norm(x, None, self.axis, self.keep_dims)

    def extend_repr(self):
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class OneHot(Cell):
    """
    One-hot vectors: a new axis of length `depth`, `on_value` at each index and `off_value` elsewhere.

    Args:
        axis (int): Where the new axis stands, -1 for last. Default: -1.
        depth (int): The length of the new axis. Default: 1.
        on_value (float): The value at the index. Default: 1.0.
        off_value (float): The value elsewhere. Default: 0.0.
        dtype (:class:`mindspore.dtype`): The type of the output. Default: mindspore.float32.

    Inputs:
        - **indices** (Tensor) - int32 or int64, of any shape.

    Outputs:
        Tensor of one more axis.

    Raises:
        TypeError: If `axis` or `depth` is not an int, or `indices` not of integers.
        ValueError: If `axis` is out of range, or `depth` less than 0.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.OneHot(depth=4, axis=1)
        >>> output = net(Tensor([[1, 3], [0, 2]], dtype=mindspore.int32))
        >>> print(output.shape)
        (2, 4, 2)
    """

    def __init__(self, axis=-1, depth=1, on_value=1.0, off_value=0.0, dtype=mstype.float32):
        super().__init__()
        self.onehot = P.OneHot(axis)
        self.depth = depth
        self.dtype = dtype
        self.on_value = Tensor(on_value, dtype)
        self.off_value = Tensor(off_value, dtype)

    def construct(self, indices):
        return self.onehot(indices, self.depth, self.on_value, self.off_value)
