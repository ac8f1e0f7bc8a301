"""The numbers of a tensor: numpy's against XLA's, and both against float64."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from msnb.insight.gradients import host, summary
from msnb.insight.gradients.step import StepNumbers, _compute_step_statistics

tiny = st.sampled_from([0.0, 2.0**-100, -(2.0**-110), 1.0])
values = st.floats(-(2.0**50), 2.0**50, width=32, allow_subnormal=False) | tiny
tensors = hnp.arrays(np.float32, hnp.array_shapes(max_dims=3, max_side=40), elements=values)


@settings(max_examples=60, deadline=None)
@given(st.lists(tensors, min_size=1, max_size=4))
def test_moments_are_those_of_float64(arrays):
    stats, bars = host.summarised(arrays)
    assert stats.dtype == np.float32 and stats.shape == (len(arrays), len(summary.COLUMNS))
    for row, counts, array in zip(stats, bars, arrays):
        x = array.astype(np.float64)
        top = np.abs(x).max()
        np.testing.assert_allclose(row[1:5], [x.mean(), x.std(), x.min(), x.max()], rtol=2e-5, atol=1e-6 * top)
        assert row[5] == pytest.approx((x == 0).mean()) and not row[6:8].any()
        assert counts.sum() == len(x.ravel()[:: summary.sample_stride(x.size)])


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        hnp.arrays(np.float32, st.sampled_from([(7,), (40, 30), (300, 70)]), elements=values), min_size=1, max_size=3
    )
)
def test_both_ways_agree(arrays):
    arrays = [jnp.asarray(a) for a in arrays]
    later = [a * 1.5 + 1 for a in arrays]
    (stats, bars, moved), (others, counts, ways) = (
        statistics.read() if hasattr(statistics, "read") else map(np.asarray, statistics)
        for statistics in (StepNumbers(arrays, arrays, later), _compute_step_statistics(arrays, arrays, later))
    )
    for number, array in enumerate(arrays):
        top = 1 + float(jnp.abs(array).max())
        np.testing.assert_allclose(stats[number], others[number], rtol=1e-4, atol=1e-5 * top)
        np.testing.assert_allclose(moved[number], ways[number], rtol=1e-4, atol=1e-5 * top)
        # what lies on a border may fall into the bin on either side of it
        one, other = np.cumsum(bars[number]), np.cumsum(counts[number], dtype=int)
        assert (one[:-1] <= other[1:]).all() and (other[:-1] <= one[1:]).all() and one[-1] == other[-1]


@pytest.mark.parametrize("dtype", (jnp.float16, jnp.bfloat16, jnp.float32))
def test_what_is_not_finite_is_counted(dtype):
    array = jnp.asarray([np.nan, 1, np.inf, -np.inf, np.nan, 0, 2, 3], dtype)
    for stats in (host.summarised([array])[0], summary.summarised([array], [None])[0]):
        named = dict(zip(summary.COLUMNS, np.asarray(stats)[0]))
        assert (named["nan"], named["inf"], named["zeros"]) == (2, 2, 1 / 8)


def test_a_mean_far_larger_than_the_deviation_loses_none_of_it():
    array = (1000 + np.random.default_rng(0).standard_normal(30_000) * 1e-3).astype(np.float32)
    assert host.summarised([array])[0][0, 2] == pytest.approx(array.astype(np.float64).std(), rel=1e-4)


def test_the_change_of_tiny_values_does_not_vanish():
    old = np.full(9000, 1e-30, np.float32)
    np.testing.assert_allclose(host.changes([old], [old * 3]), [[2e-30, 1e-30]], rtol=1e-5)
