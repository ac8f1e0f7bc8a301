"""2.x's functional layers: normalisation, embedding, padding, resizing, rearranging."""

import jax.numpy as jnp
from jax import lax

from msnb import log
from msnb.common.kinds import (
    Bool,
    Float,
    Int,
    Kind,
    Number,
    OneOf,
    Optional,
    PositiveFloat,
    PositiveInt,
    Shape,
    Static,
    Value,
    accept_value,
    check,
)
from msnb.core.checks import index
from msnb.core.declare import operator
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.core.tensor import Tensor
from msnb.ops import _check
from msnb.ops._half import widened
from msnb.ops._host import functional
from msnb.ops.nn import resize


@functional("batch_norm")
def batch_norm(input_x, running_mean, running_var, weight, bias, training=False, momentum=0.1, eps=1e-5):
    """Batch normalisation; moves the running statistics while training.

    Args:
        input_x (Tensor): (N, C) or (N, C, ...).
        running_mean (Parameter): (C,); updated in place while training.
        running_var (Parameter): (C,); updated in place while training.
        weight (Tensor): (C,).
        bias (Tensor): (C,).
        training (bool): Whether the statistics are those of the batch. Default: False.
        momentum (float): Weight of the batch in the running statistics. Default: 0.1.
        eps (float): Added to the variance. Default: 1e-5.

    Returns:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    norm = REGISTRY["BatchNorm"].primitive(is_training=training, epsilon=eps, momentum=momentum)
    return norm(input_x, weight, bias, running_mean, running_var)[0]


@operator(functional="layer_norm")
def LayerNormForm(input, normalized_shape: Shape, weight=None, bias=None, *, eps: Float = 1e-5):
    """Normalises over the trailing dimensions of shape `normalized_shape`.

    Args:
        eps (float): added to the variance. Default: 1e-5.

    Inputs:
        - **input** (Tensor) - any shape, float.
        - **normalized_shape** (Union[int, tuple[int]]) - the trailing dimensions.
        - **weight**, **bias** (Tensor, optional) - shape `normalized_shape`.

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if not normalized_shape or tuple(input.shape[-len(normalized_shape) :]) != tuple(normalized_shape):
        raise ValueError(
            f"For 'layer_norm', 'normalized_shape' should be the trailing dimensions of 'input', but got "
            f"{normalized_shape} for shape {input.shape}."
        )
    x = widened(input)
    y = _standard(x, tuple(range(x.ndim - len(normalized_shape), x.ndim)), eps)
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias).astype(input.dtype)


def _standard(x, axes, eps):
    centred = x - jnp.mean(x, axes, keepdims=True)
    return centred * lax.rsqrt(jnp.mean(centred * centred, axes, keepdims=True) + eps)


@operator(functional="group_norm")
def GroupNorm(input, num_groups: PositiveInt, weight=None, bias=None, *, eps: Float = 1e-5):
    """Normalises each group of channels of each example (arXiv:1803.08494).

    Args:
        eps (float): added to the variance. Default: 1e-5.

    Inputs:
        - **input** (Tensor) - (N, C, ...).
        - **num_groups** (int) - divides C.
        - **weight**, **bias** (Tensor, optional) - (C,).

    Outputs:
        Tensor, shape and type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if input.ndim < 2 or input.shape[1] % num_groups:
        raise ValueError(
            f"For 'group_norm', 'num_groups' should divide the channels of 'input', but got {num_groups} "
            f"for shape {input.shape}."
        )
    x = widened(input).reshape(input.shape[0], num_groups, -1)
    y = _standard(x, (2,), eps).reshape(input.shape)
    column = (-1,) + (1,) * (input.ndim - 2)
    y = y if weight is None else y * weight.reshape(column)
    return (y if bias is None else y + bias.reshape(column)).astype(input.dtype)


@operator(functional="rms_norm")
def RmsNorm(x, gamma, *, epsilon: Float = 1e-6):
    """x / sqrt(mean(x^2) + epsilon) * gamma over the trailing dimensions that `gamma` has (arXiv:1910.07467).

    Args:
        epsilon (float): added to the mean of squares. Default: 1e-6.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **gamma** (Tensor) - trailing dimensions of `x`.

    Outputs:
        Tuple of the result and the reciprocal of the root, float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if tuple(x.shape[x.ndim - gamma.ndim :]) != tuple(gamma.shape):
        raise ValueError(
            f"For 'rms_norm', 'gamma' should have the trailing dimensions of 'x', but got {gamma.shape} for {x.shape}."
        )
    wide = widened(x)
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    inverse = lax.rsqrt(jnp.mean(wide * wide, axes, keepdims=True) + epsilon)
    return (wide * inverse * gamma).astype(x.dtype), inverse


@operator(functional="dense")
def DenseForm(input, weight, bias=None):
    """input @ weight^T + bias.

    Inputs:
        - **input** (Tensor) - (..., C_in).
        - **weight** (Tensor) - (C_out, C_in), or (C_in,).
        - **bias** (Tensor, optional) - (C_out,).

    Outputs:
        Tensor, (..., C_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.same_dtype("dense", input=input, weight=weight)
    if input.shape[-1:] != weight.shape[-1:]:
        raise ValueError(
            f"For 'dense', the last dimensions of 'input' and 'weight' should be equal, but got "
            f"{input.shape} and {weight.shape}."
        )
    y = input @ weight.T
    return y if bias is None else y + bias


@functional("embedding")
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False):
    """Rows of a table.

    Args:
        input (Tensor): Indices, int32 or int64.
        weight (Parameter): The table, (rows, features).
        padding_idx (int): A row that gets no gradient. Default: None.
        max_norm (float): Named rows whose norm is larger are scaled down to it, in place in the table. Default: None.
        norm_type (float): Degree of that norm; no effect without `max_norm`. Default: 2.0.
        scale_grad_by_freq (bool): Only False.

    Returns:
        Tensor, shape of `input` followed by (features,).

    Raises:
        TypeError: If `weight` is no Parameter though `max_norm` is given, or a type is wrong.
        ValueError: If `max_norm` is not positive, or `scale_grad_by_freq` is True.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if scale_grad_by_freq:
        raise ValueError("For 'embedding', 'scale_grad_by_freq' is not supported; scale the gradient of the table.")
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    else:
        log.unused("ops.embedding", "there is no 'max_norm' to hold a norm against", norm_type=norm_type != 2.0)
    return _embedding(input, weight, padding_idx)


Degree = Static(Float)  # each degree is a formula of its own


@operator(writes=("weight",), checks=[index("input", of="weight", negative=False)])
def EmbeddingRenorm(weight, input, *, max_norm: PositiveFloat, norm_type: Degree = 2.0):
    """Scales rows of a table down to a norm, in place; gradients pass as if nothing had been scaled.

    Args:
        max_norm (float): the largest norm that a named row keeps.
        norm_type (float): degree of the norm. Default: 2.0.

    Inputs:
        - **weight** (Parameter) - the table, (rows, features); updated in place.
        - **input** (Tensor) - indices of the named rows, int32 or int64.

    Outputs:
        The table, updated.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.rank("embedding", "weight", weight, 2)
    table = lax.stop_gradient(weight)
    norm = jnp.linalg.norm(widened(table), norm_type, axis=1)
    named = jnp.zeros(table.shape[0], bool).at[input.reshape(-1)].set(True, mode="drop", wrap_negative_indices=False)
    factor = jnp.where(named & (norm > max_norm), max_norm / (norm + 1e-7), 1)
    return weight + (table * factor[:, None].astype(table.dtype) - table)


@operator(checks=[index("input", of="weight", negative=False)])
def Embedding(input, weight, *, padding_idx: Optional(Int) = None):
    """Rows of a table.

    Args:
        padding_idx (int): a row that gets no gradient. Default: None.

    Inputs:
        - **input** (Tensor) - indices, int32 or int64, from 0 to rows - 1.
        - **weight** (Tensor) - the table, (rows, features).

    Outputs:
        Tensor, shape of `input` followed by (features,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("embedding", "input", input, _check.INDEX)
    _check.rank("embedding", "weight", weight, 2)
    rows = weight.at[input].get(mode="fill", wrap_negative_indices=False)
    if padding_idx is None:
        return rows
    padding = (input == padding_idx % weight.shape[0])[..., None]
    return jnp.where(padding, lax.stop_gradient(rows), rows)


@functional("one_hot")
def one_hot(indices, depth, on_value=1, off_value=0, axis=-1):
    """A new axis of length `depth` with `on_value` at each index and `off_value` elsewhere.

    Args:
        indices (Tensor): Any shape, int.
        depth (int): Length of the new axis.
        on_value (Union[Tensor, number]): Value at the index. Default: 1.
        off_value (Union[Tensor, number]): Value elsewhere. Default: 0.
        axis (int): Where the new axis goes. Default: -1.

    Returns:
        Tensor, type of `on_value`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    on_value, off_value = (v if isinstance(v, Tensor) else Tensor(v) for v in (on_value, off_value))
    return REGISTRY["OneHot"].primitive(axis)(indices, depth, on_value, off_value)


@functional("topk")
def topk(input, k, dim=None, largest=True, sorted=True):
    """The `k` largest, or smallest, values along an axis, and where they stand.

    Args:
        input (Tensor): At least 1-D.
        k (int): How many.
        dim (int): The axis. Default: None, the last.
        largest (bool): Whether the largest are wanted. Default: True.
        sorted (bool): Values come in order either way. Default: True.

    Returns:
        Tuple of the values and their places (int32).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    for name, value in (("largest", largest), ("sorted", sorted)):
        check(Bool, value, name, "topk")
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'topk', 'input' should be a Tensor, but got {type(input).__name__}.")
    last = dim is None or dim in (-1, input.ndim - 1)
    x = input if last else input.swapaxes(dim, -1)
    values, places = _top_k(x if largest else -x, k)
    values = values if largest else -values
    return (values, places) if last else (values.swapaxes(dim, -1), places.swapaxes(dim, -1))


@operator(functional="flatten")
def FlattenForm(input, *, order: OneOf("C", "F") = "C", start_dim: Int = 1, end_dim: Int = -1):
    """Joins the axes from `start_dim` to `end_dim`.

    Args:
        order (str): "C" row order, "F" column order. Default: "C".
        start_dim (int): first axis. Default: 1.
        end_dim (int): last axis. Default: -1.

    Inputs:
        - **input** (Tensor) - any shape.

    Outputs:
        Tensor, a vector if there is nothing to join.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.tensor_only("flatten", "input", input)
    if order == "F":
        input = input.transpose(0, *range(input.ndim - 1, 0, -1)) if input.ndim > 1 else input
    if input.ndim < 2:
        return input.reshape(-1)
    first = _check.axis_in("flatten", start_dim, input.ndim, "start_dim")
    last = _check.axis_in("flatten", end_dim, input.ndim, "end_dim")
    if first > last:
        raise ValueError(f"For 'flatten', 'start_dim' should not be after 'end_dim', but got {start_dim}, {end_dim}.")
    return input.reshape(*input.shape[:first], -1, *input.shape[last + 1 :])


# ---------------------------------------------------------------------- padding and resizing
def _accept_pad(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) % 2:
        raise ValueError
    return tuple(accept_value(Int, v) for v in value)


Padding = Kind("a tuple of an even number of int, last dimension first", _accept_pad)


@operator(functional="pad")
def PadForm(
    input_x,
    *,
    padding: Padding,
    mode: OneOf("constant", "reflect", "replicate", "circular") = "constant",
    value: Optional(Number) = None,
):
    """Extends a Tensor at its borders.

    Args:
        padding (tuple): before and after of the last dimension, then of the one before it, and so on; negative numbers
            cut.
        mode (str): "constant", "reflect", "replicate" or "circular". Default: "constant".
        value (number): the constant. Default: None, 0.

    Inputs:
        - **input_x** (Tensor) - any shape.

    Outputs:
        Tensor, type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.tensor_only("pad", "input_x", input_x)
    if len(padding) > 2 * input_x.ndim:
        raise ValueError(
            f"For 'pad', 'padding' {padding} has more pairs than 'input_x' of shape {input_x.shape} has dimensions."
        )
    pairs = [(0, 0)] * (input_x.ndim - len(padding) // 2)
    pairs += list(zip(padding[::2], padding[1::2], strict=True))[::-1]
    for axis, (before, after) in enumerate(pairs):
        length = input_x.shape[axis]
        input_x = lax.slice_in_dim(input_x, max(-before, 0), length - max(-after, 0), axis=axis)
    pairs = [(max(b, 0), max(a, 0)) for b, a in pairs]
    if mode == "constant":
        return jnp.pad(input_x, pairs, constant_values=0 if value is None else value)
    return jnp.pad(input_x, pairs, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])


def _size_and_steps(op, x, size, scale_factor, recompute_scale_factor):
    """(new lengths, how far apart the new pixels lie in old ones); no steps where they follow from the lengths."""
    spatial = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(f"For '{op}', give exactly one of 'size' and 'scale_factor'.")
    if size is not None:
        if recompute_scale_factor:
            raise ValueError(
                f"For '{op}', recompute_scale_factor=True computes the scales from the lengths that "
                f"'scale_factor' gives, but 'size' was given; leave one of them out."
            )
        return ((size,) * spatial if isinstance(size, int) else tuple(size)), None
    scales = (scale_factor,) * spatial if isinstance(scale_factor, (int, float)) else tuple(scale_factor)
    new = tuple(int(n * s) for n, s in zip(x.shape[2:], scales, strict=True))
    whole = all(n * s == m for n, s, m in zip(x.shape[2:], scales, new, strict=True))
    return new, None if whole or recompute_scale_factor else tuple(1 / s for s in scales)


@functional("interpolate")
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
    """Resizes sequences, images or volumes.

    Args:
        input (Tensor): (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        size (Union[int, tuple[int]]): New lengths. Default: None.
        scale_factor (Union[float, tuple[float]]): New lengths as multiples. Default: None.
        mode (str): "nearest", "linear", "bilinear", "trilinear" or "area". Default: "nearest".
        align_corners (bool): Whether the centres of the corner pixels stay where they are; only for the linear modes.
            Default: None, False.
        recompute_scale_factor (bool): Whether pixels lie old length / new length apart rather than 1 / `scale_factor`;
            these differ where a new length was rounded down. Not together with `size`. Default: None, False.

    Returns:
        Tensor.

    Raises:
        TypeError: If an argument has a wrong type.
        ValueError: If `size` and `scale_factor` are both given or both missing, or `mode` does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    mode = OneOf("nearest", "linear", "bilinear", "trilinear", "area")(mode, "mode", "interpolate")
    if not isinstance(input, Tensor) or input.ndim not in (3, 4, 5):
        raise ValueError("For 'interpolate', 'input' should be a Tensor of 3 to 5 dimensions.")
    recompute = Optional(Bool)(recompute_scale_factor, "recompute_scale_factor", "interpolate")
    size, steps = _size_and_steps("interpolate", input, size, scale_factor, recompute)
    ranks = {"linear": 3, "bilinear": 4, "trilinear": 5}
    if mode in ranks and input.ndim != ranks[mode]:
        raise ValueError(f"For 'interpolate', mode '{mode}' needs {ranks[mode]} dimensions, but got {input.shape}.")
    if mode == "area":
        return FUNCTIONAL[f"adaptive_avg_pool{input.ndim - 2}d"](input, size)
    if mode == "nearest" and align_corners is not None:
        raise ValueError("For 'interpolate', 'align_corners' is for the linear modes.")
    return _resize(input, size, mode != "nearest", bool(align_corners), steps)


functional("upsample")(interpolate)


@operator
def ResizeForm(x, *, size: Shape, linear: Bool, align_corners: Bool, steps: Optional(Value) = None):
    """Linear (half-pixel centres unless corners are aligned) or nearest resize of all trailing axes.

    Args:
        size (tuple[int]): new lengths.
        linear (bool): linear or nearest.
        align_corners (bool): whether corner pixels stay where they are.
        steps (tuple[float]): how far apart the new pixels lie in old ones. Default: None, old length / new length.

    Inputs:
        - **x** (Tensor) - (N, C, ...).

    Outputs:
        Tensor, (N, C, *size).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    for axis, (new, step) in enumerate(zip(size, steps or (None,) * len(size), strict=True), start=2):
        old = x.shape[axis]
        if linear:
            matrix = jnp.asarray(resize.lerp_matrix(old, new, align_corners, not align_corners, step), x.dtype)
            x = jnp.moveaxis(jnp.tensordot(x, matrix, ((axis,), (1,)), precision=lax.Precision.HIGHEST), -1, axis)
        elif new % old == 0 and step is None:
            x = jnp.repeat(x, new // old, axis=axis)
        else:
            x = jnp.take(x, resize.nearest_index(old, new, False, step=step), axis=axis)
    return x


# ---------------------------------------------------------------------- rearranging
@operator(functional="pixel_shuffle")
def PixelShuffle(input, *, upscale_factor: PositiveInt):
    """(..., C r^2, H, W) to (..., C, H r, W r) (arXiv:1609.05158).

    Args:
        upscale_factor (int): r.

    Inputs:
        - **input** (Tensor) - at least 3-D.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    r = upscale_factor
    if input.ndim < 3 or input.shape[-3] % (r * r):
        raise ValueError(
            f"For 'pixel_shuffle', the channels of 'input' should be a multiple of {r * r}, but got shape "
            f"{input.shape}."
        )
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape(*lead, c // (r * r), r, r, h, w)
    return x.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


@operator(functional="pixel_unshuffle")
def PixelUnshuffle(input, *, downscale_factor: PositiveInt):
    """(..., C, H r, W r) to (..., C r^2, H, W).

    Args:
        downscale_factor (int): r.

    Inputs:
        - **input** (Tensor) - at least 3-D.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    r = downscale_factor
    if input.ndim < 3 or input.shape[-1] % r or input.shape[-2] % r:
        raise ValueError(
            f"For 'pixel_unshuffle', height and width of 'input' should be multiples of {r}, but got "
            f"shape {input.shape}."
        )
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape(*lead, c, h // r, r, w // r, r)
    return x.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


@operator(functional="channel_shuffle")
def ChannelShuffle(x, *, groups: PositiveInt):
    """Interleaves the channels of `groups` groups (arXiv:1707.01083).

    Args:
        groups (int): divides the channels.

    Inputs:
        - **x** (Tensor) - (N, C, ...).

    Outputs:
        Tensor, shape of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if x.ndim < 3 or x.shape[1] % groups:
        raise ValueError(
            f"For 'channel_shuffle', 'groups' should divide the channels of 'x', but got {groups} for shape {x.shape}."
        )
    return x.reshape(x.shape[0], groups, -1, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


@operator(functional="grid_sample")
def GridSample(
    input,
    grid,
    *,
    mode: OneOf("bilinear", "nearest") = "bilinear",
    padding_mode: OneOf("zeros", "border") = "zeros",
    align_corners: Optional(Bool) = None,
):
    """Pixels of images at the places that a grid names (arXiv:1506.02025).

    Args:
        mode (str): "bilinear" or "nearest". Default: "bilinear".
        padding_mode (str): what lies outside: "zeros", or the "border". Default: "zeros".
        align_corners (bool): whether -1 and 1 are the centres of the corner pixels, or their outer edges.
            Default: None, False.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).
        - **grid** (Tensor) - (N, H_out, W_out, 2): x and y in [-1, 1].

    Outputs:
        Tensor, (N, C, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.rank("grid_sample", "input", input, 4)
    if grid.ndim != 4 or grid.shape[3] != 2 or grid.shape[0] != input.shape[0]:
        raise ValueError(
            f"For 'grid_sample', 'grid' should have shape ({input.shape[0]}, H, W, 2), but got {grid.shape}."
        )
    height, width = input.shape[2:]
    x, y = (
        (g + 1) / 2 * (n - 1) if align_corners else ((g + 1) * n - 1) / 2
        for g, n in ((grid[..., 0], width), (grid[..., 1], height))
    )
    if padding_mode == "border":
        x, y = jnp.clip(x, 0, width - 1), jnp.clip(y, 0, height - 1)
    examples = jnp.arange(input.shape[0])[:, None, None]

    def pick(y, x):
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        rows, columns = (jnp.clip(v, 0, n - 1).astype(jnp.int32) for v, n in ((y, height), (x, width)))
        values = jnp.moveaxis(input, 1, -1)[examples, rows, columns]
        return jnp.where(inside[..., None], values, 0)

    if mode == "nearest":
        out = pick(jnp.round(y), jnp.round(x))
    else:
        y0, x0 = jnp.floor(y), jnp.floor(x)
        dy, dx = (y - y0)[..., None], (x - x0)[..., None]
        out = (pick(y0, x0) * (1 - dx) + pick(y0, x0 + 1) * dx) * (1 - dy) + (
            pick(y0 + 1, x0) * (1 - dx) + pick(y0 + 1, x0 + 1) * dx
        ) * dy
    return jnp.moveaxis(out, -1, 1)


@operator(functional="unfold")
def UnfoldForm(input, *, kernel_size: Shape, dilation: Shape = (1,), padding: Shape = (0,), stride: Shape = (1,)):
    """Every window of an image as a column.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        padding (Union[int, tuple[int]]): zeros at each side. Default: 0.
        stride (Union[int, tuple[int]]): step of the window. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).

    Outputs:
        Tensor, (N, C * window, number of windows).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.rank("unfold", "input", input, 4)
    two = lambda v: tuple(v) * 2 if len(v) == 1 else tuple(v)
    kernel = two(kernel_size)
    patches = lax.conv_general_dilated_patches(
        input, kernel, two(stride), [(p, p) for p in two(padding)], rhs_dilation=two(dilation)
    )
    return patches.reshape(*patches.shape[:2], -1)


_embedding = REGISTRY["Embedding"].functional
_shorten_rows = REGISTRY["EmbeddingRenorm"].functional
_resize = REGISTRY["ResizeForm"].functional
_top_k = REGISTRY["TopK"].primitive(True)
