"""Tests of inputs and outputs on the host: they ring wherever the exact check has a hit."""

import jax.numpy as jnp
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn
from msnb.insight.debugger.replay import Replay
from msnb.insight.watchpoints import alarm, conditions, host_tests
from msnb.insight.watchpoints.conditions import as_watchpoint

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("value", "is_below"),
    [(1.0, True), (2.0**16, False), (-(2.0**16), False), (np.nan, False), (np.inf, False), (-np.inf, False)],
)
@pytest.mark.parametrize("size", [1, 7, 70_001])
def test_one_large_number_is_above_the_bound(value, is_below, size):
    numbers = RNG.standard_normal(size).astype(np.float32)
    numbers[size // 2] = value
    with np.errstate(all="ignore"):
        assert host_tests.is_below_bound(jnp.asarray(numbers), 16) is is_below
        assert host_tests.is_finite(jnp.asarray(numbers)) is bool(np.isfinite(value))
    arrays = [jnp.ones(2), jnp.asarray(numbers)]
    assert bool(alarm.exceeds(arrays, 16)) is not is_below
    assert bool(alarm.may_exceed(arrays, 16)) is not is_below
    assert bool(alarm.has_nonfinite(arrays)) is not np.isfinite(value)
    assert bool(alarm.may_exceed(arrays)) is not np.isfinite(value)


def test_many_numbers_whose_sum_of_squares_is_large_are_below_the_bound():
    numbers = jnp.full((300, 300), 1e3, np.float32)
    assert host_tests.is_below_bound(numbers, 16)
    assert host_tests.is_finite(numbers * 1e30)


@pytest.mark.parametrize("condition", [("WCL", 0.1), ("WCS", 1e-4), ("WCL", 1e-30)])
@pytest.mark.parametrize("change", [0.0, 1e-25, 1e-6, 0.99e-4, 1.01e-4, 0.0999, 0.1001, 10.0, 1e25, np.nan, np.inf])
@pytest.mark.parametrize("size", [3, 5000, 150_001])
def test_a_change_rings_wherever_the_exact_check_has_a_hit(condition, change, size):
    name, preset = condition
    suffix = "gt" if name == "WCL" else "lt"
    watchpoint = as_watchpoint((name, {f"abs_mean_update_ratio_{suffix}": preset}))
    old = RNG.standard_normal(size).astype(np.float32)
    new = (old * np.float32(1 + change) if np.isfinite(change) else np.where(old > 0, old, change)).astype(np.float32)
    test = host_tests.ratio_test(watchpoint, 0, 0, np.dtype(np.float32))
    with np.errstate(all="ignore"):
        verdict = conditions.check(watchpoint, new, old)
        rings = test.rings(jnp.asarray(new), jnp.asarray(old))
    assert rings or not (verdict.met or verdict.error_code)
    ratio = np.abs(new.astype(float) - old).mean() / np.abs(old.astype(float)).mean()
    if np.isfinite(ratio) and (ratio < preset / 2 if suffix == "gt" else ratio > preset * 2):
        assert not rings


def test_half_precision_is_left_to_the_device():
    assert not host_tests.is_testable(jnp.zeros(3, jnp.bfloat16).dtype)
    assert host_tests.ratio_test(as_watchpoint("WCL"), 0, 0, np.dtype(np.float16)) is None
    assert host_tests.ratio_test(as_watchpoint("WCL"), None, 0, np.dtype(np.float32)) is None
    assert host_tests.ratio_test(as_watchpoint(("WL", {"max_gt": 1})), 0, 0, np.dtype(np.float32)) is None


def _train_step(rate):
    net = nn.SequentialCell([nn.Dense(3, 2, weight_init="ones")])
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), rate)).set_train()
    return step, Tensor(np.ones((4, 3), np.float32)), Tensor(np.ones((4, 2), np.float32))


def test_a_hit_of_weights_alone_does_not_run_the_step_again(graph_mode, monkeypatch):
    def fail(*_):
        raise AssertionError("the step ran again")

    monkeypatch.setattr(Replay, "_compute_node_values", fail)
    step, x, y = _train_step(10.0)
    with ms.watch(step, "WCL", "TO") as watch:
        step(x, y)
    assert {(hit.step, hit.kind, hit.condition) for hit in watch.hits} == {(1, "weight", "weight_change_too_large")}
    assert not watch.problem


def test_a_parameter_that_overflows_is_a_hit_of_its_own_step(graph_mode):
    step, x, y = _train_step(1e38)
    with ms.watch(step, "WO", "TO") as watch:
        for _ in range(7):
            step(x, y)
    first = {}
    for hit in watch.hits:
        first.setdefault(hit.condition, hit.step)
    reference, rows = _train_step(1e38), []
    for number in range(1, 8):
        reference[0](*reference[1:])
        if not all(np.isfinite(p.asnumpy()).all() for p in reference[0].trainable_params()):
            rows.append(number)
    assert first["weight_overflow"] == rows[0]


@pytest.mark.parametrize("value", [0.0, 1e-12, 0.5, 2.0, 1e30, np.nan, np.inf])
@pytest.mark.parametrize("size", [1, 4097])
def test_a_value_rings_wherever_the_exact_check_has_a_hit(value, size):
    numbers = np.full(size, value, np.float32)
    for entry in ("TO", "TZ", ("GV", {"abs_mean_lt": 1e-9}), ("TL", {"abs_mean_gt": 1.0})):
        watchpoint = as_watchpoint(entry)
        assert host_tests.are_value_tests((watchpoint,))
        with np.errstate(all="ignore"):
            verdict = conditions.check(watchpoint, numbers)
            rings = host_tests.value_test((watchpoint,))(jnp.asarray(numbers))
        assert bool(rings) is bool(verdict.met or verdict.error_code)
        if alarm.has_quick_test(watchpoint):
            is_unsure = alarm.may_be_met(watchpoint, [jnp.ones(3), jnp.asarray(numbers).reshape(1, -1, 1)])
            assert bool(is_unsure) is bool(verdict.met or verdict.error_code or value == 1e30)
    assert not host_tests.are_value_tests((as_watchpoint(("TL", {"max_gt": 1})),))


RANGE = {"range_start_inclusive": -1.0, "range_end_inclusive": 0.0}


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.0011, 0.5, 0.9985, 0.9995, 1.0])
@pytest.mark.parametrize("size", [1, 5000, 70_001])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_shares_ring_wherever_the_exact_check_has_a_hit(share, size, is_sorted):
    numbers = np.where(np.arange(size) < round(share * size), 0.0, 2.0).astype(np.float32)
    numbers = numbers if is_sorted else RNG.permutation(numbers)
    for entry in (
        "TZ",
        ("TZ", {"zero_percentage_ge": 50}),
        ("TR", {**RANGE, "range_percentage_gt": 99.9}),
        ("TR", {**RANGE, "range_percentage_lt": 0.1}),
    ):
        watchpoint = as_watchpoint(entry)
        is_met = bool(conditions.check(watchpoint, numbers).met)
        assert bool(host_tests.value_test((watchpoint,))(jnp.asarray(numbers))) is is_met
        is_unsure = bool(alarm.may_be_met(watchpoint, [jnp.asarray(numbers)]))
        assert is_unsure or not is_met
        if entry == "TZ" or share == 0.5 and watchpoint.condition.id == "tensor_range":  # a sample is enough
            assert is_unsure is is_met
        assert alarm.rings(watchpoint, jnp.asarray(numbers)) or not is_met


def test_a_bound_and_a_condition_ring_by_themselves():
    test = host_tests.ValueTest([as_watchpoint(("TL", {"abs_mean_gt": 1.0}))], False, True)
    with np.errstate(all="ignore"):
        alarms = [test(jnp.full(3, value, np.float32)) for value in (0.5, 2.0, 1e12, np.nan)]
    both = host_tests.RINGS | host_tests.ABOVE
    assert alarms == [0, host_tests.RINGS, both, both]
    assert host_tests.ValueTest([], False, True)(jnp.full(3, 1e12, np.float32)) == host_tests.ABOVE


def test_a_change_of_one_small_parameter_is_a_hit_of_its_own_step(graph_mode):
    step, x, y = _train_step(0.01)
    weight, expected = step.trainable_params()[0], set()
    with ms.watch(step, ("WCL", {"abs_mean_update_ratio_gt": 0.5}), "TO", ("GV", {"abs_mean_lt": 1e-9})) as watch:
        for number in range(1, 8):
            if number == 4:
                weight.set_data(weight / 1e3)
            before = weight.asnumpy().astype(float)
            step(x, y)
            if np.abs(weight.asnumpy() - before).mean() / np.abs(before).mean() > 0.5:
                expected.add(number)
    changes = {hit.step for hit in watch.hits if (hit.name, hit.parameter) == (weight.name, "abs_mean_update_ratio_gt")}
    assert changes == expected and 4 in changes and not {2, 3, 7} & changes
    assert not watch.problem
