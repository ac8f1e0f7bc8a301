"""Indices and labels out of range, for every operator that takes some, in both modes."""

import re

import numpy as np
import pytest
from sweeps import swept

from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.state import trace_state
from msnb.ops import operations as P

OPERATORS = {op.name: op for op in REGISTRY.values()}


def f32(*shape):
    return Tensor(np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(np.float32))


def i32(values):
    return Tensor(np.array(values, np.int32))


def param(*shape):
    return Parameter(np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(np.float32), name="p")


class Case:
    """One operator at work.

    Args:
        make (Callable): Returns a function of the index Tensor that calls the operator, and the Parameter that it
            writes, if any.
        shaped (Callable): From one index to a value of the input, in which the others are in range.
        bad (tuple): Indices out of range.
        good (tuple): Indices in range.
        unchecked (str): Result of a graph without checks: "nan", "label" (it raises late), "left out", or "other".
    """

    def __init__(self, make, shaped, bad, good, unchecked):
        self.make, self.shaped, self.bad, self.good, self.unchecked = make, shaped, bad, good, unchecked

    def __call__(self, index):
        return self.make()[0](i32(self.shaped(index)))


def reads(call, shaped=lambda b: [0, b], bad=(4, -5), good=(3, -4), unchecked="nan"):
    return Case(lambda: (call, None), shaped, bad, good, unchecked)


def labels(call, shaped=lambda b: [0, b], bad=(4, -1), good=(3,)):
    return Case(lambda: (call, None), shaped, bad, good, "label")


def writes(call, shaped=lambda b: [0, b], bad=(4, -1), good=(3,), others=0):
    def make():
        target, rest = param(4, 2), [param(4, 2) for _ in range(others)]
        return lambda i: call(target, *rest, i), target

    return Case(make, shaped, bad, good, "left out")


def copies(call, shaped=lambda b: [[0], [b]], bad=(4, -1), good=(3,)):
    return Case(lambda: (call, None), shaped, bad, good, "other")


def adam(name):
    scalars = [0.9, 0.99, 0.1, 0.9, 0.99, 1e-8]
    return writes(lambda p, m, v, i: getattr(P, name)()(p, m, v, *scalars, f32(2, 2), i), others=2)


def three(prim):
    return writes(lambda p, a, b, i: prim(p, a, b, f32(2, 2), i), others=2)


def added(name):
    return lambda i: REGISTRY[name].functional(f32(4, 2), i, f32(2, 2), 0)


def segment(name):
    return reads(lambda i: getattr(P, name)()(f32(3), i, 4), lambda b: [0, b, 1], (4,), (3, -1, -9), "other")


def set_item(i):
    x = f32(4) * 1
    x[i] = 9.0
    return x


_WAYS = ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")
LOGITS = Tensor(np.array([[0, 1, 2, 10.0], [1, 2, 3, 4]], np.float32))
CASES = {
    "Gather": reads(lambda i: P.Gather()(f32(4), i, 0)),
    "SparseGatherV2": reads(lambda i: P.SparseGatherV2()(f32(2, 4), i, 1)),
    "GatherD": reads(lambda i: P.GatherD()(f32(4), 0, i)),
    "TakeAlongAxis": reads(lambda i: REGISTRY["_TakeAlongAxis"].functional(f32(4), i, 0)),
    "GatherDGrad": reads(lambda i: P.GatherDGrad(0, (4,))(i, f32(2)), unchecked="other"),
    "GatherNd": reads(lambda i: P.GatherNd()(f32(4, 3), i), lambda b: [[0, 1], [b, 2]], (4, -1), (3,)),
    "Embedding": reads(lambda i: ops.embedding(i, f32(4, 2)), bad=(4, -1), good=(3,)),
    "EmbeddingRenorm": writes(lambda p, i: REGISTRY["_EmbeddingRenorm"].primitive(max_norm=1.0)(p, i)),
    "TensorGetItem": reads(lambda i: f32(3, 4)[:, i]),
    "TensorSetItem": reads(set_item, unchecked="other"),
    "Put": reads(lambda i: REGISTRY["_Put"].functional(f32(4), i, f32(2)), unchecked="other"),
    "MultiMarginLoss": labels(lambda i: P.MultiMarginLoss()(LOGITS, i)),
    "IndexAdd": writes(lambda p, i: P.IndexAdd(0)(p, i, f32(2, 2)), bad=(4, -5), good=(3, -4)),
    "InplaceIndexAdd": writes(lambda p, i: P.InplaceIndexAdd(0)(p, i, f32(2, 2)), bad=(4, -5), good=(3, -4)),
    "IndexAdded": copies(added("_IndexAdded"), lambda b: [0, b], (4, -5), (3, -4)),
    "IndexCopied": copies(added("_IndexCopied"), lambda b: [0, b], (4, -5), (3, -4)),
    "IndexFill": reads(lambda i: ops.index_fill(f32(4), 0, i, 9.0), unchecked="other"),
    "CropAndResize": reads(
        lambda i: P.CropAndResize()(f32(4, 4, 4, 1), f32(2, 4) * 0, i, (2, 2)), bad=(4, -1), good=(3,)
    ),
    "ReverseSequence": reads(lambda i: P.ReverseSequence(1)(f32(2, 3), i), bad=(4, -1), good=(3,), unchecked="other"),
    **{f"UnsortedSegment{m}": segment(f"UnsortedSegment{m}") for m in ("Sum", "Prod", "Min", "Max")},
    **{
        f"Scatter{m}": writes(lambda p, i, m=m: getattr(P, f"Scatter{m}")()(p, i, f32(2, 2)))
        for m in ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")
    },
    **{
        name: writes(lambda p, i, name=name: getattr(P, name)()(p, i, f32(2, 2)), lambda b: [[0], [b]])
        for name in (
            *(f"ScatterNd{m}" for m in ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")),
            "ScatterNonAliasingAdd",
        )
    },
    **{
        f"TensorScatter{m}": copies(lambda i, m=m: getattr(P, f"TensorScatter{m}")()(f32(4, 2), i, f32(2, 2)))
        for m in ("Update", "Add", "Sub", "Mul", "Div", "Max", "Min")
    },
    "ScatterNd": copies(lambda i: P.ScatterNd()(i, f32(2), (4,))),
    "SparseTensorDenseAdd": copies(lambda i: P.SparseTensorDenseAdd()(i, f32(2), (4,), f32(4))),
    "SparseTensorDenseMatmul": copies(
        lambda i: P.SparseTensorDenseMatmul()(i, f32(2), (4, 1), f32(1, 2)), shaped=lambda b: [[0, 0], [b, 0]]
    ),
    "SparseToDense": copies(lambda i: P.SparseToDense()(i, f32(2), (4,))),
    "FusedSparseAdam": adam("FusedSparseAdam"),
    "FusedSparseLazyAdam": adam("FusedSparseLazyAdam"),
    "FusedSparseFtrl": three(P.FusedSparseFtrl(0.1, 0.1, 0.1, -0.5)),
    "SparseApplyFtrl": three(P.SparseApplyFtrl(0.1, 0.1, 0.1, -0.5)),
    "SparseApplyFtrlV2": three(P.SparseApplyFtrlV2(0.1, 0.1, 0.1, 0.1, -0.5)),
    **{
        name: writes(lambda p, a, i, name=name: getattr(P, name)()(p, a, 0.1, 0.1, 0.1, f32(2, 2), i), others=1)
        for name in ("FusedSparseProximalAdagrad", "SparseApplyProximalAdagrad")
    },
    "SparseApplyAdagrad": writes(lambda p, a, i: P.SparseApplyAdagrad(0.1)(p, a, f32(2, 2), i), others=1),
    "SparseApplyAdadelta": writes(
        lambda p, a, b, i: P.SparseApplyAdadelta(1e-6)(p, a, b, 0.1, 0.9, f32(2, 2), i), others=2
    ),
    "SparseApplyRMSProp": writes(
        lambda p, a, b, i: P.SparseApplyRMSProp(0.9, 0.5, 1e-6)(p, a, b, 0.1, f32(2, 2), i), others=2
    ),
    "SparseApplyAdagradV2": writes(lambda p, a, i: P.SparseApplyAdagradV2(0.1, 1e-6)(p, a, f32(2, 2), i), others=1),
    "ConfusionMatrix": reads(lambda i: P.ConfusionMatrix(4)(i, i32([0, 1])), bad=(4, -1), good=(3,), unchecked="other"),
    "EditDistance": reads(
        lambda i: P.EditDistance()(i, i32([1, 2]), (1, 4), i32([[0, 0]]), i32([1]), (1, 4)),
        lambda b: [[0, 0], [b, 1]],
        (1, -1),
        (0,),
        "other",
    ),
    "SparseSoftmaxCrossEntropyWithLogits": labels(lambda i: P.SparseSoftmaxCrossEntropyWithLogits()(LOGITS, i)),
    "NLLLoss": labels(lambda i: P.NLLLoss()(LOGITS, i, f32(4))[0], good=(3, -100)),
    "NLLLossND": labels(lambda i: ops.nll_loss(LOGITS, i, ignore_index=-7), good=(3, -7)),
    "CrossEntropy": labels(lambda i: ops.cross_entropy(LOGITS, i), good=(3, -100)),
    "CTCLoss": labels(lambda i: P.CTCLoss()(f32(3, 1, 4), Tensor(np.array([[0, 0], [0, 1]])), i, i32([3]))[0]),
    "RNNTLoss": labels(lambda i: P.RNNTLoss()(f32(1, 3, 3, 4), i, i32([3]), i32([2]))[0], lambda b: [[1, b]]),
    "CTCLossV2": labels(lambda i: ops.ctc_loss(f32(3, 1, 4), i, i32([3]), i32([2]))[0], lambda b: [[1, b, -1]]),
}

# Inputs that are named as if they were indices or labels: why nothing is out of range there.
WITHOUT = {
    "BCEWithLogitsLoss": "labels are probabilities",
    "BinaryCrossEntropy": "labels are probabilities",
    "BinaryCrossEntropyGrad": "labels are probabilities",
    "SigmoidCrossEntropyWithLogits": "labels are probabilities",
    "SigmoidCrossEntropyWithLogitsGrad": "labels are probabilities",
    "KLDivLoss": "labels are probabilities",
    "KLDivLossGrad": "labels are probabilities",
    "SoftmaxCrossEntropyWithLogits": "labels are probabilities",
    "SmoothL1Loss": "the target is a value",
    "SmoothL1LossGrad": "the target is a value",
    "SearchCacheIdx": "they are keys, and one that is not in the table is missing",
    "MSELossExt": "the target is a value",
    "L1LossExt": "the target is a value",
    "HuberLoss": "the target is a value",
    "GaussianNLLLoss": "the target is a value",
    "MarginRankingLoss": "the target is a sign",
    "HingeEmbeddingLoss": "the target is a sign",
    "SoftMarginLoss": "the target is a sign",
    "CosineEmbeddingLoss": "the target is a sign",
    "EmbeddingLookup": "gives 0 for rows that another part of the table holds, as MindSpore documents",
    "OneHot": "gives the off value, as MindSpore documents",
    "Take": "takes the first or last, as MindSpore documents for mode 'clip'",
    "ScatterAddWithAxis": "leaves out, as TensorScatterElements does",
    "TensorScatterElements": "leaves out, as MindSpore documents",
    "UnravelIndex": "stays within the shape, as MindSpore 2.7.1 does",
    "UnravelIndexOf": "clips, as mindspore.numpy does",
    "IndexPut": "a tuple of them; a place outside is left out",
    "InplaceUpdateV2": "they are Python numbers, which are looked at",
    "UpdateCache": "leaves out, as MindSpore documents",
    "TensorGetRow": "the index is a number, which x[i] has checked",
    "SequenceMask": "any length has a mask",
    "UniformCandidateSampler": "any number has an answer: how often it is expected",
    "LogUniformCandidateSampler": "likewise, as its formula goes on",
    "MaxPoolGradWithArgmax": "argmax comes from the forward operator",
    "MaxPoolGradGradWithArgmax": "argmax comes from the forward operator",
    "MaxUnpool": "indices come from the pooling",
    "MaxUnpool2D": "argmax comes from the pooling",
    "MaxUnpool3D": "argmax comes from the pooling",
    "MoeTokenPermute": "the numbers of experts only order the tokens",
    "MoeTokenUnpermute": "the positions come from MoeTokenPermute; a copy that was left out counts as 0",
    "MultilabelMarginLoss": "a number that is no class makes the loss NaN, and the first negative one ends the labels",
    "MultilabelSoftMarginLoss": "the target is 0 or 1 for each class",
    "MeanOfSegments": "the numbers are in order, which SegmentMean has looked at",
    "Occupied": "the numbers are in order, which SegmentMax has looked at",
    "DynamicRNN": "seq_length is None",
    "DynamicGRUV2": "seq_length is None",
    "Recurrent": "any length counts as many times as there are",
    "LSTMOfLengths": "any length counts as many times as there are",
}
_LIKE_AN_INDEX = re.compile(r"ind(ex|ices)|label|target|class|segment|argmax|tensors|seq_?len|lengths")


class Runs(nn.Cell):
    """A function as a graph."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, i):
        return self.fn(i)


def make_graph(case):
    """Return the operator as a graph, and the Parameter that it writes."""
    context.set_context(mode=context.GRAPH_MODE)
    fn, target = case.make()
    net = Runs(fn)
    return lambda index: net(i32(case.shaped(index))), target


def to_arrays(result):
    return [np.asarray(r.asnumpy()) for r in (result if isinstance(result, tuple) else (result,))]


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    assert not trace_state.thread.pending_verdicts


def test_every_operator_with_an_index_or_a_label_is_named_here():
    checked = {name for name, op in OPERATORS.items() if getattr(op, "checks", ())}
    checked -= {"Cholesky", "ClipByNormCheck"}  # they check that matrices are definite, that a norm is finite
    assert checked == set(CASES)
    named = {name for name, op in OPERATORS.items() if any(_LIKE_AN_INDEX.search(i.name) for i in op.inputs)}
    assert named - checked <= set(WITHOUT), "check their indices (core.checks), or say here why they need none"
    assert set(WITHOUT) <= named - checked | {"TensorGetRow"} | set(OPERATORS) and not set(WITHOUT) & checked


@pytest.mark.parametrize("name", CASES)
def test_an_index_out_of_range_raises_in_pynative_mode(name):
    case, op = CASES[name], OPERATORS[name]
    for index in case.good:
        case(index)
    errors, inputs = tuple(c.error for c in op.checks), "|".join(c.name for c in op.checks)
    for index in case.bad:
        with pytest.raises(errors, match=rf"For '{op.name}', '({inputs})' should be .*{index}"):
            case(index)


def in_graphs():
    """In a graph an operator of each file for each thing that may become of its results; the others are slow."""
    return swept(CASES, lambda name: (OPERATORS[name].fn.__module__, CASES[name].unchecked))


@pytest.mark.parametrize("name", in_graphs())
def test_an_index_out_of_range_raises_in_a_checked_graph_and_changes_no_parameter(name):
    context.set_context(check_indices=True)
    case, op = CASES[name], OPERATORS[name]
    expected = to_arrays(case(case.good[0]))
    run, target = make_graph(case)
    for one, other in zip(to_arrays(run(case.good[0])), expected, strict=True):
        if not op.random:
            np.testing.assert_allclose(one, other, rtol=1e-5)
    before = None if target is None else target.asnumpy()
    with pytest.raises(tuple(c.error for c in op.checks), match=f"For '{op.name}'.*{case.bad[0]}") as caught:
        run(case.bad[0])
    assert "raised in the graph at test_indices.py" in caught.value.__notes__[0]
    assert target is None or (target.asnumpy() == before).all()


@pytest.mark.parametrize("name", in_graphs())
def test_a_graph_without_checks_shows_an_index_out_of_range_where_it_can(name):
    case, op = CASES[name], OPERATORS[name]
    run, target = make_graph(case)
    for index in case.bad:
        before = None if target is None else target.asnumpy()
        result = run(index)
        if case.unchecked == "label":
            with pytest.raises(op.checks[0].error, match=f"For '{op.name}'.*{index}"):
                to_arrays(result)
        elif case.unchecked == "nan":
            assert any(np.isnan(r).any() for r in to_arrays(result))
        elif case.unchecked == "left out" and name != "FusedSparseAdam":  # which moves every row
            assert (target.asnumpy()[1:] == before[1:]).all() and np.isfinite(target.asnumpy()).all()


def test_integers_read_out_of_range_in_a_graph_are_the_smallest_of_their_type():
    context.set_context(mode=context.GRAPH_MODE)
    assert Runs(lambda i: P.Gather()(i32([1, 2]), i, 0))(i32([1, 2])).asnumpy().tolist() == [2, -(2**31)]
    assert Runs(lambda i: Tensor(np.uint8([1, 2]))[i])(i32([1, 2])).asnumpy().tolist() == [2, 255]


def test_narrow_and_unsigned_indices_are_checked_by_their_value():
    table = f32(300)
    for dtype, value in ((np.int8, 127), (np.uint8, 255)):
        assert table[Tensor(np.array([value], dtype))].asnumpy() == value + 1
    with pytest.raises(IndexError, match="in \\[-100, 100\\), but got 255"):
        f32(100)[Tensor(np.array([255], np.uint8))]
    context.set_context(mode=context.GRAPH_MODE, check_indices=True)
    assert Runs(lambda i: f32(300)[i])(Tensor(np.array([255], np.uint8))).asnumpy() == 256
    with pytest.raises(IndexError, match="in \\[-100, 100\\), but got 255"):
        Runs(lambda i: f32(100)[i])(Tensor(np.array([255], np.uint8)))


def test_constant_indices_of_a_graph_are_checked_while_it_is_traced():
    context.set_context(mode=context.GRAPH_MODE)
    with pytest.raises(IndexError, match="but got 9"):
        Runs(lambda x: x[[0, 9]])(f32(4))


def test_empty_indices_are_in_range_of_anything():
    for checked in (False, True):
        context.set_context(check_indices=checked)
        for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
            context.set_context(mode=mode)
            assert Runs(lambda i: P.Gather()(f32(0, 2), i, 0))(i32([])).shape == (0, 2)


@pytest.mark.parametrize(
    "loss",
    [
        nn.SoftmaxCrossEntropyWithLogits(sparse=True),
        nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="sum"),
        nn.CrossEntropyLoss(),
        nn.NLLLoss(),
        nn.FocalLoss(),
    ],
    ids=["none", "mean", "sum", "CrossEntropyLoss", "NLLLoss", "FocalLoss"],
)
@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_losses_raise_at_labels_outside_the_classes(loss, mode):
    context.set_context(mode=mode)
    assert np.isfinite(loss(LOGITS, i32([0, 3])).asnumpy()).all()
    for label in (4, -1):
        with pytest.raises((RuntimeError, ValueError), match=f"from 0 to 3.* but got {label}"):
            loss(LOGITS, i32([0, label])).asnumpy()
    if hasattr(loss, "ignore_index"):
        assert np.isfinite(loss(LOGITS, i32([0, -100])).asnumpy()).all()


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_an_embedding_says_which_number_it_does_not_hold(mode):
    context.set_context(mode=mode, check_indices=True)
    with pytest.raises(RuntimeError, match="For 'Gather', 'indices' should be in \\[-4, 4\\), but got 9"):
        nn.Embedding(4, 2)(i32([0, 9]))


def test_the_gradient_of_a_gather_is_as_without_a_check():
    class Sum(nn.Cell):
        def construct(self, x, i):
            return (x[i] * x[i]).sum()

    for checked in (False, True):
        context.set_context(check_indices=checked)
        for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
            context.set_context(mode=mode)
            grad = ops.GradOperation()(Sum())(f32(4), i32([1, 1, -1]))
            assert grad.asnumpy().tolist() == [0, 8, 0, 8]
            if checked or mode == context.PYNATIVE_MODE:
                with pytest.raises(IndexError, match="got 7"):
                    ops.GradOperation()(Sum())(f32(4), i32([1, 7]))
