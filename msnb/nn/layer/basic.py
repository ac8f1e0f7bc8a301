"""Basic layers: Dense, Dropout, Flatten, norms, padding, one-hot, diagonals."""

import math

import numpy as np

from msnb._checkparam import Rel, Validator
from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.core.primitive import Primitive
from msnb.core.tensor import Parameter, Tensor
from msnb.nn.cell import Cell
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
        dtype (:class:`mindspore.dtype`): Of the input; checked only. Default: mindspore.float32.
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
        square_sum = self.cast(self.reduce_sum(self.square(x), self.axis), mstype.float32)
        # The square root has no gradient at 0: take it of 1 there and keep the 0.
        positive = self.greater(square_sum, 0)
        norm = self.select(
            positive, self.sqrt(self.select(positive, square_sum, self.ones_like(square_sum))), square_sum
        )
        clipped = self.cast(x * clip_norm, mstype.float32) / self.maximum(norm, clip_norm)
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
        self.square = P.Square()
        self.reduce_sum = P.ReduceSum(keep_dims)
        self.sqrt = P.Sqrt()

    def construct(self, x):
        return self.sqrt(self.reduce_sum(self.square(x), self.axis))

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


class Pad(Cell):
    """
    Pad each axis at both ends.

    Args:
        paddings (tuple): One (before, after) per axis, for at most 4 axes.
        mode (str): "CONSTANT" (zeros), "REFLECT" (mirror without the border) or "SYMMETRIC" (with it).
            Default: "CONSTANT".

    Inputs:
        - **x** (Tensor) - of as many axes as `paddings` has pairs.

    Outputs:
        Tensor, larger by the paddings.

    Raises:
        TypeError: If `paddings` is not a tuple.
        ValueError: If `paddings` has more than 4 items or one that is not a pair, or `mode` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> pad = nn.Pad(paddings=((1, 1), (2, 2)), mode="CONSTANT")
        >>> output = pad(Tensor(np.ones((2, 3)), mindspore.float32))
        >>> print(output.shape)
        (4, 7)
    """

    def __init__(self, paddings, mode="CONSTANT"):
        super().__init__()
        self.mode = Validator.check_string(mode, ["CONSTANT", "REFLECT", "SYMMETRIC"], "mode", self.cls_name)
        if not isinstance(paddings, tuple):
            raise TypeError(f"For 'Pad', 'paddings' must be tuple type, but got {type(paddings).__name__}.")
        for item in paddings:
            if len(item) != 2:
                raise ValueError(f"For 'Pad', the shape of 'paddings' must be (n, 2), but got {paddings}.")
        if len(paddings) > 4:
            raise ValueError(f"For 'Pad', only padding up to 4 dims is supported, but got {len(paddings)}.")
        self.paddings = paddings if mode == "CONSTANT" else Tensor(np.array(paddings))
        self.pad = P.Pad(paddings) if mode == "CONSTANT" else P.MirrorPad(mode=mode)

    def construct(self, x):
        if self.mode == "CONSTANT":
            return self.pad(x)
        return self.pad(x, self.paddings)


class ResizeBilinear(Cell):
    """
    Resize images by bilinear interpolation.

    Inputs:
        - **x** (Tensor) - float16 or float32, of shape (N, C, H, W).
        - **size** (Union[tuple[int], list[int]]) - the new (height, width). Default: None.
        - **scale_factor** (int) - the factor of both sizes, instead of `size`. Default: None.
        - **align_corners** (bool) - whether the corners of input and output coincide. Default: False.

    Outputs:
        Tensor of shape (N, C, new height, new width).

    Raises:
        TypeError: If `align_corners` is not a bool, or a size or `scale_factor` not an int.
        ValueError: If both or none of `size` and `scale_factor` are given, or one is less than 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> resize = nn.ResizeBilinear()
        >>> output = resize(Tensor([[[[1, 2, 3, 4], [5, 6, 7, 8]]]], mindspore.float32), size=(5, 5))
        >>> print(output.shape)
        (1, 1, 5, 5)
    """

    def _new_size(self, shape, size, scale_factor, align_corners):
        if not isinstance(align_corners, bool):
            raise TypeError(f"For 'ResizeBilinear', 'align_corners' should be bool, but got {align_corners!r}.")
        if (size is None) == (scale_factor is None):
            raise ValueError(
                "For 'ResizeBilinear', exactly one of 'size' and 'scale_factor' should be given, "
                f"but got {size} and {scale_factor}."
            )
        if size is None:
            Validator.check_int(scale_factor, 1, Rel.GE, "scale factor", self.cls_name)
            return scale_factor * shape[2], scale_factor * shape[3]
        if not isinstance(size, (tuple, list)):
            raise ValueError(f"For 'ResizeBilinear', 'size' must be tuple or list, but got {size!r}.")
        Validator.check_int(len(size), 2, Rel.EQ, "size", self.cls_name)
        for i, item in enumerate(size):
            Validator.check_int(item, 1, Rel.GE, f"size[{i}]", self.cls_name)
        return tuple(size)

    def construct(self, x, size=None, scale_factor=None, align_corners=False):
        return P.ResizeBilinear(self._new_size(x.shape, size, scale_factor, align_corners), align_corners)(x)


class Unfold(Cell):
    """
    Cut images into patches; the values of a patch stand along the channel axis, rows first, then columns, then channels.

    Args:
        ksizes (Union[tuple[int], list[int]]): The patch, as (1, rows, columns, 1).
        strides (Union[tuple[int], list[int]]): The distance between patches, as (1, rows, columns, 1).
        rates (Union[tuple[int], list[int]]): The distance between the values of a patch, as (1, rows, columns, 1).
        padding (str): "same" (patches may reach into zeros around the image) or "valid". Default: "valid".

    Inputs:
        - **input_x** (Tensor) - of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, rows * columns * C, H_out, W_out).

    Raises:
        TypeError: If `ksizes`, `strides` or `rates` is neither a tuple nor a list.
        ValueError: If one of them is not of the form (1, positive int, positive int, 1), or `padding` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Unfold(ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 2, 2, 1])
        >>> output = net(Tensor(np.ones([2, 3, 6, 6]), mindspore.float16))
        >>> print(output.shape)
        (2, 12, 2, 2)
    """

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        self.ksizes = self._rows_and_columns("ksizes", ksizes)
        self.strides = self._rows_and_columns("strides", strides)
        self.rates = self._rows_and_columns("rates", rates)
        Validator.check_value_type("padding", padding, [str], self.cls_name)
        self.padding = Validator.check_string(padding.upper(), ["VALID", "SAME"], "padding", self.cls_name)
        self.concat = P.Concat(1)

    def _rows_and_columns(self, name, value):
        Validator.check_value_type(name, value, [tuple, list], self.cls_name)
        if len(value) != 4 or value[0] != 1 or value[3] != 1:
            raise ValueError(f"For 'Unfold', '{name}' should be of the form [1, rows, columns, 1], but got {value}.")
        if not all(isinstance(item, int) and item >= 1 for item in value[1:3]):
            raise ValueError(f"For 'Unfold', rows and columns of '{name}' should be positive ints, but got {value}.")
        return tuple(value[1:3])

    def construct(self, input_x):
        if input_x.ndim != 4:
            raise ValueError(f"For 'Unfold', the input should be 4d, but got shape {input_x.shape}.")
        reach = [(k - 1) * rate + 1 for k, rate in zip(self.ksizes, self.rates, strict=True)]
        if self.padding == "SAME":
            pads = []
            for size, step, extent in zip(input_x.shape[2:], self.strides, reach, strict=True):
                missing = max((-(-size // step) - 1) * step + extent - size, 0)
                pads.append((missing // 2, missing - missing // 2))
            input_x = P.Pad(((0, 0), (0, 0), *pads))(input_x)
        (rows, columns), (down, right), (row_rate, column_rate) = self.ksizes, self.strides, self.rates
        height, width = (size - extent + 1 for size, extent in zip(input_x.shape[2:], reach, strict=True))
        return self.concat(
            tuple(
                input_x[:, :, top : top + height : down, left : left + width : right]
                for top in range(0, rows * row_rate, row_rate)
                for left in range(0, columns * column_rate, column_rate)
            )
        )


class _Triangle(Cell):
    """Keep one triangle of the last two axes."""

    def __init__(self):
        super().__init__()
        self.select = P.Select()
        self.zeros_like = P.ZerosLike()

    def _keep(self, triangle, x, k):
        Validator.check_int(x.ndim, 1, Rel.GE, "x rank", self.cls_name)
        Validator.check_is_int(k, "k value", self.cls_name)
        mask = Tensor(triangle(np.ones(x.shape, dtype=bool), k))
        return self.select(mask, x, self.zeros_like(x))


class Tril(_Triangle):
    """
    The lower triangle: elements above the k-th diagonal become 0.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **k** (int) - the diagonal: 0 is the main one, positive ones lie above it. Default: 0.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> tril = nn.Tril()
        >>> print(tril(Tensor(np.array([[1, 2], [3, 4]]))))
        [[1 0]
         [3 4]]
    """

    def construct(self, x, k=0):
        return self._keep(np.tril, x, k)


class Triu(_Triangle):
    """
    The upper triangle: elements below the k-th diagonal become 0.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **k** (int) - the diagonal: 0 is the main one, positive ones lie above it. Default: 0.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> triu = nn.Triu()
        >>> print(triu(Tensor(np.array([[1, 2], [3, 4]]))))
        [[1 2]
         [0 4]]
    """

    def construct(self, x, k=0):
        return self._keep(np.triu, x, k)


def _eye(rows, columns, dtype):
    return Tensor(np.eye(rows, columns), dtype)


class MatrixDiag(Cell):
    """
    Diagonal matrices whose main diagonals are the last axis of the input.

    Inputs:
        - **x** (Tensor) - of shape (..., N).

    Outputs:
        Tensor of shape (..., N, N).

    Raises:
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> matrix_diag = nn.MatrixDiag()
        >>> print(matrix_diag(Tensor(np.array([1, -1]), mindspore.float32)))
        [[ 1.  0.]
         [ 0. -1.]]
    """

    def __init__(self):
        super().__init__()
        self.expand_dims = P.ExpandDims()

    def construct(self, input_x):
        Validator.check_int(input_x.ndim, 1, Rel.GE, "x rank", self.cls_name)
        n = input_x.shape[-1]
        return self.expand_dims(input_x, -1) * _eye(n, n, input_x.dtype)


class MatrixDiagPart(Cell):
    """
    The main diagonals of the matrices in the last two axes.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).

    Outputs:
        Tensor of shape (..., min(M, N)).

    Raises:
        ValueError: If `x` has fewer than 2 axes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> matrix_diag_part = nn.MatrixDiagPart()
        >>> print(matrix_diag_part(Tensor([[-1, 0], [0, 1]], mindspore.float32)))
        [-1.  1.]
    """

    def __init__(self):
        super().__init__()
        self.reduce_sum = P.ReduceSum()

    def construct(self, input_x):
        Validator.check_int(input_x.ndim, 2, Rel.GE, "x rank", self.cls_name)
        rows, columns = input_x.shape[-2:]
        return self.reduce_sum(input_x * _eye(rows, columns, input_x.dtype), -1 if rows <= columns else -2)


class MatrixSetDiag(Cell):
    """
    Replace the main diagonals of the matrices in the last two axes.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **diagonal** (Tensor) - of the type of `x` and of shape (..., min(M, N)).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If the types differ.
        ValueError: If `x` has fewer than 2 axes, or the shape of `diagonal` does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> matrix_set_diag = nn.MatrixSetDiag()
        >>> x = Tensor([[-1, 0], [0, 1]], mindspore.float32)
        >>> print(matrix_set_diag(x, Tensor([-1., 2.], mindspore.float32)))
        [[-1.  0.]
         [ 0.  2.]]
    """

    def __init__(self):
        super().__init__()
        self.expand_dims = P.ExpandDims()

    def construct(self, input_x, diagonal):
        Validator.check_int(input_x.ndim, 2, Rel.GE, "x rank", self.cls_name)
        rows, columns = input_x.shape[-2:]
        expected = (*input_x.shape[:-2], min(rows, columns))
        if diagonal.dtype != input_x.dtype:
            raise TypeError(
                f"For 'MatrixSetDiag', 'x' and 'diagonal' should have one type, but got {input_x.dtype} and "
                f"{diagonal.dtype}."
            )
        if tuple(diagonal.shape) != expected:
            raise ValueError(
                f"For 'MatrixSetDiag', 'diagonal' should be of shape {expected}, but got {tuple(diagonal.shape)}."
            )
        eye = _eye(rows, columns, input_x.dtype)
        return input_x * (1 - eye) + self.expand_dims(diagonal, -1 if rows <= columns else -2) * eye
