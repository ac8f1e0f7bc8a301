"""Gradient rules that use MindSpore's own operators. A train step is traced with them for a MINDIR file.

The gradients in a graph are JAX derivatives of the kernels, which no other program can read. For a file the operators
below are differentiated as MindSpore does: `ReLU` by a `ReluGrad`, `Conv2D` by two backward convolutions. An operator
without a rule keeps JAX's gradient, and `export` reports it.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.eager.kernel import Kernel
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.rule_table import RuleTable
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.tensor import Tensor, box
from msnb.exchange.tracing import SCOPE
from msnb.ops import operations as P
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast

gradients = RuleTable("a gradient in MindSpore's operators", "Write the loss with other operators.")


class Call(NamedTuple):
    """A call of an operator to differentiate, with all values that its gradient may use.

    Attributes:
        settings (dict): Attributes and static inputs of the operator, in normal form.
        inputs (list[Tensor]): Tensor inputs, those of a tuple one after the other.
        outputs (list[Tensor]): Results.
        cotangents (list[Tensor]): Cotangents of the results.
    """

    settings: dict[str, Any]
    inputs: list[Tensor]
    outputs: list[Tensor]
    cotangents: list[Tensor]


def rules(kernel: Kernel) -> Callable[..., Any] | None:
    """Return the gradient rule of a kernel for `core.eager.kernel.differentiated`, or None to use JAX's gradient."""
    meaning = kernel.name.meaning
    op = REGISTRY.get(meaning.operator) or REGISTRY.get(f"_{meaning.operator}")
    rule = None if op is None else gradients.get(op)
    if rule is None or meaning.attributes.get("is_training"):  # a norm in training mode updates its running statistics
        return None

    def back(arrays, out, cotangents):
        with trace_state.TraceFrame((), (), trace_state.thread.frame), jax.named_scope(SCOPE):
            inputs = [box(jnp.asarray(array)) for array in arrays]
            grads = rule(Call(meaning.attributes, inputs, _box_as_tensors(out), _box_as_tensors(cotangents)))
            grads = [*grads, *[None] * (len(arrays) - len(grads))]
            return tuple(map(_convert_to_cotangent, grads, arrays))

    return back


def _box_as_tensors(values):
    return [box(value) for value in (values if isinstance(values, tuple) else (values,))]


def _convert_to_cotangent(grad, array):
    kind = jax.typeof(array)
    if not is_inexact(kind.dtype):
        return np.zeros(kind.shape, jax.dtypes.float0)
    if grad is None:
        return jnp.zeros(kind.shape, kind.dtype)
    return (grad if grad._array.dtype == kind.dtype else P.Cast()(grad, kind.dtype))._array


# ---------------------------------------------------------------------- element by element
def _sum_to_shape(grad, like):
    """Sum the gradient of a broadcast input to the shape of that input."""
    if grad.shape == like.shape:
        return grad
    extra_dims = grad.ndim - like.ndim
    axes = tuple(i for i, n in enumerate(grad.shape) if i < extra_dims or (like.shape[i - extra_dims] == 1 and n != 1))
    summed = P.ReduceSum()(grad, axes) if axes else grad
    return summed if summed.shape == like.shape else P.Reshape()(summed, like.shape)


def _add_to_itself(x):
    return P.Add()(x, x)


def _make_unary_rule(derivative):
    """Return the rule of a unary operator from a function of (cotangent, input, output)."""
    return lambda call: [derivative(call.cotangents[0], call.inputs[0], call.outputs[0])]


for _op, _derivative in {
    P.ReLU: lambda d, x, y: P.ReluGrad()(d, y),
    P.ReLU6: lambda d, x, y: P.ReLU6Grad()(d, x),
    P.Sigmoid: lambda d, x, y: P.SigmoidGrad()(y, d),
    P.Tanh: lambda d, x, y: P.TanhGrad()(y, d),
    P.GeLU: lambda d, x, y: P.GeLUGrad()(d, x, y),
    P.Neg: lambda d, x, y: P.Neg()(d),
    P.Exp: lambda d, x, y: P.Mul()(d, y),
    P.Log: lambda d, x, y: P.RealDiv()(d, x),
    P.Sqrt: lambda d, x, y: P.RealDiv()(d, _add_to_itself(y)),
    P.Square: lambda d, x, y: P.Mul()(d, _add_to_itself(x)),
    P.Sin: lambda d, x, y: P.Mul()(d, P.Cos()(x)),
    P.Cos: lambda d, x, y: P.Neg()(P.Mul()(d, P.Sin()(x))),
    P.Abs: lambda d, x, y: P.Mul()(d, P.Sign()(x)),
    P.Reciprocal: lambda d, x, y: P.Neg()(P.Mul()(d, P.Square()(y))),
    P.Softplus: lambda d, x, y: P.Mul()(d, P.Sigmoid()(x)),
    P.Cast: lambda d, x, y: P.Cast()(d, x.dtype),
    P.Reshape: lambda d, x, y: P.Reshape()(d, x.shape),
    P.Flatten: lambda d, x, y: P.Reshape()(d, x.shape),
    P.ExpandDims: lambda d, x, y: P.Reshape()(d, x.shape),
    P.Squeeze: lambda d, x, y: P.Reshape()(d, x.shape),
    P.BroadcastTo: lambda d, x, y: _sum_to_shape(d, x),
}.items():
    gradients.register(_op)(_make_unary_rule(_derivative))


@gradients.register(P.Add)
def _grad_add(call):
    (d,) = call.cotangents
    return [_sum_to_shape(d, x) for x in call.inputs]


@gradients.register(P.Sub)
def _grad_sub(call):
    (d,), (x, y) = call.cotangents, call.inputs
    return [_sum_to_shape(d, x), _sum_to_shape(P.Neg()(d), y)]


@gradients.register(P.Mul)
def _grad_mul(call):
    (d,), (x, y) = call.cotangents, call.inputs
    return [_sum_to_shape(P.Mul()(d, y), x), _sum_to_shape(P.Mul()(d, x), y)]


@gradients.register(P.RealDiv, P.Div, _TrueDiv)
def _grad_div(call):
    (d,), (x, y), (out,) = call.cotangents, call.inputs, call.outputs
    quotient = P.RealDiv()(d, y)
    return [_sum_to_shape(quotient, x), _sum_to_shape(P.Neg()(P.Mul()(quotient, out)), y)]


# ---------------------------------------------------------------------- reductions, indices
def _normalize_axes(axis, rank):
    axes = (axis,) if isinstance(axis, int) else tuple(axis or ())
    return tuple(a % rank for a in axes) or tuple(range(rank))


def _grad_reduction(call, is_mean):
    (d,), x = call.cotangents, call.inputs[0]
    axes = _normalize_axes(call.settings.get("axis", ()), x.ndim)
    keep_dims_shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    d = d if d.shape == keep_dims_shape else P.Reshape()(d, keep_dims_shape)
    if is_mean:
        d = P.RealDiv()(d, Tensor(np.array(math.prod(x.shape[a] for a in axes)), d.dtype))
    return [P.BroadcastTo(x.shape)(d) if keep_dims_shape != x.shape else d]


gradients.register(P.ReduceSum)(lambda call: _grad_reduction(call, False))
gradients.register(P.ReduceMean)(lambda call: _grad_reduction(call, True))


@gradients.register(P.Transpose)
def _grad_transpose(call):
    order = next(v for v in call.settings.values() if isinstance(v, tuple))
    order = [axis % len(order) for axis in order]
    return [P.Transpose()(call.cotangents[0], tuple(order.index(i) for i in range(len(order))))]


@gradients.register(P.Concat)
def _grad_concat(call):
    (d,), axis, offset, grads = call.cotangents, call.settings["axis"], 0, []
    axis %= d.ndim
    for x in call.inputs:
        begin = tuple(offset if i == axis else 0 for i in range(d.ndim))
        grads.append(P.Slice()(d, begin, x.shape))
        offset += x.shape[axis]
    return grads


@gradients.register(P.Gather)
def _grad_gather(call):
    """Return the gradient of the table: cotangents of equal indices are summed, separately for each batch entry."""
    (d,), (table, indices) = call.cotangents, call.inputs[:2]
    axis = call.settings.get("axis", 0) % table.ndim
    batch = call.settings.get("batch_dims", 0) % max(indices.ndim, 1)
    index_dims, n = indices.ndim - batch, table.shape[axis]
    if axis > batch:  # move the index dimensions directly behind the batch dimensions
        order = [*range(batch), *range(axis, axis + index_dims), *range(batch, axis), *range(axis + index_dims, d.ndim)]
        d = P.Transpose()(d, tuple(order))
    rest, batches = d.shape[indices.ndim :], table.shape[:batch]
    d = P.Reshape()(d, (math.prod(indices.shape), *rest))
    if batch:
        first = n * np.arange(math.prod(batches)).reshape(*batches, *[1] * index_dims)
        indices = P.Add()(indices, Tensor(first.astype(np.int32), indices.dtype))
    summed = P.UnsortedSegmentSum()(d, P.Reshape()(indices, (-1,)), math.prod(batches) * n)
    if batch:
        summed = P.Reshape()(summed, (*batches, n, *rest))
    back = [*range(batch), *range(batch + 1, axis + 1), batch, *range(axis + 1, table.ndim)]
    return [P.Transpose()(summed, tuple(back)) if axis > batch else summed]


# ---------------------------------------------------------------------- products
def _grad_matrix_product(matmul, d, x, y, transpose_x=False, transpose_y=False):
    """Return the gradients of a product of matrices, each of which may be transposed."""
    grad_x = matmul(transpose_y, True)(y, d) if transpose_x else matmul(False, not transpose_y)(d, y)
    grad_y = matmul(True, transpose_x)(d, x) if transpose_y else matmul(not transpose_x, False)(x, d)
    return [grad_x, grad_y]


@gradients.register(P.MatMul, P.BatchMatMul)
def _grad_matmul(call):
    kind = P.MatMul if call.inputs[0].ndim == 2 else P.BatchMatMul
    transposes = call.settings["transpose_a"], call.settings["transpose_b"]
    return [
        _sum_to_shape(g, x)
        for g, x in zip(_grad_matrix_product(kind, *call.cotangents, *call.inputs, *transposes), call.inputs)
    ]


def _reshape_if_needed(x, shape):
    return x if x.shape == shape else P.Reshape()(x, shape)


@gradients.register(_MatMulBroadcast)
def _grad_matmul_broadcast(call):
    """Return the gradients of `matmul`. A vector is a row or a column; batch dimensions are broadcast."""
    (d,), (x, y) = call.cotangents, call.inputs
    rows = _reshape_if_needed(x, (1, x.shape[0]) if x.ndim == 1 else x.shape)
    columns = _reshape_if_needed(y, (y.shape[0], 1) if y.ndim == 1 else y.shape)
    size = rows.shape[-2], columns.shape[-1]
    if columns.ndim == 2:
        rows = _reshape_if_needed(rows, (-1, rows.shape[-1]) if rows.ndim > 2 else rows.shape)
        grads = _grad_matrix_product(P.MatMul, _reshape_if_needed(d, (rows.shape[0], size[1])), rows, columns)
        return [_reshape_if_needed(g, like.shape) for g, like in zip(grads, (x, y))]
    batch_shape = call.outputs[0].shape[: max(rows.ndim, columns.ndim) - 2]
    broadcast = [P.BroadcastTo((*batch_shape, *m.shape[-2:]))(m) for m in (rows, columns)]
    grads = _grad_matrix_product(P.BatchMatMul, _reshape_if_needed(d, (*batch_shape, *size)), *broadcast)
    return [_reshape_if_needed(_sum_to_shape(g, m), like.shape) for g, m, like in zip(grads, (rows, columns), (x, y))]


@gradients.register(P.BiasAdd)
def _grad_bias_add(call):
    (d,) = call.cotangents
    return [d, P.BiasAddGrad(call.settings["data_format"])(d)]


@gradients.register(P.Conv2D)
def _grad_conv2d(call):
    (d,), (x, w) = call.cotangents, call.inputs
    return [
        P.Conv2DBackpropInput(**call.settings)(d, w, x.shape),
        P.Conv2DBackpropFilter(**call.settings)(d, x, w.shape),
    ]


@gradients.register(P.Conv2DBackpropInput)
def _grad_conv2d_transpose(call):
    (d,), (x, w) = call.cotangents, call.inputs
    settings = {key: value for key, value in call.settings.items() if key not in ("input_sizes", "pad_list")}
    return [P.Conv2D(**settings)(d, w), P.Conv2DBackpropFilter(**settings)(x, d, w.shape)]


# ---------------------------------------------------------------------- pooling, norms, losses
@gradients.register(P.MaxPool)
def _grad_max_pool(call):
    return [P.MaxPoolGrad(**call.settings)(*call.inputs, *call.outputs, *call.cotangents)]


@gradients.register(P.AvgPool)
def _grad_avg_pool(call):
    windows = {key: call.settings[key] for key in ("kernel_size", "strides", "pad_mode")}
    return [P.AvgPoolGradGpu(**windows)(*call.inputs, *call.outputs, *call.cotangents)]


@gradients.register(P.LayerNorm)
def _grad_layer_norm(call):
    x, gamma = call.inputs[:2]
    _, mean, variance = call.outputs
    axes = {key: call.settings[key] for key in ("begin_norm_axis", "begin_params_axis")}
    return P.LayerNormGrad(**axes)(x, call.cotangents[0], variance, mean, gamma)


@gradients.register(P.Softmax)
def _grad_softmax(call):
    (d,), (y,) = call.cotangents, call.outputs
    weighted_sum = P.ReduceSum(True)(P.Mul()(d, y), call.settings["axis"])
    return [P.Mul()(y, P.Sub()(d, weighted_sum))]


@gradients.register(P.LogSoftmax)
def _grad_log_softmax(call):
    return [P.LogSoftmaxGrad(call.settings["axis"])(call.outputs[0], call.cotangents[0])]


@gradients.register(P.SoftmaxCrossEntropyWithLogits)
def _grad_cross_entropy(call):
    """Return the gradient, which is the operator's second result."""
    return [P.Mul()(call.outputs[1], P.ExpandDims()(call.cotangents[0], -1))]


@gradients.register(P.SparseSoftmaxCrossEntropyWithLogits)
def _grad_sparse_cross_entropy(call):
    return [P.Mul()(P.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(*call.inputs[:2]), call.cotangents[0])]


@gradients.register(P.BatchNorm)
def _grad_batch_norm(call):
    """Return the gradients of BatchNorm in evaluation mode, which uses the running statistics."""
    x, scale, _, mean, variance = call.inputs[:5]
    settings = {key: call.settings[key] for key in ("is_training", "epsilon")}
    return P.BatchNormGrad(**settings)(call.cotangents[0], x, scale, mean, variance)[:3]
