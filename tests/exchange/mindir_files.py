"""MINDIR files written by MindSpore (tests/golden/make_mindir.py), its results, and helpers to compare with them."""

from pathlib import Path

import numpy as np

from msnb import Tensor

GOLDEN = Path(__file__).parents[1] / "golden"
STEPS = [GOLDEN / "mindir" / f"{name}.mindir" for name in ("counted", "step_adam", "step_momentum")]
FILES = sorted(set((GOLDEN / "mindir").glob("*.mindir")) - set(STEPS))


def load_golden(path):
    """Return inputs, outputs, and gradients by name of a golden file."""
    values = np.load(path.with_suffix(".npz"))
    inputs_and_outputs = [[values[f"{letter}{i}"] for i in range(9) if f"{letter}{i}" in values] for letter in "xy"]
    return *inputs_and_outputs, {name[2:]: values[name] for name in values.files if name.startswith("d ")}


def results(cell, inputs):
    """Return the results of a Cell as a list of arrays."""
    out = cell(*map(Tensor, inputs))
    return [o.asnumpy() for o in (out if isinstance(out, tuple) else (out,))]


def assert_close(actual, expected):
    for a, b in zip(actual, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
