"""Functions that put elements elsewhere, beside numpy on shapes, types and arguments that are drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from np_face.arrays import DRAWN, arrays, boxed, numbers, same

from msnb import numpy as mnp

few = settings(max_examples=DRAWN, deadline=None, derandomize=True)
maybe = st.none


def axis(x, extra=0):
    return st.integers(-x.ndim - extra, x.ndim + extra - 1)


def axes(x):
    """Some of the axes, each once."""
    return st.permutations(range(x.ndim)).flatmap(lambda p: st.integers(0, x.ndim).map(lambda n: tuple(p[:n])))


def shapes_of(x):
    return st.sampled_from([(-1,), x.shape[::-1], [*x.shape, 1], x.size] if x.size else [x.shape[::-1]])


def moved(x):
    return axes(x).flatmap(lambda a: st.permutations(range(x.ndim)).map(lambda p: (a, tuple(p[: len(a)]))))


def pairs(x):
    return st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=x.ndim, max_size=x.ndim)


# The arguments behind the Tensor, for each function; None of its Tensors where it does not take it.
MOVES = {
    "transpose": lambda x: st.tuples(maybe() | st.permutations(range(x.ndim)).map(tuple)),
    "swapaxes": lambda x: st.tuples(axis(x), axis(x)) if x.ndim else None,
    "rollaxis": lambda x: st.tuples(axis(x), st.integers(-x.ndim, x.ndim)) if x.ndim else None,
    "moveaxis": lambda x: moved(x) if x.ndim else None,
    "reshape": lambda x: st.tuples(shapes_of(x)),
    "ravel": lambda x: st.just(()),
    "expand_dims": lambda x: st.tuples(axis(x, 1) | st.sampled_from([(0, 2), [-1, 0], ()])),
    "squeeze": lambda x: st.tuples(
        maybe() | st.sampled_from([(), *(i for i, n in enumerate(x.shape) if n == 1), *(-1,) * (x.shape[-1:] == (1,))])
    ),
    "flip": lambda x: st.tuples(maybe() | axes(x) | (axis(x) if x.ndim else maybe())),
    "flipud": lambda x: st.just(()) if x.ndim else None,
    "fliplr": lambda x: st.just(()) if x.ndim > 1 else None,
    "rot90": lambda x: (
        st.tuples(st.integers(-3, 5), st.sampled_from([(0, 1), (1, 0), (-1, 0)])) if x.ndim > 1 else None
    ),
    "roll": lambda x: st.one_of(
        st.tuples(st.integers(-4, 4) | st.sampled_from([(1, 2)])),
        st.tuples(st.integers(-4, 4), axis(x)) if x.ndim else st.just((1,)),
        st.just(((1, -2), (0, 1)) if x.ndim > 1 else (2,)),
        st.just((1, (0, 1)) if x.ndim > 1 else (2,)),
    ),
    "tile": lambda x: st.tuples(st.sampled_from([2, (2,), (1, 2), (2, 1, 2, 1), (), 0, [3, 1]])),
    "repeat": lambda x: st.one_of(
        st.tuples(st.sampled_from([0, 2, [1], range(x.size)]).map(lambda r: r if isinstance(r, int) else list(r))),
        st.tuples(st.just(2), axis(x)) if x.ndim else st.just((3,)),
        st.just((list(range(x.shape[-1])), -1) if x.ndim else (1,)),
    ),
    "broadcast_to": lambda x: st.sampled_from([x.shape, (2, *x.shape), [3, 1, *x.shape]]).map(lambda s: (s,)),
    "atleast_1d": lambda x: st.just(()),
    "atleast_2d": lambda x: st.just(()),
    "atleast_3d": lambda x: st.just(()),
    "tril": lambda x: st.tuples(st.integers(-2, 2)) if x.ndim else None,
    "triu": lambda x: st.tuples(st.integers(-2, 2)) if x.ndim else None,
    "diagonal": lambda x: (
        st.tuples(st.integers(-1, 2)) | st.sampled_from([(0, 1, 0), (1, -1, 0)]) if x.ndim > 1 else None
    ),
    "diag": lambda x: st.tuples(st.integers(-2, 3)) if x.ndim in (1, 2) and x.size else None,
    "diagflat": lambda x: st.tuples(st.integers(-2, 3)),
    "split": lambda x: (
        st.sampled_from([(1,), ([1, 3],), ((1, 1, 2), -1), (x.shape[-1], -1), ([-1], -1)])
        if x.ndim and x.size
        else None
    ),
    "array_split": lambda x: st.sampled_from([(2,), (4, -1), ([2], 0), (2, -1)]) if x.ndim and x.size else None,
    "vsplit": lambda x: st.sampled_from([(1,), ([1],)]) if x.ndim > 1 and x.size else None,
    "hsplit": lambda x: st.sampled_from([(1,), ([1],)]) if x.ndim and x.size else None,
    "dsplit": lambda x: st.sampled_from([(3,), ([1, 2],)]) if x.ndim > 2 else None,
    "vander": lambda x: (
        st.tuples(st.sampled_from([None, 2, 4]), st.booleans()) if x.ndim == 1 and x.dtype == "int64" else None
    ),
    "copy": lambda x: st.just(()),
}


@pytest.mark.parametrize("name", MOVES)
@few
@given(st.data())
def test_elements_go_where_numpy_puts_them(name, data):
    x = data.draw(arrays().filter(lambda x: MOVES[name](x) is not None))
    arguments = data.draw(MOVES[name](x))
    same(getattr(mnp, name)(boxed(x), *arguments), getattr(np, name)(x, *arguments))


JOINS = {
    "concatenate": [(0,), (-1,), (None,), (40,)],
    "stack": [(0,), (1,), (-1,)],
    "hstack": [()],
    "vstack": [()],
    "dstack": [()],
    "column_stack": [()],
}


@pytest.mark.parametrize("name", JOINS)
@few
@given(st.data())
def test_tensors_are_joined_as_numpy_joins_them(name, data):
    arguments = data.draw(st.sampled_from(JOINS[name]))
    shape = data.draw(st.sampled_from([(2, 3), (2, 1, 3)] if arguments else [(2,), (2, 3), (2, 1, 3)]))
    shape = shape[:2] if name == "column_stack" else shape
    types = data.draw(st.sampled_from([("float32",) * 2, ("int32", "float32", "int8"), ("bool", "int8"), ("float16",)]))
    parts = [numbers(shape, t, i) for i, t in enumerate(types)]
    by_numpy = ("axis", *arguments) if arguments != (40,) else ("axis", None)
    want = getattr(np, name)(parts, **dict([by_numpy] if arguments else []))
    # numpy widens an int32 beside a float32, MindSpore does not
    same(getattr(mnp, name)(boxed(parts), *arguments), want, narrow_if_wider(want, types))


def narrow_if_wider(want, types):
    return "float32" if want.dtype == "float64" and "float64" not in types else want.dtype


@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack", "dstack"])
def test_a_tensor_stands_for_its_slices(name):
    x = numbers((2, 3, 2))
    same(getattr(mnp, name)(boxed(x)), getattr(np, name)(list(x)))
    if name in ("concatenate", "stack"):
        same(getattr(mnp, name)(boxed(x), 1), getattr(np, name)(list(x), 1))


@few
@given(arrays((), (3,), (2, 3)), arrays((3,), (2, 3)), st.sampled_from([None, 0, -1]))
def test_values_are_appended_as_numpy_does(x, values, along):
    if along is not None:
        values = numbers(x.shape, values.dtype) if x.ndim else values
        along = along if x.ndim else None
    want = np.append(x, values, along)
    got = mnp.append(boxed(x), boxed(values), along)
    same(got, want, got.asnumpy().dtype)
    assert got.dtype == mnp.result_type(boxed(x), boxed(values))


MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"]


@pytest.mark.parametrize("mode", MODES)
@few
@given(st.data())
def test_borders_are_those_of_numpy(mode, data):
    x = data.draw(arrays((4,), (3, 4), dtypes=("float32", "int32")))
    widths = data.draw(st.sampled_from([1, (2, 1), ((1, 2),)]) | pairs(x))
    extra = {
        "constant": [{}, {"constant_values": 7}, {"constant_values": (1, 2)}],
        "linear_ramp": [{}, {"end_values": 5}, {"end_values": ((3, -2),)}],
        "reflect": [{}, {"reflect_type": "odd"}],
        "symmetric": [{}, {"reflect_type": "odd"}],
    }.get(mode, [{}] if mode in ("edge", "wrap") else [{}, {"stat_length": 2}, {"stat_length": ((1, 3),)}])
    more = data.draw(st.sampled_from(extra))
    want = np.pad(x, widths, mode, **more)
    same(mnp.pad(boxed(x), widths, mode, **more), want, within=1e-5 if x.dtype == "float32" else 0)


def test_a_function_fills_the_borders():
    def fill(vector, widths, axis, how):
        return mnp.concatenate((mnp.full(widths[0], how["value"]), vector[widths[0] : -1], mnp.full(1, axis + 0.5)))

    def by_numpy(vector, widths, axis, how):
        vector[: widths[0]], vector[-1] = how["value"], axis + 0.5

    x = numbers((2, 3))
    same(mnp.pad(boxed(x), ((2, 1), (1, 1)), fill, value=9.0), np.pad(x, ((2, 1), (1, 1)), by_numpy, value=9.0))


def test_grids_and_arrays_broadcast_as_in_numpy():
    x, y, z = numbers((3,)), numbers((2,), "int32"), numbers((), "int8")
    for settings_ in ({}, {"indexing": "ij"}, {"sparse": True}, {"sparse": True, "indexing": "ij"}):
        same(mnp.meshgrid(*boxed([x, y, z]), **settings_), np.meshgrid(x, y, z, **settings_))
        same(mnp.meshgrid(boxed(x), **settings_), np.meshgrid(x, **settings_))
    assert mnp.meshgrid() == ()
    same(mnp.broadcast_arrays(*boxed([x, y.reshape(2, 1), z])), np.broadcast_arrays(x, y.reshape(2, 1), z))
    same(mnp.atleast_2d(*boxed([x, z])), np.atleast_2d(x, z))
