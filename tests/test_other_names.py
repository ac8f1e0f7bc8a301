"""Names and arguments that are misspelt, missing, or another framework's: each gets the sentence that helps."""

import functools
import importlib
import re

import numpy as np
import pytest
from IPython.core.error import UsageError

import msnb
from msnb import Model, Tensor, alias, context, nn, ops
from msnb import dataset as ds
from msnb.common import suggestions, unsupported
from msnb.common.arguments import answered
from msnb.common.kinds import PositiveInt, checked
from msnb.notebook.kernel import errors
from msnb.notebook.kernel.magic_options import parse
from msnb.notebook.kernel.magics import MindSporeMagics
from msnb.train.callback import LossMonitor

ROOTS = {"nn": nn, "ops": ops, "dataset": ds, "context": context, "mindspore": msnb, "Tensor": Tensor}
ROOTS |= {"net": nn.Dense(2, 2), "x": Tensor(np.zeros(2, np.float32))}
CONV2D = (
    "It takes in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, "
    "weight_init, bias_init, data_format, dtype."
)
DENSE = "It takes in_channels, out_channels, weight_init, bias_init, has_bias, activation, dtype."


def parameters():
    return nn.Dense(2, 2).trainable_params()


class Padded(nn.Conv2d):
    def __init__(self):
        super().__init__(3, 8, 3, pad="same")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: nn.Conv2d(3, 8, 3, pad="same"),
            f"Conv2d has no argument 'pad'; did you mean 'pad_mode' or 'padding'? {CONV2D}",
        ),
        (Padded, f"Conv2d has no argument 'pad'; did you mean 'pad_mode' or 'padding'? {CONV2D}"),
        (lambda: nn.Conv2d(3, 8, kernel=3), f"Conv2d has no argument 'kernel'; did you mean 'kernel_size'? {CONV2D}"),
        (lambda: nn.Dense(4), f"Dense is missing 'out_channels'. {DENSE}"),
        (lambda: nn.Dense(), f"Dense is missing 'in_channels' and 'out_channels'. {DENSE}"),
        (
            lambda: nn.Dense(in_features=3, out_features=4),
            "Dense has no argument 'in_features'; did you mean 'in_channels'? Nor has it an argument 'out_features'; "
            f"did you mean 'out_channels'? {DENSE}",
        ),
        (lambda: nn.Dense(3, 4, colour=1), f"Dense has no argument 'colour'. {DENSE}"),
        (lambda: nn.Dense(3, 4, in_channels=3), f"Dense got 'in_channels' twice, by position and by name. {DENSE}"),
        (lambda: nn.Dense(*range(8)), f"Dense takes at most 7 arguments by position, but got 8. {DENSE}"),
        (
            lambda: nn.Momentum(parameters(), lr=0.1, momentum=0.9),
            "Momentum has no argument 'lr'; did you mean 'learning_rate'? It takes params, learning_rate, momentum, "
            "weight_decay, loss_scale, use_nesterov.",
        ),
        (
            lambda: nn.Dropout(rate=0.5),
            "Dropout has no argument 'rate'; did you mean 'p' or 'keep_prob'? keep_prob is the share that is kept, "
            "1 - rate. It takes keep_prob, dtype, p.",
        ),
        (
            lambda: nn.ReLU(inplace=True),
            "ReLU has no argument 'inplace'. Leave it out: the result is always a Tensor of its own. It takes none.",
        ),
        (lambda: nn.Sigmoid(1), "Sigmoid takes no arguments, but got 1."),
        (
            lambda: nn.ReLU(ROOTS["x"]),
            "ReLU takes no arguments, but got 1. The object takes inputs: ReLU()(x).",
        ),
        (
            lambda: ops.ReduceSum(keepdim=True),
            "ReduceSum has no argument 'keepdim'; did you mean 'keep_dims'? It takes keep_dims, skip_mode.",
        ),
        (
            lambda: nn.SoftmaxCrossEntropyWithLogits(sparce=True),
            "SoftmaxCrossEntropyWithLogits has no argument 'sparce'; did you mean 'sparse'? "
            "It takes sparse, reduction.",
        ),
        (
            lambda: LossMonitor(per_print=3),
            "LossMonitor has no argument 'per_print'; did you mean 'per_print_times'? It takes per_print_times.",
        ),
        (lambda: nn.WithLossCell(nn.Dense(2, 2)), "WithLossCell is missing 'loss_fn'. It takes backbone, loss_fn."),
        (
            lambda: ds.MnistDataset("nowhere", train=True),  # rather than that there is no such folder
            "MnistDataset has no argument 'train'; did you mean 'usage'? "
            'usage names the part, such as "train". It takes '
            "dataset_dir, usage, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache.",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_answered(make, sentence):
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value) == sentence
    assert caught.value.__context__ is None


def test_a_model_says_which_argument_was_meant():
    with pytest.raises(ValueError, match=r"^Model has no argument 'loss'; did you mean 'loss_fn'\? It takes network, "):
        Model(nn.Dense(2, 2), loss=nn.MSELoss())
    with pytest.raises(TypeError, match=r"^Model is missing 'network'\. It takes network, loss_fn, optimizer, "):
        Model()


@pytest.mark.parametrize("decorator", [answered, checked])
def test_an_error_from_within_stays_what_it_is(decorator):
    class Inner(nn.Cell):
        @decorator
        def __init__(self, size: PositiveInt = 1):
            super().__init__()
            len(size)

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$"):
        Inner(size=3)
    with pytest.raises(TypeError, match=r"^Inner has no argument 'sise'; did you mean 'size'\? It takes size\.$"):
        Inner(sise=3)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nn.ModuleList", "msnb has no mindspore.nn.ModuleList: in MindSpore it is nn.CellList."),
        ("nn.Module", "msnb has no mindspore.nn.Module: in MindSpore it is nn.Cell, whose forward() is construct()."),
        ("optim.SGD", "msnb has no mindspore.optim.SGD: in MindSpore it is nn: nn.SGD, nn.Momentum, nn.Adam."),
        (
            "nn.functional.relu",
            "msnb has no mindspore.nn.functional.relu: in MindSpore it is ops, which holds functions and operators.",
        ),
    ],
)
def test_names_of_other_frameworks_are_answered(name, sentence):
    assert alias.missing(f"mindspore.{name}") == sentence


@pytest.mark.parametrize(
    ("module", "name", "answer"),
    [(nn, "ModuleList", "nn.CellList"), (ds, "TensorDataset", "dataset.NumpySlicesDataset")],
)
def test_a_notebook_adds_the_answer_to_the_error_of_a_module(module, name, answer):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    path = module.__name__.replace("msnb", "mindspore")
    said = errors.hint(caught.value) or str(caught.value)  # some modules say it by themselves
    assert said == f"msnb has no {path}.{name}: in MindSpore it is {answer}."


def test_members_of_other_frameworks_are_answered():
    x, net = ROOTS["x"], ROOTS["net"]
    with pytest.raises(AttributeError) as caught:
        x.backward()
    assert str(caught.value) == (
        "'Tensor' object has no attribute 'backward': in MindSpore it is mindspore.value_and_grad(f, None, weights) or "
        "ops.GradOperation(): gradients are functions."
    )
    assert (caught.value.name, caught.value.obj) == ("backward", x)
    with pytest.raises(AttributeError, match=r"^'Tensor' object has no attribute 'nosuch'$"):
        x.nosuch  # noqa: B018
    with pytest.raises(
        AttributeError, match=r"^'Dense' object .* 'eval': in MindSpore it is net\.set_train\(False\)\.$"
    ):
        net.eval()
    with pytest.raises(AttributeError, match=r"in MindSpore it is ops\.concat\.$"):
        msnb.concat  # noqa: B018


def not_there(answer):
    """Return the first dotted name in an answer that leads nowhere, None where all are there."""
    for root, path in re.findall(r"\b(nn|ops|dataset|context|mindspore|Tensor|net|x)\.([A-Za-z_][\w.]*\w)", answer):
        result = ROOTS[root]
        for part in path.split("."):
            if not hasattr(result, part):
                return f"{root}.{path}"
            result = getattr(result, part)
    return None


def test_what_the_answers_name_is_there_and_what_they_answer_is_not():
    tables = (suggestions.NAMES, suggestions.TENSOR, suggestions.CELL)
    assert [lacking for table in tables for answer in table.values() if (lacking := not_there(answer))] == []
    assert [n for n in suggestions.TENSOR if hasattr(ROOTS["x"], n)] == []
    assert [n for n in suggestions.CELL if hasattr(ROOTS["net"], n)] == []
    for path in suggestions.NAMES:
        *parents, name = path.split(".")
        assert not hasattr(functools.reduce(getattr, parents, msnb), name), path


# ---------------------------------------------------------------------- values that are nearly right
def float32(*shape):
    return Tensor(np.ones(shape, np.float32))


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: nn.Conv2d(3, 4, 3)(Tensor(np.ones((2, 3, 8, 8)))),
            "For 'Conv2D', the inputs should have one element type, but got x: Float64, weight: Float32. numpy makes "
            "Float64 of floats: write .astype(np.float32), or TypeCast(mindspore.float32) in the data set.",
        ),
        (
            lambda: ops.MatMul()(float32(2, 2), Tensor(np.ones((2, 2), np.int32))),
            "For 'MatMul', the inputs should have one element type, but got x1: Float32, x2: Int32.",
        ),
        (
            lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True)(float32(4, 10), float32(4, 10)),
            "For 'SoftmaxCrossEntropyWithLogits', 'labels' should be class numbers, but got Float32 of shape (4, 10); "
            "these look one-hot, which nn.SoftmaxCrossEntropyWithLogits(sparse=False) takes.",
        ),
        (
            lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(float32(4, 10), float32(4, 10)),
            "For 'SparseSoftmaxCrossEntropyWithLogits', 'labels' should be class numbers, but got Float32 of shape "
            "(4, 10); these look one-hot, which nn.SoftmaxCrossEntropyWithLogits(sparse=False) takes.",
        ),
        (
            lambda: nn.SoftmaxCrossEntropyWithLogits()(float32(4, 10), Tensor(np.arange(4, dtype=np.int32))),
            "For 'SoftmaxCrossEntropyWithLogits', 'labels' should be probabilities, Float32 of shape (4, 10), but got "
            "Int32 of shape (4,); these look like class numbers, which nn.SoftmaxCrossEntropyWithLogits(sparse=True) "
            "takes.",
        ),
    ],
)
def test_wrong_types_come_with_their_cure(mode, call, sentence):
    context.set_context(mode=mode)
    try:
        with pytest.raises(TypeError) as caught:
            call()
    finally:
        context.set_context(mode=context.GRAPH_MODE)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: nn.SequentialCell(nn.Dense(3, 3), nn.ReLU),
            "A Cell is wanted here, but got the class ReLU; ReLU(...) makes an object of it.",
        ),
        (
            lambda: Model(nn.Dense(3, 2), nn.MSELoss),
            "For 'Model', 'loss_fn' should be an object, but got the class MSELoss; MSELoss(...) makes an object of "
            "it.",
        ),
        (
            lambda: nn.TrainOneStepCell(nn.Dense(3, 2), nn.SGD),
            "For 'TrainOneStepCell', 'optimizer' should be an object, but got the class SGD; SGD(...) makes an object "
            "of it.",
        ),
        (
            lambda: Model(nn.Dense(3, 2), nn.MSELoss(), metrics={"a": nn.Accuracy}),
            "'metrics' as a dict should hold names and metrics, but 'a' is the class Accuracy; Accuracy(...) makes an "
            "object of it.",
        ),
        (
            lambda: Model(nn.Dense(3, 2)).train(1, ds.NumpySlicesDataset([1.0]), callbacks=[LossMonitor]),
            "'callbacks' should be a Callback or a list of them, but the list holds the class LossMonitor; "
            "LossMonitor(...) makes an object of it.",
        ),
        (
            lambda: nn.SGD(nn.Dense(3, 2).trainable_params),
            "For 'SGD', 'params' should be a list of Parameters, or of dicts that describe groups of them, but got the "
            "method trainable_params; trainable_params() calls it.",
        ),
        (
            lambda: msnb.load_param_into_net(nn.Dense(2, 2), "x.ckpt"),
            "For 'load_param_into_net', 'parameter_dict' should be a dict of Parameters, but got str; "
            "load_checkpoint('x.ckpt') reads one.",
        ),
    ],
)
def test_a_class_or_a_method_is_distinguished_from_an_object(make, sentence):
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value) == sentence


def test_an_option_of_a_magic_is_guessed():
    with pytest.raises(UsageError, match=r"^unrecognized arguments: --irr\. Did you mean --ir\?$"):
        parse(MindSporeMagics.mindspore_cell, "--irr")
    with pytest.raises(UsageError, match=r"^unrecognized arguments: --colour$"):
        parse(MindSporeMagics.mindspore_cell, "--colour")
    assert parse(MindSporeMagics.mindspore_cell, "--ir").ir is True


@pytest.mark.parametrize(
    "owner",
    ["boost", "common", "communication", "dataset", "dataset.transforms", "dataset.vision", "mindrecord", "nn", "ops"]
    + ["profiler", "runtime", "tools"],
)
def test_a_name_that_is_absent_on_purpose_says_why_also_as_an_attribute(owner):
    names = {n: why for why, owners in unsupported.ABSENT.items() for n in owners.get(owner, "").split()}
    module = importlib.import_module(f"msnb.{owner}")
    assert names
    for name, why in names.items():
        with pytest.raises(AttributeError) as raised:
            getattr(module, name)
        assert str(raised.value) == f"msnb has no mindspore.{owner}.{name}: {why.format(name=name)}."
    assert not hasattr(module, "__wrapped__")
