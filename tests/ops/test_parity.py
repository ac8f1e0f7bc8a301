"""Every row of the operators' files in both modes, beside what real MindSpore gave (tests/golden/operators)."""

import functools
import itertools
import json
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from operator_rows import GOLDEN, REFUSALS, ROWS, answers, boxed, declared, names_of, stored
from oracle import cotangent, placed, selected, variables
from sweeps import split

import msnb as ms
from msnb import Tensor, context
from msnb.core.tensor.tensor import box

UNANSWERED = json.loads((GOLDEN / "unanswered.json").read_text())
# Where MindSpore 2.7.1, which gave the answers, and r1.1, which decides, differ in the element type of a result.
R11_DTYPE = {("ArgMaxWithValue", "out0"): np.int32, ("ArgMinWithValue", "out0"): np.int32}
TOGETHER = 8  # rows that are one program: to compile each alone takes longer
RANDOM = """
    Bernoulli Cauchy Dropout Dropout2D Dropout3D DropoutGenMask Gamma LogNormalReverse
    LogUniformCandidateSampler Multinomial MultinomialWithReplacement NonDeterministicInts
    ParameterizedTruncatedNormal Poisson RandomCategorical RandomChoiceWithMask RandomGamma RandomPoisson
    RandomShuffle Randperm RandpermV2 StandardLaplace StandardNormal TruncatedNormal UniformCandidateSampler
    UniformInt UniformReal _Beta _Exponential _GumbelNoise _MultinomialWithoutReplacement _RRelu _RandpermOf
""".split()  # they have no numbers to compare: test_random_ops.py and nn/probability look at their distribution


def tolerance(row, want):
    """Return the tolerance of numbers: relative, and for small ones relative to the largest."""
    if want.dtype.kind not in "fc":
        return {"rtol": 0, "atol": 0}
    near, small = (2e-3, 2e-3) if want.dtype == np.float16 else (2e-5, 2e-6)
    largest = np.abs(want[np.isfinite(want)]).max(initial=1.0)
    return {"rtol": row.case.tolerance or near, "atol": (row.case.tolerance or small) * largest}


def compare(row, name, got, want):
    assert got.shape == want.shape, name
    assert got.dtype == R11_DTYPE.get((row.case.target.__name__, name), want.dtype), name
    np.testing.assert_allclose(got, want, **tolerance(row, want), err_msg=name)


def results_of(out):
    return out if isinstance(out, (tuple, list)) else (out,)


def run_row(row):
    """Return {name: array} of what a row gives and writes, called as it stands."""
    boxes = [boxed(v) for v in row.inputs()]
    results = {f"out{i}": o.asnumpy() for i, o in enumerate(results_of(row.call()(*boxes))) if isinstance(o, Tensor)}
    return results | {f"written{place}": boxes[place].asnumpy() for place in row.parameters}


def is_float(result):
    return isinstance(result, Tensor) and result.dtype in (ms.float16, ms.float32, ms.float64)


@jax.custom_vjp
def weighted(*arrays):
    """0, whose gradients are those of the sum of the arrays, weighted with `cotangent`: to trace that sum, which nobody
    wants, and its gradient is a quarter of the time.
    """
    return jnp.float32(0)


weighted.defvjp(
    lambda *arrays: (jnp.float32(0), arrays),
    lambda arrays, _: tuple(jnp.asarray(cotangent(a.shape), a.dtype) for a in arrays),
)


def slopes_of(row):
    """Places of the inputs whose gradients stand in the answer to a row."""
    if not any(name.startswith("grad") for name in answers(row)):
        return []
    return [at for at in variables(row.inputs(), row.wanted) if at[0] not in row.parameters]


def run_rows(rows, sloped):
    """Return [{name: array}] of the same of each row, and of the gradients of those that `sloped` says, from one
    compiled program."""
    calls, boxes = [row.call() for row in rows], [[boxed(v) for v in row.inputs()] for row in rows]
    slots = [slopes_of(row) if sloped(row) else [] for row in rows]
    ends = list(itertools.accumulate(map(len, slots), initial=0))

    def run(*values):
        every, differentiated = [], []
        for i in range(len(rows)):
            results = results_of(calls[i](*placed(boxes[i], slots[i], values[ends[i] : ends[i + 1]])))
            every.append(results)
            if slots[i]:
                floats = [r for _, r in selected(results, rows[i].differentiated) if is_float(r)]
                differentiated += [r._array for r in floats]
        return box(weighted(*differentiated)), every

    at = [
        b[place] if number is None else b[place][number]
        for b, some in zip(boxes, slots, strict=True)
        for place, number in some
    ]
    if at:
        slopes = ms.value_and_grad(run, tuple(range(len(at))), has_aux=True)

        def results_and_slopes(*values):
            (_, every), grads = slopes(*values)
            return every, grads

        every, grads = ms.jit(results_and_slopes)(*at)
        grads = grads if isinstance(grads, tuple) else (grads,)
    else:
        (_, every), grads = ms.jit(run)(), ()
    arrays_of_rows = []
    for i, (row, results) in enumerate(zip(rows, every, strict=True)):
        arrays = {f"out{n}": r.asnumpy() for n, r in enumerate(results) if isinstance(r, Tensor)}
        arrays |= {f"written{place}": boxes[i][place].asnumpy() for place in row.parameters}
        arrays_of_rows.append(arrays | {f"grad{n}": g.asnumpy() for n, g in enumerate(grads[ends[i] : ends[i + 1]])})
    return arrays_of_rows


def companies(rows):
    """Return {name of a row: the rows that are compiled with it}, eight at a time; one that writes Parameters is
    alone."""
    rows = [row for row in rows if "graph" not in row.case.left_out]
    alone = [row for row in rows if row.parameters]
    others = [row for row in rows if not row.parameters]
    groups = [others[i : i + TOGETHER] for i in range(0, len(others), TOGETHER)] + [[row] for row in alone]
    return {name_of(row): part for part in groups for row in part}


def name_of(row):
    return row.file, row.key


# Of each operator and of each spelling `make test` runs the first row, `make bench` the others.
OF_TARGETS, OTHERS = split(ROWS, lambda row: row.case.target)
COMPANIES = companies(OF_TARGETS) | companies(OTHERS)


@functools.lru_cache(2)
def run_company(first):
    """Return {name of a row: result of `run_rows`} of a company; an empty dict if one raises."""
    rows = COMPANIES[first]
    try:
        return dict(zip(map(name_of, rows), run_rows(rows, has_slopes_here), strict=True))
    except Exception:
        return {}


def in_a_graph(row):
    result = run_company(name_of(COMPANIES[name_of(row)][0]))
    return result[name_of(row)] if result else run_rows([row], has_slopes_here)[0]


# Step by step an operator is its kernel, compiled alone; in a graph the same kernel is part of a program. That both
# call it alike is seen at the first row of a file, and at the examples of each docstring, which run step by step
# (test_examples.py). The others are tried in a graph.
FIRST, FURTHER = split(ROWS, lambda row: row.file)
STEP_BY_STEP = {name_of(row) for row in FIRST}
# A gradient is JAX's of the kernel, or what is written beside that in the same file: the first row of a file that has
# one shows it. To trace and compile them all would be half the time of these tests.
SLOPES, FURTHER_SLOPES = split(
    [row for row in OF_TARGETS + OTHERS if slopes_of(row) and "graph" not in row.case.left_out], lambda row: row.file
)
WITH_SLOPES = {name_of(row) for row in SLOPES}


def has_slopes_here(row):
    return name_of(row) in WITH_SLOPES


def in_both_modes(row):
    """Compare what a row gives in either mode with MindSpore, and the two with each other."""
    want, plain = answers(row), step_by_step(row)
    if "graph" in row.case.left_out:
        return
    result = in_a_graph(row)
    for name, array in plain.items():
        assert result[name].dtype == array.dtype
        np.testing.assert_allclose(result[name], array, **tolerance(row, array), err_msg=f"{name} of the graph")
    for name in want:
        if name.startswith("grad") and has_slopes_here(row):
            compare(row, name, result[name], want[name])


def step_by_step(row):
    """Run a row in PYNATIVE mode, compare it with MindSpore, and return the results."""
    context.set_context(mode=context.PYNATIVE_MODE)
    plain = run_row(row)
    for name, array in answers(row).items():
        if not name.startswith("grad"):
            compare(row, name, plain[name], array)
    context.set_context(mode=context.GRAPH_MODE)
    return plain


@pytest.mark.parametrize(
    "row", [*OF_TARGETS, *(pytest.param(row, marks=pytest.mark.slow) for row in OTHERS)], ids=lambda row: row.key
)
def test_an_operator_gives_what_mindspore_gives_in_both_modes(row):
    want = answers(row)
    if name_of(row) in STEP_BY_STEP or "graph" in row.case.left_out or not any(name.startswith("out") for name in want):
        in_both_modes(row)
        return
    context.set_context(mode=context.GRAPH_MODE)
    result = in_a_graph(row)
    for name, array in want.items():
        if has_slopes_here(row) or not name.startswith("grad"):
            compare(row, name, result[name], array)


@pytest.mark.slow
@pytest.mark.parametrize("row", FURTHER, ids=lambda row: row.key)
def test_so_do_its_further_rows_step_by_step(row):
    step_by_step(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", FURTHER_SLOPES, ids=lambda row: row.key)
def test_so_do_the_gradients_of_its_further_rows(row):
    (result,) = run_rows([row], lambda row: True)
    for name, array in answers(row).items():
        if name.startswith("grad"):
            compare(row, name, result[name], array)


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("row", REFUSALS, ids=lambda row: f"{row.case.error.__name__}-{row.key}")
def test_what_does_not_fit_is_refused_in_mindspores_error_class(row, mode):
    context.set_context(mode=mode)
    boxes = [boxed(v) for v in row.inputs()]

    def refuse():
        call = row.call()
        if boxes:
            ms.jit(lambda: call(*boxes))() if mode == context.GRAPH_MODE else call(*boxes)

    says = row.case.says or "|".join(name.lstrip("_") for _, name in names_of(row.case.target))
    with pytest.raises(row.case.error, match=says):
        refuse()


def test_every_operator_has_rows_or_works_on_the_grid():
    tried = {row.case.target for row in ROWS}
    assert sorted(cls.__name__ for _, cls in declared() if cls not in tried) == sorted(RANDOM)


def test_no_two_rows_of_a_file_are_the_same():
    keys = Counter((row.file, row.text) for row in [*ROWS, *REFUSALS])
    assert [key for key, count in keys.items() if count > 1] == []


def test_what_is_stored_is_the_answer_to_a_row_and_what_is_not_is_listed():
    keys = {(row.file, row.key) for row in ROWS}
    answered = {(path.stem, key) for path in GOLDEN.glob("*.npz") for key in stored(path.stem)}
    unanswered = {(file, key) for file, reasons in UNANSWERED.items() for key in reasons}
    assert answered <= keys and unanswered <= keys
    asked = {(row.file, row.key) for row in ROWS if "mindspore" not in row.case.left_out}
    assert asked - answered == unanswered - answered
    for file, key in sorted(unanswered):
        print(f"{file}: {key}: {UNANSWERED[file][key]}")
