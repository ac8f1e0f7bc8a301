"""Indices of nonzero elements. Their number depends on data, so these functions do not run in compiled graphs."""

import numpy as np

from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._numpy import ArrayLike, as_tensor


def concrete_array(op, x):
    """Return the values of a Tensor as a numpy array; raise an error if they are traced.

    Raises:
        TypeError: If `x` is no Tensor.
        DataDependentShape: If `x` is a tracer.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{op}', the input should be a Tensor, but got {describe(x)}.")
    if is_tracer(x._array):
        raise DataDependentShape(op, "the shape of the result", "use ops.select or ops.where")
    return np.asarray(x._array)


@host_operator()
class NonZero(HostPrimitive):
    """Return the indices of nonzero elements. This does not run in compiled graphs.

    Inputs:
        - **input** (Tensor) - Numbers or bool.

    Outputs:
        Tensor of int64, of shape (count, input.ndim).

    Raises:
        TypeError: If `input` is not a Tensor.

    Examples:
        >>> print(ops.NonZero()(Tensor([0, 3, 5], mindspore.int32)))
        [[1]
         [2]]
    """

    def __call__(self, input: Tensor) -> Tensor:
        return nonzero(input)


@spelling(function="nonzero", method="nonzero")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """Return the indices of nonzero elements. This does not run in compiled graphs.

    Args:
        input (Tensor): Numbers or bool.
        as_tuple (bool): Return one vector for each dimension instead of one matrix. Default: False.

    Returns:
        Tensor of int64, of shape (count, input.ndim), or a tuple of vectors.

    """
    indices = np.nonzero(concrete_array("nonzero", input))
    if as_tuple:
        return tuple(Tensor(p.astype(np.int64)) for p in indices)
    return Tensor(np.stack(indices, axis=1).astype(np.int64) if indices else np.zeros((0, 0), np.int64))


@spelling(function="argwhere", method="argwhere")
def argwhere(input: Tensor) -> Tensor:
    """Return the indices of nonzero elements; the same as `nonzero`.

    Args:
        input (Tensor): Numbers or bool.

    Returns:
        Tensor of int64, of shape (count, input.ndim).
    """
    return nonzero(input)


@spelling(numpy="argwhere")
def _numpy_argwhere(a: ArrayLike) -> Tensor:
    """Return the indices of nonzero elements. This does not run in compiled graphs.

    Args:
        a (Union[Tensor, list, tuple]): Numbers or bool.

    Returns:
        Tensor of int64, of shape (count, a.ndim).

    """
    return nonzero(as_tensor(a, "argwhere", "a"))
