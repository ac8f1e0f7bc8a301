"""`mindspore.mint` beside MindSpore 2.7.1, or PyTorch where that has no kernel for the CPU (tests/golden/mint.npz)."""

import functools
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
# Where a number is known to differ, and why.
NEAR = {"bicubic": 5e-4}  # MindSpore reads the weights of ResizeBicubic from a table of 1024
OTHER = {("binary_cross_entropy(", "grad1"), ("BCELoss", "grad1")}  # r1.1's operator has no gradient for its labels
BY_VALUES = (
    "item(",
    "bincount(",
    "unique",
    "nonzero(",
    "masked_select(",
    "equal(",
    "allclose(",
    "where(V([True, False, True]))",
)
TOGETHER = 10  # calls that are one program: to compile each alone takes longer


@functools.cache
def golden():
    """{call: {name: array}}."""
    found = {}
    with np.load(GOLDEN / "mint.npz") as store:
        for name in store:
            key, _, part = name.rpartition("/")
            found.setdefault(key, {})[part] = store[name]
    return found


def room(call):
    """The module of the function or layer that a call is about."""
    return at((call[1] or call[0]).partition("(")[0]).__module__


def subject(call):
    """The function or layer; what mint shares with ops and nn is of the module there."""
    of = room(call)
    return (call[1] or call[0]).partition("(")[0] if of.startswith("msnb.mint") else of


def at(path):
    """What stands at a path below mint."""
    return functools.reduce(getattr, path.split("."), mint)


def compared(key, name, got, want):
    if any(word in key and name == part for word, part in OTHER):
        return
    assert got.shape == want.shape and got.dtype == want.dtype, f"{name}: {got.dtype}{got.shape}"
    near = next((limit for word, limit in NEAR.items() if word in key), 2e-4)
    np.testing.assert_allclose(got, want, near, near / 10, err_msg=name)


@pytest.fixture
def mode():
    before = context.get_context("mode")
    yield lambda new: context.set_context(mode=new)
    context.set_context(mode=before)


def agree(call, gradients):
    """Run a call, and compare what it gives."""
    text, made = call
    want = golden()[key_of(*call)]
    got, problem = mint_oracle.answer(MINT, (text, arrays_of(text, made), made), gradients)
    assert problem is None
    assert {name for name in want if name.startswith("out")} == {name for name in got if name.startswith("out")}
    for name in want.keys() & got.keys():
        compared(key_of(*call), name, got[name], want[name])


@pytest.mark.parametrize("call", swept(CALLS, subject), ids=lambda call: key_of(*call))
def test_a_call_gives_what_mindspore_or_pytorch_gives(call, mode):
    mode(context.PYNATIVE_MODE)
    agree(call, gradients=False)


@pytest.mark.parametrize("call", swept(CALLS, room), ids=lambda call: key_of(*call))
def test_its_gradients_are_theirs_too(call, mode):
    mode(context.PYNATIVE_MODE)
    agree(call, gradients=True)


IN_A_GRAPH = [call for call in CALLS if not call[1] and not any(word in call[0] for word in BY_VALUES)]


@pytest.mark.parametrize(
    "calls",
    swept([IN_A_GRAPH[i : i + TOGETHER] for i in range(0, len(IN_A_GRAPH), TOGETHER)], lambda _: "functions"),
    ids=lambda calls: calls[0][0],
)
def test_calls_give_the_same_in_a_graph(calls, mode):
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
            assert got.dtype == want.dtype, text
            np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), 2e-4, 2e-5, err_msg=text)


class Small(msnb.nn.Cell):
    """A network of mint's layers."""

    def __init__(self):
        super().__init__()
        self.conv = mint.nn.Conv2d(1, 2, 3, padding="same", padding_mode="reflect")
        self.norm = mint.nn.BatchNorm2d(2)
        self.act = mint.nn.GELU("tanh")
        self.out = mint.nn.Linear(2 * 4 * 4, 3)

    def construct(self, x):
        return self.out(mint.flatten(self.act(self.norm(self.conv(x))), 1))


def trained():
    """The losses of three steps, and what the running statistics are after them."""
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


def test_a_network_of_mints_layers_trains_alike_in_both_modes(mode):
    mode(context.PYNATIVE_MODE)
    losses, mean, variance, count = trained()
    mode(context.GRAPH_MODE)
    others = trained()
    assert losses[0] > losses[-1] and count == others[-1] == 3
    np.testing.assert_allclose(losses, others[0], 1e-4)
    np.testing.assert_allclose(mean, others[1], 1e-4, 1e-6)
    np.testing.assert_allclose(variance, others[2], 1e-4)


def test_a_batch_norm_moves_its_running_statistics_as_pytorch_does():
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


def test_mint_has_the_names_of_mindspore_and_their_arguments():
    wrong = {}
    for path, wanted in FACTS["names"].items():
        found, refuses = at(path), hasattr(at(path), "_later")
        if wanted and not refuses:
            own = mint_oracle.arguments(found)
            pairs = zip(own, wanted, strict=False)
            if len(own) != len(wanted) or any(a != b and a != f"{b}=" for a, b in pairs):  # a default more is welcome
                wrong[path] = own, wanted
    assert wrong == {}
