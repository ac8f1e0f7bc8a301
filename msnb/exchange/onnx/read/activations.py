"""Import ONNX operators: activation functions."""

import math

from .reader import Reader
from .values import Node, Ref, handles


@handles("LeakyRelu")
def _read_leaky_relu(r, node):
    return r("LeakyReLUExt", node.inputs[0], alpha=float(node.attr("alpha", 0.01)))


@handles("Elu")
def _read_elu(r, node):
    x, alpha = node.inputs[0], float(node.attr("alpha", 1.0))
    if alpha == 1.0:
        return r("Elu", x)
    low = r("Mul", r("Expm1", r("Minimum", x, r.like(0, x))), r.like(alpha, x))
    return r("Add", r("ReLU", x), low)


@handles("Celu")
def _read_celu(r, node):
    return r("CeLU", node.inputs[0], alpha=float(node.attr("alpha", 1.0)))


@handles("Selu")
def _read_selu(r, node):
    x = node.inputs[0]
    alpha, gamma = node.attr("alpha", 1.6732632423543772), node.attr("gamma", 1.0507009873554805)
    if abs(alpha - 1.6732632423543772) < 1e-6 and abs(gamma - 1.0507009873554805) < 1e-6:
        return r("SeLU", x)
    low = r("Mul", r("Expm1", r("Minimum", x, r.like(0, x))), r.like(alpha, x))
    return r("Mul", r("Add", r("ReLU", x), low), r.like(gamma, x))


@handles("HardSigmoid")
def _read_hard_sigmoid(r, node):
    x = node.inputs[0]
    alpha, beta = node.attr("alpha", 0.2), node.attr("beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-6 and beta == 0.5:
        return r("HSigmoid", x)
    line = r("Add", r("Mul", x, r.like(alpha, x)), r.like(beta, x))
    return r("Minimum", r("Maximum", line, r.like(0, x)), r.like(1, x))


@handles("ThresholdedRelu")
def _read_thresholded_relu(r, node):
    x = node.inputs[0]
    return r("Where", r("Greater", x, r.like(node.attr("alpha", 1.0), x)), x, r.like(0, x))


@handles("PRelu")
def _read_prelu(r, node):
    x, slope = node.inputs
    return r("Where", r("Less", x, r.like(0, x)), r("Mul", x, slope), x)


@handles("Gelu")
def _read_gelu(r, node):
    return r("GeluExt", node.inputs[0], node.attr("approximate", "none"))


@handles("Swish")
def _read_swish(r, node):
    x, alpha = node.inputs[0], node.attr("alpha", 1.0)
    return r("SiLU", x) if alpha == 1.0 else r("Mul", x, r("Sigmoid", r("Mul", x, r.like(alpha, x))))


@handles("SwiGLU")
def _read_swiglu(r, node):
    gate, x = node.inputs
    return r("Mul", _read_swish(r, node._replace(inputs=[gate])), x)


@handles("Shrink")
def _read_shrink(r, node):
    x, bias, edge = node.inputs[0], node.attr("bias", 0.0), node.attr("lambd", 0.5)
    high = r("Where", r("Greater", x, r.like(edge, x)), r("Sub", x, r.like(bias, x)), r.like(0, x))
    return r("Where", r("Less", x, r.like(-edge, x)), r("Add", x, r.like(bias, x)), high)


def _register_softmax(name, op):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x = node.inputs[0]
        if node.version >= 13:
            return _apply_softmax_along_axis(r, op, x, node.attr("axis", -1))
        axis = node.attr("axis", 1) % max(x.rank, 1)  # before opset 13 all axes from this one on are flattened
        if axis == x.rank - 1:
            return _apply_softmax_along_axis(r, op, x, -1)
        flat = r.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))
        return r.reshape(_apply_softmax_along_axis(r, op, flat, -1), x.shape)


def _apply_softmax_along_axis(r, op, x, axis):
    if op != "Hardmax":
        return r(op, x, axis=axis)
    axis %= x.rank
    best = r("Argmax", x, axis=axis)
    return r("OneHot", best, x.shape[axis], r.like(1, x), r.like(0, x), axis=axis)


_register_softmax("Softmax", "Softmax")
_register_softmax("LogSoftmax", "LogSoftmax")
_register_softmax("Hardmax", "Hardmax")
