"""A number that an operator has as an attribute is an input of its program: one program serves every value."""

import contextlib
import copy
import gc
import pickle
import re
import weakref

import jax
import numpy as np
import pytest
from sweeps import swept

import msnb as ms
import msnb.numpy  # its rooms have operators, too
from msnb import Parameter, Tensor, context, ir, nn, ops
from msnb.core.eager.kernel import Kernel
from msnb.core.operator.operator_types import REGISTRY, Operator, attributes_of
from msnb.core.operator.traced_attributes import make_operator as declared_operator
from msnb.core.program import program_cache
from msnb.core.support.lru_cache import LruCache
from msnb.ops import operations as P
from msnb.ops.nn.recurrent import lstm

_rng = np.random.default_rng(3)


def f(*shape, low=-2.0, high=2.0):
    return _rng.uniform(low, high, shape)


def i(*values):
    return np.array(values, np.int32)


def up(*shape):
    return f(*shape, low=0.2, high=1.5)


_boxes = np.array([[1, 2, 5, 7], [0, 1, 4, 4.0]])
_scored = np.concatenate([_boxes, [[0.9], [0.4]]], 1)
_rois = np.array([[0, 1, 2, 9, 10], [1, 0, 0, 6, 5.0]])
_norm = (f(4, 3, 2, 2), up(3), f(3), f(3), up(3))
_rows = (f(2, 4), i(4, 1))
_lstm = (f(2, 1, 3), f(2, 1, 2), f(2, 1, 2), f(104))
_sizes = {"input_size": 3, "hidden_size": 2, "num_layers": 2, "has_bias": True, "bidirectional": False}
_cell = (f(2, 3), f(2, 2), f(2, 2), f(5, 8), f(8))
_ftrl = (f(6, 4), up(6, 4), f(6, 4), *_rows)
_roi = {"pooled_height": 2, "pooled_width": 2}

# operator -> (inputs, two sets of its numbers, its other attributes)
EXAMPLES = {
    "ApplyAdagradV2": ((f(3), up(3), 0.1, f(3)), {"epsilon": (0.1, 0.3)}, {}),
    "ApplyMomentum": ((f(3), f(3), 0.1, f(3), 0.9), {"gradient_scale": (0.5, 3.0)}, {}),
    "ApproximateEqual": ((f(9), f(9)), {"tolerance": (0.3, 1.5)}, {}),
    "BNTrainingUpdate": ((_norm[0], f(3), up(3) + 9, *_norm[1:]), {"epsilon": (0.1, 0.3), "factor": (0.2, 0.7)}, {}),
    "BasicLSTMCell": (_cell, {"keep_prob": (0.3, 0.6), "forget_bias": (0.5, 2.0)}, {}),
    "BatchNorm": (_norm, {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "BatchNormGrad": ((f(4, 3, 2, 2), *_norm[:2], f(3), up(3)), {"epsilon": (0.1, 0.3)}, {}),
    "BoundingBoxDecode": ((_boxes, f(2, 4, low=-6, high=6)), {"wh_ratio_clip": (0.1, 0.3)}, {"max_shape": None}),
    "CeLU": ((f(9),), {"alpha": (0.5, -3)}, {}),
    "_CosineEmbeddingLoss": ((f(4, 3), f(4, 3), i(1, -1, 1, -1)), {"margin": (-0.5, 0.2)}, {}),
    "CropAndResize": ((f(1, 4, 4, 2), f(2, 4), i(0, 0), (3, 3)), {"extrapolation_value": (0.5, 3.0)}, {}),
    "_CrossEntropy": ((f(4, 3), i(0, 1, 2, 1)), {"label_smoothing": (0.1, 0.5)}, {}),
    "Elu": ((f(9),), {"alpha": (0.5, 3.0)}, {}),
    "Dropout": ((f(64),), {"keep_prob": (0.3, 0.7)}, {}),
    "Dropout2D": ((f(4, 9, 2, 2),), {"keep_prob": (0.3, 0.7)}, {}),
    "Dropout3D": ((f(4, 9, 2, 2, 1),), {"keep_prob": (0.3, 0.7)}, {}),
    "DropoutGrad": ((f(9), up(9)), {"keep_prob": (0.3, 0.7)}, {}),
    "DynamicRNN": (
        (f(3, 2, 3), f(5, 8), f(8), None, f(1, 2, 2), f(1, 2, 2)),
        {"cell_clip": (0.1, 0.3), "forget_bias": (0.5, 2.0)},
        {},
    ),
    "FusedBatchNorm": (_norm, {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "FusedBatchNormEx": (_norm, {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "FusedBatchNormGrad": ((f(4, 3), f(4, 3), *_norm[1:4]), {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "FusedBatchNormGradCPU": ((f(4, 3), f(4, 3), *_norm[1:5]), {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "FusedBatchNormGradEx": ((f(4, 3), f(4, 3), *_norm[1:5]), {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "FusedSparseFtrl": (_ftrl, {"lr": (0.1, 0.2), "l1": (0.2, 0.0), "l2": (0.1, 0.3), "lr_power": (-0.4, -0.7)}, {}),
    "_GaussianNLLLoss": ((f(9), f(9), up(9)), {"eps": (0.5, 0.9)}, {}),
    "GroupNorm": ((f(2, 4, 3), 2, f(4), f(4)), {"eps": (0.1, 0.3)}, {}),
    "HShrink": ((f(9),), {"lambd": (0.3, 1.5)}, {}),
    "Hardtanh": ((f(9),), {"min_val": (-0.5, -1.5), "max_val": (0.5, 1.5)}, {}),
    "_HingeEmbeddingLoss": ((f(4), i(1, -1, 1, -1)), {"margin": (0.5, 2.0)}, {}),
    "_HuberLoss": ((f(9), f(9)), {"delta": (0.3, 1.5)}, {}),
    "InstanceNorm": (_norm, {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "InstanceNormGrad": (
        (f(4, 3, 2), f(4, 3, 2), f(3), f(12), up(12)),
        {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)},
        {},
    ),
    "IsClose": ((f(9), f(9)), {"rtol": (0.3, 1.5), "atol": (0.1, 0.8)}, {}),
    "L2Normalize": ((f(3, 3),), {"epsilon": (1.5, 3.0)}, {}),
    "L2NormalizeGrad": ((f(3, 3), f(3, 3), f(3, 3)), {"epsilon": (1.5, 3.0)}, {}),
    "LARSUpdate": ((f(3), f(3), 4.0, 2.0, 0.1, 0.5), {"epsilon": (0.1, 0.3), "hyperpara": (0.01, 0.1)}, {}),
    "LRN": ((f(2, 4, 2, 2),), {"bias": (1.5, 3.0), "alpha": (0.5, 2.0), "beta": (0.75, 0.3)}, {}),
    "LRNGrad": ((f(2, 4, 2, 2),) * 3, {"bias": (1.5, 3.0), "alpha": (0.5, 2.0), "beta": (0.75, 0.3)}, {}),
    "LSTM": (_lstm, {"dropout": (0.3, 0.6)}, _sizes),
    "LSTMGrad": (
        (*_lstm[:1], *(f(1, 1, 2),) * 2, f(56), f(2, 1, 2), *(f(1, 1, 2),) * 2, f(2, 1, 2), *(f(1, 1, 2),) * 2, f(1)),
        {"dropout": (0.3, 0.6)},
        {**_sizes, "num_layers": 1},
    ),
    "LayerNorm": ((f(3, 4), f(4), f(4)), {"epsilon": (0.1, 0.3)}, {}),
    "LeakyReLUExt": ((f(9),), {"alpha": (0.1, 0.3)}, {}),
    "_MarginRankingLoss": ((f(4), f(4), f(4)), {"margin": (0.5, 2.0)}, {}),
    "_NLLLossND": ((f(4, 3), i(0, 1, 2, 1)), {"label_smoothing": (0.1, 0.5)}, {}),
    "NMSWithMask": ((_scored,), {"iou_threshold": (0.1, 0.9)}, {}),
    "ROIAlign": ((f(2, 2, 6, 6), _rois), {"spatial_scale": (0.5, 0.3)}, _roi),
    "ROIAlignGrad": ((f(2, 2, 2, 2), _rois), {"spatial_scale": (0.5, 0.3)}, {"xdiff_shape": (2, 2, 6, 6), **_roi}),
    "Range": ((np.arange(4.0),), {"start": (0.5, 2.0), "limit": (9.5, 8.0), "delta": (1.5, 3.0)}, {}),
    "RmsNorm": ((f(3, 4), f(4)), {"epsilon": (0.1, 0.3)}, {}),
    "SGD": ((f(3), f(3), 0.1, f(3), 0.9, np.zeros(3)), {"dampening": (0.1, 0.3), "weight_decay": (0.2, 0.5)}, {}),
    "SmoothL1Loss": ((f(9), f(9)), {"beta": (0.5, 2.0)}, {}),
    "SmoothL1LossGrad": ((f(9), f(9), f(9)), {"beta": (0.5, 2.0)}, {}),
    "SoftShrink": ((f(9),), {"lambd": (0.3, 1.5)}, {}),
    "SoftplusExt": ((f(9),), {"beta": (0.5, 2.0), "threshold": (1.0, 3.0)}, {}),
    "_EmbeddingRenorm": ((f(6, 4), i(0, 5, 2)), {"max_norm": (0.5, 0.8)}, {}),
    "SparseApplyAdadelta": ((f(6, 4), up(6, 4), up(6, 4), 0.1, 0.5, *_rows), {"epsilon": (0.1, 0.3)}, {}),
    "SparseApplyRMSProp": (
        (f(6, 4), up(6, 4), f(6, 4), 0.1, *_rows),
        {"rho": (0.1, 0.6), "momentum": (0.2, 0.7), "epsilon": (0.1, 0.3)},
        {},
    ),
    "SparseApplyAdagrad": ((f(6, 4), up(6, 4), *_rows), {"lr": (0.1, 0.2)}, {}),
    "SparseApplyAdagradV2": ((f(6, 4), up(6, 4), *_rows), {"lr": (0.1, 0.2), "epsilon": (0.1, 0.3)}, {}),
    "SparseApplyFtrl": (_ftrl, {"lr": (0.1, 0.2), "l1": (0.2, 0.0), "l2": (0.1, 0.3), "lr_power": (-0.4, -0.7)}, {}),
    "SparseApplyFtrlV2": (
        _ftrl,
        {"lr": (0.1, 0.2), "l1": (0.2, 0.0), "l2": (0.1, 0.3), "l2_shrinkage": (0.1, 0.3), "lr_power": (-0.4, -0.7)},
        {},
    ),
    "Threshold": ((f(9),), {"thr": (-0.5, 0.5), "value": (3.0, -0.0)}, {}),
    "TripletMarginLoss": ((f(4, 3),) * 2 + (f(4, 3), 3.5), {"p": (1.5, 3.0), "eps": (0.1, 0.3)}, {}),
    # what is added stands at the end, so that the numbers of the others stay
    "BatchNormFold": ((_norm[0], f(3), up(3), i(0)), {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "BatchNormFoldD": ((_norm[0], f(3), up(3) + 9, f(3), up(3)), {"epsilon": (0.1, 0.3), "momentum": (0.2, 0.7)}, {}),
    "BatchNormFoldGrad": ((f(3), f(3), _norm[0], f(3), up(3), i(0)), {"epsilon": (0.1, 0.3)}, {}),
    "BatchNormFoldGradD": ((f(3), f(3), _norm[0], f(3), up(3)), {"epsilon": (0.1, 0.3)}, {}),
    "MinMaxUpdatePerChannel": ((f(4, 3), -up(3), up(3)), {"ema_decay": (0.2, 0.7)}, {"ema": True}),
    "MinMaxUpdatePerLayer": ((f(4, 3), -up(1), up(1)), {"ema_decay": (0.2, 0.7)}, {"ema": True}),
    "LpNorm": ((f(3, 4),), {"epsilon": (2.0, 3.0)}, {"axis": 1}),
    "Quant": ((f(4, 3),), {"scale": (4.0, 9.0), "offset": (0.0, 20.0)}, {}),
    "_Trapezoid": ((f(9),), {"dx": (0.5, 2.0)}, {}),
    "_Unwrap": ((f(9, low=-9, high=9),), {"discont": (4.0, 7.0)}, {}),
    "_PseudoInverse": ((np.diag([3.0, 2.0, 0.5]),), {"atol": (0.1, 1.0), "rtol": (0.01, 0.5)}, {}),
    "Renorm": ((f(3, 4),), {"maxnorm": (0.5, 0.8)}, {"p": 2, "dim": 0}),
    "MultiMarginLoss": ((f(4, 3), i(0, 1, 2, 1)), {"margin": (0.5, 2.0)}, {}),
    "ApplyAdamWithAmsgrad": (
        (f(3), f(3), up(3), up(3), 0.9, 0.99, 0.01, f(3)),
        {"beta1": (0.5, 0.9), "beta2": (0.9, 0.99), "epsilon": (0.1, 0.3)},
        {},
    ),
    "_LSTMOfLengths": ((*_lstm, i(2)), {"dropout": (0.3, 0.6)}, _sizes),
    "_CosineSimilarity": ((f(4, 3), f(4, 3)), {"eps": (15.0, 40.0)}, {}),
    "FillDiagonal": ((f(4, 3),), {"fill_value": (0.5, 2.0)}, {}),
    "Cauchy": ((), {"median": (0.5, 2.0), "sigma": (0.5, 2.0)}, {"size": (5,)}),
    "LogNormalReverse": ((f(5),), {"mean": (0.5, 2.0), "std": (0.5, 2.0)}, {}),
    "NanToNum": (
        (np.array([np.nan, np.inf, -np.inf]),),
        {"nan": (0.5, 2.0), "posinf": (3.0, 4.0), "neginf": (-3.0, -4.0)},
        {},
    ),
    "IFMR": (  # its kernel takes no float64
        (f(5, 5).astype(np.float32), np.float32([-2]), np.float32([2]), i(3, 9, 14, 20, 25)),
        {"min_percentile": (0.95, 0.5), "max_percentile": (0.95, 0.5)},
        {},
    ),
}
# Numbers that are constants of the program, and why.
STATIC = {
    ("BoundingBoxEncode", "means"): "a tuple, the same for all calls of a detector",
    ("BoundingBoxEncode", "stds"): "a tuple, the same for all calls of a detector",
    ("BoundingBoxDecode", "means"): "a tuple, the same for all calls of a detector",
    ("BoundingBoxDecode", "stds"): "a tuple, the same for all calls of a detector",
    ("_EmbeddingRenorm", "norm_type"): "each degree is a formula of its own",
    ("IFMR", "search_range"): "how many scales are tried is a length",
    ("IFMR", "search_step"): "how many scales are tried is a length",
    ("Bucketize", "boundaries"): "how many there are is a length",
    ("Cdist", "p"): "each degree is a formula of its own",
    ("_Dist", "p"): "each degree is a formula of its own",
    ("HammingWindow", "alpha"): "the window is a constant of the program",
    ("HammingWindow", "beta"): "the window is a constant of the program",
    ("Histogram", "min"): "where it is the greatest, too, the data say both",
    ("Histogram", "max"): "where it is the smallest, too, the data say both",
    ("Logit", "eps"): "below 0 nothing is clipped, which is another formula",
    ("Pdist", "p"): "each degree is a formula of its own",
    ("Renorm", "p"): "each degree is a formula of its own",
    ("_PadAround", "how"): "the settings of numpy's modes, lengths and ends among them",
    ("_Resize", "steps"): "a tuple, the same for all images of a size",
    ("DynamicRNN", "keep_prob"): "1.0 is its only value",
    ("DynamicGRUV2", "keep_prob"): "1.0 is its only value",
    ("DynamicGRUV2", "cell_clip"): "-1.0 is its only value",
}


@contextlib.contextmanager
def counting():
    """Yield a list of what XLA compiles within."""
    programs, looking = [], True

    def note(event, seconds, **_):
        if looking and event == "/jax/core/compile/backend_compile_duration":
            programs.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield programs
    looking = False


def declared():
    """Return (name, operator) of every operator declared with `@operator`."""
    return [(name, op) for name, op in REGISTRY.items() if isinstance(op, Operator) and name.lstrip("_") == op.name]


def takes_floats(kind):
    for value in (1.0, 0.5, -1.0, (0.5,) * 2, (0.5,) * 3, (0.5,) * 4):
        try:
            result = kind.accept(value)
        except (TypeError, ValueError, KeyError):
            continue
        if isinstance(result, float) or isinstance(result, tuple) and any(isinstance(v, float) for v in result):
            return True
    return False


def test_every_float_attribute_is_traced_or_known_to_be_a_constant():
    keys = {(name, key) for name, (_, numbers, _) in EXAMPLES.items() for key in numbers} | set(STATIC)
    results = {
        (name, key): kind.traced
        for name, op in declared()
        for key, (kind, _) in op.attributes.items()
        if takes_floats(kind)
    }
    without_effect = {
        ("FakeQuantPerChannel", "ema_decay"),
        ("FakeQuantPerLayer", "ema_decay"),
        ("Lstsq", "l2_regularizer"),
    }  # which is said
    assert set(results) - without_effect == keys
    assert {key for key, traced in results.items() if not traced} == set(STATIC)


def case(name, which, dtype=np.float32):
    """Return (class, operator that runs, attributes, inputs) of an example; `which` of the two sets of numbers."""
    inputs, numbers, attributes = EXAMPLES[name]
    cls = getattr(P, name, None) or REGISTRY[name].primitive
    prim = cls(**attributes, **{key: values[which] for key, values in numbers.items()})
    narrow = [v.astype(dtype) if isinstance(v, np.ndarray) and v.dtype == np.float64 else v for v in inputs]
    return prim, narrow


def structure(op, inputs):
    """Return (layout, statics, arrays) of the inputs."""
    layout, statics, arrays = [], [], []
    for spec, value in zip(op.inputs, [*inputs, *[s.default for s in op.inputs[len(inputs) :]]], strict=True):
        if spec.kind is not None:
            layout.append(-1)
            statics.append(spec.kind(value, spec.name, op.name))
        elif value is None:
            layout.append(0)
        else:
            layout.append(1)
            arrays.append(value)
    return (None, (), arrays) if op.plain else (tuple(layout), tuple(statics), arrays)


# Operators that run where something is dropped.
DROPPING = {
    "LSTM": declared_operator(lstm._lstm_with_dropout, "LSTM", (), "results", True),
    "_LSTMOfLengths": declared_operator(lstm._lstm_of_lengths_with_dropout, "LSTMOfLengths", (), "results", True),
    "BasicLSTMCell": declared_operator(lstm._basic_lstm_cell_with_dropout, "BasicLSTMCell", (), "results", True),
}


def both(name, which, dtype):
    """Return kernels of an example with its numbers as inputs and with its numbers as constants, and the inputs of
    each."""
    prim, inputs = case(name, which, dtype)
    op = DROPPING.get(name, prim.operator)
    layout, statics, arrays = structure(op, inputs)
    if op.random:
        arrays = [jax.random.key(0), *arrays]
    names, opened = op.traced.open(op, prim._attributes, is_graph=False)
    assert set(names) == set(EXAMPLES[name][1])
    rest = {key: prim._attributes[key] for key in opened.attributes}
    more = layout if layout is None else (*layout, *[1] * len(names))
    return (
        Operator.kernel(opened, rest, more, statics),
        [*arrays, *[prim._attributes[n] for n in names]],
        Operator.kernel(op, prim._attributes, layout, statics),
        arrays,
    )


def of_files():
    """Return the first operator of each file; how a number gets into a program is the same for the others, which are
    slow."""
    return swept(sorted(EXAMPLES), lambda name: REGISTRY[name].fn.__module__)


@pytest.mark.parametrize("name", of_files())
def test_a_number_computes_the_same_as_an_input_and_as_a_constant(name):
    traced, given, constant, arrays = both(name, 0, np.float64)
    for got, want in zip(jax.tree.leaves(traced.run(*given)), jax.tree.leaves(constant.run(*arrays)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_number_that_is_an_input_widens_no_result(name):
    for dtype in (np.float16, np.float32, np.float64):
        traced, given, constant, arrays = both(name, 0, dtype)
        try:
            want = jax.eval_shape(constant.run, *arrays)
        except TypeError:  # not an operator for this type
            continue
        assert jax.eval_shape(traced.run, *given) == want


@pytest.mark.parametrize("name", of_files())
def test_a_second_value_runs_the_program_of_the_first(name):
    context.set_context(mode=context.PYNATIVE_MODE)

    def run(which):
        ms.set_seed(5)
        prim, inputs = case(name, which)
        boxes = [Tensor(v) if isinstance(v, np.ndarray) else v for v in inputs]
        for place in prim.operator.written:
            boxes[place] = Parameter(boxes[place], name=f"p{place}")
        out = prim(*boxes)
        outs = out if isinstance(out, tuple) else (out,)
        return [t.asnumpy() for t in (*outs, *boxes) if isinstance(t, Tensor)]

    first = run(0)
    with counting() as programs:
        second = run(1)
    assert programs == []
    if "Grad" not in name or name in ("DropoutGrad", "L2NormalizeGrad", "LRNGrad", "SmoothL1LossGrad"):
        assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))


# ---------------------------------------------------------------------- the way to a program
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
NUMBERS = [0.01 + 0.03 * k for k in range(30)]


def grad(fn, x):
    return ms.grad(fn)(x)


WAYS = {
    "function": lambda x, s: ops.leaky_relu(x, s),
    "keyword": lambda x, s: ops.leaky_relu(x, alpha=s),
    "class": lambda x, s: P.LeakyReLUExt(s)(x),
    "layer": lambda x, s: nn.LeakyReLU(s)(x),
    "gradient": lambda x, s: grad(lambda x: ops.leaky_relu(x, s).sum(), x),
    "second gradient": lambda x, s: grad(lambda x: grad(lambda x: ops.leaky_relu(x * x, s).sum(), x).sum(), x),
    "dropout": lambda x, s: ops.dropout(x, s),
    "dropout class": lambda x, s: P.Dropout(s)(x)[0],
    "dropout layer": lambda x, s: nn.Dropout(s).set_train()(x),
    "dropout gradient": lambda x, s: grad(lambda x: ops.dropout(x, s).sum(), x),
    "dropout2d": lambda x, s: ops.dropout2d(x.reshape(1, 3, 2, 2), s),
    "nan_to_num": lambda x, s: ops.nan_to_num(x, s, s, -s),
}


@pytest.mark.parametrize("way", WAYS)
def test_many_values_are_one_program(way):
    context.set_context(mode=context.PYNATIVE_MODE)
    x, fn = Tensor(X), WAYS[way]
    fn(x, 0.75)
    with counting() as programs:
        for s in NUMBERS:
            fn(x, s)
    assert programs == []


class Leaky(nn.Cell):
    def construct(self, x, slope):
        return ops.leaky_relu(x, slope)


class Drop(nn.Cell):
    def construct(self, x, p):
        return ops.dropout(x, p)


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_a_float_argument_of_a_network_is_one_program(mode):
    context.set_context(mode=mode)
    leaky, drop, slope_of = Leaky(), Drop(), ops.GradOperation()(Leaky())
    calls = (lambda s: leaky(Tensor(X), s), lambda s: drop(Tensor(X), s), lambda s: slope_of(Tensor(X), s))
    for call in calls:
        call(0.75)
    with counting() as programs:
        for s in NUMBERS[:5]:
            for call in calls:
                call(s)
    assert programs == []
    np.testing.assert_allclose(leaky(Tensor(X), 0.3).asnumpy(), np.where(X > 0, X, np.float32(0.3) * X), rtol=1e-6)
    assert leaky(Tensor(X.astype(np.float16)), 0.3).dtype == ms.float16
    output = drop(Tensor(np.ones(4000, np.float32)), 0.25).asnumpy()
    assert set(np.unique(output)) == {np.float32(0), np.float32(1 / 0.75)}
    assert 0.7 < np.count_nonzero(output) / 4000 < 0.8
    assert not drop(Tensor(X), 1.0).asnumpy().any()


def test_dropping_everything_has_a_finite_gradient_though_the_share_is_an_input():
    context.set_context(mode=context.GRAPH_MODE)
    assert not ops.GradOperation()(Drop())(Tensor(X), 1.0).asnumpy().any()


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_a_tensor_as_an_attribute_gets_its_gradient(mode):
    context.set_context(mode=mode)
    both = ops.GradOperation(get_all=True)(Leaky())(Tensor(X), Tensor(np.float32(0.3)))
    np.testing.assert_allclose(both[0].asnumpy(), np.where(X > 0, 1, np.float32(0.3)), rtol=1e-6)
    np.testing.assert_allclose(both[1].asnumpy(), X[X < 0].sum(), rtol=1e-6)

    class Tanh(nn.Cell):  # one attribute a Tensor, the other a number
        def construct(self, x, high):
            return ops.hardtanh(x, min_val=-0.5, max_val=high)

    low, high = ops.GradOperation(get_all=True)(Tanh())(Tensor(X), Tensor(np.float32(0.5)))
    assert low.asnumpy().sum() == np.count_nonzero(abs(X) < 0.5)
    assert high.asnumpy() == np.count_nonzero(X > 0.5)


def test_a_number_attribute_is_refused_where_it_does_not_fit():
    context.set_context(mode=context.PYNATIVE_MODE)
    with pytest.raises(TypeError, match="'alpha' should be a number, but got '0.3' of type str"):
        ops.leaky_relu(Tensor(X), "0.3")
    with pytest.raises(TypeError, match="'alpha' should be a number"):
        ops.leaky_relu(Tensor(X), Tensor(X))
    with pytest.raises(ValueError, match=r"'keep_prob' should be a number in \(0, 1\]"):
        P.Dropout(Tensor(np.float32(1.5)))
    with pytest.raises(ValueError, match="'alpha' should be a number other than 0"):
        ops.celu(Tensor(X), 0.0)
    with pytest.raises(ValueError, match=r"'keep_prob' should be a number in \(0, 1\]"):
        ms.grad(lambda p: P.Dropout(p)(Tensor(X))[0].sum())(Tensor(np.float32(1.5)))


def test_zero_and_minus_zero_are_two_numbers():
    context.set_context(mode=context.PYNATIVE_MODE)
    signs = [np.signbit(ops.threshold(Tensor(X), 2.0, v).asnumpy()).all() for v in (0.0, -0.0, 0.0, -0.0)]
    assert signs == [False, True, False, True]


def test_the_numbers_that_stay_constants_have_their_own_program():
    context.set_context(mode=context.PYNATIVE_MODE)
    x, y = Tensor(np.array([[-np.inf, 1, 2]], np.float32)), Tensor(np.array([1], np.int32))
    assert np.isfinite(ops.cross_entropy(x, y).asnumpy())  # no smoothing: no 0 * inf
    assert np.isinf(ops.cross_entropy(x, y, label_smoothing=0.1).asnumpy())


def test_an_attribute_that_is_set_later_takes_effect():
    context.set_context(mode=context.PYNATIVE_MODE)
    prim, x = P.LeakyReLUExt(0.5), Tensor(-np.ones(3, np.float32))
    assert prim(x).asnumpy()[0] == np.float32(-0.5)
    prim.add_prim_attr("alpha", 0.25)
    assert prim.alpha == 0.25
    for same in (prim, copy.copy(prim), copy.deepcopy(prim), pickle.loads(pickle.dumps(prim))):
        assert same(x).asnumpy()[0] == np.float32(-0.25)
        assert same.attrs == {"alpha": 0.25}


def test_transformations_see_through_a_number():
    x, v = Tensor(X), Tensor(np.ones_like(X))
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        np.testing.assert_allclose(
            ms.vmap(lambda x: ops.leaky_relu(x, 0.3))(x).asnumpy(), np.where(X > 0, X, 0.3 * X), rtol=1e-6
        )
        value, tangent = ms.jvp(lambda x: ops.leaky_relu(x, 0.3), x, v)
        np.testing.assert_allclose(tangent.asnumpy(), np.where(X > 0, 1, 0.3), rtol=1e-6)
        rows = ms.jacrev(lambda x: ops.hardshrink(x, 0.5))(Tensor(X[0])).asnumpy()
        np.testing.assert_allclose(rows, np.diag(abs(X[0]) > 0.5))


# ---------------------------------------------------------------------- graphs
def program_of(net):
    (entries,) = program_cache.programs_of(net).table.values()
    return entries[0].program


class Fixed(nn.Cell):
    def __init__(self, slope):
        super().__init__()
        self.leaky = P.LeakyReLUExt(slope)

    def construct(self, x):
        return self.leaky(x) + 1


def test_in_a_graph_the_number_is_a_constant_that_a_reader_sees():
    context.set_context(mode=context.GRAPH_MODE)
    net = Fixed(0.3)
    net(Tensor(X))
    program = program_of(net)
    node = next(n for n in ir.read(program.jaxpr).nodes if n.op == "LeakyReLUExt")
    assert node.attrs == {"alpha": 0.3}
    assert len(node.inputs) == 1

    def hand(written, read, x):
        return [], (jax.numpy.where(x > 0, x, jax.numpy.asarray(0.3, x.dtype) * x) + 1,)

    def instructions(text):
        lines = [line.split("metadata")[0].partition("=")[2].strip(" ,") for line in text.splitlines() if " = " in line]
        return [re.sub(r"%[\w.-]+", "%", line) for line in lines]

    by_hand = jax.jit(hand).lower([], [], X).compile()
    assert instructions(program.compiled().as_text()) == instructions(by_hand.as_text())


def test_names_in_a_graph_mean_something_as_long_as_the_program_lives():
    context.set_context(mode=context.GRAPH_MODE)
    net = Fixed(0.123)
    net(Tensor(X))
    program = program_of(net)
    name = next(e.params["name"] for e in program.jaxpr.jaxpr.eqns if "Leaky" in e.params.get("name", ""))
    assert name == "LeakyReLUExt[alpha=0.123]"
    assert attributes_of(name) == ("LeakyReLUExt", {"alpha": 0.123})
    text = str(name).encode().decode()
    REGISTRY["LeakyReLUExt"].kernels.clear()
    REGISTRY["LeakyReLUExt"].kernels.older.clear()
    gc.collect()
    assert program.names[text][:2] == ("LeakyReLUExt", {"alpha": 0.123})
    assert attributes_of(text) == ("LeakyReLUExt", {})  # nobody else knows


# ---------------------------------------------------------------------- caches end
def test_a_recent_dict_keeps_what_is_used_and_ends():
    recent = LruCache(4)
    for key in range(100):
        if recent.get("used") is None and recent.recall("used") is None:
            recent.keep("used", "value")
            key_of_value = key
        recent.keep(key, str(key))
        assert len(recent) + len(recent.older) <= 8
        assert recent.get(key) or recent.recall(key)
    assert key_of_value == 0
    assert recent.recall(3) is None


def test_the_caches_of_an_operator_end_and_what_leaves_them_is_freed():
    context.set_context(mode=context.PYNATIVE_MODE)
    op = REGISTRY["LeakyReLUExt"]
    kernel = weakref.ref(op.kernel({"alpha": 0.0101}).run.__wrapped__)
    assert kernel() is not None
    for k in range(600):
        op.kernel({"alpha": k * 1e-3})
    gc.collect()
    assert len(op.kernels) + len(op.kernels.older) <= 512
    assert kernel() is None


def test_the_compiled_programs_of_a_dropped_kernel_are_freed():
    client = jax.devices()[0].client
    gc.collect()
    before = len(client.live_executables())
    kernels = [Kernel("Scale", lambda x, k=k: x * k) for k in range(20)]
    for kernel in kernels:
        kernel.run(X)
        kernel.pullback((True,)).run(X, X)
    assert len(client.live_executables()) >= before + 40
    del kernels, kernel
    gc.collect()
    assert len(client.live_executables()) < before + 10


def test_operators_of_users_have_caches_that_end():
    class Scale(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, factor):
            pass

        def kernel(self, x):
            return x * self.factor

    context.set_context(mode=context.PYNATIVE_MODE)
    for k in range(3):
        assert (Scale(k)(Tensor(X)).asnumpy() == X * k).all()
    assert type(Scale._kernels) is LruCache
