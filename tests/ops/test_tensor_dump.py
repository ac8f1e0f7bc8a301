"""TensorDump: one Tensor of a running program as a file, in both modes. File names are those of MindSpore 2.7.1."""

import numpy as np
import pytest

import msnb
from msnb import Tensor, context, nn, ops


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(folder):
    """Return {name without the id: array} of the files of a folder, in the order of their ids."""
    paths = sorted(folder.rglob("*.npy"), key=lambda path: int(path.stem.rpartition("_")[2]))
    return {str(path.relative_to(folder)).rpartition("_")[0]: np.load(path) for path in paths}


def test_each_call_writes_a_file(folder):
    x = Tensor(np.arange(3, dtype=np.float32))
    assert ops.TensorDump()("add", x) is None and ops.TensorDump("in")("b", x) is None
    assert ops.tensordump("c.npy", x, "out") is None and ops.tensordump("sub/d", x) is None
    ops.tensordump("e", Tensor(1.5, msnb.bfloat16))
    ops.tensordump("h", Tensor([True]))
    files = read(folder)
    assert list(files) == ["add_float32", "b_float32", "c_float32", "sub/d_float32", "e_bfloat16", "h_bool"]
    np.testing.assert_array_equal(files["sub/d_float32"], x.asnumpy())
    assert files["e_bfloat16"].dtype == np.float32 and files["e_bfloat16"] == 1.5


class Hidden(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dump = ops.TensorDump()

    def construct(self, x):
        hidden = ops.relu(x)
        self.dump("hidden", hidden)
        ops.tensordump("twice", hidden * 2)
        return hidden.sum()


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_network_writes_at_each_call(folder, mode):
    context.set_context(mode=mode)
    net, x = Hidden(), np.float32([-1, 2])
    for scale in (1, 2):
        net(Tensor(x * scale)).asnumpy()
    files = sorted(path.name.split("_")[0] for path in folder.iterdir())
    assert files == ["hidden", "hidden", "twice", "twice"]
    np.testing.assert_array_equal(read(folder)["twice_float32"], [0, 8])  # of the second call


def test_a_gradient_goes_through(folder):
    context.set_context(mode=context.GRAPH_MODE)
    np.testing.assert_array_equal(ops.GradOperation()(Hidden())(Tensor(np.float32([-1, 2]))).asnumpy(), [0, 1])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: ops.tensordump("f", 3), TypeError, "'tensor' should be a Tensor"),
        (lambda x: ops.tensordump("", x), ValueError, "'file_name' should not be empty"),
        (lambda x: ops.TensorDump()("", x), ValueError, "'file' should not be empty"),
        (lambda x: ops.tensordump("g", x, "all"), ValueError, "'mode' should be 'in' or 'out', but got 'all'"),
        (lambda x: ops.TensorDump("x"), ValueError, "'input_output' should be 'in' or 'out', but got 'x'"),
        (lambda x: ops.tensordump(3, x), TypeError, "'file_name' should be a string"),
    ],
)
def test_wrong_arguments(folder, call, error, message):
    with pytest.raises(error, match=message):
        call(Tensor([1.0]))
    assert not list(folder.iterdir())
