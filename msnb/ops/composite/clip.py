"""Clipping by value and by the global norm of several Tensors."""

import functools

from msnb.common import dtype as mstype
from msnb.core.eager.tape import dense
from msnb.core.errors.messages import describe
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.tensor.sparse import RowTensor, map_values
from msnb.core.tensor.tensor import Tensor
from msnb.ops.math.norms import _VectorNorm, check_finite
from msnb.ops.operations import Abs, Cast, Maximum, Minimum, ReduceMax, ReduceSum, Sqrt, Square, Stack

_NO_BOUND = "For 'clip_by_value', 'clip_value_min' or 'clip_value_max' should be given, but both are None."


def clip_by_value(x, clip_value_min=None, clip_value_max=None):
    """min(max(x, clip_value_min), clip_value_max), element by element.

    Args:
        x (Union[Tensor, tuple[Tensor], list[Tensor]]): A Tensor of any shape, or several Tensors, which are clipped
            separately.
        clip_value_min (Union[Tensor, Number]): Lower bound, broadcast to `x`. Default: None, no bound.
        clip_value_max (Union[Tensor, Number]): Upper bound, broadcast to `x`. Default: None, no bound.

    Returns:
        Tensor of the shape and dtype of `x`; a tuple of Tensors for several.

    Raises:
        ValueError: If neither bound is given.
    """
    if clip_value_min is None and clip_value_max is None:
        raise ValueError(_NO_BOUND)
    if isinstance(x, (tuple, list)):
        return tuple(_clip(each, clip_value_min, clip_value_max) for each in x)
    return _clip(x, clip_value_min, clip_value_max)


def _clip(x, clip_value_min, clip_value_max):
    x = x if clip_value_max is None else Minimum()(x, clip_value_max)
    return x if clip_value_min is None else Maximum()(x, clip_value_min)


@replaces_in_api2(
    clip_by_value,
    "the result has the element type of `x`, whatever those of the bounds are; where the lower bound is above the "
    "upper one, it is the upper one",
)
def _clip_by_value_api2(x, clip_value_min=None, clip_value_max=None):
    if clip_value_min is None and clip_value_max is None:
        raise ValueError(_NO_BOUND)
    if isinstance(x, (tuple, list)):
        return tuple(_clip_by_value_api2(each, clip_value_min, clip_value_max) for each in x)
    clipped = x if clip_value_min is None else Maximum()(x, clip_value_min)
    clipped = clipped if clip_value_max is None else Minimum()(clipped, clip_value_max)
    return clipped if clipped.dtype == x.dtype else Cast()(clipped, x.dtype)


def clip_by_norm(x, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Scale Tensors by one common factor so that the norm over all their elements is at most `max_norm`.

    Args:
        x (Union[Tensor, list[Tensor], tuple[Tensor]]): Tensors to clip.
        max_norm (Union[float, int]): Largest norm.
        norm_type (Union[float, int]): Degree p of the norm; infinity gives the largest absolute value. Default: 2.0.
        error_if_nonfinite (bool): Whether to raise an error if the norm is infinite or not a number. A compiled graph
            raises it after it has run. Default: False.

    Returns:
        Tensor, or a list or tuple of Tensors, of the same shapes and dtypes.

    Raises:
        TypeError: If `x` has another type.
        RuntimeError: If `error_if_nonfinite` is True and the norm is not finite.
    """
    tensors = [x] if isinstance(x, Tensor) else x
    if not isinstance(tensors, (tuple, list)) or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(f"For 'clip_by_norm', 'x' should be a Tensor or a list of Tensors, but got {describe(x)}.")
    sizes = [Abs()(Cast()(t, mstype.float32)) for t in tensors]
    if float(norm_type) == float("inf"):
        total = functools.reduce(Maximum(), [ReduceMax()(size) for size in sizes])
    else:  # the norm has the gradient 0 at 0, the power 1 / norm_type an infinite one
        norms = [_VectorNorm.functional(size, float(norm_type)) for size in sizes]
        total = norms[0] if len(norms) == 1 else _VectorNorm.functional(Stack()(norms), float(norm_type))
    if error_if_nonfinite:
        total = check_finite(total)
    scale = Minimum()(max_norm / (total + 1e-6), 1.0)
    clipped = [Cast()(Cast()(t, mstype.float32) * scale, t.dtype) for t in tensors]
    return clipped[0] if isinstance(x, Tensor) else type(x)(clipped)


def clip_by_global_norm(x, clip_norm=1.0, use_norm=None):
    r"""Scale Tensors by one common factor so that the norm over all their elements is at most `clip_norm`: :math:`x_i
    \cdot c / \max(\|x\|, c)`.

    Args:
        x (Union[tuple, list]): Tensors or RowTensors.
        clip_norm (Union[float, int]): Largest norm, positive. Default: 1.0.
        use_norm (None): A precomputed norm. Only None is supported, as in MindSpore. Default: None.

    Returns:
        tuple of Tensors of the same shapes and dtypes. RowTensors remain RowTensors.

    Raises:
        TypeError: If `x` is no sequence of Tensors.
        ValueError: If `clip_norm` is not positive or `use_norm` is given.
    """
    if isinstance(clip_norm, bool) or not isinstance(clip_norm, (int, float)) or clip_norm <= 0:
        raise ValueError(f"For 'clip_by_global_norm', 'clip_norm' should be a positive number, but got {clip_norm!r}.")
    if use_norm is not None:
        raise ValueError("For 'clip_by_global_norm', 'use_norm' should be None.")
    if not isinstance(x, (tuple, list)) or not all(isinstance(t, (Tensor, RowTensor)) for t in x):
        raise TypeError(f"For 'clip_by_global_norm', 'x' should be a tuple or list of Tensors, but got {describe(x)}.")
    cast, square, total = Cast(), Square(), 0.0
    for tensor in x:
        total = total + ReduceSum()(square(cast(dense(tensor), mstype.float32)))
    scale = clip_norm / Maximum()(Sqrt()(total), float(clip_norm))
    return tuple(map_values(lambda t: cast(cast(t, mstype.float32) * scale, t.dtype), t) for t in x)
