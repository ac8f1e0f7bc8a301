"""Learning rates as lists: the values of their formulas, and what they refuse."""

import math

import pytest

from msnb import nn

STEPS = {"total_step": 7, "step_per_epoch": 2, "decay_epoch": 2}  # the epochs of the steps are 0 0 1 1 2 2 3


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (nn.piecewise_constant_lr([2, 5], [0.1, 0.05]), [0.1, 0.1, 0.05, 0.05, 0.05]),
        (nn.exponential_decay_lr(0.1, 0.9, **STEPS), [0.1 * 0.9 ** (e / 2) for e in (0, 0, 1, 1, 2, 2, 3)]),
        (nn.exponential_decay_lr(0.1, 0.9, **STEPS, is_stair=True), [0.1] * 4 + [0.09] * 3),
        (nn.natural_exp_decay_lr(0.1, 0.9, **STEPS), [0.1 * math.exp(-0.9 * e) for e in (0, 0, 1, 1, 2, 2, 3)]),
        (nn.natural_exp_decay_lr(0.1, 0.9, **STEPS, is_stair=True), [0.1] * 4 + [0.1 * math.exp(-1.8)] * 3),
        (nn.inverse_decay_lr(0.1, 0.5, **STEPS), [0.1 / (1 + 0.5 * e / 2) for e in (0, 0, 1, 1, 2, 2, 3)]),
        (nn.inverse_decay_lr(0.1, 0.5, **STEPS, is_stair=True), [0.1] * 4 + [0.1 / 1.5] * 3),
        (nn.cosine_decay_lr(0.01, 0.1, **STEPS), [0.1, 0.1, 0.055, 0.055, 0.01, 0.01, 0.01]),
        (nn.polynomial_decay_lr(0.1, 0.02, **STEPS, power=1.0), [0.1, 0.1, 0.06, 0.06, 0.02, 0.02, 0.02]),
        (
            nn.polynomial_decay_lr(0.1, 0.02, **STEPS, power=1.0, update_decay_epoch=True),
            [0.1, 0.1, 0.06, 0.06, 0.02, 0.02, 0.04],
        ),
        (nn.warmup_lr(0.1, 7, 2, 2), [0.0, 0.0, 0.05, 0.05, 0.1, 0.1, 0.1]),
    ],
)
def test_a_schedule_has_the_values_of_its_formula(got, expected):
    assert got == pytest.approx(expected)


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (TypeError, lambda: nn.piecewise_constant_lr(2, [0.1])),
        (TypeError, lambda: nn.piecewise_constant_lr([2], 0.1)),
        (TypeError, lambda: nn.piecewise_constant_lr([2], [1])),
        (ValueError, lambda: nn.piecewise_constant_lr([2, 5], [0.1])),
        (ValueError, lambda: nn.piecewise_constant_lr([5, 2], [0.1, 0.2])),
        (ValueError, lambda: nn.piecewise_constant_lr([0], [0.1])),
        (TypeError, lambda: nn.exponential_decay_lr(1, 0.9, **STEPS)),
        (ValueError, lambda: nn.exponential_decay_lr(-0.1, 0.9, **STEPS)),
        (TypeError, lambda: nn.exponential_decay_lr(0.1, 0.9, **STEPS, is_stair=1)),
        (ValueError, lambda: nn.natural_exp_decay_lr(0.1, 0.9, 0, 2, 2)),
        (TypeError, lambda: nn.inverse_decay_lr(0.1, 0.9, 7.0, 2, 2)),
        (ValueError, lambda: nn.cosine_decay_lr(0.1, 0.01, **STEPS)),
        (ValueError, lambda: nn.cosine_decay_lr(-0.1, 0.1, **STEPS)),
        (TypeError, lambda: nn.polynomial_decay_lr(0.1, 0, **STEPS, power=1.0)),
        (ValueError, lambda: nn.polynomial_decay_lr(0.1, 0.01, **STEPS, power=-1.0)),
        (TypeError, lambda: nn.warmup_lr(1, 7, 2, 2)),
        (ValueError, lambda: nn.warmup_lr(0.1, 7, 2, 0)),
    ],
)
def test_a_wrong_argument_is_refused(error, make):
    with pytest.raises(error):
        make()
