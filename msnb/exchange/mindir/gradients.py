"""Gradients in MindSpore's own operators: what a train step is traced with that is to be a MINDIR file.

A graph has gradients as JAX derives them from the kernels, which no other program knows. For a file the operators below
are differentiated as MindSpore does it: `ReLU` by a `ReluGrad`, `Conv2D` by two convolutions back. Of an operator that
is not here the gradient stays JAX's, and `export` names it.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core import trace
from msnb.core.dtype import is_inexact
from msnb.core.facets import Facet
from msnb.core.kernel import Kernel
from msnb.core.operator import REGISTRY
from msnb.core.tensor import Tensor, box
from msnb.exchange.tracing import SCOPE
from msnb.ops import operations as P
from msnb.ops.math.division import _TrueDiv
from msnb.ops.math.matmul import _MatMulBroadcast

gradients = Facet("a gradient in MindSpore's operators", "Write the loss with other operators.")


class Call(NamedTuple):
    """A call that is differentiated: all that its gradient may be made of.

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
    """The gradient of a kernel as `msnb.core.kernel.differentiated` wants it; None where JAX's is taken."""
    meaning = kernel.name.meaning
    op = REGISTRY.get(meaning.operator) or REGISTRY.get(f"_{meaning.operator}")
    rule = None if op is None else gradients.get(op)
    if rule is None or meaning.attributes.get("is_training"):  # such a norm writes its statistics
        return None

    def back(arrays, out, cotangents):
        with trace.Frame((), (), trace.thread.frame), jax.named_scope(SCOPE):
            inputs = [box(jnp.asarray(array)) for array in arrays]
            found = rule(Call(meaning.attributes, inputs, _boxed(out), _boxed(cotangents)))
            found = [*found, *[None] * (len(arrays) - len(found))]
            return tuple(map(_cotangent, found, arrays))

    return back


def _boxed(values):
    return [box(value) for value in (values if isinstance(values, tuple) else (values,))]


def _cotangent(grad, array):
    kind = jax.typeof(array)
    if not is_inexact(kind.dtype):
        return np.zeros(kind.shape, jax.dtypes.float0)
    if grad is None:
        return jnp.zeros(kind.shape, kind.dtype)
    return (grad if grad._array.dtype == kind.dtype else P.Cast()(grad, kind.dtype))._array


# ---------------------------------------------------------------------- element by element
def _fit(grad, like):
    """The gradient of what was broadcast: summed to its shape."""
    if grad.shape == like.shape:
        return grad
    more = grad.ndim - like.ndim
    axes = tuple(i for i, n in enumerate(grad.shape) if i < more or (like.shape[i - more] == 1 and n != 1))
    summed = P.ReduceSum()(grad, axes) if axes else grad
    return summed if summed.shape == like.shape else P.Reshape()(summed, like.shape)


def _twice(x):
    return P.Add()(x, x)


def _unary(derivative):
    """The rule of an operator with one input, of (cotangent, input, output)."""
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
    P.Sqrt: lambda d, x, y: P.RealDiv()(d, _twice(y)),
    P.Square: lambda d, x, y: P.Mul()(d, _twice(x)),
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
    P.BroadcastTo: lambda d, x, y: _fit(d, x),
}.items():
    gradients.register(_op)(_unary(_derivative))


@gradients.register(P.Add)
def _add(call):
    (d,) = call.cotangents
    return [_fit(d, x) for x in call.inputs]


@gradients.register(P.Sub)
def _sub(call):
    (d,), (x, y) = call.cotangents, call.inputs
    return [_fit(d, x), _fit(P.Neg()(d), y)]


@gradients.register(P.Mul)
def _mul(call):
    (d,), (x, y) = call.cotangents, call.inputs
    return [_fit(P.Mul()(d, y), x), _fit(P.Mul()(d, x), y)]


@gradients.register(P.RealDiv, P.Div, _TrueDiv)
def _div(call):
    (d,), (x, y), (out,) = call.cotangents, call.inputs, call.outputs
    part = P.RealDiv()(d, y)
    return [_fit(part, x), _fit(P.Neg()(P.Mul()(part, out)), y)]


# ---------------------------------------------------------------------- sums, places
def _axes(axis, rank):
    axes = (axis,) if isinstance(axis, int) else tuple(axis or ())
    return tuple(a % rank for a in axes) or tuple(range(rank))


def _reduced(call, divided):
    (d,), x = call.cotangents, call.inputs[0]
    axes = _axes(call.settings.get("axis", ()), x.ndim)
    wide = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    d = d if d.shape == wide else P.Reshape()(d, wide)
    if divided:
        d = P.RealDiv()(d, Tensor(np.array(math.prod(x.shape[a] for a in axes)), d.dtype))
    return [P.BroadcastTo(x.shape)(d) if wide != x.shape else d]


gradients.register(P.ReduceSum)(lambda call: _reduced(call, False))
gradients.register(P.ReduceMean)(lambda call: _reduced(call, True))


@gradients.register(P.Transpose)
def _transpose(call):
    order = next(v for v in call.settings.values() if isinstance(v, tuple))
    order = [axis % len(order) for axis in order]
    return [P.Transpose()(call.cotangents[0], tuple(order.index(i) for i in range(len(order))))]


@gradients.register(P.Concat)
def _concat(call):
    (d,), axis, at, found = call.cotangents, call.settings["axis"], 0, []
    axis %= d.ndim
    for x in call.inputs:
        begin = tuple(at if i == axis else 0 for i in range(d.ndim))
        found.append(P.Slice()(d, begin, x.shape))
        at += x.shape[axis]
    return found


@gradients.register(P.Gather)
def _gather(call):
    """Rows that are looked up more than once add up; those of each of the first `batch_dims` axes among themselves."""
    (d,), (table, places) = call.cotangents, call.inputs[:2]
    axis = call.settings.get("axis", 0) % table.ndim
    batch = call.settings.get("batch_dims", 0) % max(places.ndim, 1)
    looked_up, n = places.ndim - batch, table.shape[axis]
    if axis > batch:  # what is looked up comes right behind the batch, and what stood between behind that
        order = [*range(batch), *range(axis, axis + looked_up), *range(batch, axis), *range(axis + looked_up, d.ndim)]
        d = P.Transpose()(d, tuple(order))
    rest, batches = d.shape[places.ndim :], table.shape[:batch]
    d = P.Reshape()(d, (math.prod(places.shape), *rest))
    if batch:
        first = n * np.arange(math.prod(batches)).reshape(*batches, *[1] * looked_up)
        places = P.Add()(places, Tensor(first.astype(np.int32), places.dtype))
    summed = P.UnsortedSegmentSum()(d, P.Reshape()(places, (-1,)), math.prod(batches) * n)
    if batch:
        summed = P.Reshape()(summed, (*batches, n, *rest))
    back = [*range(batch), *range(batch + 1, axis + 1), batch, *range(axis + 1, table.ndim)]
    return [P.Transpose()(summed, tuple(back)) if axis > batch else summed]


# ---------------------------------------------------------------------- products
def _product(matmul, d, x, y, turned_x=False, turned_y=False):
    """Gradients of a product of matrices of which either may be turned."""
    of_x = matmul(turned_y, True)(y, d) if turned_x else matmul(False, not turned_y)(d, y)
    of_y = matmul(True, turned_x)(d, x) if turned_y else matmul(not turned_x, False)(x, d)
    return [of_x, of_y]


@gradients.register(P.MatMul, P.BatchMatMul)
def _matmul(call):
    kind = P.MatMul if call.inputs[0].ndim == 2 else P.BatchMatMul
    turned = call.settings["transpose_a"], call.settings["transpose_b"]
    return [_fit(g, x) for g, x in zip(_product(kind, *call.cotangents, *call.inputs, *turned), call.inputs)]


def _reshaped(x, shape):
    return x if x.shape == shape else P.Reshape()(x, shape)


@gradients.register(_MatMulBroadcast)
def _matmul_broadcast(call):
    """A vector is a row or a column; matrices are repeated where the other side has more of them."""
    (d,), (x, y) = call.cotangents, call.inputs
    rows = _reshaped(x, (1, x.shape[0]) if x.ndim == 1 else x.shape)
    columns = _reshaped(y, (y.shape[0], 1) if y.ndim == 1 else y.shape)
    size = rows.shape[-2], columns.shape[-1]
    if columns.ndim == 2:
        rows = _reshaped(rows, (-1, rows.shape[-1]) if rows.ndim > 2 else rows.shape)
        found = _product(P.MatMul, _reshaped(d, (rows.shape[0], size[1])), rows, columns)
        return [_reshaped(g, like.shape) for g, like in zip(found, (x, y))]
    many = call.outputs[0].shape[: max(rows.ndim, columns.ndim) - 2]
    wide = [P.BroadcastTo((*many, *m.shape[-2:]))(m) for m in (rows, columns)]
    found = _product(P.BatchMatMul, _reshaped(d, (*many, *size)), *wide)
    return [_reshaped(_fit(g, m), like.shape) for g, m, like in zip(found, (rows, columns), (x, y))]


@gradients.register(P.BiasAdd)
def _bias_add(call):
    (d,) = call.cotangents
    return [d, P.BiasAddGrad(call.settings["data_format"])(d)]


@gradients.register(P.Conv2D)
def _conv2d(call):
    (d,), (x, w) = call.cotangents, call.inputs
    return [
        P.Conv2DBackpropInput(**call.settings)(d, w, x.shape),
        P.Conv2DBackpropFilter(**call.settings)(d, x, w.shape),
    ]


@gradients.register(P.Conv2DBackpropInput)
def _conv2d_transpose(call):
    (d,), (x, w) = call.cotangents, call.inputs
    settings = {key: value for key, value in call.settings.items() if key not in ("input_sizes", "pad_list")}
    return [P.Conv2D(**settings)(d, w), P.Conv2DBackpropFilter(**settings)(x, d, w.shape)]


# ---------------------------------------------------------------------- windows, norms, losses
@gradients.register(P.MaxPool)
def _max_pool(call):
    return [P.MaxPoolGrad(**call.settings)(*call.inputs, *call.outputs, *call.cotangents)]


@gradients.register(P.AvgPool)
def _avg_pool(call):
    windows = {key: call.settings[key] for key in ("kernel_size", "strides", "pad_mode")}
    return [P.AvgPoolGradGpu(**windows)(*call.inputs, *call.outputs, *call.cotangents)]


@gradients.register(P.LayerNorm)
def _layer_norm(call):
    x, gamma = call.inputs[:2]
    _, mean, variance = call.outputs
    axes = {key: call.settings[key] for key in ("begin_norm_axis", "begin_params_axis")}
    return P.LayerNormGrad(**axes)(x, call.cotangents[0], variance, mean, gamma)


@gradients.register(P.Softmax)
def _softmax(call):
    (d,), (y,) = call.cotangents, call.outputs
    inside = P.ReduceSum(True)(P.Mul()(d, y), call.settings["axis"])
    return [P.Mul()(y, P.Sub()(d, inside))]


@gradients.register(P.LogSoftmax)
def _log_softmax(call):
    return [P.LogSoftmaxGrad(call.settings["axis"])(call.outputs[0], call.cotangents[0])]


@gradients.register(P.SoftmaxCrossEntropyWithLogits)
def _cross_entropy(call):
    """The operator's second result is its gradient."""
    return [P.Mul()(call.outputs[1], P.ExpandDims()(call.cotangents[0], -1))]


@gradients.register(P.SparseSoftmaxCrossEntropyWithLogits)
def _sparse_cross_entropy(call):
    return [P.Mul()(P.SparseSoftmaxCrossEntropyWithLogits(is_grad=True)(*call.inputs[:2]), call.cotangents[0])]


@gradients.register(P.BatchNorm)
def _batch_norm(call):
    """In evaluation: the statistics are not those of the batch."""
    x, scale, _, mean, variance = call.inputs[:5]
    settings = {key: call.settings[key] for key in ("is_training", "epsilon")}
    return P.BatchNormGrad(**settings)(call.cotangents[0], x, scale, mean, variance)[:3]
