"""`benchmarks/compare.py`: what it calls slower."""

import importlib.util
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def compare():
    spec = importlib.util.spec_from_file_location("compare", ROOT / "benchmarks" / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_interval_holds_the_true_ratio_and_narrows_with_the_pairs(compare):
    rng = np.random.default_rng(1)
    few, many = (compare.interval(1.05 * rng.lognormal(0, 0.05, n)) for n in (20, 500))
    for _, low, high in (few, many):
        assert low < 1.05 < high
    assert many[2] - many[1] < (few[2] - few[1]) / 2


def test_noise_is_not_slower_and_a_tenth_is(compare):
    rng = np.random.default_rng(2)
    noise = rng.lognormal(0, 0.05, 40)
    assert compare.interval(noise)[1] < 1.02 < compare.interval(noise * 1.1)[1]


def test_a_folder_is_compared_where_it_stands(compare):
    with compare.checkout(str(ROOT)) as path:
        assert path == ROOT
    with pytest.raises(subprocess.CalledProcessError), compare.checkout("no-such-revision"):
        pass
