"""Buffers and the dictionary of a Cell's state, as MindSpore 2.7.1 makes and takes it."""

from collections import OrderedDict

import numpy as np
import pytest

from msnb import Parameter, Tensor, context, mindspore2, nn
from msnb.common import dtype as mstype


def row(*numbers):
    return Tensor(np.array(numbers, np.float32))


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 2, weight_init="ones")
        self.register_buffer("scale", row(1, 2))
        self.register_buffer("cache", row(3), persistent=False)
        self.register_buffer("none", None)

    def construct(self, x):
        return self.dense(x) * self.scale


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner, self.many, self.count = Inner(), nn.CellList([Inner()]), 3

    def construct(self, x):
        return self.inner(x)

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


def test_buffers_are_listed_by_their_paths():
    net = Net()
    paths = ["inner.scale", "inner.cache", "many.0.scale", "many.0.cache"]
    assert [path for path, _ in net.named_buffers()] == paths
    assert [path for path, _ in net.inner.named_buffers("p", recurse=False)] == ["p.scale", "p.cache"]
    assert len(list(net.buffers())) == 4 and list(net.buffers(recurse=False)) == []
    assert net.get_buffer("many.0.scale") is net.many[0].scale and net.get_sub_cell("many.0") is net.many[0]
    assert net.get_sub_cell("") is net and not isinstance(net.inner.scale, Parameter)
    del net.inner.scale
    assert [path for path, _ in net.named_buffers()] == paths[1:]


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_new_buffer_takes_effect(mode):
    context.set_context(mode=mode)
    net, x = Net(), row(1, 1).reshape((1, 2))
    assert net(x).asnumpy().tolist() == [[2, 4]]
    net.inner.register_buffer("scale", row(3, 5))
    assert net(x).asnumpy().tolist() == [[6, 10]]


def test_a_state_goes_from_one_cell_to_another():
    net, other = Net(), Net()
    net.count, net.inner.scale = 7, row(8, 9)
    state = net.state_dict()
    inner = ["scale", "dense.weight", "dense.bias"]
    assert sorted(state) == sorted(["_extra_state", *(f"{p}.{n}" for p in ("inner", "many.0") for n in inner)])
    assert state["inner.dense.weight"] is net.inner.dense.weight
    assert other.load_state_dict(state) == ([], [])
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.count == 7 and other.inner.scale.asnumpy().tolist() == [8, 9]
    assert set(net.many.state_dict(prefix="a.")) == {f"a.0.{name}" for name in inner}


def test_what_does_not_fit_is_reported_and_the_rest_is_taken():
    net, state = Net(), Net().state_dict()
    del state["inner.scale"]
    state["inner.more"], state["many.0.scale"] = row(1), row(5, 6)
    with pytest.raises(RuntimeError, match=r"lacks 'inner.scale'.*too many: 'inner.more'"):
        net.load_state_dict(state)
    keys = net.load_state_dict(state, strict=False)
    assert keys == (["inner.scale"], ["inner.more"])
    assert str(keys) == "_IncompatibleKeys(missing_keys=['inner.scale'], unexpected_keys=['inner.more'])"
    assert net.many[0].scale.asnumpy().tolist() == [5, 6]
    with pytest.raises(RuntimeError, match="'many.0.scale' should be of shape"):
        net.load_state_dict({**state, "many.0.scale": row(1)}, strict=False)


def test_hooks_around_the_state_are_refused():
    net, calls = Net(), []
    handles = [
        net.register_state_dict_pre_hook(lambda cell, prefix, keep: calls.append(("before", prefix, keep))),
        net.register_state_dict_post_hook(lambda cell, state, prefix, meta: calls.append(("after", len(state)))),
        net.register_load_state_dict_pre_hook(lambda cell, *rest: calls.append(("load", len(rest)))),
        net.inner.register_load_state_dict_post_hook(lambda cell, keys: calls.append(("loaded", *keys))),
    ]
    net.load_state_dict(net.state_dict())
    assert calls == [("before", "", False), ("after", 7), ("load", 7), ("loaded", [], [])]
    for handle in handles:
        handle.remove()
    net.load_state_dict(net.state_dict())
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (KeyError, lambda net: net.register_buffer("a.b", None)),
        (KeyError, lambda net: net.register_buffer("inner", None)),
        (TypeError, lambda net: net.register_buffer("more", 3)),
        (AttributeError, lambda net: net.get_buffer("count")),
        (AttributeError, lambda net: net.get_sub_cell("many.9")),
        (TypeError, lambda net: net.load_state_dict([1])),
        (TypeError, lambda net: net.state_dict(prefix=3)),
    ],
)
def test_what_is_wrong_is_refused(error, call):
    with pytest.raises(error):
        call(Net())


def test_a_cell_keeps_what_its_inputs_look_like():
    net = nn.Dense(4, 2)
    assert net.get_inputs() is None
    net.set_inputs(Tensor(shape=[None, 4], dtype=mstype.float32))
    assert len(net.get_inputs()) == 1 and net(Tensor(np.ones((3, 4), np.float32))).shape == (3, 2)
    for inputs, named in (((), {"y": 1}), ((1,), {"x": 1})):
        with pytest.raises(ValueError, match="'construct' of Dense"):
            net.set_inputs(*inputs, **named)


def test_a_state_prints_as_an_ordered_dict():
    state = nn.Dense(1, 1).state_dict()
    assert repr(state) == repr(OrderedDict(state))  # its form depends on the version of Python
    assert repr(state).startswith("OrderedDict(") and "'weight'" in repr(state)


@pytest.mark.parametrize("has_bias", [False, True])
def test_a_convolution_without_bias_shows_no_first_bias(has_bias):
    text = repr(mindspore2.nn.Conv2d(1, 2, 3, has_bias=has_bias))
    assert ("bias_init=Uniform" if has_bias else "bias_init=None") in text
