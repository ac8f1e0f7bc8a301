"""Operators that copy a Tensor and replace, increase or decrease rows at fixed indices."""

import jax.numpy as jnp

from msnb.common.kinds import IntOrTuple
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import same_dtype, tensor_only


def _select_rows_for_update(op, x, v, indices):
    """Return JAX's indexed update helper `x.at[...]` for the rows at `indices`; check the shape of `v`."""
    tensor_only(op, "x", x)
    tensor_only(op, "v", v)
    same_dtype(op, x=x, v=v)
    rows = (indices,) if isinstance(indices, int) else indices
    if x.ndim == 0 or v.shape != (len(rows), *x.shape[1:]):
        raise ValueError(f"For '{op}', 'v' should have shape {(len(rows), *x.shape[1:])}, but got {v.shape}.")
    for row in rows:
        if not 0 <= row < x.shape[0]:
            raise ValueError(f"For '{op}', 'indices' should be in [0, {x.shape[0]}), but got {row}.")
    return x.at[jnp.asarray(rows)]


@operator
def InplaceAdd(x, v, *, indices: IntOrTuple):
    """Return a copy of `x` whose rows at `indices` are increased by `v`.

    Args:
        indices (Union[int, tuple]): Rows of `x`, each in [0, x.shape[0]).

    Inputs:
        - **x** (Tensor) - Of any shape but a scalar.
        - **v** (Tensor) - Of the element type of `x`; its first dimension has the length of `indices`, the others those
          of `x`.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.], [5., 6.]], mindspore.float32)
        >>> v = Tensor([[10., 10.]], mindspore.float32)
        >>> print(ops.InplaceAdd(indices=1)(x, v))
        [[ 1.  2.]
         [13. 14.]
         [ 5.  6.]]
    """
    return _select_rows_for_update("InplaceAdd", x, v, indices).add(v)


@operator
def InplaceSub(x, v, *, indices: IntOrTuple):
    """Return a copy of `x` whose rows at `indices` are decreased by `v`.

    Args:
        indices (Union[int, tuple]): Rows of `x`, each in [0, x.shape[0]).

    Inputs:
        - **x** (Tensor) - Of any shape but a scalar.
        - **v** (Tensor) - Of the element type of `x`; its first dimension has the length of `indices`, the others those
          of `x`.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.], [5., 6.]], mindspore.float32)
        >>> v = Tensor([[10., 10.]], mindspore.float32)
        >>> print(ops.InplaceSub(indices=1)(x, v))
        [[ 1.  2.]
         [-7. -6.]
         [ 5.  6.]]
    """
    return _select_rows_for_update("InplaceSub", x, v, indices).subtract(v)


@operator
def InplaceUpdate(x, v, *, indices: IntOrTuple):
    """Return a copy of `x` whose rows at `indices` are replaced by `v`.

    Args:
        indices (Union[int, tuple]): Rows of `x`, each in [0, x.shape[0]).

    Inputs:
        - **x** (Tensor) - Of any shape but a scalar.
        - **v** (Tensor) - Of the element type of `x`; its first dimension has the length of `indices`, the others those
          of `x`.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.], [5., 6.]], mindspore.float32)
        >>> v = Tensor([[10., 10.]], mindspore.float32)
        >>> print(ops.InplaceUpdate(indices=1)(x, v))
        [[ 1.  2.]
         [10. 10.]
         [ 5.  6.]]
    """
    return _select_rows_for_update("InplaceUpdate", x, v, indices).set(v)


@operator(generation=2)
def InplaceUpdateV2(x, indices: IntOrTuple, v):
    """Return a copy of `x` whose rows at `indices` are replaced by `v`.

    Inputs:
        - **x** (Tensor) - Of any shape but a scalar.
        - **indices** (Union[int, tuple[int]]) - Rows of `x`, each in [0, x.shape[0]).
        - **v** (Tensor) - Of the element type of `x`; its first dimension has the length of `indices`, the others those
          of `x`.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.
    """
    return _select_rows_for_update("InplaceUpdateV2", x, v, indices).set(v)


@spelling(InplaceAdd)
def inplace_add(x: Tensor, v: Tensor, indices: int | tuple[int, ...]) -> Tensor:
    """Return a copy of `x` whose rows at `indices` are increased by `v`.

    Args:
        x (Tensor): Of any shape but a scalar.
        v (Tensor): Of the element type of `x`; its first dimension has the length of `indices`.
        indices (Union[int, tuple[int]]): Rows of `x`.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.
    """
    return InplaceAdd(indices)(x, v)


@spelling(InplaceSub)
def inplace_sub(x: Tensor, v: Tensor, indices: int | tuple[int, ...]) -> Tensor:
    """Return a copy of `x` whose rows at `indices` are decreased by `v`.

    Args:
        x (Tensor): Of any shape but a scalar.
        v (Tensor): Of the element type of `x`; its first dimension has the length of `indices`.
        indices (Union[int, tuple[int]]): Rows of `x`.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.
    """
    return InplaceSub(indices)(x, v)


@spelling(InplaceUpdate)
def inplace_update(x: Tensor, v: Tensor, indices: int | tuple[int, ...]) -> Tensor:
    """Return a copy of `x` whose rows at `indices` are replaced by `v`.

    Args:
        x (Tensor): Of any shape but a scalar.
        v (Tensor): Of the element type of `x`; its first dimension has the length of `indices`.
        indices (Union[int, tuple[int]]): Rows of `x`.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit or an index is out of range.
    """
    return InplaceUpdate(indices)(x, v)


spelling(InplaceUpdate, method="inplace_update")(inplace_update)


CASES = [
    case(InplaceUpdateV2, F(3, 2), (0, 2), F(2, 2)).without("gradient", "2.7.1 has none"),
    case(inplace_add, F(3, 2), F(2, 2), (0, 2)).without("gradient", "MindSpore gives zeros"),
    case(inplace_sub, F(3, 2), F(1, 2), 1).without("gradient", "MindSpore gives zeros"),
    case(inplace_update, F(3, 2), F(1, 2), 1).without("gradient", "MindSpore gives zeros"),
    case(InplaceAdd, F(3, 2), F(2, 2), indices=(0, 2)).without("gradient", "MindSpore gives zeros"),
    case(InplaceSub, F(3, 2), F(2, 2), indices=(0, 2)).without("gradient", "MindSpore gives zeros"),
    case(InplaceUpdate, F(3, 2), F(1, 2), indices=1).without("gradient", "MindSpore gives zeros"),
]
