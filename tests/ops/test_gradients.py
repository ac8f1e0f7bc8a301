"""The gradient of every differentiable operator of the array and math groups, beside finite differences in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest_ops import Written
from ops_cases import CASES, f32, flags, ints

from msnb import ops  # noqa: F401 - fills the registry
from msnb.core.operator import REGISTRY

# Operators that have no case with real MindSpore: (name, inputs, attributes).
MORE = [
    ("Erfinv", (f32(4, low=-0.9, high=0.9),), {}),
    ("Frac", (f32(4),), {}),
    ("Sinc", (f32(4),), {}),
    ("TensorScatterElements", (f32(3, 2), ints(2, 0, 1, 1).reshape(2, 2), f32(2, 2)), {"reduction": "add"}),
    ("_MoveAxis", (f32(2, 3), 0, 1), {}),
    ("IndexFill", (f32(3, 2), 0, ints(1), f32(1)[0]), {}),
    ("NanToNum", (f32(3),), {}),
    ("Range", (f32(3),), {"start": 0.0, "limit": 3.0}),
    ("GpuConvertToDynamicShape", (f32(3),), {}),
    ("ErrorOnDynamicShapeInput", (f32(3),), {}),
    ("UpdateCache", (f32(3, 2), ints(2, -1), f32(2, 2), 3), {}),
    ("Trunc", (f32(4),), {}),
    ("Log2", (f32(4, low=0.2),), {}),
    ("Log10", (f32(4, low=0.2),), {}),
    ("_TrueDiv", (f32(2, 3), f32(3, low=0.5)), {}),
    ("TruncateMod", (f32(4), f32(4, low=0.5)), {}),
    ("_MatMulBroadcast", (f32(2, 3), f32(2, 3, 2)), {}),
    ("_TensorDot", (f32(2, 3), f32(3, 2), 1), {}),
    (
        "Dot",
        (
            f32(2, 3),
            f32(3),
        ),
        {},
    ),
    ("Outer", (f32(2), f32(3)), {}),
    ("Cross", (f32(3), f32(3), 0), {}),
    ("Einsum", ((f32(2, 3), f32(3, 2)),), {"equation": "ij,jk->ik"}),
    ("Trace", (f32(3, 3),), {}),
    ("MatrixInverse", (f32(3, 3) + 3 * np.eye(3, dtype=np.float32),), {}),
    ("_Kron", (f32(2, 2), f32(2, 2)), {}),
    ("Cholesky", (f32(2, 2) * 0 + 2 * np.eye(2, dtype=np.float32),), {}),
    ("MatrixDeterminant", (f32(3, 3),), {}),
    ("_Diff", (f32(4),), {}),
    ("Lerp", (f32(3), f32(3), f32(3)), {}),
    ("Addcmul", (f32(3), f32(3), f32(3)), {}),
    ("Addcdiv", (f32(3), f32(3), f32(3, low=0.5)), {}),
    ("Hypot", (f32(3), f32(3)), {}),
    ("_Logaddexp", (f32(3), f32(3)), {}),
    ("_Logaddexp2", (f32(3), f32(3)), {}),
    ("_ReduceVar", (f32(2, 3), 1), {"ddof": 1}),
    ("ReduceStd", (f32(2, 3), ()), {}),
    ("LogSumExp", (f32(2, 3), 1), {}),
    ("Norm", (f32(2, 3),), {}),
    ("Median", (f32(2, 3), 1), {}),
    ("Tril", (f32(3, 3),), {}),
    ("Triu", (f32(3, 3),), {"diagonal": 1}),
    ("Diagonal", (f32(3, 3),), {}),
    ("TransShape", (f32(2, 3), (3, 2)), {}),
    ("ParallelConcat", ((f32(1, 2), f32(1, 2)),), {}),
    ("_Where", (flags(2, 3), f32(2, 3), f32(3)), {}),
    ("MaskedFill", (f32(2, 3), flags(3), f32(1)[0]), {}),
    ("Roll", (f32(2, 3), 1, 1), {}),
    ("_Rot90", (f32(2, 3), 1, (0, 1)), {}),
    ("_RepeatInterleave", (f32(2, 2), 2, 1), {}),
    ("_BroadcastTensors", ((f32(2, 1), f32(3)),), {}),
    ("Take", (f32(2, 3), ints(0, 2), 1), {}),
    ("SparseGatherV2", (f32(3, 2), ints(0, 2), 0), {}),
    ("TensorScatterMul", (f32(3), ints(1).reshape(1, 1), f32(1)), {}),
    ("TensorScatterDiv", (f32(3), ints(1).reshape(1, 1), f32(1, low=0.5)), {}),
    ("TensorScatterMin", (f32(3), ints(1).reshape(1, 1), f32(1)), {}),
    ("SpaceToBatch", (f32(1, 1, 2, 2),), {"block_size": 2, "paddings": ((0, 0), (0, 0))}),
    ("BatchToSpace", (f32(4, 1, 1, 1),), {"block_size": 2, "crops": ((0, 0), (0, 0))}),
    ("SpaceToBatchND", (f32(1, 1, 2, 3),), {"block_shape": (2, 2), "paddings": ((1, 1), (0, 1))}),
    ("BatchToSpaceND", (f32(4, 1, 2, 2),), {"block_shape": (2, 2), "crops": ((1, 0), (0, 1))}),
    ("_TensorGetRow", (f32(3, 2), 1), {}),
    ("_TensorGetItem", (f32(3, 4), (1, 0), (), ("i", (2, 3))), {}),
    ("_TensorSetItem", (f32(3, 4), f32(2), (1, 0), (), ("i", (2, 3))), {}),
    ("_TensorSetMask", (f32(3), flags(3), f32(3)), {}),
    ("SparseToDense", (ints(0, 2).reshape(2, 1), f32(2), (4,)), {}),
    ("AllReduce", (f32(2),), {}),
    ("AllGather", (f32(2),), {}),
    ("ReduceScatter", (f32(2),), {}),
    ("Broadcast", ((f32(2),),), {"root_rank": 0}),
    ("AllSwap", (f32(2, 2), ints(2), ints(2)), {}),
    ("NoRepeatNGram", (ints(1, 2, 1).reshape(1, 1, 3), f32(1, 1, 4)), {"ngram_size": 2}),
    ("SquareSumAll", (f32(3), f32(3)), {}),
    ("UniqueWithPad", (f32(4), 0.0), {}),
    ("NPUGetFloatStatus", (f32(8),), {}),
    ("NPUClearFloatStatus", (f32(8),), {}),
    ("FloatStatus", (f32(8),), {}),
    ("ConfusionMatrix", (ints(0, 1), ints(1, 1), f32(2)), {"num_classes": 2, "dtype": "float64"}),
    ("ScatterNonAliasingAdd", (f32(3), ints(1).reshape(1, 1), f32(1)), {}),
    ("Eps", (f32(3),), {}),
    ("Lgamma", (f32(3, low=0.5),), {}),
    ("Digamma", (f32(3, low=0.5),), {}),
    ("_Lbeta", (f32(3, low=0.5), f32(3, low=0.5)), {}),
    ("Igamma", (f32(3, low=0.5), f32(3, low=0.5)), {}),
    ("AbsGrad", (f32(3), f32(3)), {}),
    ("ACosGrad", (f32(3) / 9, f32(3)), {}),
    ("AcoshGrad", (f32(3, low=0.5), f32(3)), {}),
    ("AsinGrad", (f32(3) / 9, f32(3)), {}),
    ("AsinhGrad", (f32(3), f32(3)), {}),
    ("AtanGrad", (f32(3), f32(3)), {}),
    ("ReciprocalGrad", (f32(3), f32(3)), {}),
    ("RsqrtGrad", (f32(3, low=0.5), f32(3)), {}),
    ("SqrtGrad", (f32(3, low=0.5), f32(3)), {}),
    ("MaximumGrad", (f32(3), f32(3) * 2, f32(3)), {}),
    ("MinimumGrad", (f32(3), f32(3) * 2, f32(3)), {}),
    ("GatherDGrad", (ints(0, 2), f32(2)), {"dim": 0, "shape": (4,)}),
    ("SliceGrad", (f32(2), f32(4), (1,), (2,)), {}),
    ("StridedSliceGrad", (f32(2), (4,), (0,), (2,), (1,)), {}),
    ("ResizeNearestNeighborGrad", (f32(1, 1, 4, 4), (2, 2)), {}),
]
# Operators whose results no gradient reaches: integers, bool, strings, random numbers, constants; StopGradient refuses.
WITHOUT = {
    "Invert",
    "PopulationCount",
    "IsNan",
    "IsInf",
    "IsFinite",
    "LogicalNot",
    "LogicalXor",
    "LogicalAnd",
    "LogicalOr",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Equal",
    "NotEqual",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "ApproximateEqual",
    "IsClose",
    "EqualCount",
    "ReduceAll",
    "ReduceAny",
    "LinSpace",
    "HistogramFixedWidth",
    "NPUAllocFloatStatus",
    "StopGradient",
    "Fill",
    "Ones",
    "Zeros",
    "Eye",
    "Arange",
    "SequenceMask",
    "SearchSorted",
    "EditDistance",
    "Argmax",
    "Argmin",
    "CheckValid",
    "NMSWithMask",
}
OURS = ("math", "array", "forms", "index", "sparse", "comm", "assign", "detection", "random", "inner")
FIRST = {}
for _case in CASES:
    if any(
        isinstance(v, np.ndarray) and v.dtype.kind == "f"
        for part in _case.inputs
        for v in (part if isinstance(part, tuple) else (getattr(part, "array", part),))
    ):
        FIRST.setdefault(_case.op, (_case.op, _case.inputs, _case.attributes))
for _name, _inputs, _attributes in MORE:
    FIRST.setdefault(_name, (_name, _inputs, _attributes))


def declared():
    """Names of the declared operators of these groups."""
    for name, op in REGISTRY.items():
        module = getattr(op.fn, "__module__", "")
        if name == op.name and hasattr(op, "kernel") and module.startswith(tuple(f"msnb.ops.{m}" for m in OURS)):
            yield name, op


def test_every_declared_operator_is_either_differentiated_here_or_known_to_have_no_gradient():
    missing = [name for name, op in declared() if not op.random and name not in FIRST and name not in WITHOUT]
    assert missing == []


def _prepared(op, inputs):
    """(arrays, layout, statics) as `Operator.kernel` wants them, floats in float64."""
    arrays, layout, statics = [], [], []

    def wide(value):
        value = np.asarray(value)
        return jnp.asarray(value.astype(np.float64) if value.dtype.kind == "f" else value)

    inputs = [v.array if isinstance(v, Written) else v for v in inputs]
    inputs += [i.default for i in op.inputs[len(inputs) :]]
    for spec, value in zip(op.inputs, inputs, strict=True):
        if spec.kind is not None:
            layout.append(-1)
            statics.append(spec.kind(value if not isinstance(value, str) else jnp.dtype("float64"), spec.name, op.name))
        elif spec.many:
            layout.append((len(value),))
            arrays.extend(wide(v) for v in value)
        elif value is None:
            layout.append(0)
        else:
            layout.append(1)
            arrays.append(wide(value))
    return arrays, tuple(layout), tuple(statics)


@pytest.mark.parametrize("name", sorted(n for n in FIRST if n in REGISTRY and n not in WITHOUT))
def test_a_gradient_agrees_with_finite_differences(name):
    _, inputs, attributes = FIRST[name]
    op = REGISTRY[name]
    if not hasattr(op, "kernel"):
        pytest.skip("works on Python values")
    arrays, layout, statics = _prepared(op, inputs)
    kernel = op.kernel(op.bind_attributes((), attributes), layout, statics)
    floats = [i for i, a in enumerate(arrays) if jnp.issubdtype(a.dtype, jnp.floating)]
    rng = np.random.default_rng(0)
    direction = [rng.normal(size=arrays[i].shape) for i in floats]

    @jax.jit
    def total(*variables):
        given = list(arrays)
        for i, variable in zip(floats, variables, strict=True):
            given[i] = variable
        out = kernel.fn(*given)
        outs = out if isinstance(out, tuple) else (out,)
        # The largest numbers of a type, which stand for nothing in some results, are left out of the sum.
        return sum(
            jnp.sum(jnp.where(jnp.abs(o) < 1e30, o, 0) * jnp.cos(jnp.arange(o.size).reshape(o.shape)))
            for o in outs
            if jnp.issubdtype(o.dtype, jnp.floating)
        ) + jnp.float64(0)

    at = [arrays[i] for i in floats]
    slope = sum(
        float(jnp.sum(g * d))
        for g, d in zip(jax.jit(jax.grad(total, tuple(range(len(at)))))(*at), direction, strict=True)
    )
    step = 1e-6
    ahead, behind = (
        float(total(*[a + sign * step * d for a, d in zip(at, direction, strict=True)])) for sign in (1, -1)
    )
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=1e-6)
