"""Readers of products of matrices."""

from .reader import Reader
from .values import Ref, handles


@handles("MatMul")
def _matmul(r, node):
    return matmul(r, *node.inputs)


def matmul(r: Reader, x: Ref, y: Ref) -> Ref:
    """numpy's product of matrices."""
    if x.rank == y.rank == 2:
        return r("MatMul", x, y)
    if x.rank == y.rank > 2 and x.shape[:-2] == y.shape[:-2]:
        return r("BatchMatMul", x, y)
    return r("MatMulBroadcast", x, y)


@handles("Gemm")
def _gemm(r, node):
    x, y = node.inputs[:2]
    made = r("MatMul", x, y, transpose_a=bool(node.attr("transA", 0)), transpose_b=bool(node.attr("transB", 0)))
    alpha, beta, c = node.attr("alpha", 1.0), node.attr("beta", 1.0), node.input(2)
    if alpha != 1.0:
        made = r("Mul", made, r.like(alpha, made))
    if c is None:
        return made
    c = c if beta == 1.0 else r("Mul", c, r.like(beta, c))
    return r("BiasAdd", made, c) if c.rank == 1 and c.shape[0] == made.shape[1] else r("Add", made, c)


@handles("Einsum")
def _einsum(r, node):
    return r("Einsum", node.inputs, equation=node.attr("equation").replace(" ", ""))
