"""Helpers of the tests of mindspore.numpy's arrays: small Tensors to draw from, and the comparison with numpy."""

import os

import numpy as np
from hypothesis import strategies as st

from msnb import Tensor

DRAWN = int(os.environ.get("MSNB_DRAWN", "3"))  # arguments that are drawn for each function; each is a program

# Few shapes and types, so that few programs are compiled; all numbers differ.
SHAPES = ((), (3,), (2, 3), (2, 1, 3), (0, 2))
DTYPES = ("float32", "int32", "bool", "float16", "int8", "int64")
NARROW = {"float64": "float32", "int64": "int32", "complex128": "complex64"}


def numbers(shape, dtype="float32", start=0):
    """Return an array whose elements count from `start`, in an order that is not sorted."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 5 + start) % max(count, 7)).reshape(shape).astype(dtype)


def arrays(*shapes, dtypes=DTYPES):
    """Return a strategy: an array of one of the shapes and types."""
    return st.builds(numbers, st.sampled_from(shapes or SHAPES), st.sampled_from(dtypes))


def boxed(value):
    """Tensors for the arrays in `value`, also in a tuple or a list."""
    if isinstance(value, np.ndarray):
        return Tensor(value)
    return type(value)(map(boxed, value)) if isinstance(value, (tuple, list)) else value


def same(got, want, dtype=None, within=0.0):
    """Assert that a result is numpy's: several of them one by one, in value and shape, and in element type `dtype`, by
    default that of `want`."""
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list)) and len(got) == len(want)
        for one, other in zip(got, want):
            same(one, other, dtype, within)
        return
    want = np.asarray(want)
    result = got.asnumpy()
    assert result.shape == want.shape
    assert result.dtype == np.dtype(dtype or want.dtype)
    np.testing.assert_allclose(result, want, rtol=within, atol=within)


def narrow(want):
    """Return the element type that mindspore.numpy has for one that numpy chose."""
    return NARROW.get(str(np.asarray(want).dtype), np.asarray(want).dtype)
