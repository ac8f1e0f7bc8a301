"""MINDIR files that MindSpore wrote (tests/golden/make_mindir.py), what it computed, and the networks of both."""

from pathlib import Path

import numpy as np

from msnb import Tensor

GOLDEN = Path(__file__).parents[1] / "golden"
STEPS = [GOLDEN / "mindir" / f"{name}.mindir" for name in ("counted", "step_adam", "step_momentum")]
FILES = sorted(set((GOLDEN / "mindir").glob("*.mindir")) - set(STEPS))


def stored(path):
    """(inputs, outputs, gradients by name) of a golden file."""
    values = np.load(path.with_suffix(".npz"))
    some = [[values[f"{letter}{i}"] for i in range(9) if f"{letter}{i}" in values] for letter in "xy"]
    return *some, {name[2:]: values[name] for name in values.files if name.startswith("d ")}


def results(cell, inputs):
    """What a Cell gives, as a list of arrays."""
    out = cell(*map(Tensor, inputs))
    return [o.asnumpy() for o in (out if isinstance(out, tuple) else (out,))]


def agree(own, others):
    for a, b in zip(own, others, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
