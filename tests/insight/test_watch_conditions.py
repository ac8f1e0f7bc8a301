"""Conditions of watchpoints: each against its formula in float64, on tensors that go wrong; and bad arguments."""

import math

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from msnb.insight.watchpoints.advice import advise
from msnb.insight.watchpoints.alarm import abs_mean, has_nonfinite, living_units, rings
from msnb.insight.watchpoints.conditions import (
    CONDITIONS,
    INF,
    NAN,
    NO_PREVIOUS,
    R1_1_IDS,
    as_watchpoint,
    check,
    recommended,
)

RNG = np.random.default_rng(3)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
TENSORS = {
    "normal": RNG.standard_normal((4, 5)).astype(np.float32),
    "large": (RNG.standard_normal((3, 7)) * 1e4).astype(np.float32),
    "small": (RNG.standard_normal(40) * 1e-12).astype(np.float32),
    "zero": np.zeros((2, 3), np.float32),
    "half zero": np.array([0, 0, 1, -2], np.float32),
    "a number": np.array(3.5, np.float32),
    "bfloat16": RNG.standard_normal(33).astype(BFLOAT16),
    "float16": RNG.standard_normal((2, 9)).astype(np.float16),
    "equal": np.full((5,), 0.3, np.float32),
}
NAN_TENSOR = np.array([1, np.nan, -3], np.float32)
INF_TENSOR = np.array([1, -np.inf, 2], np.float32)


def test_there_are_the_seventeen_conditions_of_r1_1():
    names = {CONDITIONS[name].abbreviation for name in R1_1_IDS}
    assert names == set("WI WO TO OO WL GL TL WS GV TS GE TZ WNC WCL WCS AR TR".split())


def test_defaults_are_those_of_r1_1():
    defaults = {name: as_watchpoint(name).presets for name in ("WI", "TZ", "WNC", "WCL", "WCS")}
    assert defaults == {
        "WI": {"zero_percentage_ge": 100.0},
        "TZ": {"zero_percentage_ge": 100.0},
        "WNC": {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False},
        "WCL": {"abs_mean_update_ratio_gt": 0.1, "epsilon": 1e-9},
        "WCS": {"abs_mean_update_ratio_lt": 1e-4, "epsilon": 1e-9},
    }


FORMULAS = {
    "abs_mean": lambda x: math.fsum(abs(v) for v in x) / len(x),
    "mean": lambda x: math.fsum(x) / len(x),
    "max": max,
    "min": min,
}


@pytest.mark.parametrize("tensor", TENSORS)
@pytest.mark.parametrize("condition", ["WL", "GL", "TL", "WS", "GV", "TS"])
def test_thresholds_compare_statistics_in_float64(condition, tensor):
    values = [float(v) for v in TENSORS[tensor].ravel()]
    suffix = "gt" if condition.endswith("L") else "lt"
    for column, formula in FORMULAS.items():
        exact = formula(values)
        for preset in (exact - abs(exact) * 0.01 - 1e-20, exact + abs(exact) * 0.01 + 1e-20):
            if column == "abs_mean" and preset < 0:
                continue
            verdict = check(as_watchpoint((condition, {f"{column}_{suffix}": preset})), TENSORS[tensor])
            is_hit = exact > preset if suffix == "gt" else exact < preset
            assert bool(verdict.met) is is_hit
            if is_hit:
                (name, compared, actual), *_ = verdict.met
                assert (name, compared) == (f"{column}_{suffix}", preset)
                assert actual == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("tensor", TENSORS)
def test_zeros_and_ranges_are_shares_in_percent(tensor):
    values = [float(v) for v in TENSORS[tensor].ravel()]
    zeros = 100 * sum(v == 0 for v in values) / len(values)
    assert bool(check(as_watchpoint("TZ"), TENSORS[tensor]).met) is (zeros == 100)
    half = check(as_watchpoint(("TZ", {"zero_percentage_ge": 50})), TENSORS[tensor]).met
    assert [actual for _, _, actual in half] == ([pytest.approx(zeros)] if zeros >= 50 else [])
    inside = 100 * sum(-1 <= v <= 0.3 for v in values) / len(values)
    ends = {"range_start_inclusive": -1, "range_end_inclusive": 0.3}
    low = check(as_watchpoint(("TR", {**ends, "range_percentage_lt": 40})), TENSORS[tensor]).met
    high = check(as_watchpoint(("AR", {**ends, "range_percentage_gt": 40})), TENSORS[tensor]).met
    assert (bool(low), bool(high)) == (inside < 40, inside > 40)
    spread = max(values) - min(values)
    met = check(as_watchpoint(("TR", {"max_min_lt": 1.5, "max_min_gt": 2})), TENSORS[tensor]).met
    assert [name for name, _, _ in met] == [
        *(["max_min_lt"] if spread < 1.5 else []),
        *(["max_min_gt"] if spread > 2 else []),
    ]


def test_the_update_ratio_is_that_of_the_formula():
    before, after = TENSORS["normal"], TENSORS["normal"] * np.float32(1.5)
    ratio = np.abs(after.astype(float) - before).mean() / (np.abs(before.astype(float)).mean() + 1e-9)
    ((name, preset, actual),) = check(as_watchpoint("WCL"), after, before).met
    assert (name, preset, actual) == ("abs_mean_update_ratio_gt", 0.1, pytest.approx(ratio))
    assert not check(as_watchpoint("WCS"), after, before).met
    assert check(as_watchpoint("WCS"), before, before).met


def test_a_weight_has_not_changed_if_all_its_values_are_close():
    before = np.array([1.0, 0.0, -2.0], np.float64)
    not_changed = as_watchpoint("WNC")
    assert check(not_changed, before + [9e-6, 9e-9, 0], before).met
    assert not check(not_changed, before + [2e-5, 0, 0], before).met
    assert not check(not_changed, before + [0, 2e-8, 0], before).met
    assert check(as_watchpoint(("WNC", {"rtol": 0.1})), before * 1.05, before).met


def test_nan_and_infinities_are_hits_of_overflow_conditions_only():
    for name in ("WO", "TO", "OO", "GE"):
        assert check(as_watchpoint(name), NAN_TENSOR).met == [("", None, 1)]
        assert check(as_watchpoint(name), INF_TENSOR).met == [("", None, 1)]
        assert not check(as_watchpoint(name), TENSORS["large"]).met
    for name in ("WI", "TZ", ("TL", {"max_gt": 0}), ("TR", {"max_min_gt": 0})):
        assert check(as_watchpoint(name), NAN_TENSOR) == ([], NAN, {})
        assert check(as_watchpoint(name), INF_TENSOR) == ([], INF, {})


def test_a_change_without_a_previous_value_has_an_error_code():
    for name in ("WNC", "WCL", "WCS"):
        assert check(as_watchpoint(name), TENSORS["normal"]).error_code == NO_PREVIOUS
        assert check(as_watchpoint(name), NAN_TENSOR).error_code == NO_PREVIOUS | NAN


def test_an_empty_tensor_meets_nothing():
    for name in ("TO", "TZ", ("TL", {"max_gt": 0})):
        assert check(as_watchpoint(name), np.zeros((0, 3), np.float32)) == ([], 0, {})


def test_underflow_counts_subnormal_numbers_of_the_tensors_own_type():
    x = np.array([1e-40, 0, 1, 2], np.float32)
    assert check(as_watchpoint("underflow"), x).met == [("subnormal_percentage_gt", 0.0, 25.0)]
    assert not check(as_watchpoint("underflow"), x.astype(np.float64)).met
    assert check(as_watchpoint("underflow"), np.array([1e-7, 1], np.float16)).met


WATCHPOINTS = [
    ("TL", {"abs_mean_gt": 0.5}),
    ("TL", {"max_gt": 0.5}),
    ("TL", {"min_gt": -1}),
    ("TL", {"mean_gt": 0.1}),
    ("TS", {"abs_mean_lt": 0.5}),
    ("TS", {"max_lt": 0.5}),
    ("TS", {"min_lt": -1}),
    ("TS", {"mean_lt": 0.1}),
    ("TZ", {"zero_percentage_ge": 50}),
    ("TZ", {"zero_percentage_ge": 100}),
    ("TR", {"range_start_inclusive": -1, "range_end_inclusive": 0.3, "range_percentage_lt": 50}),
    ("TR", {"range_start_inclusive": 0.3, "range_end_inclusive": 0.3, "range_percentage_gt": 50}),
    ("TR", {"max_min_gt": 2}),
    ("TR", {"max_min_lt": 2}),
    ("underflow", {}),
]
BAD = {
    "NaN": NAN_TENSOR,
    "infinity": INF_TENSOR,
    "subnormal": np.array([1e-40, 0], np.float32),
    "huge": np.full(9, 3e38, np.float32),
}


@pytest.mark.parametrize("watchpoint", WATCHPOINTS, ids=str)
def test_the_alarm_rings_wherever_the_exact_check_has_a_hit_or_an_error(watchpoint):
    watchpoint = as_watchpoint(watchpoint)
    for name, tensor in {**TENSORS, **BAD}.items():
        verdict = check(watchpoint, tensor)
        if verdict.met or verdict.error_code:
            assert rings(watchpoint, jnp.asarray(tensor)), name


@pytest.mark.parametrize("name", ["WNC", "WCL", "WCS"])
def test_the_alarm_of_a_change_rings_wherever_the_exact_check_has_a_hit(name):
    watchpoint, before = as_watchpoint(name), TENSORS["normal"]
    for factor in (1, 1 + 1e-7, 1 + 1e-5, 1.00011, 1.2, 3, np.nan, np.inf):
        after = (before * factor).astype(np.float32)
        verdict = check(watchpoint, after, before)
        if verdict.met or verdict.error_code:
            assert rings(watchpoint, jnp.asarray(after), jnp.asarray(before)), factor


CHANNELS = {
    "image": np.stack([TENSORS["normal"], np.zeros((4, 5)), TENSORS["normal"] * 3]).astype(np.float32)[None],
    "one bad channel": np.stack([np.full((4, 5), np.nan), TENSORS["normal"]]).astype(np.float32)[None],
    "rows": TENSORS["normal"],
    "a number": TENSORS["a number"],
}


@pytest.mark.parametrize(
    "entry", [*WATCHPOINTS, ("WL", {"max_gt": 1}), ("GV", {"abs_mean_lt": 0.5}), ("TO", {})], ids=str
)
def test_channels_are_checked_one_by_one(entry):
    watchpoint, each = as_watchpoint(entry), as_watchpoint((entry[0], {**entry[1], "per_channel": True}))
    axes = {"image": 1, "one bad channel": 1, "rows": 1, "a number": 0}
    for name, tensor in CHANNELS.items():
        axis = 0 if watchpoint.condition.target in ("weight", "gradient") else axes[name]
        channels = np.moveaxis(tensor, axis, 0) if tensor.ndim else tensor.reshape(1)
        expected = [i for i, channel in enumerate(channels) if check(watchpoint, channel).met]
        verdict = check(each, tensor)
        assert sorted({i for those in verdict.channels.values() for i in those}) == expected, name
        assert bool(verdict.met) == bool(expected), name
        if (verdict.met or verdict.error_code) and not watchpoint.condition.is_overflow:
            assert rings(each, jnp.asarray(tensor)), name


def test_the_alarm_of_a_channel_that_has_not_changed_rings():
    before = TENSORS["normal"]
    after = before * np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    watchpoint, each = as_watchpoint("WNC"), as_watchpoint(("WNC", {"per_channel": True}))
    assert not check(watchpoint, after, before).met and not rings(watchpoint, jnp.asarray(after), jnp.asarray(before))
    assert check(each, after, before).channels == {"rtol": (0,)}
    assert rings(each, jnp.asarray(after), jnp.asarray(before))


def test_each_condition_has_advice():
    assert all(advise(name) for name in CONDITIONS)


def test_the_alarm_is_silent_far_from_a_threshold():
    x = jnp.asarray(TENSORS["normal"])
    for entry in (("TL", {"abs_mean_gt": 10}), ("TS", {"max_lt": -9}), "TZ", ("TR", {"max_min_gt": 99}), "underflow"):
        assert not rings(as_watchpoint(entry), x)


def test_the_test_for_nonfinite_values_takes_arrays_of_all_types():
    arrays = [jnp.asarray(t) for t in TENSORS.values()]
    assert not has_nonfinite(arrays)
    for dtype in (jnp.float32, jnp.float16, jnp.bfloat16):
        for value in (jnp.nan, jnp.inf, -jnp.inf):
            assert has_nonfinite([*arrays, jnp.array([0, value], dtype)])
    assert not has_nonfinite([jnp.array([-3.4e38, 3.4e38, -0.0])])


def test_units_and_statistics_of_several_steps():
    x = jnp.zeros((2, 3, 4, 4)).at[0, 1].set(-1.0)
    assert living_units(x).tolist() == [False, True, False]
    assert float(jax.jit(abs_mean)(jnp.array([1.0, -3.0]))) == 2


def test_recommended_conditions_are_mindinsights():
    titles = [w.condition.abbreviation for w in recommended()]
    assert titles == ["WI", "WCL", "GV", "OO", "TO", "TZ", "AR", "AR", "AR"]
    assert recommended()[1].presets["abs_mean_update_ratio_gt"] == 1
    assert [set(w.operators) for w in recommended()[6:]] == [{"tanh"}, {"sigmoid"}, {"relu"}]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("tensor_overflw", ["tensor_overflow (TO)"]),
        ("no such thing at all", ["weight_initialization (WI)", "tensor_range (TR)"]),
        (("WL", {"abs_man_gt": 1}), ["abs_mean_gt", "Its parameters: abs_mean_gt, max_gt, min_gt, mean_gt"]),
        (("TO", {"max_gt": 1}), ["has no parameters"]),
        ("WL", ["at least one of abs_mean_gt"]),
        (("TZ", {"zero_percentage_ge": 101}), ["between 0 and 100", "101"]),
        (("AR", {"range_start_inclusive": 0, "range_percentage_lt": 1}), ["both ends"]),
        (("AR", {"range_percentage_lt": 1}), ["range_start_inclusive"]),
        (("AR", {"range_start_inclusive": 0, "range_end_inclusive": 1}), ["no percentage"]),
        (("AR", {"range_start_inclusive": 2, "range_end_inclusive": 1, "range_percentage_lt": 1}), ["after its end"]),
        (("WL", {"max_gt": math.nan}), ["finite", "nan"]),
        (("WL", {"abs_mean_gt": -1}), ["negative"]),
        (("TR", {"max_min_lt": 0}), ["above 0"]),
        (("TZ", {"band": 3}), ["WL, GL, TL, WS, GV, TS"]),
        (("GL", {"band": 3, "max_gt": 1}), ["both"]),
        (("GL", {"band": -1}), ["above 0"]),
        (("dead", {"steps": 0}), ["at least 1"]),
        (("dead", {"per_channel": True}), ["each unit by itself"]),
        (("GL", {"band": 3, "per_channel": True}), ["both"]),
    ],
    ids=str,
)
def test_a_bad_condition_is_a_value_error_that_says_what_there_is(entry, words):
    with pytest.raises(ValueError) as error:
        as_watchpoint(entry)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "entry",
    [3, None, ("WL", 3), ("WL", {"max_gt": "high"}), ("WNC", {"equal_nan": 1}), ("TZ", {"per_channel": 1}), int],
)
def test_a_condition_of_another_type_is_a_type_error(entry):
    with pytest.raises(TypeError):
        as_watchpoint(entry)


def test_parameters_may_stand_in_the_text_of_a_condition():
    expected = as_watchpoint(("TL", {"abs_mean_gt": 10, "max_gt": -1.5}))
    watchpoint = as_watchpoint("TL:abs_mean_gt=10, max_gt=-1.5")
    assert watchpoint.condition is expected.condition and watchpoint.presets == expected.presets
    with pytest.raises(ValueError, match="'TL:abs_mean_gt' should be such as TL:abs_mean_gt=10, but 'abs_mean_gt' has"):
        as_watchpoint("TL:abs_mean_gt")
    with pytest.raises(ValueError, match="There is no condition 'TX'"):
        as_watchpoint("TX:max_gt=1")
