"""Shapes that do not fit: each operator says so in a sentence of its own, which never ends in JAX's or Python's words.

Every row of the operators' files is tried with each of its Tensors in shapes nearby: an axis more, an axis less, a
length more, no dimension, no rows. `make test` tries one Tensor of the first row of every operator in one of the shapes
that tell most: whoever declares an operator without a rule for its shapes fails there.
"""

import functools
import zlib

import jax
import numpy as np
import pytest
from operator_rows import ROWS
from raising import raised_here
from sweeps import split

from msnb import context
from msnb.core.operator import operator_types
from msnb.core.operator.cases import Written
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor, box
from msnb.ops import _shapes
from msnb.ops._shapes import shapes

# The meaning of an index follows from the shape before these are called.
PLANNED = {"_TensorGetRow", "_TensorGetItem", "_TensorSetItem", "_TensorSetMask"}
PARTS = 3


def nearby(shape):
    if not shape:
        return [(2,), (2, 3), (0,)]
    results = [shape[1:], shape[:-1], (shape[0] + 1, *shape[1:]), (*shape[:-1], shape[-1] + 1)]
    results += [(*shape, 1), (2, *shape), (0, *shape[1:]), (*shape[:-1], 0), ()]
    return [s for s in dict.fromkeys(results) if s != shape]


def telling(shape, turn):
    """One of an axis less, no rows and no dimension."""
    result = [shape[:-1], (0, *shape[1:]), ()] if shape else [(2, 3)]
    return [s for s in result[turn % len(result) :][:1] if s != shape]


def changed(value, shapes):
    """Yield values beside `value`, an input of a row: with one Tensor in it of another one of the `shapes` for its
    own."""
    if isinstance(value, Written):
        yield from changed(value.value, shapes)
    elif isinstance(value, np.ndarray):
        for shape in shapes(value.shape):
            yield np.resize(value, shape).astype(value.dtype) if value.size else np.zeros(shape, value.dtype)
    elif type(value) is tuple:
        for place in sorted({0, len(value) - 1} & set(range(len(value)))):
            yield from ((*value[:place], other, *value[place + 1 :]) for other in changed(value[place], shapes))


def shape_of(value):
    value = value.value if isinstance(value, Written) else value
    return tuple(map(shape_of, value)) if type(value) is tuple else np.shape(value)


def trace_row(row, inputs):
    """Call a row, without values."""
    arrays = []

    def taken(value):
        value = value.value if isinstance(value, Written) else value
        if isinstance(value, np.ndarray):
            place = len(arrays)
            arrays.append(value)
            return lambda given: box(given[place])
        if type(value) is tuple:
            parts = [taken(v) for v in value]
            return lambda given: tuple(part(given) for part in parts)
        return lambda given: value

    makers = [taken(value) for value in inputs]

    def run(*given):
        with trace_state.TraceFrame() as frame:
            frame.trace.number = 0
            out = row.call()(*[make(given) for make in makers])
            return [v._array for v in (out if isinstance(out, tuple) else (out,)) if isinstance(v, Tensor)]

    jax.eval_shape(run, *arrays)


def foreign(rows, monkeypatch, by_turns=False):
    """Return (row, place, shape, sentence) of each call that ends in somebody else's words."""
    context.set_context(mode=context.PYNATIVE_MODE)
    said = []
    explain = operator_types.explain_kernel_error
    monkeypatch.setattr(operator_types, "explain_kernel_error", lambda e, *rest: said.append(e) or explain(e, *rest))
    results = []
    for row in rows:
        inputs = row.inputs()
        turn = zlib.crc32(row.text.encode())  # another row changes none of the others'
        tensors = [place for place, value in enumerate(inputs) if next(changed(value, nearby), None) is not None]
        if by_turns and tensors:
            tensors = [tensors[turn % len(tensors)]]
        for place in tensors:
            shapes = functools.partial(telling, turn=turn) if by_turns else nearby
            for other in changed(inputs[place], shapes):
                said.clear()
                try:
                    trace_row(row, [*inputs[:place], other, *inputs[place + 1 :]])
                except Exception as error:
                    wants_a_value = "needs the value of a Tensor" in str(error)  # which is none here
                    sentence = str(error).startswith(("For '", "for '")) or raised_here(error)
                    own = sentence and all(map(raised_here, said))
                    if not own and not wants_a_value:
                        results.append((row.text, place, shape_of(other), str(error)))
    return results


ALL = [r for r in ROWS if r.case.target.__name__ not in PLANNED]
FIRST, _ = split(ALL, lambda row: row.case.target)


@pytest.mark.parametrize("part", range(PARTS))
def test_what_does_not_fit_is_said_in_a_sentence_of_ours(part, monkeypatch):
    assert foreign(FIRST[part::PARTS], monkeypatch, by_turns=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4 * PARTS))
def test_so_it_is_for_all_rows_and_all_shapes(part, monkeypatch):
    assert foreign(ALL[part :: 4 * PARTS], monkeypatch) == []


# ---------------------------------------------------------------------- the rules themselves
@pytest.mark.parametrize(
    ("rule", "given", "said"),
    [
        ("x y: *s", ((2, 3), (3, 3)), "'y' should have the shape (2, 3) beside 'x' of shape (2, 3), but got (3, 3)."),
        ("x: *s i, y: o i", ((2, 4), (5, 3)), "'y' should have the shape (o, 4) beside 'x' of shape (2, 4), but got"),
        ("x: n c *s, y: n*c", ((2, 3, 4), (5,)), "'y' should have the shape (6,) beside 'x' of shape (2, 3, 4), but"),
        ("x: k 4*(k-2)", ((3, 5),), "'x' should have the shape (k, 4*(k-2)), but got (3, 5)."),
        ("x: _ _", ((2,),), "'x' should have 2 dimensions, but got (2,)."),
        ("x: ... _ _", ((2,),), "'x' should have at least 2 dimensions, but got (2,)."),
        ("x: n>0 2", ((0, 2),), "'x' should have the shape (n > 0, 2), but got (0, 2)."),
        ("x: () | 1", ((2,),), "'x' should have the shape () or the shape (1,), but got (2,)."),
        ("x y: ~s", ((2, 3), (2,)), "'y' should broadcast with (2, 3) as those before it do, but got (2,)."),
        ("x: *s, y: <s", ((3,), (2, 3)), "'y' should broadcast into 'x' of shape (3,), but got (2, 3)."),
        ("x y: ~s, z: *s", ((2, 1), (3,), (2, 1)), "'z' should have the shape (2, 3) beside"),
        (
            "x y: ~s _ m",
            ((2, 3), (2, 4)),
            "'y' should have the shape (..., any, 3), where ... broadcasts with (), beside",
        ),
        ("x: ~s _ m", ((3,),), "'x' should have the shape (..., any, m), but got (3,)."),
        ("x: size _", ((2, 2),), "'x' should have the shape (7, any), but got (2, 2)."),
    ],
)
def test_a_rule_says_what_does_not_fit(rule, given, said):
    entries = _shapes.read(rule)
    with pytest.raises(ValueError) as raised:
        _shapes.check("Some", entries, dict(zip("xyz", map(np.zeros, given))), {"size": 7})
    assert str(raised.value).startswith(f"For 'Some', {said}")


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("x y: *s", ((2, 3), (2, 3))),
        ("x y: *s", ((), ())),
        ("x: n c *s, y: c", ((2, 3), (3,))),
        ("x: ... _ _", ((2, 3),)),
        ("x: *s i, y: o i | i", ((4,), (4,))),
        ("x y: ~s, z: *s", ((2, 1), (3,), (2, 3))),
        ("x: *s, y: <s", ((2, 3), (1,))),
        ("x: () | 1", ((1,),)),
    ],
)
def test_what_fits_passes(rule, given):
    _shapes.check("Some", _shapes.read(rule), dict(zip("xyz", map(np.zeros, given))), {})


def test_an_absent_input_is_left_out_and_each_of_several_is_looked_at():
    _shapes.check("Some", _shapes.read("x y: *s"), {"x": np.zeros(2), "y": None}, {})
    with pytest.raises(ValueError, match=r"'x\[1\]' should have the shape \(2,\)"):
        _shapes.check("Some", _shapes.read("x: *s"), {"x": (np.zeros(2), np.zeros(3))}, {})


def test_a_rule_is_about_inputs_that_there_are():
    def some(x):
        return x

    with pytest.raises(ValueError, match=r"The rule of some is about \['y'\]"):
        shapes("y: n")(some)
