"""The gradient of every operator with a kernel for which MindSpore has none, beside finite differences in float64.

The others stand beside MindSpore's in test_parity.py. It is taken on the first row that has a gradient, of the results
and for the inputs that the row asks for.
"""

import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from operator_rows import ROWS, answers, boxed
from oracle import selected
from sweeps import split

from msnb.core.operator.operator_types import Operator


def first_rows():
    """One row for each operator: the first with floats, whose gradient differences can tell."""
    results = {}
    for row in ROWS:
        op = getattr(row.case.target, "operator", None)
        if inspect.isclass(row.case.target) and isinstance(op, Operator) and "differences" not in row.case.left_out:
            if has_floats(row):
                results.setdefault(op.name, row)
    answered = {
        row.case.target.operator.name
        for row in ROWS
        if hasattr(row.case.target, "operator") and "grad0" in answers(row)
    }
    return [row for name, row in results.items() if name not in answered]


def has_floats(row):
    return bool(prepared(row.case.target.operator, row.inputs(), row.case.variables)[-1])


def prepared(op, inputs, expected=None):
    """Return (arrays, layout, statics) as `Operator.kernel` wants them, floats in float64, and which arrays vary."""
    arrays, layout, statics, varying = [], [], [], []
    inputs = [*inputs, *[i.default for i in op.inputs[len(inputs) :]]]
    for place, (spec, value) in enumerate(zip(op.inputs, inputs, strict=True)):
        value = getattr(value, "value", value)
        if spec.kind is not None:
            layout.append(-1)
            statics.append(spec.kind(boxed(value), spec.name, op.name))
            continue
        layout.append((len(value),) if spec.many else 0 if value is None else 1)
        for array in value if spec.many else [] if value is None else [value]:
            array = np.asarray(array)
            if array.dtype.kind == "f":
                array = array.astype(np.float64)
                if expected is None or place in expected:
                    varying.append(len(arrays))
            arrays.append(array)
    return arrays, tuple(layout), tuple(statics), varying


class Trial:
    """A row's function of its floats: the sum of its float results, each weighted.

    Attributes:
        total (Callable): The function; 0, an int, where no result is a float.
        at (list): The floats where its slope is taken.
        direction (list): In which it is taken.
    """

    def __init__(self, row):
        op = row.case.target.operator
        arrays, layout, statics, floats = prepared(op, row.inputs(), row.case.variables)
        kernel = op.kernel(op.bind_attributes((), row.case.attributes), layout, statics)
        summed = None if op.written else row.differentiated  # what is written stands before the results
        rng = np.random.default_rng(0)
        self.at = [arrays[i] for i in floats]
        self.direction = [rng.normal(size=array.shape) for array in self.at]

        def total(variables):
            inputs = list(arrays)
            for i, variable in zip(floats, variables, strict=True):
                inputs[i] = variable
            out = kernel.fn(*map(jnp.asarray, inputs))
            outs = selected(out if isinstance(out, tuple) else (out,), summed)
            outs = [o for _, o in outs if jnp.issubdtype(o.dtype, jnp.floating)]
            # The largest numbers of a type, which stand for nothing in some results, are left out of the sum.
            return sum(
                jnp.sum(jnp.where(jnp.abs(o) < 1e30, o, 0) * jnp.cos(jnp.arange(o.size).reshape(o.shape))) for o in outs
            )

        self.total = total

    def moved(self, step):
        """Return the floats a step further."""
        return [a + step * d for a, d in zip(self.at, self.direction, strict=True)]


def is_written(row):
    """Check that msnb writes the gradient of a row's operator itself, which JAX does not know."""
    return "custom_" in inspect.getsource(inspect.getmodule(inspect.unwrap(row.case.target.operator.fn)))


# One operator of each file where gradients are written by hand, and of each folder where they are JAX's; and then the
# others, which are slow: what a file's operators share is seen in the first.
OF_FILES, OTHERS = split(first_rows(), lambda row: row.file if is_written(row) else row.file.rpartition(".")[0])
FIRST = {row.key: row for row in OF_FILES + OTHERS}
TOGETHER = 8  # rows that are one program: to compile each alone takes longer


def slopes(rows):
    """Return {key: (slope by the gradient, by the difference)} of rows, from two programs; None without float
    results."""
    trials = [Trial(row) for row in rows]
    totals = jax.jit(lambda places: [trial.total(at) for trial, at in zip(trials, places, strict=True)])
    gradients = jax.jit(jax.grad(lambda places: sum(totals(places), 0.0)))([trial.at for trial in trials])
    step = 1e-6
    ahead, behind = (totals([trial.moved(sign * step) for trial in trials]) for sign in (1, -1))
    results = {}
    for row, trial, gradient, high, low in zip(rows, trials, gradients, ahead, behind, strict=True):
        slope = sum(float(np.sum(g * d)) for g, d in zip(gradient, trial.direction, strict=True))
        difference = (float(high) - float(low)) / (2 * step)
        results[row.key] = (slope, difference) if jnp.issubdtype(high.dtype, jnp.floating) else None
    return results


@functools.lru_cache(2)
def slopes_from(start):
    """Return `slopes` of eight rows of FIRST; nothing where one of them raises, so that each is tried alone."""
    try:
        return slopes(list(FIRST.values())[start : start + TOGETHER])
    except Exception:
        return {}


@pytest.mark.parametrize(
    "key",
    [*(row.key for row in OF_FILES), *(pytest.param(row.key, marks=pytest.mark.slow) for row in OTHERS)],
)
def test_a_gradient_agrees_with_finite_differences(key):
    result = slopes_from(list(FIRST).index(key) // TOGETHER * TOGETHER) or slopes([FIRST[key]])
    if result[key] is None:
        pytest.skip("its results are no floats")
    slope, difference = result[key]
    assert slope == pytest.approx(difference, rel=1e-5, abs=1e-6)
