"""LeNet on handwritten digits: 8-bit accuracy is within one percentage point of the float accuracy."""

import numpy as np
import pytest

import msnb as ms
import msnb.dataset as ds
from msnb import Model, Tensor, context, nn
from msnb.compression.export.quant_export import ExportToQuantInferNetwork
from msnb.compression.quant import QuantizationAwareTraining
from msnb.formats import idx


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        how = {"pad_mode": "valid", "has_bn": True, "momentum": 0.9, "activation": "relu"}
        self.conv1 = nn.Conv2dBnAct(1, 6, 5, **how)
        self.conv2 = nn.Conv2dBnAct(6, 16, 5, **how)
        self.fc1 = nn.DenseBnAct(256, 84, activation="relu")
        self.fc2 = nn.DenseBnAct(84, 10)
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.conv2(self.pool(self.conv1(x))))
        return self.fc2(self.fc1(self.flatten(x)))


def _load_parameters(folder, part, prefix):
    images = idx.read(f"{folder}/{part}/{prefix}-images-idx3-ubyte")
    labels = idx.read(f"{folder}/{part}/{prefix}-labels-idx1-ubyte")
    return (images[:, None] / 127.5 - 1).astype(np.float32), labels.astype(np.int32)


@pytest.mark.slow  # a measurement; what the integers compute is what test_quant_export.py holds
def test_eight_bit_lenet_keeps_its_accuracy(tmp_path):
    context.set_context(mode=context.GRAPH_MODE)
    ms.set_seed(1)
    folder = ms.samples.digits(str(tmp_path / "digits"))
    train, (images, labels) = _load_parameters(folder, "train", "train"), _load_parameters(folder, "test", "t10k")

    def fit(net, rate, epochs):
        optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
        model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), optimizer)
        data = ds.NumpySlicesDataset(train, ["image", "label"], shuffle=True).batch(50)
        model.train(epochs, data, dataset_sink_mode=False)

    def accuracy(net):
        return (net.set_train(False)(Tensor(images)).asnumpy().argmax(1) == labels).mean()

    net = LeNet5()
    fit(net, 0.05, 4)
    before = accuracy(net)
    assert before > 0.95
    net = QuantizationAwareTraining(per_channel=(True, False), symmetric=(True, False)).quantize(net)
    fit(net, 0.01, 2)
    after = accuracy(net)
    assert after >= before - 0.01
    weight = net.conv2.conv.fake_quant_weight
    assert (weight.minq.asnumpy() < 0).all() and net.conv1.activation.fake_quant_act.maxq.asnumpy() != [6]
    deployed = ExportToQuantInferNetwork(net, 0, 127.0, Tensor(images)).run()
    assert deployed.conv2.weight.dtype == ms.int8
    assert accuracy(deployed) >= before - 0.01
