"""Lowerings to ONNX: activation functions and softmax."""

from typing import Any

import numpy as np

from msnb.ops import operations as ops

from .builder import Builder, Value, lowerings


def _register_unary(operator, op, **attrs):
    @lowerings.register(operator)
    def lower(b: Builder, x: Value) -> Any:
        if not x.is_float:
            return NotImplemented
        return b.op(op, b.cast(x, b.computing(x.dtype)), **attrs)


_register_unary(ops.ReLU, "Relu")
_register_unary(ops.Sigmoid, "Sigmoid")
_register_unary(ops.Tanh, "Tanh")
_register_unary(ops.HSigmoid, "HardSigmoid", alpha=1 / 6, beta=0.5)
_register_unary(ops.HSwish, "HardSwish")
_register_unary(ops.Softsign, "Softsign")
_register_unary(ops.Softplus, "Softplus")
_register_unary(ops.SeLU, "Selu", alpha=1.6732632423543772, gamma=1.0507009873554805)
_register_unary(ops.Mish, "Mish")


@lowerings.register(ops.ReLU6)
def _lower_relu6(b, x):
    return b.op("Clip", x, b.like(0, x), b.like(6, x)) if x.is_float else NotImplemented


@lowerings.register(ops.Hardtanh)
def _lower_hardtanh(b, x, min_val, max_val):
    return b.op("Clip", x, b.like(min_val, x), b.like(max_val, x)) if x.is_float else NotImplemented


@lowerings.register(ops.SiLU)
def _lower_silu(b, x):
    return b.op("Mul", x, b.op("Sigmoid", x)) if x.is_float else NotImplemented


@lowerings.register(ops.Elu)
def _lower_elu(b, x, alpha):
    return b.op("Elu", x, alpha=alpha)


@lowerings.register(ops.LeakyReLUExt)
def _lower_leaky_relu(b, x, alpha):
    return b.op("LeakyRelu", x, alpha=alpha) if x.is_float else NotImplemented


@lowerings.register(ops.CeLU)
def _lower_celu(b, x, alpha):
    return b.op("Celu", x, alpha=alpha) if x.dtype == "float32" else NotImplemented


@lowerings.register(ops.PReLU)
def _lower_prelu(b, x, weight):
    if x.rank > 2:
        weight = b.reshape(weight, (int(weight.shape[0]), *[1] * (x.rank - 2)))
    return b.op("PRelu", x, weight)


@lowerings.register(ops.GeluExt)
def _lower_gelu_ext(b, x, approximate):
    return gelu(b, x) if approximate == "none" and x.is_float else NotImplemented


def gelu(b: Builder, x: Value) -> Value:
    """Write x * (1 + erf(x / sqrt 2)) / 2, a pattern that runtimes recognise as GELU."""
    erf = b.op("Erf", b.op("Div", x, b.like(float(np.sqrt(2)), x)))
    return b.op("Mul", b.op("Mul", x, b.op("Add", erf, b.like(1, x))), b.like(0.5, x))


@lowerings.register(ops.Softmax)
def _lower_softmax(b, logits, axis):
    return _lower_softmax_along_axis(b, "Softmax", logits, axis)


@lowerings.register(ops.LogSoftmax)
def _lower_log_softmax(b, logits, axis):
    return _lower_softmax_along_axis(b, "LogSoftmax", logits, axis)


def _lower_softmax_along_axis(b, op, x, axis):
    axes = [axis] if isinstance(axis, int) else list(axis)
    return b.op(op, x, axis=int(axes[0])) if len(axes) == 1 and x.is_float else NotImplemented


@lowerings.register(ops.SoftShrink)
def _lower_soft_shrink(b, x, lambd):
    return b.op("Shrink", x, bias=lambd, lambd=lambd)


@lowerings.register(ops.HShrink)
def _lower_hard_shrink(b, x, lambd):
    return b.op("Shrink", x, bias=0.0, lambd=lambd)
