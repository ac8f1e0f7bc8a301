"""Rows of a Tensor replaced, increased or decreased at fixed indices; the input Tensor itself stays as it is."""

import jax.numpy as jnp

from msnb.common.kinds import IntOrTuple
from msnb.core.declare import operator
from msnb.ops._check import same_dtype, tensor_only

_DOC = """Copy of `x` whose rows at `indices` are {verb} `v`.

    Args:
        indices (Union[int, tuple]): Rows of `x`, each in [0, x.shape[0]).

    Inputs:
        - **x** (Tensor) - Of any shape but a scalar.
        - **v** (Tensor) - Of the element type of `x`; its first dimension counts the indices, the others are those
          of `x`.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.], [5., 6.]], mindspore.float32)
        >>> v = Tensor([[10., 10.]], mindspore.float32)
        >>> print(ops.{name}(indices=1)(x, v))
        {shown}
    """


def _declare(name, verb, update, shown):
    def kernel(x, v, *, indices: IntOrTuple):
        tensor_only(name, "x", x)
        tensor_only(name, "v", v)
        same_dtype(name, x=x, v=v)
        rows = (indices,) if isinstance(indices, int) else indices
        if x.ndim == 0 or v.shape != (len(rows), *x.shape[1:]):
            raise ValueError(f"For '{name}', 'v' should have shape {(len(rows), *x.shape[1:])}, but got {v.shape}.")
        for row in rows:
            if not 0 <= row < x.shape[0]:
                raise ValueError(f"For '{name}', 'indices' should be in [0, {x.shape[0]}), but got {row}.")
        return update(x.at[jnp.asarray(rows)], v)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = _DOC.format(name=name, verb=verb, shown=shown)
    return operator(name)(kernel)


inplace_add = _declare(
    "InplaceAdd", "increased by", lambda at, v: at.add(v), "[[ 1.  2.]\n         [13. 14.]\n         [ 5.  6.]]"
)
inplace_sub = _declare(
    "InplaceSub", "decreased by", lambda at, v: at.subtract(v), "[[ 1.  2.]\n         [-7. -6.]\n         [ 5.  6.]]"
)
inplace_update = _declare(
    "InplaceUpdate", "replaced by", lambda at, v: at.set(v), "[[ 1.  2.]\n         [10. 10.]\n         [ 5.  6.]]"
)
