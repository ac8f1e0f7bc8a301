"""Weighted products of matrices and vectors, added to a Tensor."""

from msnb.common import dtype as mstype
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops.array.cast import Cast
from msnb.ops.math.matmul import MatMul, bmm
from msnb.ops.math.products import Outer
from msnb.ops.math.sum import ReduceSum

_HALVES = {mstype.float16, mstype.bfloat16}


def _check_tensor_ranks(function, dims, **tensors):
    """Check the numbers of dimensions of Tensors, and return the Tensors."""
    for (name, x), ndim in zip(tensors.items(), dims, strict=True):
        if tensor_argument(function, name, x).ndim != ndim:
            raise ValueError(f"For '{function}', '{name}' should have {ndim} dimensions, but got shape {x.shape}.")
    return tuple(tensors.values())


def _add_weighted_product(function, product, input, factors, beta, alpha, argument="input", is_exact=False):
    """Return beta * input + alpha * product(*factors).

    Half precision is computed in float32, because a product may overflow before a small weight scales it down. If
    `is_exact` is True, the weights are truncated to int for integer Tensors.
    """
    types = {tensor_argument(function, argument, input).dtype, *(x.dtype for x in factors)}
    if is_exact and not any(x.is_floating_point() or x.is_complex() for x in (input, *factors)):
        beta, alpha = int(beta), int(alpha)
    if len(types) == 1 and types <= _HALVES:
        wide = [Cast.functional(x, mstype.float32) for x in (input, *factors)]
        return Cast.functional(wide[0] * beta + product(*wide[1:]) * alpha, *types)
    return input * beta + product(*factors) * alpha


@spelling(function="addbmm", method="addbmm")
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return beta * input + alpha * sum(batch1[i] @ batch2[i]).

    Args:
        input (Tensor): The addend; it broadcasts to the shape of the sum.
        batch1 (Tensor): Matrices, of shape (B, M, K), or one matrix.
        batch2 (Tensor): Matrices, of shape (B, K, N), or one matrix. If both inputs are single matrices, the rows of
            their product are summed, as in MindSpore 2's example.
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the sum. Default: 1.

    Returns:
        Tensor of shape (M, N), or (N,) for two matrices, broadcast with `input`.

    Raises:
        TypeError: If an input is not a Tensor, or the element types do not fit.
        ValueError: If the shapes do not fit.
    """
    ndim = 2 if tensor_argument("addbmm", "batch1", batch1).ndim == 2 else 3
    factors = _check_tensor_ranks("addbmm", (ndim, ndim), batch1=batch1, batch2=batch2)
    return _add_weighted_product("addbmm", lambda a, b: ReduceSum.functional(bmm(a, b), 0), input, factors, beta, alpha)


@spelling(function="addmv", method="addmv")
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return beta * input + alpha * (mat @ vec).

    Args:
        input (Tensor): The addend; it broadcasts to the shape of the product.
        mat (Tensor): A matrix, of shape (M, N).
        vec (Tensor): A vector, of shape (N,).
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the product. Default: 1.

    Returns:
        Tensor of shape (M,).

    Raises:
        TypeError: If an input is not a Tensor, or the element types do not fit.
        ValueError: If the shapes do not fit.
    """
    factors = _check_tensor_ranks("addmv", (2, 1), mat=mat, vec=vec)
    product = lambda a, b: MatMul.functional(a, b.reshape(-1, 1)).reshape(-1)
    return _add_weighted_product("addmv", product, input, factors, beta, alpha, is_exact=True)


@spelling(function="addr", method="addr")
def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return beta * x + alpha * outer(vec1, vec2).

    Args:
        x (Tensor): The addend; it broadcasts to the shape of the outer product.
        vec1 (Tensor): A vector, of shape (M,).
        vec2 (Tensor): A vector, of shape (N,).
        beta (Number): Factor of `x`. Default: 1.
        alpha (Number): Factor of the outer product. Default: 1.

    Returns:
        Tensor of shape (M, N).

    Raises:
        TypeError: If an input is not a Tensor, or the element types do not fit.
        ValueError: If the shapes do not fit.
    """
    factors = _check_tensor_ranks("addr", (1, 1), vec1=vec1, vec2=vec2)
    return _add_weighted_product("addr", Outer.functional, x, factors, beta, alpha, "x", is_exact=True)


CASES = [
    case(addbmm, F(2, 2), F(3, 2, 3), F(3, 3, 2), beta=2, alpha=0.5),
    case(addbmm, F(2), F(3, 2, 3), F(3, 3, 2)),
    case(addmv, F(2), F(2, 3), F(3), beta=2, alpha=0.5),
    case(addr, F(2, 3), F(2), F(3), beta=2, alpha=0.5),
    refused(ValueError, addmv, F(2), F(2, 3), F(3, 1)),
    refused(ValueError, addbmm, F(2, 2), F(2, 3), F(3, 3, 2)),
]
