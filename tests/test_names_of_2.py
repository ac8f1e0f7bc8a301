"""The names of MindSpore 2.10, and those of 2.7.1 that it has dropped, are there under `--api 2`, with their arguments.

tests/golden/make_names.py writes the names. A name that is not there has a reason in `msnb.common.unsupported`.
"""

import enum
import functools
import importlib
import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb.check
import msnb.mindspore2
from msnb import Parameter, Tensor
from msnb.check.deprecation import load_deprecations
from msnb.common import unsupported
from msnb.core.operator.declare import SPELLINGS

GOLDEN = Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))
from new_name_cases import CASES, evaluate  # noqa: E402

NAMES = {
    version: json.loads((GOLDEN / "names" / f"{version}.json").read_text(encoding="utf-8"))
    for version in ("2.7.1", "2.10.0")
}
ANSWERS = json.loads((GOLDEN / "new_names.json").read_text(encoding="utf-8"))
INSIDES = ("mindspore.ops.auto_generate", "mindspore.ops.operations._")
PATHS = [path for path in NAMES["2.10.0"] if not path.startswith(INSIDES)]

# Arguments that are not there, and why.
OTHER_ARGUMENTS = {
    "DynamicShape": "a shape that is known only at run time has no type here",
    "LSTM": "projections are not there; the operator is the kernel of nn.LSTM",
    "Pool": "Python's class, which MindSpore hands on",
    "RandomSampler": "the order of files, which MindRecord's readers decide themselves",
    "ResizeNearestNeighbor": "r1.1 has the corners alone",
    "RowTensor": "r1.1's constructor has the dense shape",
    "SparseTensor": "r1.1's constructor has the dense shape",
    "Range": "the length of a result needs no bound here",
    "ToType": "the argument goes by position; r1.1 calls it output_type",
    "create_group": "options of Ascend's library",
    "device_que": "a queue of Ascend's",
    "empty_like": "the argument goes by position, as in NumPy, which calls it prototype",
    "geswitch": "it raises whatever it is given",
    "infer_predict_layout": "there is no backend to skip",
    "load_distributed_checkpoint": "files of checkpoints in safetensors, cut for several processes",
    "matmul": "r1.1 has no dtype in ops.composite",
    "predict": "backends are those of MindSpore Lite",
}


@functools.cache
def home_of(path):
    """The module, class or object at a path of MindSpore, None if there is none."""
    if path == "mindspore.Parameter":  # its attributes are set by the constructor
        return Parameter(Tensor([1.0]), name="p")
    try:
        return importlib.import_module(path.replace("mindspore", "msnb.mindspore2", 1))
    except ImportError:
        parent, _, name = path.rpartition(".")
        return getattr(home_of(parent), name, None) if parent else None


def reason_of(path, name):
    """The reason why a name is not there, None if none is stated."""
    places = [path.removeprefix("mindspore").lstrip(".")]
    places += {"Parameter": ["Tensor"], "nn.Optimizer": ["nn.Cell"]}.get(places[0], [])
    return next(filter(None, (unsupported.reason(f"{place}.{name}".lstrip(".")) for place in places)), None)


def arguments_of(home, name, value):
    """Return the keywords that a callable takes; None if it takes any."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    found = {p.name for p in parameters} | {*getattr(value, "called", ())}
    for kind in ("function", "method"):
        for generation in (1, 2):
            spelling = SPELLINGS.get((kind, name, generation))
            operators = [getattr(cls, "operator", None) for cls in spelling.operators] if spelling else []
            for op in filter(None, operators):
                found |= {*op.called, *op.positions, *op.attributes}
    return found


def absent(path, names):
    """Return the names without a value and without a reason."""
    home = home_of(path)
    return [name for name in names if not hasattr(home, name) and reason_of(path, name) is None]


@pytest.mark.parametrize("path", PATHS)
def test_every_name_is_there_or_has_a_reason(path):
    assert absent(path, NAMES["2.10.0"][path]) == []


@pytest.mark.parametrize("path", PATHS)
def test_every_argument_is_taken(path):
    home, missing = home_of(path), {}
    for name, arguments in NAMES["2.10.0"][path].items():
        value = getattr(home, name, None)
        if not arguments or not callable(value) or name in OTHER_ARGUMENTS or hasattr(value, "_later"):
            continue
        if isinstance(value, enum.EnumType):  # Python's versions differ in the arguments of its call
            continue
        taken = arguments_of(home, name, value)
        lost = {*arguments.split()} - {"*", "**"} - taken if taken is not None else ()
        if lost:
            missing[name] = sorted(lost)
    assert missing == {}


def test_names_that_2_10_has_dropped_remain():
    dropped = {
        path: [name for name in names if name not in NAMES["2.10.0"].get(path, ())]
        for path, names in NAMES["2.7.1"].items()
        if not path.startswith(INSIDES)
    }
    assert dropped["mindspore.ops"] == ["chunk_ext"]
    assert {path: lost for path, names in dropped.items() if (lost := absent(path, names))} == {}


def test_a_deprecated_name_stands_in_the_list_of_names():
    listed = {f"{path}.{name}" for path, names in NAMES["2.10.0"].items() for name in names}
    assert load_deprecations().keys() <= listed
    assert load_deprecations()["mindspore.nn.ClipByNorm"] == ("2.8.0", "ops.clip_by_norm")


@pytest.mark.parametrize("case", CASES)
def test_a_new_name_gives_what_mindspore_2_10_gives(case):
    want, got = ANSWERS[case], evaluate(case, msnb.mindspore2, np)
    if isinstance(want, dict) and "error" in want:  # the class may be derived from MindSpore's
        assert "error" in got, f"{want} expected, but got {got}"
    else:
        assert got == want


def test_functions_of_2_10_that_have_no_kernel_on_its_cpu_compute_their_formulas():
    mint = msnb.mindspore2.mint
    x, y = Tensor(np.array([1.0, 2.0], np.float32)), Tensor(np.array([3.0, -4.0], np.float32))
    assert float(mint.vdot(x, y)) == -5.0
    matrix = Tensor(np.ones((2, 2), np.float32))
    assert mint.addr_(matrix, x, y, 2, 3) is matrix
    np.testing.assert_allclose(matrix.asnumpy(), 2 + 3 * np.outer(x.asnumpy(), y.asnumpy()))
    np.testing.assert_allclose(mint.npu_gelu(x, "tanh").asnumpy(), mint.nn.functional.gelu(x, approximate="tanh"))


def test_a_convolution_over_time_sums_its_windows():
    rng = np.random.default_rng(0)
    x, weight, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((6, 2, 3), (3, 3, 4), (4,)))
    padded = np.pad(x, ((1, 1), (0, 0), (0, 0)))
    want = bias + sum(padded[k : k + 6] @ weight[k] for k in range(3))
    got = msnb.mindspore2.mint.conv_tbc(Tensor(x), Tensor(weight), Tensor(bias), 1)
    np.testing.assert_allclose(got.asnumpy(), want, 1e-5, 1e-5)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_the_cosine_embedding_loss_of_mint_takes_the_last_axis(reduction):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((3, 4)).astype(np.float32) for _ in range(2))
    b[0], target = 0.0, np.array([-1, 1, -1])
    lengths = np.sqrt((a**2).sum(-1) * (b**2).sum(-1) + 1e-30)
    cosine = (a * b).sum(-1) / lengths
    losses = np.where(target == 1, 1 - cosine, np.maximum(cosine - 0.1, 0))
    want = losses if reduction == "none" else getattr(losses, reduction)()
    layer = msnb.mindspore2.mint.nn.CosineEmbeddingLoss(0.1, reduction)
    np.testing.assert_allclose(layer(Tensor(a), Tensor(b), Tensor(target)).asnumpy(), want, 1e-5, 1e-6)
    pair = msnb.mindspore2.mint.nn.functional.cosine_embedding_loss(Tensor(a[1]), Tensor(b[1]), Tensor(1))
    np.testing.assert_allclose(float(pair), 1 - cosine[1], 1e-5)


@pytest.mark.parametrize("mode", [msnb.PYNATIVE_MODE, msnb.GRAPH_MODE], ids=["pynative", "graph"])
def test_a_cotangent_goes_last_in_both_modes(mode):
    msnb.set_context(mode=mode)
    try:
        gradient = msnb.grad(lambda x, y: x * y, (0, 1), sens_param=True)
        of_x, of_y = gradient(Tensor([1.0, 2.0]), Tensor([3.0]), y=Tensor([5.0, 6.0]))
        assert of_x.asnumpy().tolist() == [15.0, 18.0] and of_y.asnumpy().tolist() == [3.0, 6.0]
        with pytest.raises(TypeError, match="cotangent"):
            gradient()
    finally:
        msnb.set_context(mode=msnb.PYNATIVE_MODE)


def test_a_device_context_returns_to_the_device_before():
    before = msnb.get_current_device()
    with msnb.DeviceCtx("CPU") as entered:
        assert isinstance(entered, msnb.DeviceCtx) and msnb.get_current_device() == ("CPU", 0)
    assert msnb.get_current_device() == before
    with pytest.raises(ValueError, match="without data"), msnb.DeviceCtx("meta"):
        pass


def test_a_module_below_a_face_is_not_loaded_twice():
    for path in ("train.callback", "nn.layer.basic"):
        module = importlib.import_module(f"msnb.mindspore2.{path}")
        assert isinstance(module, msnb.mindspore2.Face), f"{path} was loaded from its file again"


def test_check_names_the_successor_of_a_deprecated_name(tmp_path):
    program = tmp_path / "net.py"
    program.write_text(
        "import mindspore as ms\nfrom mindspore import mint, nn\nnn.ClipByNorm()\nmint.abs(ms.Tensor(1))\n"
    )
    report = msnb.check.check(program)
    (line,) = [line for line in report.lines if line.kind == "deprecated"]
    assert line.text == "nn.ClipByNorm is deprecated since MindSpore 2.8.0; its successor is ops.clip_by_norm."
    assert not report.stops


def test_settings_of_a_device_are_those_of_the_context():
    from msnb.device_context import ascend, cpu
    from msnb.device_context.gpu import op_precision

    before = msnb.get_context("gpu_config")
    try:
        op_precision.matmul_allow_tf32(True)
        assert msnb.get_context("gpu_config")["matmul_allow_tf32"] is True
        with pytest.raises(TypeError, match="value"):
            op_precision.conv_allow_tf32(1)
    finally:
        msnb.set_context(gpu_config={"matmul_allow_tf32": before.get("matmul_allow_tf32", False)})
    assert cpu.is_available() and cpu.device_count() >= 1
    ascend.op_precision.precision_mode("must_keep_origin_dtype")  # said once, without effect
