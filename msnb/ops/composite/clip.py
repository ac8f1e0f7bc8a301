"""Clipping by value and by the global norm of several Tensors."""

from msnb.common import dtype as mstype
from msnb.core.errors import describe
from msnb.core.sparse_tensor import RowTensor, on_values
from msnb.core.tape import dense
from msnb.core.tensor import Tensor
from msnb.ops.operations import Cast, Maximum, Minimum, ReduceSum, Sqrt, Square


def clip_by_value(x, clip_value_min, clip_value_max):
    """Every element of `x` brought into [clip_value_min, clip_value_max].

    Args:
        x (Tensor): Any shape.
        clip_value_min (Union[Tensor, Number]): Lower bound, broadcast to `x`.
        clip_value_max (Union[Tensor, Number]): Upper bound, broadcast to `x`.

    Returns:
        Tensor of the shape and dtype of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return Maximum()(Minimum()(x, clip_value_max), clip_value_min)


def clip_by_global_norm(x, clip_norm=1.0, use_norm=None):
    r"""Tensors scaled down together so that the norm over all their elements is at most `clip_norm`:
    :math:`x_i \cdot c / \max(\|x\|, c)`.

    Args:
        x (Union[tuple, list]): Tensors, and RowTensors, which stay what they are.
        clip_norm (Union[float, int]): Largest norm, positive. Default: 1.0.
        use_norm (None): The norm, where it is known; only None, as in MindSpore. Default: None.

    Returns:
        tuple of Tensors of the same shapes and dtypes.

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
    return tuple(on_values(lambda t: cast(cast(t, mstype.float32) * scale, t.dtype), t) for t in x)
