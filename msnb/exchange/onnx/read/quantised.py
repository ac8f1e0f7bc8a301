"""Import ONNX operators: quantisation."""

import numpy as np

from msnb.formats import onnx

from .convolutions import convolution
from .products import matmul
from .reader import Reader
from .shapes import slice_axis
from .values import Ref, UnsupportedOperator, handles


def _broadcast_quantisation_parameter(r: Reader, v: Ref, x: Ref, axis: int, block: int = 0) -> Ref:
    """Broadcast a quantisation parameter to `x`. It is a scalar, or has one value per index or block of an axis."""
    if v.rank == 0 or v.shape == (1,) and x.rank == 0:
        return r.reshape(v, ())
    axis %= x.rank
    if v.rank == 1 and not (block and x.rank == 1):
        return r.reshape(v, [v.shape[0] if i == axis else 1 for i in range(x.rank)])
    block = block or -(-x.shape[axis] // v.shape[axis])
    r.reserve_constant(v.shape[axis], block)
    repeated = r("Gather", v, r.const(np.repeat(np.arange(v.shape[axis]), block)), axis)
    return slice_axis(r, repeated, axis, 0, x.shape[axis])


def _cast_with_saturation(r: Reader, x: Ref, dtype: np.dtype) -> Ref:
    """Cast to an integer type with saturation."""
    if dtype.kind not in "iu":
        raise UnsupportedOperator(f"it quantises to {dtype.name}")
    edges = np.iinfo(dtype)
    clipped = r("Minimum", r("Maximum", x, r.like(edges.min, x)), r.like(edges.max, x))
    return r.cast(r.cast(clipped, np.int32), dtype)


@handles("DequantizeLinear")
def _read_dequantize(r, node):
    x, scale, zero = node.inputs[0], node.inputs[1], node.input(2)
    axis, block = node.attr("axis", 1), node.attr("block_size", 0)
    dequantized = r.cast(x, np.int32)
    if zero is not None:
        dequantized = r(
            "Sub", dequantized, r.cast(_broadcast_quantisation_parameter(r, zero, x, axis, block), np.int32)
        )
    product = r("Mul", r.cast(dequantized, scale.dtype), _broadcast_quantisation_parameter(r, scale, x, axis, block))
    return r.cast(product, onnx.DTYPES.get(node.attr("output_dtype", 0), product.dtype))


@handles("QuantizeLinear")
def _read_quantize(r, node):
    x, scale, zero = node.inputs[0], node.inputs[1], node.input(2)
    axis, block = node.attr("axis", 1), node.attr("block_size", 0)
    dtype = onnx.DTYPES.get(node.attr("output_dtype", 0) or 2, np.dtype(np.uint8)) if zero is None else zero.dtype
    rounded = r("Rint", r("RealDiv", x, r.cast(_broadcast_quantisation_parameter(r, scale, x, axis, block), x.dtype)))
    if zero is not None:
        rounded = r("Add", rounded, r.cast(_broadcast_quantisation_parameter(r, zero, x, axis, block), rounded.dtype))
    return _cast_with_saturation(r, rounded, dtype)


@handles("DynamicQuantizeLinear")
def _read_dynamic_quantize_linear(r, node):
    x = node.inputs[0]
    zero = r.like(0, x)
    low = r("Minimum", r("ReduceMin", x), zero)
    high = r("Maximum", r("ReduceMax", x), zero)
    scale = r("RealDiv", r("Sub", high, low), r.like(255, x))
    point = r("Rint", r("Minimum", r("Maximum", r("Neg", r("RealDiv", low, scale)), zero), r.like(255, x)))
    y = r("Add", r("Rint", r("RealDiv", x, scale)), point)
    y = r("Minimum", r("Maximum", y, zero), r.like(255, x))
    return r.cast(r.cast(y, np.int32), np.uint8), scale, r.cast(r.cast(point, np.int32), np.uint8)


# ---------------------------------------------------------------------- products of quantised values
def _subtract_zero_point(r: Reader, x: Ref, zero: Ref | None, axis: int) -> Ref:
    """Subtract the zero point from quantised values, in int32."""
    x = r.cast(x, np.int32)
    if zero is None:
        return x
    zero = r.cast(zero, np.int32)
    if zero.rank == 1 and zero.shape[0] > 1:
        return r("Sub", x, r.reshape(zero, [zero.shape[0] if i == axis % x.rank else 1 for i in range(x.rank)]))
    return r("Sub", x, r.reshape(zero, ()) if zero.rank == 1 else zero)


@handles("MatMulInteger")
def _read_matmul_integer(r, node):
    x, y = node.inputs[:2]
    return matmul(r, _subtract_zero_point(r, x, node.input(2), -2), _subtract_zero_point(r, y, node.input(3), -1))


@handles("QLinearMatMul")
def _read_qlinear_matmul(r, node):
    x, x_scale, x_zero, y, y_scale, y_zero, scale, zero = node.inputs
    product = matmul(r, _subtract_zero_point(r, x, x_zero, -2), _subtract_zero_point(r, y, y_zero, -1))
    return _requantize(r, product, r("RealDiv", r("Mul", x_scale, y_scale), scale), zero)


def _requantize(r, x, factor, zero):
    """Multiply sums of products by `factor`, round them, add the zero point and cast them to its type."""
    rounded = r("Rint", r("Mul", r.cast(x, np.float32), r.cast(factor, np.float32)))
    return _cast_with_saturation(r, r("Add", rounded, r.cast(zero, np.float32)), zero.dtype)


@handles("ConvInteger")
def _read_conv_integer(r, node):
    x, w = (
        _subtract_zero_point(r, v, node.input(2 + i), axis) for i, (v, axis) in enumerate(zip(node.inputs[:2], (1, 0)))
    )
    product = convolution(r, node, r.cast(x, np.float32), r.cast(w, np.float32))
    return r.cast(r("Rint", product), np.int32)


@handles("QLinearConv")
def _read_qlinear_conv(r, node):
    x, x_scale, x_zero, w, w_scale, w_zero, scale, zero = node.inputs[:8]
    x, w = (
        r.cast(v, np.float32) for v in (_subtract_zero_point(r, x, x_zero, 1), _subtract_zero_point(r, w, w_zero, 0))
    )
    product = r("Rint", convolution(r, node, x, w))
    if node.input(8) is not None:
        product = r("BiasAdd", product, r.cast(node.input(8), np.float32))
    factor = r("RealDiv", r("Mul", x_scale, w_scale), scale)
    if factor.rank == 1 and factor.shape[0] > 1:
        factor = r.reshape(factor, (factor.shape[0], *[1] * (product.rank - 2)))
    return _requantize(r, product, factor if factor.rank != 1 else r.reshape(factor, ()), zero)
