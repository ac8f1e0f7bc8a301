"""Shapes that do not fit: each operator says so in a sentence of its own, which never ends in JAX's or Python's words.

Every row of the operators' files is tried with each of its Tensors in shapes nearby: an axis more, an axis less, a
length more, no dimension, no rows.
"""

import linecache

import jax
import numpy as np
import pytest
from operator_rows import ROWS
from sweeps import split

import msnb
from msnb import context
from msnb.core import operator, trace
from msnb.core.cases import Written
from msnb.core.tensor import Tensor, box
from msnb.ops import _shapes
from msnb.ops._shapes import shapes

# What an index means is worked out from the shape before these are called.
PLANNED = {"_TensorGetRow", "_TensorGetItem", "_TensorSetItem", "_TensorSetMask"}
PARTS, TURNS = 15, 3


def nearby(shape):
    if not shape:
        return [(2,), (2, 3), (0,)]
    found = [shape[1:], shape[:-1], (shape[0] + 1, *shape[1:]), (*shape[:-1], shape[-1] + 1)]
    found += [(*shape, 1), (2, *shape), (0, *shape[1:]), ()]
    return [s for s in dict.fromkeys(found) if s != shape]


def changed(value):
    """Values beside `value`, an input of a row: with one Tensor in it of another shape."""
    if isinstance(value, Written):
        yield from changed(value.value)
    elif isinstance(value, np.ndarray):
        for shape in nearby(value.shape):
            yield np.resize(value, shape).astype(value.dtype) if value.size else np.zeros(shape, value.dtype)
    elif type(value) is tuple:
        for place in sorted({0, len(value) - 1} & set(range(len(value)))):
            yield from ((*value[:place], other, *value[place + 1 :]) for other in changed(value[place]))


def traced(row, inputs):
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
        with trace.Frame() as frame:
            frame.number = 0
            out = row.call()(*[make(given) for make in makers])
            return [v._array for v in (out if isinstance(out, tuple) else (out,)) if isinstance(v, Tensor)]

    jax.eval_shape(run, *arrays)


def raised_here(error):
    """Whether a `raise` of msnb's says it."""
    at = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    name = at.tb_frame.f_code.co_filename
    return name.startswith(msnb.__path__[0]) and "raise" in linecache.getline(name, at.tb_lineno)


def foreign(rows, monkeypatch, every=1):
    """(row, shapes, sentence) of each call that ends in somebody else's words; of one call in `every`, by turns."""
    context.set_context(mode=context.PYNATIVE_MODE)
    said = []
    explain = operator.explain_kernel_error
    monkeypatch.setattr(operator, "explain_kernel_error", lambda e, *rest: said.append(e) or explain(e, *rest))
    found, turn = [], 0
    for row in rows:
        inputs = row.inputs()
        for place, value in enumerate(inputs):
            for other in changed(value):
                turn += 1
                if turn % every:
                    continue
                said.clear()
                try:
                    traced(row, [*inputs[:place], other, *inputs[place + 1 :]])
                except Exception as error:
                    wants_a_value = "needs the value of a Tensor" in str(error)  # which is none here
                    own = all(map(raised_here, said)) and str(error).startswith(("For '", "for '"))
                    if not own and not wants_a_value:
                        found.append((row.text, place, np.shape(other), str(error)))
    return found


FIRST, FURTHER = split([r for r in ROWS if r.case.target.__name__ not in PLANNED], lambda row: row.file)


def test_what_does_not_fit_is_said_in_a_sentence_of_ours(monkeypatch):
    """Rows, one for each file, take turns with the shapes."""
    assert foreign(FIRST, monkeypatch, TURNS) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_so_it_is_for_all_rows(part, monkeypatch):
    assert foreign((FIRST + FURTHER)[part::PARTS], monkeypatch) == []


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
