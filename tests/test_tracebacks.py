"""The short traceback of an error, wherever in msnb it is raised, ends with the user's line."""

import importlib
import inspect
import os
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb._util.package_path import PACKAGE
from msnb.core.state import events
from msnb.insight.short_traceback import last_line, shortened

X = Tensor(np.ones((2, 3), np.float32))


def module(name):
    """Return a module that `import msnb` need not load."""
    return importlib.import_module(f"msnb.{name}")


def branch(x):
    if x.sum() > 0:
        x = (x, x)
    return x


def open_damaged_checkpoint():
    Path("damaged.ckpt").write_bytes(b"abc")
    ms.load_checkpoint("damaged.ckpt")


# Folder or file of msnb -> a call that raises an error there, or in a folder that this one calls. `core/compat`
# and `core/errors` are not here: they raise no errors for users.
CASES = {
    "_util": lambda: module("rewrite").SymbolTree.create(3),
    "alias.py": lambda: module("alias").install(api=3),
    "common": lambda: ms.set_seed("one"),
    "common/kinds": lambda: nn.Dense("two", 3),
    "communication": lambda: module("communication").get_rank(3.5),
    "context.py": lambda: context.set_context(mode=7),
    "core/custom": lambda: ms.custom_operator(3),
    "core/eager": lambda: ops.matmul(X, X),
    "core/jaxpr": lambda: ms.ms_function(lambda x: ops.matmul(x, x))(X),
    "core/operator": lambda: ops.ReduceSum(keep_dim=True),
    "core/program": lambda: ms.ms_function(lambda x: x + 1)(np.ones(3)),
    "core/script": lambda: ms.ms_function(branch)(X),
    "core/sharding": lambda: nn.ReLU().shard(3),
    "core/state": lambda: events.listen(ran=3),
    "core/support": lambda: X + ops.ones((7, 5), ms.float32),
    "core/tensor": lambda: Tensor(object()),
    "core/transforms": lambda: ms.ops.GradOperation()(lambda x: 3)(X),
    "dataset": lambda: ms.dataset.NumpySlicesDataset([1, 2]).batch("two"),
    "dataset/vision": lambda: module("dataset.vision").Resize("x"),
    "exchange": lambda: ms.export(3, X, file_name="net", file_format="ONNX"),
    "experimental": lambda: module("experimental").optim.Adam(3),
    "formats": open_damaged_checkpoint,
    "hal": lambda: module("hal").device_count(3),
    "insight": lambda: module("insight.layers").layers(3),
    "insight/gradients": lambda: module("insight.gradients").GradientMonitor(3),
    "insight/runs": lambda: module("insight.runs").Run("nowhere"),
    "ir": lambda: module("ir").text(3),
    "mindrecord": lambda: module("mindrecord").FileWriter("x", shard_num="two"),
    "mint": lambda: module("mint").nn.functional.relu(3),
    "nn": lambda: nn.ReLU().set_boost("x"),
    "notebook": lambda: ms.view(3),
    "numpy": lambda: ms.numpy.gradient(X, edge_order=3),
    "ops": lambda: ops.MatMul()(X, X),
    "parallel": lambda: module("parallel").shard(3, 4),
    "profiler": lambda: ms.Profiler(output_path=3),
    "runtime": lambda: module("runtime").memory_stats(3),
    "scipy": lambda: module("scipy.linalg").inv("x"),
    "train": lambda: ms.Model(nn.ReLU()).train(1, 3),
}


def list_files(tb):
    """Return the file of each frame, outermost first."""
    files = []
    while tb is not None:
        files.append(tb.tb_frame.f_code.co_filename)
        tb = tb.tb_next
    return files


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("package", CASES)
def test_an_error_ends_with_the_users_line(package, mode, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context.set_context(mode=mode)
    with pytest.raises(Exception) as raised:
        CASES[package]()
    error = raised.value
    inner = [os.path.relpath(file, PACKAGE) for file in list_files(error.__traceback__) if file.startswith(PACKAGE)]
    assert any(Path(file).is_relative_to(package) for file in inner), inner
    with shortened(error, error.__traceback__) as (short, _):
        files = list_files(short)
    assert files[-1] == __file__ and not any(file.startswith(PACKAGE) for file in files)
    function = {"core/script": branch}.get(package, CASES[package])
    lines, first = inspect.getsourcelines(function)
    assert last_line(error) in [f"{Path(__file__).name}:{first + i}" for i in range(len(lines))]
