"""Hints of a notebook for errors about members that a Tensor or a Cell does not have."""

import linecache

import numpy as np
import pytest

from msnb import Tensor, nn
from msnb.notebook.kernel.errors import hint


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)


def hint_about(code):
    """Return the hint about the error that one line of a cell ends with."""
    names = {"x": Tensor(np.ones((2, 3), np.float32)), "net": Net()}
    linecache.cache["a cell"] = (len(code), None, [code], "a cell")
    try:
        with pytest.raises((AttributeError, TypeError)) as caught:
            exec(compile(code, "a cell", "exec"), names)
        return hint(caught.value)
    finally:
        del linecache.cache["a cell"]


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("x.size(0)", "write x.size, and x.shape[0]"),
        ("x.shape()", "write x.shape"),
        ("x.dtype()", "write x.dtype"),
        ("x.reshap((3, 2))", "Did you mean 'reshape'?"),
        ("net.fcc(x)", "Did you mean 'fc'?"),
        ("net.trainable_param()", "Did you mean 'trainable_params'?"),
    ],
)
def test_a_member_that_is_not_there_has_a_hint(code, part):
    assert part in hint_about(code)


@pytest.mark.parametrize(
    "code", ["x.cpu()", "net.cuda()", "x.backward()", "x.nothing_like_it", "abs(3)(4)", "x.__private"]
)
def test_there_is_no_second_hint_and_none_where_nothing_is_similar(code):
    assert hint_about(code) is None
