"""Layers as they are built: argument checks, Parameter names, printing, training switches, containers."""

from collections import OrderedDict

import numpy as np
import pytest

import msnb as ms
from msnb import context, mint, nn, ops


def _t(*shape):
    return ms.Tensor(np.ones(shape, np.float32))


WRONG = {
    "Dense(0, 3)": ValueError,
    "Dense(3., 3)": TypeError,
    "Dense(3, '3')": TypeError,
    "Dense(3, 3, has_bias=1)": TypeError,
    "Dense(3, 3, activation=3)": TypeError,
    "Dense(3, 3, activation='none')": KeyError,
    "Dense(3, 3, weight_init=T(2, 3))": ValueError,
    "Dense(3, 3, bias_init=T(2))": ValueError,
    "Dense(3, 3, 'no_such')": ValueError,
    "Conv2d(0, 3, 3)": ValueError,
    "Conv2d(3., 3, 3)": TypeError,
    "Conv2d(3, 3, 0)": ValueError,
    "Conv2d(3, 3, -7)": ValueError,
    "Conv2d(3, 3, 3.5)": TypeError,
    "Conv2d(3, 3, (3, 3, 3))": TypeError,
    "Conv2d(3, 3, 3, 0)": ValueError,
    "Conv2d(3, 3, 3, 1, 'full')": ValueError,
    "Conv2d(3, 3, 3, 1, 'same', 1)": ValueError,
    "Conv2d(3, 3, 3, 1, 'valid', (0, 1, 0, 0))": ValueError,
    "Conv2d(3, 3, 3, 1, 'pad', -1)": ValueError,
    "Conv2d(3, 3, 3, 1, 'pad', 1.5)": TypeError,
    "Conv2d(3, 3, 3, dilation=0)": ValueError,
    "Conv2d(3, 3, 3, group=2)": ValueError,
    "Conv2d(4, 3, 3, group=2)": ValueError,
    "Conv2d(3, 3, 3, has_bias=1)": TypeError,
    "Conv2d(3, 3, 3, data_format='CHWN')": ValueError,
    "Conv1d(3, 3, (3,))": TypeError,
    "Conv1d(3, 3, 0)": ValueError,
    "Conv1d(3, 3, 3, padding=1)": ValueError,
    "Conv2dTranspose(3, 3, 3, padding=1)": ValueError,
    "Conv2dTranspose(3, 3, 3, pad_mode='pad', padding=(1, 1))": ValueError,
    "Conv1dTranspose(3, 3, 3, padding=-1)": ValueError,
    "MaxPool2d(0)": ValueError,
    "MaxPool2d(2.5)": TypeError,
    "MaxPool2d((1, 2, 3))": ValueError,
    "MaxPool2d(2, 0)": ValueError,
    "MaxPool2d(2, 1, 'full')": ValueError,
    "MaxPool2d(2, padding=1)": ValueError,
    "MaxPool2d(2, 1, 'pad', 'NHWC')": ValueError,
    "AvgPool2d(2, divisor_override=0)": ValueError,
    "Conv3d(2, 2, (3, 3))": TypeError,
    "Conv3d(2, 2, 3, padding=1)": ValueError,
    "Conv3d(2, 2, 3, data_format='NDHWC')": ValueError,
    "Conv3dTranspose(2, 2, 3, output_padding=1)": ValueError,
    "Conv3dTranspose(2, 3, 3, group=2)": ValueError,
    "ConstantPad2d((1, 2, 3), 0)": ValueError,
    "ReflectionPad2d(-1)": ValueError,
    "ZeroPad2d(1.5)": TypeError,
    "MultiheadAttention(8, 3)": ValueError,
    "MaxPool2d(2, 1, data_format='CHWN')": ValueError,
    "AvgPool2d(2, -1)": ValueError,
    "AvgPool1d((1, 2))": TypeError,
    "MaxPool1d(2, 0)": ValueError,
    "AdaptiveAvgPool2d(-1)": ValueError,
    "AdaptiveMaxPool2d((2, '2'))": TypeError,
    "BatchNorm2d(0)": ValueError,
    "BatchNorm2d('3')": TypeError,
    "BatchNorm2d(3, momentum=1.1)": ValueError,
    "BatchNorm2d(3, momentum=-0.1)": ValueError,
    "BatchNorm2d(3, use_batch_statistics=1)": TypeError,
    "BatchNorm1d(0)": ValueError,
    "GlobalBatchNorm(3, device_num_each_group=1)": ValueError,
    "InstanceNorm2d(0)": ValueError,
    "LayerNorm(3)": TypeError,
    "GroupNorm(2, 3)": ValueError,
    "GroupNorm(0, 3)": ValueError,
    "GroupNorm(1, 3, affine=1)": TypeError,
    "GroupNorm(1, 3, eps=1)": TypeError,
    "Dropout(0.)": ValueError,
    "Dropout(1.1)": ValueError,
    "Dropout(-0.5)": ValueError,
    "Dropout('0.5')": TypeError,
    "Dropout(p=1.0)": ValueError,
    "Embedding(3., 4)": TypeError,
    "Embedding(3, 4, use_one_hot=1)": TypeError,
    "Embedding(3, 4, padding_idx=5)": ValueError,
    "EmbeddingLookup(3, 0)": ValueError,
    "EmbeddingLookup(3, 4, target='GPU')": ValueError,
    "EmbeddingLookup(3, 4, sparse=False)": ValueError,
    "EmbeddingLookup(3, 4, slice_mode='other')": ValueError,
    "MultiFieldEmbeddingLookup(3, 4, 2, operator='PROD')": ValueError,
    "LSTM(3, 0)": ValueError,
    "LSTM(3, 4, batch_first=1)": TypeError,
    "LSTM(3, 4, dropout=1.5)": ValueError,
    "Pad([[1, 1]])": TypeError,
    "Pad(((1, 1, 1),))": ValueError,
    "Pad(((1, 1),), mode='WRAP')": ValueError,
    "OneHot(axis='1')": TypeError,
    "OneHot(depth=-1)": ValueError,
    "Norm(keep_dims=1)": TypeError,
    "ClipByNorm(axis='1')": TypeError,
    "Unfold((1, 2, 2), (1, 1, 1, 1), (1, 1, 1, 1))": ValueError,
    "Unfold(2, (1, 1, 1, 1), (1, 1, 1, 1))": TypeError,
    "Unfold((1, 2, 2, 1), (1, 1, 1, 1), (1, 1, 1, 1), 'full')": ValueError,
    "L1Regularizer(0)": ValueError,
    "L1Regularizer('1')": TypeError,
    "L1Regularizer(float('inf'))": ValueError,
    "Range(0, 3, 0)": ValueError,
    "Range('0')": TypeError,
    "ReduceLogSumExp('0')": TypeError,
    "MatMul(1)": TypeError,
    "Moments('0')": TypeError,
    "SSIM(max_val=0)": ValueError,
    "SSIM(filter_size=1.5)": TypeError,
    "SSIM(filter_sigma=0.)": ValueError,
    "MSSSIM(power_factors=0.5)": TypeError,
    "PSNR(max_val='1')": TypeError,
    "CentralCrop(0.)": ValueError,
    "CentralCrop(1)": TypeError,
    "LeakyReLU('0.2')": TypeError,
    "PReLU(1, '0.25')": TypeError,
    "Softmax('0')": TypeError,
    "SequentialCell(3)": TypeError,
    "SequentialCell([3])": TypeError,
    "CellList(3)": TypeError,
    "CellList([3])": TypeError,
    "Conv2dBnAct(3, 3, 3, has_bn=1)": TypeError,
    "DenseBnAct(3, 3, activation=1)": TypeError,
    "get_activation('none')": KeyError,
    "L1Loss('max')": ValueError,
    "MSELoss(3)": ValueError,
    "SmoothL1Loss(0.)": ValueError,
    "SoftmaxCrossEntropyWithLogits(reduction='max')": ValueError,
    "SoftmaxCrossEntropyWithLogits(sparse=1)": TypeError,
    "BCELoss(reduction='max')": ValueError,
    "BCELoss(weight=[1.0])": TypeError,
    "NLLLoss(weight=3)": TypeError,
    "CrossEntropyLoss(label_smoothing=1.5)": ValueError,
    "HuberLoss(delta=0)": ValueError,
    "KLDivLoss('max')": ValueError,
    "ELU('1')": TypeError,
    "CELU(0.)": ValueError,
    "Hardtanh(1, 1)": ValueError,
    "ReLU(1)": TypeError,
    "CosineEmbeddingLoss(margin=2.)": ValueError,
    "CosineEmbeddingLoss(margin=1)": TypeError,
    "SampledSoftmaxLoss(8, 7)": ValueError,
    "SampledSoftmaxLoss(3, 7, 0)": ValueError,
    "SampledSoftmaxLoss(3, 7, seed=-1)": ValueError,
    "SampledSoftmaxLoss(3, 7, sampled_values=3)": TypeError,
    "SampledSoftmaxLoss(3, 7, sampled_values=T(1))": TypeError,
    "SampledSoftmaxLoss(3, 7, sampled_values=(1, 2))": ValueError,
    "Conv2dBnFoldQuant(3, 3, 3, momentum=2.)": ValueError,
    "Conv2dQuant(3, 3, 3, quant_dtype='INT8')": TypeError,
    "DenseQuant(3, 3, quant_dtype=8)": TypeError,
    "FakeQuantWithMinMaxObserver(2, 1)": ValueError,
    "FakeQuantWithMinMaxObserver(num_channels=0)": ValueError,
    "ActQuant('relu')": TypeError,
    "MulQuant(ema_decay=1.5)": ValueError,
    "TensorAddQuant(ema_decay='1')": TypeError,
    "probability.distribution.Normal(0.0, -1.0)": ValueError,
}


@pytest.mark.parametrize(("expression", "error"), WRONG.items())
def test_a_wrong_argument_is_refused(expression, error):
    with pytest.raises(error):
        eval(f"nn.{expression}", {"nn": nn, "T": _t})


def test_a_layer_of_one_operator_holds_it_where_libraries_look_for_it():
    attributes = {"ReLU": "relu", "GELU": "gelu", "FastGelu": "fast_gelu", "Softmax": "softmax", "HSwish": "hswish"}
    for name, attribute in attributes.items():
        assert isinstance(getattr(getattr(nn, name)(), attribute), ops.Primitive)
    assert nn.MaxPool1d(2).max_pool.name == "MaxPool" and nn.AvgPool2d(2).avg_pool.name == "AvgPool"


def test_no_layer_is_another_of_other_dimensions():
    nets = [nn.BatchNorm1d(2), nn.BatchNorm2d(2), nn.BatchNorm3d(2), nn.Conv1d(2, 2, 1), nn.Conv2d(2, 2, 1)]
    nets += [nn.Conv1dTranspose(2, 2, 1), nn.Conv2dTranspose(2, 2, 1), nn.MaxPool1d(), nn.MaxPool2d()]
    for net in nets:
        assert [type(other) for other in nets if isinstance(other, type(net))] == [type(net)]


def test_layers_derive_from_layers_and_compute_something_else():
    class Shifted(nn.Dense):
        def __init__(self, *sizes):
            super().__init__(*sizes, weight_init="ones")

        def construct(self, x):
            return self.matmul(x, self.weight) + 1

    class Negative(nn.ReLU):
        def construct(self, x):
            return -super().construct(-x)

    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        assert Negative()(Shifted(3, 2)(-_t(1, 3))).asnumpy().tolist() == [[-2, -2]]
    context.set_context(mode=context.PYNATIVE_MODE)
    with pytest.raises(TypeError, match="For 'Shifted', 'in_channels' should be a positive int"):
        Shifted("3", 2)


@pytest.mark.parametrize(
    ("net", "inputs"),
    [
        (nn.Dense(3, 2), (_t(2, 4),)),
        (nn.Conv2d(3, 2, 3), (_t(1, 4, 5, 5),)),
        (nn.Conv2d(3, 2, 3), (_t(3, 5, 5),)),
        (nn.Conv1d(3, 2, 3), (_t(1, 3, 5, 5),)),
        (nn.MaxPool2d(2), (_t(3, 5),)),
        (nn.MaxPool1d(2), (_t(5),)),
        (nn.AvgPool1d(2), (_t(1, 3, 5, 5),)),
        (nn.BatchNorm1d(3), (_t(2, 3, 4, 4),)),
        (nn.BatchNorm2d(3), (_t(2, 3),)),
        (nn.BatchNorm2d(3), (_t(2, 4, 5, 5),)),
        (nn.GroupNorm(1, 3), (_t(2, 4, 5, 5),)),
        (nn.GroupNorm(1, 3), (_t(3),)),
        (nn.InstanceNorm2d(3), (_t(2, 3),)),
        (nn.SSIM(), (_t(1, 1, 8, 8), _t(1, 1, 8, 8))),
        (nn.PSNR(), (_t(1, 1, 8, 8), _t(1, 1, 8, 9))),
        (nn.CentralCrop(0.5), (_t(8, 8),)),
        (nn.ImageGradients(), (_t(8, 8),)),
        (nn.MatMul(), (_t(2, 3), _t(2, 3))),
        (nn.MatrixSetDiag(), (_t(2, 3), _t(3))),
        (nn.CosineEmbeddingLoss(), (_t(2, 3), _t(2, 4), _t(2))),
        (nn.CosineEmbeddingLoss(), (_t(2, 3), _t(2, 3), _t(3))),
        (nn.SoftmaxCrossEntropyWithLogits(), (_t(2, 3), _t(2, 4))),
        (nn.NLLLoss(), (_t(2, 3), ms.Tensor([1, 2, 0]))),
        (nn.ResizeBilinear(), (_t(1, 1, 3, 3),)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_input_of_the_wrong_shape_is_refused(net, inputs):
    with pytest.raises(ValueError):
        net(*inputs)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, has_bias=True)
        self.bn1 = nn.BatchNorm2d(4)
        self.blocks = nn.SequentialCell([nn.Conv2dBnAct(4, 4, 3, has_bn=True, activation="relu"), nn.ReLU()])
        self.cells = nn.CellList([nn.Dense(4, 4), nn.LayerNorm((4,))])
        self.embedding = nn.Embedding(5, 4)
        self.prelu = nn.PReLU()

    def construct(self, x):
        return self.blocks(self.bn1(self.conv(x)))


def test_parameters_are_named_as_mindspore_names_them():
    assert [p.name for p in Net().get_parameters()] == [
        "conv.weight",
        "conv.bias",
        "bn1.moving_mean",
        "bn1.moving_variance",
        "bn1.gamma",
        "bn1.beta",
        "blocks.0.conv.weight",
        "blocks.0.batchnorm.moving_mean",
        "blocks.0.batchnorm.moving_variance",
        "blocks.0.batchnorm.gamma",
        "blocks.0.batchnorm.beta",
        "cells.0.weight",
        "cells.0.bias",
        "cells.1.gamma",
        "cells.1.beta",
        "embedding.embedding_table",
        "prelu.w",
    ]


def test_moving_statistics_and_a_norm_that_is_not_affine_are_not_trained():
    assert [p.name for p in nn.BatchNorm2d(3).trainable_params()] == ["gamma", "beta"]
    assert nn.BatchNorm2d(3, affine=False).trainable_params() == []


def test_initial_values_follow_their_arguments():
    net = nn.BatchNorm2d(2, gamma_init=2, beta_init=ms.Tensor([1.0, 3.0]), moving_mean_init="ones", moving_var_init=4)
    assert [p.asnumpy().tolist() for p in net.get_parameters()] == [[1, 1], [4, 4], [2, 2], [1, 3]]
    table = nn.Embedding(4, 2, padding_idx=1).embedding_table.asnumpy()
    assert (table[1] == 0).all() and (table[0] != 0).any()
    assert nn.Dense(2, 2, weight_init=0.5, bias_init="ones")(_t(1, 2)).asnumpy().tolist() == [[2, 2]]


@pytest.mark.parametrize(
    ("net", "text"),
    [
        (nn.Dense(3, 2), "Dense<input_channels=3, output_channels=2, has_bias=True>"),
        (nn.Dense(3, 2, has_bias=False), "Dense<input_channels=3, output_channels=2>"),
        (
            nn.Conv2d(3, 2, 3),
            "Conv2d<input_channels=3, output_channels=2, kernel_size=(3, 3),stride=(1, 1),  pad_mode=same, padding=0, "
            "dilation=(1, 1), group=1, has_bias=Falseweight_init=normal, bias_init=zeros, format=NCHW>",
        ),
        (
            nn.Conv1d(3, 2, 3),
            "Conv1d<input_channels=3, output_channels=2, kernel_size=(1, 3),stride=(1, 1),  pad_mode=same, "
            "padding=(0, 0, 0, 0), dilation=(1, 1), group=1, has_bias=False,weight_init=normal, bias_init=zeros>",
        ),
        (nn.MaxPool2d(2, 2), "MaxPool2d<kernel_size=2, stride=2, pad_mode=VALID>"),
        (nn.Dropout(0.9), "Dropout<keep_prob=0.9>"),
        (nn.Norm(axis=1), "Norm<axis=1, keep_dims=False>"),
        (nn.GroupNorm(2, 4), "GroupNorm<num_groups=2, num_channels=4>"),
        (nn.Flatten(), "Flatten<>"),
        (
            nn.SequentialCell([nn.ReLU(), nn.Flatten()]),
            "SequentialCell<\n  (0): ReLU<>\n  (1): Flatten<>\n  >",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Cell) else "text",
)
def test_a_layer_prints_as_in_mindspore(net, text):
    assert repr(net) == text


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=context.PYNATIVE_MODE)


def test_dropout_acts_only_after_set_train(mode):
    ms.set_seed(1)
    net, x = nn.Dropout(0.75), _t(100, 100)
    assert (net(x).asnumpy() == 1).all()
    net.set_train()
    first, second = net(x).asnumpy(), net(x).asnumpy()
    assert set(np.unique(first.round(4))) == {0, np.float32(1.3333)}
    assert (first > 0).mean() == pytest.approx(0.75, abs=0.02)
    assert (first != second).any()
    net.set_train(False)
    assert (net(x).asnumpy() == 1).all()


def test_dropout_has_the_gradient_of_its_own_mask(mode):
    class Masked(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout(0.5)

        def construct(self, x):
            y = self.dropout(x)
            return y * y

    x = ms.Tensor(np.full((50, 50), 3, np.float32))
    gradient = ops.GradOperation()(Masked().set_train())(x).asnumpy()
    assert set(np.unique(gradient)) == {0, 24}


def test_dropout_takes_the_newer_argument():
    assert nn.Dropout(p=0.25).keep_prob == 0.75


def test_moving_statistics_move_in_training_and_in_a_gradient(mode):
    x = ms.Tensor(np.array([[[[1.0, 3.0]]], [[[5.0, 7.0]]]], np.float32))
    net = nn.BatchNorm2d(1, momentum=0.9)
    net(x)
    assert net.moving_mean.asnumpy().tolist() == [0]
    net.set_train()
    net(x)
    # The mean is 4, the unbiased variance 20 / 3.
    np.testing.assert_allclose(net.moving_mean.asnumpy(), [0.4], rtol=1e-6)
    np.testing.assert_allclose(net.moving_variance.asnumpy(), [0.9 + 2 / 3], rtol=1e-6)
    ops.GradOperation()(net)(x)
    np.testing.assert_allclose(net.moving_mean.asnumpy(), [0.76], rtol=1e-6)


def test_prelu_keeps_its_slope_positive_in_training(mode):
    net = nn.PReLU(2, [-1.0, 0.5]).set_train()
    x = ms.Tensor(-np.ones((1, 2, 1, 1), np.float32))
    np.testing.assert_allclose(net(x).asnumpy().ravel(), [0, -0.5])
    np.testing.assert_allclose(net.w.asnumpy(), [0, 0.5])


def test_images_may_have_their_channels_last():
    x = np.random.RandomState(0).randn(2, 5, 6, 3).astype(np.float32)
    nchw = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4).set_train(), nn.MaxPool2d(2, 2), nn.AvgPool2d(2)]
    nhwc = [
        nn.Conv2d(3, 4, 3, data_format="NHWC"),
        nn.BatchNorm2d(4, data_format="NHWC").set_train(),
        nn.MaxPool2d(2, 2, data_format="NHWC"),
        nn.AvgPool2d(2, data_format="NHWC"),
    ]
    nhwc[0].weight.set_data(ms.Tensor(nchw[0].weight.asnumpy().transpose(0, 2, 3, 1)))
    first, last = ms.Tensor(x.transpose(0, 3, 1, 2)), ms.Tensor(x)
    for a, b in zip(nchw, nhwc, strict=True):
        first, last = a(first), b(last)
        np.testing.assert_allclose(last.asnumpy().transpose(0, 3, 1, 2), first.asnumpy(), rtol=1e-4, atol=1e-6)


def test_half_precision_goes_through_layers(mode):
    net = nn.SequentialCell([nn.Dense(4, 3), nn.ReLU(), nn.LayerNorm((3,))]).to_float(ms.float16)
    output = net(_t(2, 4))
    assert output.dtype == ms.float16


def test_a_sequential_cell_is_read_and_changed_by_index():
    cells = [nn.Dense(2, 2), nn.ReLU(), nn.Flatten()]
    net = nn.SequentialCell(cells)
    assert len(net) == 3 and net[0] is cells[0] and net[-1] is cells[2] and list(net) == cells
    assert isinstance(net[1:], nn.SequentialCell) and len(net[1:]) == 2
    net[1] = nn.Sigmoid()
    assert isinstance(net[1], nn.Sigmoid)
    del net[2]
    net.append(nn.Softmax())
    assert [type(cell).__name__ for cell in net.cell_list] == ["Dense", "Sigmoid", "Softmax"]
    assert net(_t(1, 2)).asnumpy().sum() == pytest.approx(1)
    assert nn.SequentialCell(nn.ReLU(), nn.Flatten())(_t(1, 2, 2)).shape == (1, 4)
    assert nn.SequentialCell(nn.ReLU())(_t(1, 2)).shape == (1, 2)
    named = nn.SequentialCell(OrderedDict([("first", nn.Dense(2, 2)), ("second", nn.Dense(2, 2))]))
    assert [p.name for p in named.get_parameters()][::2] == ["first.weight", "second.weight"]
    for wrong, error in ((5, IndexError), ("0", TypeError), (-4, IndexError)):
        with pytest.raises(error):
            net[wrong]
    with pytest.raises(TypeError):
        net.append(3)


def test_a_cell_list_is_read_and_changed_by_index():
    cells = nn.CellList([nn.Dense(2, 2)])
    cells.append(nn.ReLU())
    cells.extend([nn.Flatten(), nn.Dense(2, 3)])
    cells += [nn.Softmax()]
    cells.insert(0, nn.Tanh())
    assert [type(cell).__name__ for cell in cells] == ["Tanh", "Dense", "ReLU", "Flatten", "Dense", "Softmax"]
    del cells[0]
    del cells[1:3]
    cells[-1] = nn.Sigmoid()
    assert [type(cell).__name__ for cell in cells] == ["Dense", "Dense", "Sigmoid"]
    assert isinstance(cells[:2], nn.CellList)
    assert [name for name, _ in cells.parameters_and_names()] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert len({p.name for p in cells.get_parameters()}) == 4
    with pytest.raises(IndexError):
        cells[3]
    with pytest.raises(NotImplementedError):
        cells.construct(_t(1))


def test_changing_a_container_changes_the_compiled_graph():
    context.set_context(mode=context.GRAPH_MODE)
    try:
        net = nn.SequentialCell([nn.ReLU()])
        x = ms.Tensor([-1.0, 1.0], ms.float32)
        assert net(x).asnumpy().tolist() == [0, 1]
        net.append(nn.Softmax())
        assert net(x).asnumpy().sum() == pytest.approx(1)
        net[0] = nn.Sigmoid()
        assert net(x).asnumpy()[0] != pytest.approx(1 / (1 + np.e))
    finally:
        context.set_context(mode=context.PYNATIVE_MODE)


def test_group_norm_of_mint_stores_scale_and_shift_that_are_not_learned():
    net = mint.nn.GroupNorm(2, 4, affine=False)
    assert list(net.parameters_dict()) == ["weight", "bias"]  # a checkpoint of MindSpore has them
    assert not net.trainable_params()


def test_every_public_name_of_r1_1_is_there():
    import json
    from pathlib import Path

    path = Path(__file__).parents[2].parent / "shared" / "api" / "r1.1.json"
    if not path.exists():
        pytest.skip("the list of r1.1's names is not at hand")
    for entry in json.loads(path.read_text()):
        module = entry["module"]
        others = ("mindspore.nn.wrap", "mindspore.nn.optim")
        if (
            module.startswith("mindspore.nn")
            and not module.startswith(others)
            and entry["kind"] in ("class", "function")
        ):
            owner = eval(module.replace("mindspore", "ms", 1), {"ms": ms})
            assert hasattr(owner, entry["name"]), (module, entry["name"])
