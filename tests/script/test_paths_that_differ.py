"""Paths of a graph whose values differ in shape or structure: MindSpore 2 joins them, r1.1 refuses."""

import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.core.operator import api_generations


@pytest.fixture
def meanings_of_mindspore_2():
    api_generations.share(2)
    yield
    api_generations.share(1)


@pytest.fixture
def warnings(monkeypatch):
    lines = []
    monkeypatch.setattr("msnb.log.once", lambda text, *args: lines.append(text))
    return lines


def reduced(x):
    if x.sum() > 2:
        y = x.sum()
    else:
        y = x
    return y + 1


def nothing(x):
    if x.sum() > 2:
        return
    return x


def falls_off(x):
    if x.sum() <= 2:
        return x


def of_two_lengths(x):
    if x.sum() > 2:
        y = [x]
    else:
        y = [x, x * 2]
    return y


def of_two_keys(x):
    return {"a": x} if x.sum() > 2 else {"b": x}


def text(x):
    return "more" if x.sum() > 2 else "less"


def last_of_loop(x):
    last = None
    n = x.sum()
    while n < 6:
        last = x * n
        n = n + 2
    return last


def collected(x):
    rows = []
    n = x.sum()
    while n < 6:
        rows.append(x * n)
        n = n + 2
    return rows


def grown(x):
    n = x.sum()
    while n < 6:
        x = ops.concat((x, x))
        n = n + 2
    return x


def plain(value):
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


CASES = [
    (reduced, 4, [2, 2]),
    (nothing, None, [1, 1]),
    (falls_off, None, [1, 1]),
    (of_two_lengths, [[1, 2]], [[1, 1], [2, 2]]),
    (of_two_keys, {"a": [1, 2]}, {"b": [1, 1]}),
    (text, "more", "less"),
    (last_of_loop, [5, 10], [4, 4]),
    (collected, [[3, 6], [5, 10]], [[2, 2], [4, 4]]),
    (grown, [1, 2] * 4, [1, 1] * 4),
]


@pytest.mark.parametrize("fn, of_12, of_11", CASES, ids=[case[0].__name__ for case in CASES])
def test_a_graph_of_mindspore_2_has_paths_whose_values_differ(
    fn, of_12, of_11, meanings_of_mindspore_2, warnings, graph_mode
):
    graph = ms.jit(fn)
    for _ in range(2):
        assert plain(graph(Tensor([1.0, 2.0]))) == of_12 and plain(graph(Tensor([1.0, 1.0]))) == of_11
    assert all(
        f"{fn.__name__} runs operator by operator: " in line and "test_paths_that_differ.py:" in line
        for line in warnings
    )
    assert warnings


@pytest.mark.parametrize("fn", [case[0] for case in CASES], ids=[case[0].__name__ for case in CASES])
def test_a_graph_of_r1_1_has_one_type_on_all_paths(fn):
    with pytest.raises(TypeError, match=r"test_paths_that_differ.py:\d+") as caught:
        ms.jit(fn)(Tensor([1.0, 2.0]))
    assert type(caught.value) is TypeError


def test_paths_of_two_element_types_are_refused_in_mindspore_2(meanings_of_mindspore_2):
    @ms.jit
    def cast(x):
        return x if x.sum() > 2 else x.astype(ms.int32)

    with pytest.raises(TypeError, match=r"Float32.*Int32"):
        cast(Tensor([1.0, 2.0]))


def test_a_loop_that_collects_rows_is_differentiated_in_mindspore_2(meanings_of_mindspore_2, warnings, graph_mode):
    class Collector(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor([2.0]), name="w")

        def construct(self, x):
            out = None
            n = x.sum()
            while n < 10:
                row = x * self.w * n
                out = row if out is None else ops.concat((out, row))
                n = n + 2
            return x if out is None else out

    net = Collector()
    assert plain(net(Tensor([1.0, 2.0]))) == [6, 12, 10, 20, 14, 28, 18, 36]
    value, (of_x, (of_w,)) = ms.value_and_grad(lambda x: net(x).sum(), 0, net.trainable_params())(Tensor([1.0, 2.0]))
    assert (float(value), plain(of_x), plain(of_w)) == (144, [72, 72], [72])
