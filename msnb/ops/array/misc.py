"""Small elementwise operators of MindSpore 2: checks, products, bits, layouts."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Kind, Tensors
from msnb.core.compat.jax_private import is_tracer
from msnb.core.operator.cases import F, I, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import box
from msnb.ops._check import BOOL, COMPLEX, FLOAT, INDEX, INT, NUMBER, dtype_in, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._shapes import shapes


@operator
def IdentityN(x: Tensors):
    """Return the Tensors unchanged.

    Inputs:
        - **x** (Union[tuple[Tensor], list[Tensor]]) - Any Tensors.

    Outputs:
        Tuple of Tensors.

    Raises:
        TypeError: If `x` is no tuple or list of Tensors.
    """
    return tuple(x)


@operator
def MulNoNan(x, y):
    """x * y, and 0 where `y` is 0, even if `x` is NaN or infinite.

    Inputs:
        - **x** (Union[Tensor, Number]) - The first operand.
        - **y** (Union[Tensor, Number]) - The second operand.

    Outputs:
        Tensor of the broadcast shape and the common element type.

    Raises:
        TypeError: If the element types are not supported or do not convert implicitly.
        ValueError: If the shapes do not broadcast.
    """
    x, y = promote(x, y, op="MulNoNan")
    dtype_in("MulNoNan", "x", x, FLOAT | COMPLEX | INDEX, api2=INT)
    return jnp.where((y == 0) & ~jnp.isfinite(x), 0, x).astype(x.dtype) * y


@host_operator()
class CheckNumerics(HostPrimitive):
    """Return a Tensor unchanged; raise an error if an element is NaN or infinite. Compiled programs do not check it.

    Inputs:
        - **x** (Tensor) - Floating point.

    Outputs:
        Tensor, `x`.

    Raises:
        TypeError: If `x` is no Tensor of floating point numbers.
        RuntimeError: If an element is infinite or NaN.
    """

    def __call__(self, x):
        tensor_argument("CheckNumerics", "x", x)
        if not x.is_floating_point():
            raise TypeError(f"For 'CheckNumerics', 'x' should be floating point, but got {x.dtype}.")
        if not is_tracer(x._array):
            values = np.asarray(x._array)
            for bad, word in ((np.isnan(values), "nan"), (np.isinf(values), "an infinite one")):
                if bad.any():
                    raise RuntimeError(f"For 'CheckNumerics', all elements should be finite, but there is {word}.")
        return box(x._array) if x._node is None else x


@operator
@shapes("threshold: () | 1")
def CompareAndBitpack(x, threshold):
    """Compute x > threshold and pack eight results into each byte, the first one in the highest bit.

    Bool elements are packed without a comparison, the first one in the lowest bit.

    Inputs:
        - **x** (Tensor) - Numbers or bool, whose last dimension is a multiple of 8.
        - **threshold** (Tensor) - Of the element type of `x`, a scalar.

    Outputs:
        Tensor of uint8. The last dimension has an eighth of the length.

    Raises:
        TypeError: If the element types are not supported.
        ValueError: If the last dimension is no multiple of 8.
    """
    dtype_in("CompareAndBitpack", "x", x, NUMBER | BOOL)
    if not x.ndim or x.shape[-1] % 8:
        raise ValueError(f"For 'CompareAndBitpack', the last dimension should be a multiple of 8, but got {x.shape}.")
    if x.dtype == bool:  # as in MindSpore, bool is packed without a comparison and in the opposite bit order
        return jnp.packbits(x, -1, bitorder="little")
    return jnp.packbits(x > threshold, -1)


def _check_layout(value):
    if not isinstance(value, str):
        raise TypeError
    if value not in ("NHWC", "NCHW"):
        raise ValueError
    return value


Layout = Kind("'NHWC' or 'NCHW'", _check_layout, python=str, examples=("NHWC", "NCHW"))


@operator
def DataFormatVecPermute(input_x, *, src_format: Layout = "NHWC", dst_format: Layout = "NCHW"):
    """Reorder a vector with one entry for each dimension of an image from one layout to another. An entry is a number
    or a pair.

    Args:
        src_format (str): The layout of the input, "NHWC" or "NCHW". Default: "NHWC".
        dst_format (str): The layout of the result, "NHWC" or "NCHW". Default: "NCHW".

    Inputs:
        - **input_x** (Tensor) - int32 or int64, of shape (4,) or (4, 2).

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `input_x` does not consist of integers.
        ValueError: If `input_x` has another shape.
    """
    dtype_in("DataFormatVecPermute", "input_x", input_x, INDEX)
    if input_x.shape not in ((4,), (4, 2)):
        raise ValueError(f"For 'DataFormatVecPermute', the shape should be (4,) or (4, 2), but got {input_x.shape}.")
    return input_x[np.array([src_format.index(letter) for letter in dst_format])]


CASES = [
    case(IdentityN, (F(2, 3), F(2))).without("gradient", "MindSpore has none of several"),
    case(MulNoNan, F(2, 3), Values([0.0, 2.0, float("nan")])).without("half", "nan fits nowhere"),
    case(MulNoNan, F(2, 3), F(3)),
    case(CheckNumerics, F(2, 3)).without("gradient", "it passes on what it gets"),
    case(CompareAndBitpack, F(2, 16), Values(0.5)),
    case(DataFormatVecPermute, Values([1, 2, 3, 4])),
    case(DataFormatVecPermute, I(4, 2), src_format="NCHW", dst_format="NHWC"),
    refused(ValueError, CompareAndBitpack, F(7), Values(0.5)),
]
