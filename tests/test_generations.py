"""Both generations of a name: no part of msnb itself depends on what they disagree about, and a class has both where
its function has both. Values are those of MindSpore 2.7.1 (golden/make_layer_meanings.py, golden/operators)."""

import ast
import contextlib
import functools
import importlib
import inspect
import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from sweeps import swept

import msnb as ms
import msnb.mindspore2 as ms2
from msnb import Parameter, Tensor, mint, nn
from msnb.core.operator import api_generations
from msnb.core.operator.api_generations import REPLACED, as_api2, noted_difference
from msnb.core.operator.declare import SPELLINGS
from msnb.core.operator.primitive import DeclaredPrimitive
from msnb.ops import operations as P

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
sys.path.insert(0, str(ROOT / "tests" / "ops"))
from operator_rows import ROWS, answers, boxed  # noqa: E402

MEANINGS = runpy.run_path(str(GOLDEN / "make_layer_meanings.py"))
LAYERS = MEANINGS["cases"](runpy.run_path(str(GOLDEN / "make_layers.py")))
STORED = json.loads((GOLDEN / "layer_meanings.json").read_text())


@pytest.fixture
def in_second():
    """Everything that programs share is MindSpore 2's, until the test is over."""
    api_generations.share(2)
    yield ms2
    api_generations.share(1)


# ---------------------------------------------------------------------- msnb's own text
# Calls that mean r1.1 on purpose, or the same in both generations.
_SAME_FOR_BOTH = {
    "BatchMatMul",  # of three dimensions and more
    "Range",  # of Python numbers
    "load_param_into_net",  # whose result is not used
    "build_train_network",  # which asks `making()`, and Model has said
    *("Squeeze", "Select", "LogicalAnd"),  # which take more in MindSpore 2, and give the same of what r1.1 takes
    "AdaptiveMaxPool2D",  # which the one of MindSpore 2 is made of
}


def calls_in_msnb():
    """Yield (place, what is called, the call) of each call in msnb whose function is a name in its module."""
    for file in sorted((ROOT / "msnb").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and dotted(node.func)]
        if name == "msnb.__main__" or not calls:
            continue
        try:
            module = importlib.import_module(name)
        except ImportError:  # of a notebook's packages
            continue
        for call in calls:
            with contextlib.suppress(AttributeError, KeyError):
                first, *rest = dotted(call.func).split(".")
                yield f"{name}:{call.lineno}", functools.reduce(getattr, rest, vars(module)[first]), call


def dotted(node):
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return node.id if isinstance(node, ast.Name) else ""


def is_left_open(target, call):
    """Check that a call leaves to a default, or to an order, a choice on which the generations disagree."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "functional":
        return False
    if not isinstance(target, type) or noted_difference(target) is None:
        return target in REPLACED and target.__name__ not in _SAME_FOR_BOTH
    if target in REPLACED:
        return target.__name__ not in _SAME_FOR_BOTH
    _, order, defaults, *_ = noted_difference(target)
    names = list(inspect.signature(target).parameters)
    passed = {*names[: len(call.args)], *(k.arg for k in call.keywords)}
    return not defaults.keys() <= passed or bool(order) and names[: len(call.args)] != list(order[: len(call.args)])


def test_msnb_itself_leaves_nothing_to_what_the_generations_disagree_about():
    hashable = ((place, target, call) for place, target, call in calls_in_msnb() if _has_hash(target))
    open_calls = [f"{place} {ast.unparse(call)}" for place, target, call in hashable if is_left_open(target, call)]
    assert open_calls == []


def _has_hash(target):
    try:
        hash(target)
    except TypeError:
        return False
    return True


# A function of two generations whose class means the same in both, with the reason.
_CLASS_IS_ONE = {"ApproximateEqual"}  # equal inputs of one floating type mean the same


def test_a_class_has_a_second_meaning_where_its_function_has_one():
    lacking = []
    for kind, name, generation in list(SPELLINGS):
        first = SPELLINGS[kind, name, generation]
        if kind != "function" or generation != 1 or (kind, name, 2) not in SPELLINGS:
            continue
        operators = [op for op in first.operators if op.functional is first.target]  # declared, not written
        lacking += [op.__name__ for op in operators if as_api2(op) is op and op.__name__ not in _CLASS_IS_ONE]
    assert lacking == []


def test_mint_is_of_mindspore_2_whoever_asks():
    twice = [name for kind, name, generation in SPELLINGS if kind == "function" and generation == 2]
    of_first = {SPELLINGS["function", n, 1].target for n in twice if ("function", n, 1) in SPELLINGS}
    assert [name for name in mint.__all__ if getattr(mint, name) in of_first] == []


# ---------------------------------------------------------------------- operators
SECOND_ROWS = [
    row
    for row in ROWS
    if isinstance(row.case.target, type)
    and issubclass(row.case.target, DeclaredPrimitive)
    and as_api2(row.case.target) is not row.case.target
    and not row.parameters
    and any(name.startswith("out") for name in answers(row))
]


@pytest.mark.parametrize("row", swept(SECOND_ROWS, lambda row: row.case.target), ids=lambda row: row.text[:60])
def test_an_operator_gives_what_mindspore_2_gives(in_second, row):
    count = len([name for name in answers(row) if name.startswith("out")])
    results = as_api2(row.case.target)(**row.keywords())(*map(boxed, row.inputs()))
    results = results if isinstance(results, tuple) else (results,)
    if row.case.target is P.AdaptiveMaxPool2D:
        results = results[:count]
    assert len(results) == count
    for i, result in enumerate(results):
        want = answers(row)[f"out{i}"]
        assert result.asnumpy().dtype == want.dtype and result.shape == want.shape
        np.testing.assert_allclose(result.asnumpy(), want, 1e-4, 1e-5)


X = np.arange(6, dtype=np.float32).reshape(2, 3)
TAKEN = {  # calls that r1.1 refuses: what MindSpore 2.7.1 gives
    "P.Tile()(x, (2,))": [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]],
    "ops.tile(x, (2,))": [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]],
    "mint.tile(x, (2,))": [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]],
    "x.tile((2,))": [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]],
    "P.Squeeze(1)(x)": X.tolist(),
    "P.Squeeze((0, 1))(x[:1])": [0, 1, 2],
    "numpy.squeeze(x, 1)": X.tolist(),
    "mint.squeeze(x, 1)": X.tolist(),
    "P.LogicalNot()(x)": [[True, False, False], [False, False, False]],
    "P.LogicalAnd()(x, x > 2)": [[False, False, False], [True, True, True]],
    "P.LogicalOr()(x, x)": [[False, True, True], [True, True, True]],
    "P.LogicalXor()(x, x > 2)": [[False, True, True], [False, False, False]],
    "mint.max(x[0, 2], 0)": [2, 0],
    "mint.min(x[0, 2], -1, True)": [2, 0],
    "ops.max(x[0, 2], 0)": [2, 0],
    "P.SmoothL1Loss()(x[0], x[0].astype(ms.float64) + 2)": [1.5, 1.5, 1.5],
    "ops.smooth_l1_loss(x[0].astype(ms.float16), x[0])": [0, 0, 0],
    "nn.SmoothL1Loss()(x[0], x[0].astype(ms.float64) + 2)": [1.5, 1.5, 1.5],
    "P.SpaceToBatchND([3], [[0, 0]])(x)": [[0], [3], [1], [4], [2], [5]],
    "P.BatchToSpaceND([2], [[0, 1]])(x)": [[0, 3, 1, 4, 2]],
    "P.Select()(x[0, 1] > 0, x, x + 1)": X.tolist(),
    "P.Select()(x[:, :1] > 0, x, x + 1)": [[1, 2, 3], [3, 4, 5]],
    "mint.allclose(x, x)": True,
    "P.Select()(x > 2, x, x.astype(ms.float16) + 1)": [[1, 2, 3], [3, 4, 5]],
    "ops.select(x > 2, x.astype(ms.int8), x + 0.5)": [[0.5, 1.5, 2.5], [3, 4, 5]],
    "ops.select(x > 2, x.astype(ms.int32), 1.5)": [[1.5, 1.5, 1.5], [3, 4, 5]],
    "ops.clip_by_value(x[0], 5, -2)": [-2, -2, -2],
    "x.flatten(0, 1)": [0, 1, 2, 3, 4, 5],
    "x.max(1, initial=3.0)": [3, 5],
    "x.min(0, True, initial=1.5)": [[0, 1, 1.5]],
    "x.min(axis=0, initial=1.5, return_indices=True)": [[0, 1, 1.5], [0, 0, 0]],
    "ops.chunk(x[:, :0], 3, 1)": [[[], []]],
    "ops.auto_generate.select_ext_view(x, 1, -1)": [2, 5],
    "ops.auto_generate.transpose_ext_view(x, 0, 1)": X.T.tolist(),
}


@pytest.mark.parametrize("call", TAKEN)
def test_mindspore_2_takes_what_r1_1_refuses(in_second, call):
    names = {"P": ms2.ops.operations, "ops": ms2.ops, "nn": ms2.nn, "mint": ms2.mint, "numpy": ms2.numpy, "ms": ms2}
    results = eval(call, {**names, "x": Tensor(X)})
    result = [r.asnumpy().tolist() for r in results] if isinstance(results, tuple) else results
    assert (result.asnumpy().tolist() if isinstance(result, Tensor) else result) == TAKEN[call]


REFUSED = ["P.Tile()(x, (2,))", "P.Squeeze(1)(x)", "P.LogicalNot()(x)", "ms.numpy.squeeze(x, 1)"]


@pytest.mark.parametrize("call", REFUSED)
def test_r1_1_refuses_as_before(call):
    with pytest.raises((TypeError, ValueError)):
        eval(call, {"P": P, "ms": ms, "x": Tensor(X)})


def test_indices_of_extremes_are_int64_in_mindspore_2_and_int32_in_r1_1():
    x = Tensor(X)
    assert P.ArgMaxWithValue(1)(x)[0].dtype == ms.int32
    assert as_api2(P.ArgMaxWithValue)(1)(x)[0].dtype == as_api2(P.ArgMinWithValue)(1)(x)[0].dtype == ms.int64


def test_set_data_of_mindspore_2_takes_another_shape_and_type(in_second):
    parameter = Parameter(Tensor([1, 2], ms.int32), name="p")
    assert parameter.set_data(Tensor([1.5, 2.5, 3.0])).asnumpy().tolist() == [1, 2, 3] and parameter.dtype == ms.int32
    with pytest.raises(TypeError, match="Int32, but 'data' is the float 1.5"):
        parameter.set_data(1.5)
    api_generations.share(1)
    with pytest.raises(TypeError, match="not widened"):
        parameter.set_data(Tensor([1.5, 2.5, 3.0]))
    with pytest.raises(ValueError, match="shape"):
        parameter.set_data(Tensor([1, 2], ms.int32))


@pytest.mark.parametrize("namespace", [ms, ms2], ids=["r1.1", "MindSpore 2"])
@pytest.mark.parametrize("clips", [False, True])
def test_lars_trains_around_an_optimizer(namespace, clips):
    net = namespace.nn.Dense(3, 2)
    optimizer = namespace.nn.Momentum(net.trainable_params(), 0.1, 0.9, weight_decay=0.1)
    loss = namespace.nn.WithLossCell(net, namespace.nn.MSELoss())
    step = namespace.nn.TrainOneStepCell(loss, namespace.nn.LARS(optimizer, coefficient=0.1, use_clip=clips))
    losses = [float(step(Tensor(X), Tensor(np.ones((2, 2), np.float32))).asnumpy()) for _ in range(3)]
    assert losses[2] < losses[0]
    if namespace is ms2:
        assert int(optimizer.global_step.asnumpy().item()) == 3
        assert [p.name for p in step.get_parameters()].count("global_step") == 1


# ---------------------------------------------------------------------- layers
# Layers whose values differ from MindSpore 2.7.1's, with the reason; (name, form) where it is one form alone.
OTHERWISE = {
    ("constant_pad1d", "O2"): "2.7.1 pads where it cuts at this level, and at no other",
    ("constant_pad1d", "O3"): "likewise",
    ("constant_pad3d", "O3"): "likewise",
    ("multi_field_max", "float16"): "2.7.1 gives the least number of float16",
    ("multi_field_max", "O2"): "likewise",
    ("multi_field_max", "O3"): "likewise",
}


def stored_cases(generation):
    every = [(name, form) for name, stored in STORED.items() for form in stored if generation == 2 or form == "train"]
    cases = [case for case in every if case not in OTHERWISE]
    return swept(cases, lambda case: (case[1], class_of(case[0]).__module__))


def class_of(name):
    return getattr(nn, LAYERS[name][0].removeprefix("nn.").partition("(")[0])


def compare(result, stored, form):
    assert len(result) == len(stored)
    for (dtype, shape, total, some), (own_dtype, own_shape, own_total, own_some) in zip(stored, result, strict=True):
        # MindSpore casts what operators take and not what Cells take: views and written functions stay in float32.
        assert own_dtype == dtype or form == "float16" and {own_dtype, dtype} == {"Float16", "Float32"}
        assert own_shape == shape
        near, small = (1e-3, 1e-4) if form == "train" else (2e-2, 5e-3)
        np.testing.assert_allclose(own_some, some, near, small)
        np.testing.assert_allclose(own_total, total, near, small * max(1, np.prod(shape)) ** 0.5)


@pytest.mark.parametrize("case", stored_cases(2), ids="-".join)
def test_a_layer_is_mindspore_2_s(in_second, case):
    (expression, inputs), form = LAYERS[case[0]], case[1]
    if form != "first":
        compare(MEANINGS["ran"](ms2, expression, inputs, form), STORED[case[0]][form], form)
        return
    result = MEANINGS["first_values"](ms2, expression)
    assert list(result) == list(STORED[case[0]]["first"])
    for path, (dtype, shape, mean, deviation, least, largest) in STORED[case[0]]["first"].items():
        own_dtype, own_shape, own_mean, own_deviation, own_least, own_largest = result[path]
        assert (own_dtype, own_shape) == (dtype, shape), path
        if deviation == 0:
            assert (own_mean, own_deviation) == (mean, 0), path
        elif np.prod(shape) >= 8:  # another distribution has another width
            assert deviation / 3 < own_deviation < deviation * 3, path
            assert own_largest - own_least < 3 * (largest - least), path


def has_one_meaning(name):
    cls = class_of(name)
    return cls not in REPLACED and noted_difference(cls) is None


@pytest.mark.parametrize("case", [c for c in stored_cases(1) if has_one_meaning(c.values[0][0])], ids="-".join)
def test_a_layer_of_one_meaning_is_the_same_in_r1_1(case):
    expression, inputs = LAYERS[case[0]]
    compare(MEANINGS["ran"](ms, expression, inputs, case[1]), STORED[case[0]][case[1]], case[1])


def test_prelu_of_r1_1_cuts_its_shares_and_that_of_mindspore_2_does_not():
    x = Tensor([-2.0])
    for namespace, result, share in ((ms, 0.0, 0.0), (ms2, 1.0, -0.5)):
        net = namespace.nn.PReLU(1, -0.5).set_train()
        assert net(x).asnumpy().item() == result and net.w.asnumpy().item() == share


def test_group_norm_of_mindspore_2_has_the_type_of_its_input():
    x = Tensor(np.ones((1, 2, 2), np.float16))
    assert ms2.nn.GroupNorm(2, 2)(x).dtype == ms.float16 and nn.GroupNorm(2, 2)(x).dtype == ms.float32
    with pytest.raises(TypeError, match="GroupNorm"):
        nn.GroupNorm(2, 2)(Tensor(np.ones((1, 2, 2), np.int8)))


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
def test_lstm_of_mindspore_2_drops_between_its_layers_in_training_alone(in_second, mode):
    ms.set_context(mode=mode)
    x, sizes = Tensor(np.ones((4, 2, 3), np.float32)), {"num_layers": 3, "bidirectional": True}
    dropping, plain = ms2.nn.LSTM(3, 4, dropout=0.5, **sizes), ms2.nn.LSTM(3, 4, **sizes)
    for own, other in zip(dropping.get_parameters(), plain.get_parameters(), strict=True):
        other.set_data(own)
    for own, other in zip(flat(dropping(x)), flat(plain(x)), strict=True):
        np.testing.assert_allclose(own.asnumpy(), other.asnumpy(), 1e-5, 1e-6)
    dropping.set_train()
    assert (dropping(x)[0].asnumpy() != dropping(x)[0].asnumpy()).any()
    ms.set_context(mode=ms.PYNATIVE_MODE)


def flat(results):
    return [r for result in results for r in flat(result)] if isinstance(results, tuple) else [results]


@pytest.mark.parametrize("cls", ["RNN", "GRU", "LSTM"])
def test_recurrent_layers_of_mindspore_2_show_their_dropout(in_second, cls):
    assert repr(getattr(ms2.nn, cls)(2, 3)) == f"{cls}(\n  (dropout_op): Dropout(p=0.0)\n)"


def test_adam_stores_the_powers_of_its_betas_in_the_shape_of_the_generation(in_second):
    for nn_, shape in ((ms.nn, (1,)), (ms2.nn, ())):
        weight = ms.Parameter(Tensor([1.0], ms.float32), name="weight")
        adam = nn_.Adam([weight])
        adam((Tensor([1.0], ms.float32),))
        np.testing.assert_allclose(weight.asnumpy(), [0.999], rtol=1e-6)
        assert adam.beta1_power.shape == adam.beta2_power.shape == shape
        assert nn_.LazyAdam([weight]).beta1_power.shape == (1,)
        ms.load_param_into_net(adam, {"beta1_power": ms.Parameter(Tensor([0.5], ms.float32), name="beta1_power")})
        assert adam.beta1_power.shape == shape and float(adam.beta1_power.asnumpy().sum()) == 0.5


def test_dropout_shows_its_probability_as_given(in_second):
    assert repr(ms2.nn.Dropout(p=1 / 110)) == "Dropout(p=0.00909090909090909)"
    assert ms2.nn.Dropout(p=0.3).p == 0.3


def test_a_meaning_of_generation_2_has_the_name_of_one_of_r1_1():
    for module, name in api_generations.AT:
        assert hasattr(importlib.import_module(module), name), f"{module} has no {name} that MindSpore 2 could replace"


def test_identity_is_a_function_of_its_input_in_generation_2():
    x = Tensor(np.ones(2, np.float32))
    assert ms2.ops.identity(x) is x
