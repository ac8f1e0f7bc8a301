"""Dropout operators. Every call samples a new mask. Setting the same seed repeats the same sequence of masks."""

from math import prod

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, Int, Shape, check, is_constant
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, Flags, I, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import KeepProb, Probability


def seeded(key, seed0, seed1):
    """Return a random key that differs for operators with different seeds."""
    if seed0 or seed1:
        key = jax.random.fold_in(jax.random.fold_in(key, seed0 & 0xFFFFFFFF), seed1 & 0xFFFFFFFF)
    return key


def drop(key, x, keep_prob, shape=None):
    """Return (result of dropout, mask). Each element of `x` is preserved with probability `keep_prob` and scaled by 1 /
    keep_prob."""
    if is_constant(keep_prob, 1.0):
        return x, jnp.ones(shape or x.shape, bool)
    mask = jax.random.bernoulli(key, jnp.float32(keep_prob), shape or x.shape)
    # With probability 0 the result is 0, and its gradient must not divide by 0.
    share = jnp.where(keep_prob == 0, 1.0, keep_prob) if is_tracer(keep_prob) else keep_prob or 1.0
    return jnp.where(mask, x / jnp.asarray(share, x.dtype), jnp.zeros_like(x)), mask


@operator(random=True)
def Dropout(key, x, *, keep_prob: KeepProb = 0.5, Seed0: Int = 0, Seed1: Int = 0):
    """Keeps each element with probability `keep_prob`, scaled by 1 / keep_prob, and sets the others to 0.

    Args:
        keep_prob (float): probability of keeping, in (0, 1]. Default: 0.5.
        Seed0 (int): a seed: operators with different seeds draw different masks. Default: 0.
        Seed1 (int): a second seed, combined with `Seed0`. Default: 0.

    Inputs:
        - **x** (Tensor) - any shape, float.

    Outputs:
        Tuple of the result and the mask (1 where preserved), both of shape and type of `x`.

    Examples:
        >>> output, mask = ops.Dropout(keep_prob=0.8)(ops.ones((2, 3), mindspore.float32))
        >>> output.shape
        (2, 3)
    """
    _check.dtype_in("Dropout", "x", x, _check.FLOAT)
    y, mask = drop(seeded(key, Seed0, Seed1), x, keep_prob)
    return y, mask.astype(x.dtype)


@operator
@shapes("dy mask: *s")
def DropoutGrad(dy, mask, *, keep_prob: KeepProb = 0.5):
    """Gradient of Dropout, from the cotangent and the mask of the forward pass."""
    return (dy * mask / jnp.asarray(keep_prob, dy.dtype)).astype(dy.dtype)


def _compute_keep_probability(op, p, training):
    """Return 1 - p, or 1.0 while not training."""
    if training is not True and not check(Bool, training, "training", op):
        return 1.0
    if type(p) is not float or not 0.0 <= p <= 1.0:
        p = Probability(p, "p", op)
    return 1.0 - p


@spelling(Dropout)
def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Sets each element to 0 with probability `p` and scales the others by 1 / (1 - p).

    Args:
        input (Tensor): Any shape, float.
        p (float): Probability of dropping, in [0, 1]. Default: 0.5.
        training (bool): False returns `input` unchanged. Default: True.
        seed (int): Calls with different seeds draw different masks. Default: None.

    Returns:
        Tensor, shape and type of `input`.
    """
    keep = _compute_keep_probability("dropout", p, training)
    if is_constant(keep, 1.0):
        return input
    if is_constant(keep, 0.0):
        return input * 0
    return Dropout.functional(input, keep, 0 if seed is None else seed)[0]


def _drop_channels(op, key, x, keep_prob, ranks):
    _check.tensor_only(op, "x", x)
    _check.rank(op, "x", x, *ranks)
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2))
    y, mask = drop(key, x, keep_prob, shape)
    return y, jnp.broadcast_to(mask, x.shape)


def _apply_channel_dropout(dropout, input, keep):
    if is_constant(keep, 1.0):
        return input
    return input * 0 if is_constant(keep, 0.0) else dropout.functional(input, keep)[0]


@operator(random=True)
def Dropout2D(key, x, *, keep_prob: KeepProb = 0.5):
    """Dropout of entire channels of images.

    Args:
        keep_prob (float): probability of keeping a channel. Default: 0.5.

    Inputs:
        - **x** (Tensor) - (N, C, H, W).

    Outputs:
        Tuple of the result (shape and type of `x`) and the mask (bool).
    """
    return _drop_channels("Dropout2D", key, x, keep_prob, (4,))


@spelling(Dropout2D)
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Sets entire channels of images to 0 with probability `p` and scales the others by 1 / (1 - p).

    Args:
        input (Tensor): Images (N, C, H, W).
        p (float): Probability of dropping, in [0, 1]. Default: 0.5.
        training (bool): False returns `input` unchanged. Default: True.

    Returns:
        Tensor, shape and type of `input`.
    """
    return _apply_channel_dropout(Dropout2D, input, _compute_keep_probability("dropout2d", p, training))


@spelling(Dropout2D)
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Sets entire channels of sequences to 0 with probability `p` and scales the others by 1 / (1 - p).

    Args:
        input (Tensor): Sequences (N, C, L), or one (C, L).
        p (float): Probability of dropping, in [0, 1]. Default: 0.5.
        training (bool): False returns `input` unchanged. Default: True.

    Returns:
        Tensor, shape and type of `input`.

    Raises:
        ValueError: If `input` has other dimensions.
    """
    if not isinstance(input, Tensor) or input.ndim not in (2, 3):
        raise ValueError(
            f"For 'dropout1d', 'input' should be a Tensor of 2 or 3 dimensions, but got {describe(input)}."
        )
    keep = _compute_keep_probability("dropout1d", p, training)
    if is_constant(keep, 1.0):
        return input
    if is_constant(keep, 0.0):
        return input * 0
    shape = (*input.shape, 1) if input.ndim == 3 else (1, *input.shape, 1)
    return Dropout2D.functional(input.reshape(shape), keep)[0].reshape(input.shape)


@operator(random=True)
def Dropout3D(key, x, *, keep_prob: KeepProb = 0.5):
    """Dropout of entire channels of volumes.

    Args:
        keep_prob (float): probability of keeping a channel. Default: 0.5.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tuple of the result (shape and type of `x`) and the mask (bool).
    """
    return _drop_channels("Dropout3D", key, x, keep_prob, (5,))


@spelling(Dropout3D)
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Sets entire channels of volumes to 0 with probability `p` and scales the others by 1 / (1 - p).

    Args:
        input (Tensor): Volumes (N, C, D, H, W).
        p (float): Probability of dropping, in [0, 1]. Default: 0.5.
        training (bool): False returns `input` unchanged. Default: True.

    Returns:
        Tensor, shape and type of `input`.
    """
    return _apply_channel_dropout(Dropout3D, input, _compute_keep_probability("dropout3d", p, training))


def _count_mask_bytes(shape):
    return -(-prod(shape) // 128) * 16


@operator(random=True)
def DropoutGenMask(key, shape: Shape, keep_prob, *, Seed0: Int = 0, Seed1: Int = 0):
    """Draw a random mask for DropoutDoMask, with one bit per element.

    Args:
        Seed0 (int): operators with different seeds draw different masks. Default: 0.
        Seed1 (int): a second seed, combined with `Seed0`. Default: 0.

    Inputs:
        - **shape** (tuple[int]) - shape of the Tensor to mask.
        - **keep_prob** (Union[Tensor, float]) - probability of a set bit.

    Outputs:
        Tensor, uint8, of 16 * ceil(number of elements / 128) bytes.
    """
    bits = jax.random.bernoulli(seeded(key, Seed0, Seed1), jnp.float32(keep_prob), (_count_mask_bytes(shape) * 8,))
    return jnp.packbits(bits)


@operator
@shapes("keep_prob: () | 1")
def DropoutDoMask(input_x, mask, keep_prob):
    """Applies a mask of DropoutGenMask: x / keep_prob where the bit is set, 0 elsewhere.

    Inputs:
        - **input_x** (Tensor) - any shape, float.
        - **mask** (Tensor) - uint8, the result of DropoutGenMask for the shape of `input_x`.
        - **keep_prob** (Union[Tensor, float]) - the same value as for DropoutGenMask.

    Outputs:
        Tensor, shape and type of `input_x`.

    Raises:
        ValueError: If the mask is too small.
    """
    op = "DropoutDoMask"
    _check.dtype_in(op, "input_x", input_x, _check.FLOAT)
    if mask.dtype != jnp.uint8:
        raise TypeError(f"For '{op}', 'mask' should be uint8, but got {_check.dtype_name(mask)}.")
    if mask.size * 8 < input_x.size:
        raise ValueError(
            f"For '{op}', a mask for shape {input_x.shape} needs {_count_mask_bytes(input_x.shape)} bytes, but "
            f"got {mask.size}."
        )
    mask_bits = jnp.unpackbits(mask.reshape(-1))[: input_x.size].reshape(input_x.shape) > 0
    scaled = input_x / jnp.asarray(keep_prob).astype(input_x.dtype)
    return jnp.where(mask_bits, scaled, jnp.zeros_like(input_x))


CASES = [
    case(DropoutGrad, F(2, 3), Flags(2, 3)).wrt(0),
    case(DropoutDoMask, F(2, 3), I(16, low=0, high=256, dtype="uint8"), Values(0.5)),
    refused(ValueError, Dropout, keep_prob=1.5),
    refused(ValueError, Dropout, keep_prob=0.0),
    refused(ValueError, dropout, F(2, 3), p=1.5),
    refused(ValueError, dropout1d, F(2, 3, 4, 5)),
]
