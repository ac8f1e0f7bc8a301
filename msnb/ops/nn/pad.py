"""Padding with a constant or with the border mirrored, and other operators on layout."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Int, Kind, OneOf, PositiveInt, accept_value, check
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._host import HostPrimitive, host_operator


def _accept_pairs(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    pairs = []
    for pair in value:
        if not isinstance(pair, (tuple, list)):
            raise TypeError
        if len(pair) != 2:
            raise ValueError("each dimension needs two numbers, before and after")
        pairs.append(tuple(accept_value(Int, v) for v in pair))
    return tuple(pairs)


def _accept_tuple_of_pairs(value):
    if not isinstance(value, tuple):
        raise TypeError
    return _accept_pairs(value)


Paddings = Kind("a tuple of (before, after) pairs of int", _accept_tuple_of_pairs)
MirrorPaddings = Kind("(before, after) pairs of int", _accept_pairs)


def _check_pairs(op, x, paddings):
    _check.tensor_only(op, "input_x", x)
    if len(paddings) != x.ndim:
        raise ValueError(
            f"For '{op}', 'paddings' should have a pair for each of the {x.ndim} dimensions of 'input_x', "
            f"but got {paddings}."
        )
    if any(v < 0 for pair in paddings for v in pair):
        raise ValueError(f"For '{op}', 'paddings' should not be negative, but got {paddings}.")


@operator
def Pad(input_x, *, paddings: Paddings):
    """Zeros before and after each dimension.

    Args:
        paddings (tuple): a (before, after) pair for each dimension.

    Inputs:
        - **input_x** (Tensor) - any shape.

    Outputs:
        Tensor, type of `input_x`.

    Raises:
        TypeError: If `paddings` is not a tuple.
        ValueError: If it does not fit the dimensions of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check_pairs("Pad", input_x, paddings)
    return jnp.pad(input_x, paddings)


@operator(functional="mirror_pad")
def MirrorPad(input_x, paddings: MirrorPaddings, *, mode: OneOf("REFLECT", "SYMMETRIC") = "REFLECT"):
    """Continues a Tensor as in a mirror at its borders.

    Args:
        mode (str): "REFLECT" does not repeat the border itself, "SYMMETRIC" does. Default: "REFLECT".

    Inputs:
        - **input_x** (Tensor) - any shape.
        - **paddings** (Tensor) - a (before, after) pair for each dimension; a constant.

    Outputs:
        Tensor, type of `input_x`.

    Raises:
        ValueError: If `paddings` does not fit the dimensions of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check_pairs("MirrorPad", input_x, paddings)
    spare = 1 if mode == "REFLECT" else 0
    for size, pair in zip(input_x.shape, paddings, strict=True):
        if max(pair) > size - spare:
            raise ValueError(
                f"For 'MirrorPad', 'paddings' {pair} should be at most {size - spare} for a dimension of "
                f"length {size} in mode {mode}."
            )
    return jnp.pad(input_x, paddings, mode=mode.lower())


@operator
def DataFormatDimMap(
    input_x, *, src_format: OneOf("NHWC", "NCHW") = "NHWC", dst_format: OneOf("NHWC", "NCHW") = "NCHW"
):
    """Numbers of axes of one layout as numbers of axes of another.

    Args:
        src_format (str): "NHWC" or "NCHW". Default: "NHWC".
        dst_format (str): "NHWC" or "NCHW". Default: "NCHW".

    Inputs:
        - **input_x** (Tensor) - int32, values in [-4, 4).

    Outputs:
        Tensor, shape and type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("DataFormatDimMap", "input_x", input_x, _check.SIGNED)
    places = np.array([dst_format.index(letter) for letter in src_format])
    return jnp.take(jnp.asarray(places, input_x.dtype), input_x % 4)


@host_operator()
class ComputeAccidentalHits(HostPrimitive):
    """Where sampled candidates happen to be true classes.

    How many there are depends on the values, so the answer is computed at once and not within a graph.

    Args:
        num_true (int): true classes an example. Default: 1.

    Inputs:
        - **true_classes** (Tensor) - (N, num_true), int32 or int64.
        - **sampled_candidates** (Tensor) - (S,), of the same type.

    Outputs:
        Tuple of the example of each hit, its place among the candidates (both the type of `true_classes`), and the
        weight -float32.max, each (hits,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, num_true=1):
        super().__init__()
        self.add_prim_attr("num_true", check(PositiveInt, num_true, "num_true", self.name))

    def __call__(self, true_classes, sampled_candidates):
        from msnb.core.tensor import Tensor

        for name, x in (("true_classes", true_classes), ("sampled_candidates", sampled_candidates)):
            if not isinstance(x, Tensor) or x._array.dtype not in _check.INDEX:
                raise TypeError(f"For '{self.name}', '{name}' should be a Tensor of int32 or int64.")
        true, sampled = true_classes.asnumpy(), sampled_candidates.asnumpy()
        if true.ndim != 2 or true.shape[1] != self.num_true or sampled.ndim != 1:
            raise ValueError(
                f"For '{self.name}', 'true_classes' should have shape (N, {self.num_true}) and "
                f"'sampled_candidates' (S,), but got {true.shape} and {sampled.shape}."
            )
        example, _, place = np.nonzero(true[:, :, None] == sampled[None, None, :])
        weights = np.full(len(example), -np.finfo(np.float32).max, np.float32)
        return tuple(map(Tensor, (example.astype(true.dtype), place.astype(true.dtype), weights)))
