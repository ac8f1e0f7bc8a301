"""Fixtures of the operator tests."""

import pathlib
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "golden")]


@pytest.fixture(scope="session")
def golden():
    """What real MindSpore answered: array by '<case>/<name>'."""
    with np.load(HERE.parent / "golden" / "ops.npz") as stored:
        return dict(stored)
