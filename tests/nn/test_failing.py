"""An error inside a network names the layer as the user wrote it."""

import inspect
import pickle

import numpy as np
import pytest

from msnb import Tensor, context, nn, ops
from msnb import dataset as ds
from msnb.nn._cell.error_notes import constructor_text


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


class Block(nn.Cell):
    def __init__(self, taken, inputs):
        super().__init__()
        self.conv = nn.Conv2d(taken, inputs, 3)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.conv(x))


CONV_LINE = inspect.getsourcelines(Block.construct)[1] + 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([Block(3, 8), Block(8, 16), Block(8, 8)])

    def construct(self, x):
        return self.body(x)


IMAGE = Tensor(np.zeros((2, 3, 8, 8), np.float32))
WRONG = (
    "Conv2d(8, 8, kernel_size=3) takes 8 channels in axis 1, but got (2, 16, 8, 8).\n"
    f"in body.2.conv (Conv2d(8, 8, kernel_size=3)), input (2, 16, 8, 8), at test_failing.py:{CONV_LINE}"
)


def test_the_layer_its_input_and_the_line_follow_the_sentence(mode):
    with pytest.raises(ValueError, match=r"^For 'Conv2D', 'x' has 16 channels") as caught:
        Net()(IMAGE)
    assert caught.value.__notes__ == [WRONG]


def test_a_train_step_around_the_network_changes_nothing(mode):
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.L1Loss()), nn.SGD(net.trainable_params(), 0.1))
    with pytest.raises(ValueError, match="For 'Conv2D'") as caught:
        step(IMAGE, IMAGE)
    assert caught.value.__notes__ == [WRONG]


def test_the_loss_goes_by_the_name_of_the_argument(mode):
    step = nn.WithLossCell(nn.ReLU(), nn.SoftmaxCrossEntropyWithLogits(sparse=True))
    with pytest.raises(Exception) as caught:  # noqa: B017, PT011 - whatever the operator says
        step(Tensor(np.zeros((2, 3), np.float32)), Tensor(np.zeros((7,), np.int32)))
    assert caught.value.__notes__[-1].startswith(
        "in loss_fn (SoftmaxCrossEntropyWithLogits()), inputs (2, 3), (7,), at "
    )


def test_an_error_of_the_users_own_stays_as_it_is(mode):
    class Raises(nn.Cell):
        def construct(self, x):
            raise ValueError("mine")

    with pytest.raises(ValueError, match="^mine$") as caught:
        nn.SequentialCell([Raises()])(IMAGE)
    assert not getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(
    ("layer", "shape", "sentence"),
    [
        (lambda: nn.Dense(4, 3), (2, 5), "Dense(4, 3) takes a last axis of 4, but got (2, 5)."),
        (lambda: nn.BatchNorm2d(8), (2, 4, 3, 3), "BatchNorm2d(8) takes 8 features in axis 1, but got (2, 4, 3, 3)."),
    ],
)
def test_a_layer_speaks_of_its_own_numbers(mode, layer, shape, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the operator's sentence is the operator's matter
        layer()(Tensor(np.zeros(shape, np.float32)))
    assert caught.value.__notes__[-1].startswith(sentence)


def test_a_layer_shows_its_constructor_arguments():
    assert constructor_text(nn.Conv2d(8, 16, 3)) == "Conv2d(8, 16, kernel_size=3)"
    assert constructor_text(nn.Conv2d(8, 16, (3, 5), 2, "pad", 1)) == (
        "Conv2d(8, 16, kernel_size=(3, 5), stride=2, pad_mode='pad', padding=1)"
    )
    assert constructor_text(nn.BatchNorm2d(8, momentum=0.5)) == "BatchNorm2d(8)"
    assert constructor_text(Net()) == "Net"


class Nothing:
    """A value that no operator can compute with."""


TAKES_ANYTHING = (
    "Identity",
    "Dropout",
    "Dropout2d",
    "Dropout3d",
    "DropoutExt",
    "Dropout2dExt",
    "Range",
)  # passes it on, or has no input


def _layers():
    """Yield every layer that can be made with three numbers or fewer, and these."""
    for name in nn.layer.__all__:
        kind = getattr(nn, name)
        if not isinstance(kind, type) or name in ("SequentialCell", "CellList", *TAKES_ANYTHING):
            continue
        for arguments in ((), (4,), (4, 4), (4, 4, 3), ("relu",)):
            try:
                kind(*arguments)
            except (TypeError, ValueError, NotImplementedError):  # it wants other arguments, or comes later
                continue
            yield pytest.param(kind, arguments, id=name)
            break


LAYERS = list(_layers())


def test_most_layers_are_walked():
    assert len(LAYERS) > 60


@pytest.mark.parametrize(("kind", "arguments"), LAYERS)
def test_every_layer_raises_with_its_path(kind, arguments, mode):
    class Holder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = nn.SequentialCell([kind(*arguments)])

        def construct(self, *inputs):
            return self.body[0](*inputs)

    required = [p for p in inspect.signature(kind.construct).parameters.values() if p.default is p.empty]
    with pytest.raises(Exception) as caught:  # noqa: B017, PT011 - each operator has its own
        Holder()(*[Nothing() for _ in required[1:]])
    assert f"in body.0 ({kind.__name__}(" in caught.value.__notes__[-1]


class One(nn.Cell):
    def construct(self, x):
        return x.sum()


def test_a_complete_batch_where_the_data_is_wanted(mode):
    with pytest.raises(TypeError, match="positional arguments but 3 were given") as caught:
        One()(IMAGE, IMAGE)
    note = caught.value.__notes__[-1]
    assert note.startswith("construct of One takes (x), but got 2 inputs. A batch of a dataset holds the label as well")
    with pytest.raises(TypeError) as caught:
        One()()
    assert caught.value.__notes__[-1].startswith("construct of One takes (x), but got 0 inputs.\nin One, inputs none")


def test_a_dataset_where_a_tensor_is_wanted(mode):
    data = ds.NumpySlicesDataset(np.ones((4, 2), np.float32), ["x"])
    with pytest.raises(Exception) as caught:  # noqa: B017, PT011 - whatever stumbles first
        nn.Dense(2, 2)(data)
    assert "iterate over it: for batch in dataset.create_tuple_iterator()" in caught.value.__notes__[-1]
    with pytest.raises(TypeError, match=r"got NumpySlicesDataset; iterate over it: for x, y in data"):
        ops.ReLU()(data)


def test_what_a_graph_raises_as_it_runs_has_its_line_alone():
    class Checks(nn.Cell):
        def construct(self, x):
            if x.sum() > 1:
                raise ValueError("too much")
            return x

    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        with pytest.raises(ValueError, match="^too much") as caught:
            Checks()(Tensor(np.ones(3, np.float32)))
    finally:
        context.set_context(mode=before)
    (note,) = caught.value.__notes__
    assert note.startswith("raised in the graph at test_failing.py:")


def test_an_error_goes_to_other_processes_with_its_note_and_without_the_cell():
    with pytest.raises(ValueError, match="For 'MatMul'") as caught:
        nn.Dense(4, 3)(Tensor(np.zeros((2, 5), np.float32)))
    twin = pickle.loads(pickle.dumps(caught.value))
    assert twin.__notes__ == caught.value.__notes__ and len(pickle.dumps(twin)) < 1000


def test_nothing_that_goes_wrong_while_telling_takes_the_place_of_the_error(mode, monkeypatch):
    monkeypatch.setattr(nn.Dense, "_input_requirement", property(lambda self: 1 / 0))
    with pytest.raises(ValueError, match="For 'MatMul'"):
        nn.Dense(4, 3)(Tensor(np.zeros((2, 5), np.float32)))
