"""Output of programs goes to a file if the context says so, and `parse_print` reads it."""

import numpy as np
import pytest

from msnb import Tensor, context, nn, ops, parse_print
from msnb import dtype as mstype
from msnb.formats import print_file
from msnb.train import _print_file


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "printed" / "print.pb"  # in a folder that is made for it
    before = context.get_context("print_file_path")
    context.set_context(print_file_path=str(path))
    yield path
    context._state.print_file_path = before
    _print_file.redirect_to(before)


class Speaking(nn.Cell):
    def __init__(self):
        super().__init__()
        self.print = ops.Print()

    def construct(self, x):
        self.print("x is", x, (x.sum(), 3))
        print("twice", x * 2)
        return x + 1


def test_a_graph_prints_texts_and_tensors_to_the_file_and_nothing_to_the_screen(file, capsys):
    context.set_context(mode=context.GRAPH_MODE)
    Speaking()(Tensor([1.0, 2.0], mstype.float32)).asnumpy()
    values = parse_print(str(file))
    assert capsys.readouterr().out == ""
    assert [type(v) for v in values] == [str, Tensor, Tensor, Tensor, str, Tensor]
    assert values[0] == "x is" and values[4] == "twice"
    assert values[1].dtype == mstype.float32 and values[2].shape == ()
    np.testing.assert_array_equal(values[5].asnumpy(), [2, 4])


def test_the_operator_prints_to_the_file_without_a_graph_too(file):
    ops.Print()(Tensor([[True, False]]), "end")
    first, last = parse_print(str(file))
    assert first.dtype == mstype.bool_ and first.shape == (1, 2) and last == "end"


def test_a_file_that_is_there_is_left_alone(file):
    file.parent.mkdir()
    file.write_bytes(b"mine")
    _print_file.redirect_to(str(file))
    ops.Print()("other")
    (other,) = file.parent.glob("print.pb.*")
    assert file.read_bytes() == b"mine" and parse_print(str(other)) == ["other"]


@pytest.mark.parametrize(
    "name", "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 bool".split()
)
def test_every_type_comes_back_as_it_went(name, tmp_path):
    array = np.arange(6).reshape(2, 3).astype(name)
    (tmp_path / "f").write_bytes(print_file.record(array) + print_file.record(array[0, 1]))
    records, number = print_file.read(tmp_path / "f")
    assert records.dtype == array.dtype and number.shape == ()
    np.testing.assert_array_equal(records, array)


@pytest.mark.parametrize("content", [b"", b"no such file", b"\x0a\xff\xff\xff\xff\x0f"])
def test_what_is_no_such_file_is_named(content, tmp_path):
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="bad is"):
        parse_print(str(path))
