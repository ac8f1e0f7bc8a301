"""Tensors, Parameters, Cells and data sets are shown richly, and printed as before."""

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

import msnb
import msnb.dataset as ds
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


@pytest.mark.parametrize(
    "values, size, said",
    [
        (np.array([[1.5, -3], [0, 2]], np.float32), (128, 2), "orange up to 3, blue down to -3"),
        (np.where(np.arange(300 * 40).reshape(300, 40) == 77, np.nan, 1.0), (40, 128), "pink is not finite"),
        (np.eye(12, dtype=np.int32), (120, 12), "up to 1"),
        (np.full((2, 5, 16, 16), -0.5, np.float16), (128, 16), "down to -0.5"),
        (np.eye(3, dtype=bool), (126, 3), "up to 1"),
    ],
)
def test_a_matrix_has_a_heat_map_beside_its_numbers(html, values, size, said):
    shown = html(Tensor(values))
    assert said in shown and read(shown)[1].count("img") == 1
    wide, pixels = re.search(r'width="(\d+)" src="data:image/png;base64,([^"]*)"', shown).groups()
    picture = Image.open(io.BytesIO(base64.b64decode(pixels)))
    assert picture.mode == "RGBA" and int(wide) == size[0] and picture.size[int(size[0] == 40)] == size[1]
    clear = np.asarray(picture)[..., 3] == 0
    assert clear.any() == bool((values == 0).any()), "zero lets the paper through, light or dark"


@pytest.mark.parametrize("values", [np.ones(5), np.ones((5, 1)), np.ones((3, 1, 8)), np.zeros((3, 3)), np.eye(3) + 0j])
def test_a_row_a_column_and_zeros_alone_have_none(html, values):
    assert "heat map" not in html(Tensor(values))


def test_of_what_is_thinned_the_largest_value_stays(html):
    values = np.zeros((1000, 1000), np.float32)
    values[501, 77] = -7
    shown = html(Tensor(values))
    picture = Image.open(io.BytesIO(base64.b64decode(re.search(r"base64,([^\"]*)", shown)[1])))
    assert (np.asarray(picture)[..., 3] == 255).sum() == 1


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


def test_what_is_shown_of_a_large_tensor_is_small(html):
    shown = html(Tensor(np.ones((3000, 3000), np.float32)))
    assert "(3000, 3000)" in shown and len(shown) < 3 * len(html(Tensor(np.ones((30, 30), np.float32))))


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


def test_a_train_step_counts_each_weight_once_and_folds_what_is_long(html):
    net = nn.SequentialCell([nn.Dense(4, 4) for _ in range(10)])
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    text, _ = read(html(nn.TrainOneStepCell(nn.WithLossCell(net, nn.L1Loss()), optimizer)))
    assert "200 trainable numbers in 20 Parameters" in text and "202 of the optimizer's state" in text
    assert "20 Parameters that it updates" in text and "20 Parameters moments" in text
    assert text.index("Dense") < text.index("Momentum") < text.index("moments.0.weight")
    own, _ = read(html(optimizer))
    assert "200 trainable numbers in 20 Parameters" in own and "· 202" in own


def test_what_a_layer_says_of_itself_is_spaced(html):
    text, _ = read(html(nn.Conv2d(3, 8, 3)))
    assert "kernel_size=(3, 3), stride=(1, 1), pad_mode=same" in text and "has_bias=False, weight_init" in text


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


@pytest.fixture
def format_value(notebook, monkeypatch):
    monkeypatch.setattr("msnb.dataset.engine.preview._TIME_LIMIT", 20)  # for a machine with other work to do
    return lambda value: notebook.shell.display_formatter.format(value)[0]


def test_a_data_set_shows_pictures_numbers_and_texts(format_value):
    pixels = np.random.RandomState(0).randint(0, 255, (20, 16, 16, 3)).astype(np.uint8)
    columns = {"image": pixels, "label<b>": np.arange(20), "text": ["<i>" + "long " * 100] * 20, "x": np.ones((20, 9))}
    bundle = format_value(ds.NumpySlicesDataset(columns, shuffle=False).batch(8))
    text, tags = read(bundle["text/html"])
    assert tags.count("img") == 5 and tags.count("tr") == 6 and "i" not in tags and "label<b>" in text
    assert "3 batches" in text and "uint8 (8, 16, 16, 3)" in text and "[1 1 1 1 …]" in text and "lon…" in text
    assert "rows of the first batch" in text and len(bundle["text/html"]) < 40_000
    assert bundle["text/plain"].startswith("BatchDataset, 3 batches\n  image     uint8")


def test_pictures_that_were_normalized_or_are_still_encoded_are_pictures(format_value):
    file = io.BytesIO()
    Image.new("RGB", (30, 20), "red").save(file, "JPEG")
    octets = np.frombuffer(file.getvalue(), np.uint8)
    broken = octets[:40]
    normalized = np.linspace(-2, 2, 3 * 16 * 16, dtype=np.float32).reshape(1, 3, 16, 16)
    for value, pictures in ((octets[None], 1), (broken[None], 0), (normalized, 1), (normalized * np.nan, 0)):
        _, tags = read(format_value(ds.NumpySlicesDataset(value, ["image"]))["text/html"])
        assert tags.count("img") == pictures


def test_a_generator_shows_its_columns_and_how_to_see_rows(format_value):
    def rows():
        raise AssertionError("a display ran the generator")
        yield

    text, tags = read(format_value(ds.GeneratorDataset(rows, ["x", "y"]))["text/html"])
    assert "x" in text and "rows(), line " in text and "gives the first row" in text and "td" not in tags


def test_a_data_set_is_looked_at_once_for_text_and_html(format_value):
    class Source:
        asked = 0

        def __len__(self):
            return 3

        def __getitem__(self, i):
            self.asked += 1
            return (np.array(i),)

    bundle = format_value(ds.GeneratorDataset(source := Source(), ["x"]))
    assert source.asked == 3 and "int64" in bundle["text/plain"] and "int64" in bundle["text/html"]


def test_a_data_set_without_rows_has_a_display(format_value):
    data = ds.NumpySlicesDataset(np.arange(3)).skip(3)
    assert "There are no rows." in format_value(data)["text/html"] and "0 rows" in format_value(data)["text/plain"]


def test_unloading_takes_the_displays_away(notebook):
    data = ds.NumpySlicesDataset(np.arange(3))
    notebook.shell.run_line_magic("unload_ext", "msnb")
    assert set(notebook.shell.display_formatter.format(data)[0]) == {"text/plain"}
    notebook.shell.run_line_magic("load_ext", "msnb")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor(np.ones((2, 2), np.float32)),
        lambda: Parameter(np.ones((2, 2), np.float32), name="weight"),
        lambda: nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()),
        lambda: ds.NumpySlicesDataset({"x": np.arange(6)}, shuffle=False).batch(2),
    ],
    ids=["Tensor", "Parameter", "Cell", "Dataset"],
)
def test_a_notebook_that_asks_the_object_gets_what_ipython_shows(make, notebook):
    value = make()
    shown = notebook.shell.display_formatter.format(value)[0]
    assert value._mime_() == ("text/html", shown["text/html"])
    assert set(shown) == {"text/plain", "text/html"}


def test_what_has_no_values_yet_shows_its_text():
    @msnb.jit
    def look(x):
        seen.append(x._mime_())
        return x

    seen = []
    look(Tensor(np.ones(2, np.float32)))
    kind, text = seen[0]
    assert kind == "text/plain" and "Tensor" in text
