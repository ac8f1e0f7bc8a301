"""The sharding rule of each operator on eight devices."""

import sys

import numpy as np
from eight_devices import RANDOM, floats, set_devices
from random_nets import random_strategy as random_strategy_of_rule

import msnb as ms
from msnb import Tensor, context
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.rule_table import MissingRule
from msnb.ops import operations as P
from msnb.parallel.rules import Call, rule_of, rules

SHAPES = {  # of operators for which Tensors of one shape will not do
    "MatMul": [(8, 16), (16, 24)],
    "BatchMatMul": [(2, 8, 16), (2, 16, 24)],
    "BiasAdd": [(8, 16), (16,)],
    "Conv2D": [(8, 8, 6, 6), (16, 8, 3, 3)],
    "LayerNorm": [(8, 8, 16), (16,), (16,)],
    "Squeeze": [(8, 1, 16)],
    **dict.fromkeys(("BatchNorm", "FusedBatchNorm", "FusedBatchNormEx"), [(8, 16, 4, 4), *[(16,)] * 4]),
    "Select": [(8, 16)] * 3,
    "KLDivLoss": [(8, 16)] * 2,
    **dict.fromkeys(("Gather", "SparseGatherV2", "EmbeddingLookup"), [(16, 8), (8, 4)]),
    **dict.fromkeys((f"UnsortedSegment{kind}" for kind in ("Sum", "Min", "Max", "Prod")), [(8, 16), (8,)]),
    "PReLU": [(8, 16), (16,)],
    "ReLUV2": [(8, 16, 4, 4)],
    "Range": [(16,)],
    "OneHot": [(8, 4), (), ()],
}


MADE = {
    "Conv2D": lambda: P.Conv2D(16, 3),
    "KLDivLoss": lambda: P.KLDivLoss("none"),
    "LayerNorm": lambda: P.LayerNorm(-1, -1),
    "Squeeze": lambda: P.Squeeze(1),
    "ArgMaxWithValue": lambda: P.ArgMaxWithValue(1),
    "ArgMinWithValue": lambda: P.ArgMinWithValue(1),
    "Argmax": lambda: P.Argmax(1),
    "Argmin": lambda: P.Argmin(1),
    "Split": lambda: P.Split(1, 2),
    "Concat": lambda: P.Concat(1),
    "Stack": lambda: P.Stack(1),
    "BroadcastTo": lambda: P.BroadcastTo((4, 8, 16)),
    "Range": lambda: P.Range(0.0, 16.0, 1.0),
}


STATIC = {  # what follows the Tensors
    "Cast": (ms.float16,),
    "Transpose": ((1, 0),),
    "ExpandDims": (1,),
    "Tile": ((2, 1),),
    "TopK": (3,),
    "CumSum": (1,),
    "CumProd": (1,),
    **dict.fromkeys(("Gather", "SparseGatherV2", "EmbeddingLookup"), (0,)),
    **dict.fromkeys((f"UnsortedSegment{kind}" for kind in ("Sum", "Min", "Max", "Prod")), (4,)),
    "Reshape": ((16, 8),),
    "Slice": ((0, 4), (8, 8)),
    "StridedSlice": ((0, 4), (8, 12), (1, 1)),
    **dict.fromkeys((f"Reduce{kind}" for kind in ("Sum", "Mean", "Max", "Min", "Prod", "All", "Any")), (1,)),
}


OF_BOOLS = ("LogicalNot", "LogicalAnd", "LogicalOr", "ReduceAll", "ReduceAny", "Select")


OF_INTS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "OneHot", "SparseSoftmaxCrossEntropyWithLogits")


OF_PLACES = (
    "Gather",
    "SparseGatherV2",
    "EmbeddingLookup",
    *(f"UnsortedSegment{k}" for k in ("Sum", "Min", "Max", "Prod")),
)


# They write or draw, and have checks of their own.
NOT_HERE = ("Assign", "AssignAdd", "AssignSub", "Dropout", "DropoutGenMask", "DropoutDoMask", "UniformCandidateSampler")


def example(name, op):
    """Return (a call of Tensors, the Tensors) of an operator."""
    count = sum(i.kind is None for i in op.inputs)
    shapes = SHAPES.get(name) or [(8, 16)] * count
    many = any(i.many for i in op.inputs)
    shapes = [(8, 16)] * 3 if many else shapes
    tensors = []
    for place, shape in enumerate(shapes):
        if name in OF_BOOLS and not (name == "Select" and place):
            tensors.append(Tensor(RANDOM.random(shape) > 0.5))
        elif name in OF_PLACES and place:
            tensors.append(Tensor(RANDOM.integers(0, 4, shape, np.int32)))
        elif name in OF_INTS and (place == (name != "OneHot") or name.startswith("Bitwise")):
            tensors.append(Tensor(RANDOM.integers(0, 4, shape[:1] if name.startswith("Sparse") else shape, np.int32)))
        else:
            tensors.append(Tensor(RANDOM.uniform(0.2, 0.9, shape).astype(np.float32)))
    if name == "OneHot":
        tensors = [tensors[0], 16, *tensors[1:]]
    return (MADE.get(name, getattr(P, name))(), tensors, many, STATIC.get(name, ()))


def check_rules_compute_the_same():
    """One operator of each rule, or with --all each operator with a rule, with a random strategy that the rule
    allows.
    """
    wrong = []
    names = [REGISTRY[name] for name in rules.coverage().present if name not in NOT_HERE]
    for op in names if "--all" in sys.argv else {rules.get(op): op for op in names}.values():
        primitive, tensors, many, static = example(op.name, op)

        def run(*inputs, primitive=primitive, many=many, static=static):
            return primitive(inputs, *static) if many else primitive(*inputs, *static)

        context.reset_auto_parallel_context()
        context.set_context(mode=context.GRAPH_MODE)
        alone = ms.ms_function(lambda *given: run(*given))(*tensors)
        strategy = random_strategy(op, primitive, tensors, static, many)
        set_devices()
        primitive.shard(strategy)
        together = ms.ms_function(lambda *given: run(*given))(*tensors)
        for a, b in zip(*(o if isinstance(o, tuple) else (o,) for o in (alone, together)), strict=True):
            a, b = a.asnumpy().astype(np.float64), b.asnumpy().astype(np.float64)
            if not np.allclose(a, b, rtol=0, atol=2e-5 * max(1, np.nanmax(np.abs(a), initial=0)), equal_nan=True):
                wrong.append((op.name, strategy, np.abs(a - b).max()))
    assert not wrong, wrong


def random_strategy(op, primitive, tensors, static, many):
    """Return a random strategy that the operator's rule allows and that shards something on eight devices."""
    shapes = [t.shape for t in tensors if isinstance(t, Tensor)]
    settings = {**primitive._attributes, **dict(zip([i.name for i in op.inputs if i.kind is not None], static))}
    if op.name == "OneHot":
        settings["depth"] = 16
    rule = rule_of(Call(op.name, settings, shapes))
    return random_strategy_of_rule(RANDOM, rule, shapes)


def check_operator_without_rule():
    x = floats(8, 4)
    sort = P.Sort()
    expected = sort(x)[0].asnumpy()
    set_devices()
    for strategy, allowed in ((((8, 1),), True), (((4, 2),), False)):
        sort.shard(strategy)
        try:
            got = ms.ms_function(lambda x: sort(x))(x)[0].asnumpy()
        except MissingRule as error:
            assert not allowed and "For 'Sort', there is no sharding rule: one axis" in str(error), error
        else:
            assert allowed
            np.testing.assert_array_equal(got, expected)
