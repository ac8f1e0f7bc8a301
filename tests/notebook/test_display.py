"""Tensors, Parameters and Cells are shown richly, and printed as before."""

import time
from html.parser import HTMLParser

import numpy as np
import pytest

from msnb import Parameter, Tensor, nn


class Reader(HTMLParser):
    """Checks that tags close in order; collects the text."""

    EMPTY = {"img"}

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.tags = [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


@pytest.fixture
def html(notebook):
    def show(value):
        return notebook.shell.display_formatter.format(value)[0].get("text/html")

    return show


def read(html):
    reader = Reader(html)
    return " ".join(reader.text), reader.tags


def test_a_small_tensor_is_a_table(html):
    text, tags = read(html(Tensor(np.array([[1.5, 2], [3, np.nan]], np.float32))))
    assert "(2, 2)" in text and "Float32" in text and "1.5" in text and "nan" in text and tags.count("td") == 4


def test_a_large_tensor_is_a_summary_a_histogram_and_its_corners(html):
    values = np.random.RandomState(0).randn(64, 100).astype(np.float32)
    text, tags = read(html(Tensor(values)))
    assert "mean" in text and "std" in text and "svg" in tags and tags.count("td") == 49


def test_not_a_number_is_counted(html):
    values = np.ones((50, 50), np.float32)
    values[0, :3], values[1, 0] = np.nan, np.inf
    text, _ = read(html(Tensor(values)))
    assert "3 NaN" in text and "1 Inf" in text


@pytest.mark.parametrize("shape", [(28, 28), (28, 28, 3), (3, 28, 28), (5, 28, 28, 1), (5, 3, 28, 28)])
def test_images_are_images(html, shape):
    values = np.random.RandomState(0).randint(0, 255, shape).astype(np.uint8)
    _, tags = read(html(Tensor(values)))
    assert tags.count("img") == (5 if len(shape) == 4 else 1)


@pytest.mark.parametrize(
    "value",
    [
        3.5,
        True,
        [],
        np.zeros((0, 3), np.float32),
        np.array([1 + 2j]),
        [1, 2, 3],
        np.zeros((2, 3, 4, 5, 6), np.float16),
        np.arange(1000),
        np.full(100, np.nan),
    ],
)
def test_every_kind_of_tensor_has_a_display(html, value):
    assert "Tensor" in read(html(Tensor(value)))[0]


def test_a_parameter_shows_its_name_escaped(html):
    shown = html(Parameter(Tensor([1.0]), name="a<b>&c", requires_grad=False))
    assert "a&lt;b&gt;&amp;c" in shown and "<b>&c" not in shown and "not trained" in shown


def test_a_large_tensor_is_shown_quickly(html):
    tensor = Tensor(np.ones((3000, 3000), np.float32))
    html(tensor)
    start = time.perf_counter()
    html(tensor)
    assert time.perf_counter() - start < 0.5


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(5, 5)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.dense(x))


def test_a_cell_is_a_tree_with_equal_neighbours_drawn_once(html):
    net = nn.SequentialCell([Block() for _ in range(21)])
    text, tags = read(html(net))
    assert "× 21" in text and text.count("Block") == 1 and "0 … 20" in text and "details" in tags
    assert "630 trainable numbers in 42 Parameters" in text and "30 each" in text


def test_parameters_have_lines_of_their_own(html):
    text, _ = read(html(nn.BatchNorm2d(6)))
    assert "num_features=6" in text and "Parameter (name" not in text and "moving_variance" in text


def test_a_cell_without_anything_inside_has_a_display(html):
    assert "ReLU" in read(html(nn.ReLU()))[0]


def test_plain_text_is_as_mindspore_prints(notebook):
    data, _ = notebook.shell.display_formatter.format(Tensor([1, 2, 3]))
    assert data["text/plain"] == "Tensor(shape=[3], dtype=Int64, value= [1, 2, 3])"


def test_a_traced_tensor_has_plain_text_only(html):
    from msnb import ms_function

    seen = []

    @ms_function
    def look(x):
        seen.append(html(x))
        return x

    look(Tensor([1.0]))
    assert seen == [None]
