"""`msnb.diff` of files of Parameters: what is equal, changed, removed and added, value by value."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, nn


def values(**inputs):
    return [{"name": name, "data": Parameter(Tensor(value), name=name)} for name, value in inputs.items()]


@pytest.fixture
def files(tmp_path):
    """Return two checkpoints, the second with one Parameter of each kind of difference."""
    one, other = str(tmp_path / "one.ckpt"), str(tmp_path / "other.ckpt")
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    ms.save_checkpoint(values(same=a, moved=a, typed=a, shaped=a, gone=a), one, append_dict={"said": "x", "epoch": 1})
    moved = a + np.array([0, 0.5, np.nan], np.float32)
    inputs = values(same=a, moved=moved, typed=a.astype(np.float16), shaped=a[:1], come=a)
    ms.save_checkpoint(inputs, other, append_dict={"said": "y", "epoch": 1})
    return one, other


def test_each_parameter_is_equal_changed_removed_or_added(files):
    result = ms.diff(*files, names=("monday", "tuesday"))
    assert result.comparison == {"equal": 2, "changed": 4, "removed": 1, "added": 1}
    assert result.largest == {"moved": 0.5, "typed": 0.0}
    text = repr(result)
    assert text.startswith("monday and tuesday: 2 equal, 4 changed, 1 removed, 1 added\n")
    rows = {line.split()[0]: line for line in text.splitlines()[2:]}
    assert "Float32 -> Float16" in rows["typed"] and "(2, 3) -> (1, 3)" in rows["shaped"]
    assert rows["gone"].endswith("only in monday") and rows["come"].endswith("only in tuesday")
    assert "only in monday" in result._repr_html_()


def test_a_checkpoint_is_compared_with_a_network_and_with_the_file_of_a_graph(tmp_path):
    net, x, path = nn.Dense(3, 2), Tensor(np.ones((1, 3), np.float32)), str(tmp_path / "net")
    ms.save_checkpoint(net, path + ".ckpt")
    ms.export(net, x, file_name=path, file_format="MINDIR")
    net.bias.set_data(net.bias + 1)
    assert ms.diff(path + ".ckpt", net).comparison["changed"] == 1
    assert ms.diff(path + ".mindir", path + ".ckpt").comparison == {"equal": 2, "changed": 0, "removed": 0, "added": 0}
    with pytest.raises(TypeError, match="is compared with Parameters, but function has none"):
        ms.diff(path + ".ckpt", lambda x: x)


def test_tables_are_saved_as_a_page_of_their_own_and_as_text(files, tmp_path):
    for table in (ms.view(files[0]), ms.diff(*files)):
        table.save(tmp_path / "table.html")
        table.save(str(tmp_path / "table.txt"))
        page = (tmp_path / "table.html").read_text()
        assert page.startswith("<!doctype html>") and table._repr_html_() in page
        assert (tmp_path / "table.txt").read_text() == f"{table!r}\n"
        with pytest.raises(ValueError, match="'path' should end in one of .html, .txt, but got"):
            table.save(tmp_path / "table.png")
