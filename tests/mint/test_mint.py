"""`mindspore.mint`, compared with results of MindSpore 2.7.1, or of PyTorch if that has no kernel for the CPU."""

import functools
import importlib.util
import json
import pathlib
import sys

import numpy as np
import pytest

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(GOLDEN), str(GOLDEN.parent / "ops")]
import mint_oracle  # noqa: E402
from make_mint import CALLS, arrays_of, key_of  # noqa: E402
from sweeps import swept  # noqa: E402

import msnb  # noqa: E402
from msnb import Tensor, context, mint  # noqa: E402

FACTS = json.loads((GOLDEN / "mint.json").read_text())
MINT = mint_oracle.MindSpore(msnb)
NEWEST = json.loads((GOLDEN / "names" / "2.10.0.json").read_text(encoding="utf-8"))
# Where a number is known to differ, and why.
NEAR = {"bicubic": 1e-2}  # MindSpore reads the weights of ResizeBicubic from a table of 1024
BY_VALUES = (
    "item(",
    "bincount(",
    "unique",
    "nonzero(",
    "masked_select(",
    "equal(",
    "allclose(",
    "where(V([True, False, True]))",
    "one_hot(V([0, 2, 1]))",
    "repeat_interleave(F(2, 3), V([1, 2])",
)
TOGETHER = 10  # calls that are one program: to compile each alone takes longer


@functools.cache
def golden():
    """Return {call: {name: array}}."""
    results = {}
    with np.load(GOLDEN / "mint.npz") as store:
        for name in store:
            key, _, part = name.rpartition("/")
            results.setdefault(key, {})[part] = store[name]
    return results


def room(call):
    """Return the module of the function or layer of a call."""
    return at((call[1] or call[0]).partition("(")[0]).__module__


def own_room(call):
    """Return the module if it belongs to mint. Gradients of functions shared with ops and nn are tested there."""
    of = room(call)
    return of if of.startswith("msnb.mint") else ""


def subject(call):
    """Return the function or layer. Functions shared with ops and nn come from their modules."""
    of = room(call)
    return (call[1] or call[0]).partition("(")[0] if of.startswith("msnb.mint") else of


def at(path):
    """Return the object at a path below mint."""
    return functools.reduce(getattr, path.split("."), mint)


def compared(key, name, got, want):
    assert got.shape == want.shape and got.dtype == want.dtype, f"{name}: {got.dtype}{got.shape}"
    near = next((limit for word, limit in NEAR.items() if word in key), 2e-4)
    np.testing.assert_allclose(got, want, near, near / 10, err_msg=name)


@pytest.fixture
def mode():
    before = context.get_context("mode")
    yield lambda new: context.set_context(mode=new)
    context.set_context(mode=before)


def agree(call, gradients):
    """Run a call and compare its results."""
    text, result = call
    want = golden()[key_of(*call)]
    got, problem = mint_oracle.answer(MINT, (text, arrays_of(text, result), result), gradients)
    assert problem is None
    assert {name for name in want if name.startswith("out")} == {name for name in got if name.startswith("out")}
    for name in want.keys() & got.keys():
        compared(key_of(*call), name, got[name], want[name])


@pytest.mark.parametrize("call", swept(CALLS, subject), ids=lambda call: key_of(*call))
def test_results_equal_mindspore_or_pytorch(call, mode):
    mode(context.PYNATIVE_MODE)
    agree(call, gradients=False)


@pytest.mark.parametrize("call", swept(CALLS, own_room), ids=lambda call: key_of(*call))
def test_gradients_equal_mindspore_or_pytorch(call, mode):
    mode(context.PYNATIVE_MODE)
    agree(call, gradients=True)


IN_A_GRAPH = [call for call in CALLS if not call[1] and not any(word in call[0] for word in BY_VALUES)]


@pytest.mark.parametrize(
    "calls",
    swept([IN_A_GRAPH[i : i + TOGETHER] for i in range(0, len(IN_A_GRAPH), TOGETHER)], lambda _: "functions"),
    ids=lambda calls: calls[0][0],
)
def test_results_in_a_graph_are_equal(calls, mode):
    boxes = [[Tensor(array) for array in arrays_of(*call)] for call in calls]
    ends = np.cumsum([0, *map(len, boxes)])

    def run(*flat):
        return tuple(
            mint_oracle.results_of(mint_oracle.called(MINT, text, flat[ends[i] : ends[i + 1]]))
            for i, (text, _) in enumerate(calls)
        )

    flat = [box for some in boxes for box in some]
    mode(context.PYNATIVE_MODE)
    plain = run(*flat)
    for (text, _), results, others in zip(calls, msnb.jit(run)(*flat), plain, strict=True):
        for got, want in zip(results, others, strict=True):
            got, want = Tensor(got), Tensor(want)  # some give Python's numbers
            assert got.dtype == want.dtype, text
            np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), 2e-4, 2e-5, err_msg=text)


class Small(msnb.nn.Cell):
    """A network of mint's layers."""

    def __init__(self):
        super().__init__()
        # without a bias: its gradient before a norm is rounding noise, of which AdamW makes whole steps
        self.conv = mint.nn.Conv2d(1, 2, 3, padding="same", padding_mode="reflect", bias=False)
        self.norm = mint.nn.BatchNorm2d(2)
        self.act = mint.nn.GELU("tanh")
        self.out = mint.nn.Linear(2 * 4 * 4, 3)

    def construct(self, x):
        return self.out(mint.flatten(self.act(self.norm(self.conv(x))), 1))


def train():
    """Return the losses of three steps, and the running statistics after them."""
    net = MINT.begin(Small())
    optimizer = mint.optim.AdamW(net.trainable_params(), lr=0.05)
    loss = mint.nn.CrossEntropyLoss()
    step = msnb.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    x = Tensor(mint_oracle.start((4, 1, 4, 4), 3))
    y = Tensor(np.array([0, 2, 1, 0], np.int32))
    losses = []
    for _ in range(3):
        value, gradients = step(x, y)
        optimizer(gradients)
        losses.append(float(value))
    return losses, net.norm.running_mean.asnumpy(), net.norm.running_var.asnumpy(), int(net.norm.num_batches_tracked)


def test_network_of_mint_layers_trains_equally_in_both_modes(mode):
    mode(context.PYNATIVE_MODE)
    losses, mean, variance, count = train()
    mode(context.GRAPH_MODE)
    others = train()
    assert losses[0] > losses[-1] and count == others[-1] == 3
    np.testing.assert_allclose(losses, others[0], 1e-4)
    np.testing.assert_allclose(mean, others[1], 1e-4, 1e-6)
    np.testing.assert_allclose(variance, others[2], 1e-4)


def test_batch_norm_updates_running_statistics_like_pytorch():
    layer = mint.nn.BatchNorm1d(1)
    layer.set_train()
    layer(Tensor(np.array([[1.0], [3.0]], np.float32)))
    np.testing.assert_allclose(layer.running_mean.asnumpy(), [0.2], 1e-6)  # a tenth of the mean 2
    np.testing.assert_allclose(layer.running_var.asnumpy(), [1.1], 1e-6)  # nine tenths of 1, a tenth of the unbiased 2
    total = mint.nn.BatchNorm1d(1, momentum=None)
    total.set_train()
    for value in (1.0, 3.0):
        total(Tensor(np.array([[value], [value]], np.float32)))
    np.testing.assert_allclose(total.running_mean.asnumpy(), [2.0], 1e-6)  # the mean of all batches


@pytest.mark.parametrize("amsgrad", [False, True])
def test_adam_adds_epsilon_after_bias_correction(amsgrad):
    weight = msnb.Parameter(Tensor(np.array([1.0, -2.0], np.float32)), name="weight")
    optimizer = mint.optim.Adam([weight], lr=0.1, betas=(0.8, 0.9), eps=0.3, weight_decay=0.1, amsgrad=amsgrad)
    value, mean, square, largest = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2), np.zeros(2)
    for step, raw_gradient in enumerate(([0.5, -1.0], [0.1, 0.2]), 1):
        optimizer((Tensor(np.array(raw_gradient, np.float32)),))
        gradient = np.array(raw_gradient) + 0.1 * value
        mean, square = 0.8 * mean + 0.2 * gradient, 0.9 * square + 0.1 * gradient**2
        largest = np.maximum(largest, square)
        root = np.sqrt((largest if amsgrad else square) / (1 - 0.9**step))
        value = value - 0.1 * mean / (1 - 0.8**step) / (root + 0.3)
    np.testing.assert_allclose(weight.asnumpy(), value, 1e-5)


def test_random_numbers_have_the_requested_shape_dtype_and_range():
    msnb.set_seed(1)
    assert mint.rand(2, 3).shape == mint.randn((2, 3)).shape == mint.randint(5, (2, 3)).shape == (2, 3)
    assert mint.rand(4, dtype=msnb.float16).dtype == msnb.float16
    assert mint.rand_like(Tensor(np.ones(4, np.float16))).dtype == msnb.float16
    integers = mint.randint(2, 5, (200,))
    assert integers.dtype == msnb.int64 and set(integers.asnumpy().tolist()) == {2, 3, 4}
    assert set(mint.randint_like(Tensor(np.zeros(200, np.int32)), 3).asnumpy().tolist()) == {0, 1, 2}
    assert sorted(mint.randperm(6).asnumpy().tolist()) == list(range(6))
    assert mint.randn_like(Tensor(np.zeros((2, 2), np.float32))).shape == (2, 2)
    assert mint.normal(10.0, 0.1, (3,)).asnumpy().min() > 5
    assert mint.normal(Tensor(np.array([[0.0], [100.0]], np.float32)), 1.0).shape == (2, 1)
    assert mint.bernoulli(Tensor(np.array([0.0, 1.0], np.float32))).asnumpy().tolist() == [0.0, 1.0]
    picked = mint.multinomial(Tensor(np.array([0.0, 1.0, 1.0], np.float32)), 2)
    assert picked.dtype == msnb.int64 and sorted(picked.asnumpy().tolist()) == [1, 2]
    assert mint.empty(2, 3, dtype=msnb.int32).shape == mint.empty((2, 3)).shape == (2, 3)


def test_in_place_functions_return_their_input():
    functional = mint.nn.functional
    for write, plain in (
        (functional.relu_, functional.relu),
        (functional.elu_, functional.elu),
        (functional.hardtanh_, functional.hardtanh),
        (functional.sigmoid_, functional.sigmoid),
        (lambda x: functional.threshold_(x, 0.5, 3.0), lambda x: functional.threshold(x, 0.5, 3.0)),
        (lambda x: functional.silu(x, inplace=True), functional.silu),
        (lambda x: mint.nn.ReLU6(inplace=True)(x), functional.relu6),
    ):
        x = Tensor(np.array([-2.0, 0.25, 7.0], np.float32))
        want = plain(x).asnumpy()
        assert write(x) is x
        np.testing.assert_allclose(x.asnumpy(), want, 1e-6)


def test_einsum_promotes_its_operands():
    product = mint.einsum("i,j->ij", Tensor(np.int64([1, 2])), Tensor(np.float32([1, 3])))
    assert product.dtype == msnb.float32 and product.asnumpy().tolist() == [[1, 3], [2, 6]]


@pytest.mark.parametrize("which", [context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
def test_repeat_interleave_accepts_a_tensor(mode, which):
    mode(which)
    repeated = msnb.ops.grad(lambda x, n: (mint.repeat_interleave(x, n) * mint.arange(4)).sum())
    assert repeated(Tensor(np.float32([1, 2])), Tensor([1, 3])).asnumpy().tolist() == [0, 6]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: mint.cat((x, x), axis=0), TypeError, "axis"),
        (lambda x: mint.all(x, axis=0), TypeError, "'all'.*'axis'.*dim"),
        (lambda x: mint.all(x, 0, True, 1), TypeError, "'all'.*3 arguments"),
        (lambda x: mint.select(x, 0, 5), ValueError, "'select'.*'index'"),
        (lambda x: mint.max(x, keepdim=True), TypeError, "'max'.*'keepdim'"),
        (lambda x: mint.clamp(x, x, 2.0), TypeError, "'clamp'.*both"),
        (lambda x: mint.clamp(x, 0, True), ValueError, "'clamp'.*bool"),
        (lambda x: mint.norm(x, "odd"), ValueError, "'norm'.*'p'"),
        (lambda x: mint.cdist(x, x, compute_mode="fast"), ValueError, "'cdist'.*'compute_mode'"),
        (lambda x: mint.unique(x, dim=5), ValueError, "'unique'.*'dim'"),
        (lambda x: mint.randint(1, 2, 3, 4), TypeError, "'randint'"),
        (lambda x: mint.batch_norm_stats(x, 1e-5), NotImplementedError, "nn.functional.batch_norm"),
        (lambda x: mint.distributed.all_reduce(x), NotImplementedError, "mindspore.parallel"),
        (lambda x: mint.nn.functional.conv2d(x, x, padding="all"), ValueError, "'conv2d'.*'padding'"),
        (lambda x: mint.nn.Conv2d(3, 4, 3, groups=2), ValueError, "'Conv2d'.*'in_channels'"),
        (lambda x: mint.nn.Conv2d(2, 4, (3, 3, 3)), ValueError, "'Conv2d'.*'kernel_size'"),
        (lambda x: mint.nn.Conv2d(2, 4, 3, 2, "same"), ValueError, "'Conv2d'.*'stride'"),
        (lambda x: mint.nn.GroupNorm(3, 4), ValueError, "'GroupNorm'.*'num_channels'"),
        (lambda x: mint.nn.BatchNorm2d(2)(x), ValueError, "'BatchNorm2d'.*4 dims"),
        (lambda x: mint.nn.ZeroPad1d((1, 2, 3)), ValueError, "'ZeroPad1d'.*'padding'"),
    ],
)
def test_errors_contain_the_name_of_mint(call, error, says):
    with pytest.raises(error, match=says):
        call(Tensor(np.ones((2, 3), np.float32)))


def test_mint_has_the_names_and_arguments_of_mindspore():
    wrong = {}
    for path, expected in FACTS["names"].items():
        function, refuses = at(path), hasattr(at(path), "_later")
        if expected and not refuses:
            path_of_names, _, name = f"mindspore.mint.{path}".rpartition(".")
            later = {*NEWEST.get(path_of_names, {}).get(name, "").split()} - {n.rstrip("=") for n in expected}
            names = [n for n in mint_oracle.arguments(function) if n.rstrip("=") not in later]
            pairs = zip(names, expected, strict=False)
            if len(names) != len(expected) or any(
                a != b and a != f"{b}=" for a, b in pairs
            ):  # a default more is welcome
                wrong[path] = names, expected
    assert wrong == {}


def test_page_of_mint_is_the_output_of_its_script():
    spec = importlib.util.spec_from_file_location("page_of_mint", GOLDEN.parents[1] / "docs" / "make_mint.py")
    printer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(printer)
    assert printer.PAGE.read_text(encoding="utf-8") == printer.page(), "run `python docs/make_mint.py`"


def test_generated_operators_accept_the_arguments_of_mint():
    from msnb.mint import _generated

    for name in {*_generated._CLASSES, *_generated.FUNCTIONS}:
        operator = _generated.generated(name)
        assert callable(operator.function) and set(operator.settings).isdisjoint(operator.arguments), name
        assert issubclass(operator, msnb.ops.Primitive), name


def test_generated_operators_equal_mint():
    from msnb.ops import auto_generate
    from msnb.ops.function import nn_func

    x, y = Tensor(np.arange(12.0, dtype=np.float32).reshape(3, 4)), Tensor(np.ones((3, 4), np.float32))
    for result, expected in [
        (auto_generate.AddExt()(x, y, 3), mint.add(x, y, alpha=3)),
        (auto_generate.AddExt()(x, other=y), mint.add(x, y)),
        (auto_generate.StackExt(1)((x, y)), mint.stack((x, y), 1)),
        (auto_generate.StackExt(dim=-1)((x, y)), mint.stack((x, y), -1)),
        (auto_generate.SliceExt()(x, -1, 1, 4, 2), x[:, 1:4:2]),
        (auto_generate.UpsampleNearest2D()(x.view(1, 1, 3, 4), [6, 8]), x.repeat(2, 0).repeat(2, 1).view(1, 1, 6, 8)),
        (auto_generate.sum_ext(x, 0), mint.sum(x, 0)),
        (nn_func.pad_ext(x, [1, 0]), mint.nn.functional.pad(x, [1, 0])),
    ]:
        np.testing.assert_array_equal(result.asnumpy(), expected.asnumpy())
    with pytest.raises(TypeError, match="'StackExt', at most 1 arguments"):
        auto_generate.StackExt()(x, y)
    with pytest.raises(TypeError, match="'SumExt', there is no argument 'dim'; it takes none"):
        auto_generate.SumExt(dim=1)
    with pytest.raises(AttributeError, match="NoSuchExt"):
        _ = auto_generate.NoSuchExt


def test_a_single_process_is_the_first_of_one():
    assert (mint.distributed.get_rank(), mint.distributed.get_world_size()) == (0, 1)
    with pytest.raises(ValueError, match="nope"):
        mint.distributed.get_world_size("nope")
