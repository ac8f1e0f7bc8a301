"""Import ONNX operators: matrix products."""

from .reader import Reader
from .values import Ref, handles


@handles("MatMul")
def _read_matmul(r, node):
    return matmul(r, *node.inputs)


def matmul(r: Reader, x: Ref, y: Ref) -> Ref:
    """Add a matrix product with numpy's broadcasting."""
    if x.rank == y.rank == 2:
        return r("MatMul", x, y)
    if x.rank == y.rank > 2 and x.shape[:-2] == y.shape[:-2]:
        return r("BatchMatMul", x, y)
    return r("MatMulBroadcast", x, y)


@handles("Gemm")
def _read_gemm(r, node):
    x, y = node.inputs[:2]
    product = r("MatMul", x, y, transpose_a=bool(node.attr("transA", 0)), transpose_b=bool(node.attr("transB", 0)))
    alpha, beta, c = node.attr("alpha", 1.0), node.attr("beta", 1.0), node.input(2)
    if alpha != 1.0:
        product = r("Mul", product, r.like(alpha, product))
    if c is None:
        return product
    c = c if beta == 1.0 else r("Mul", c, r.like(beta, c))
    return r("BiasAdd", product, c) if c.rank == 1 and c.shape[0] == product.shape[1] else r("Add", product, c)


@handles("Einsum")
def _read_einsum(r, node):
    return r("Einsum", node.inputs, equation=node.attr("equation").replace(" ", ""))
