"""An iterator of Python is a tuple in a graph, as in MindSpore. The expected values are 2.7.1's."""

import itertools

import pytest

import msnb as ms
from msnb import Tensor

X = Tensor(5.0)


def inc(a):
    return a + 1


RETURNED = {
    "map": (lambda x: map(inc, (1, x)), (2, 6.0)),
    "zip": (lambda x: zip((1, 2), (x, x)), ((1, 5.0), (2, 5.0))),
    "enumerate": (lambda x: enumerate((x, x)), ((0, 5.0), (1, 5.0))),
    "filter": (lambda x: filter(lambda a: a % 2 == 1, (1, 2, 3)), [1, 3]),
    "range": (lambda x: range(3), (0, 1, 2)),
    "iter": (lambda x: iter((1, 2)), (1, 2)),
    "beside another": (lambda x: (x, {"a": x, "b": 1}.values()), (5.0, (5.0, 1))),
    "keys": (lambda x: {"a": x, "b": x}.keys(), ("a", "b")),
    "length": (lambda x: len(map(inc, (x, x))) + len(zip((1,), (x,))), 3),
    "subscript": (lambda x: map(inc, (x, x))[1], 6.0),
    "what does not end": (lambda x: next(map(inc, itertools.count(1))), 2),
    "stopped by the other": (lambda x: zip((x,), itertools.count()), ((5.0, 0),)),
}


def flat(value):
    """Yield the elements of nested tuples and lists, with a mark at the beginning of each."""
    for item in value if type(value) in (tuple, list) else (value,):
        if type(item) in (tuple, list):
            yield "("
            yield from flat(item)
        else:
            yield float(item) if isinstance(item, Tensor) else item


@pytest.mark.parametrize("name", RETURNED)
def test_a_series_is_a_tuple(name):
    fn, expected = RETURNED[name]
    assert list(flat(ms.ms_function(fn)(X))) == list(flat(expected))


def test_a_series_may_be_walked_over_twice():
    @ms.ms_function
    def f(x):
        series, total = map(inc, (x, x)), x
        for _ in range(2):
            for item in series:
                total = total + item
        return total

    assert float(f(X)) == 29.0
