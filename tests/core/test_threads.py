"""Parameters that one thread reads while another one trains: a step takes over their arrays and writes elsewhere."""

import threading

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn
from msnb.notebook.display.checkpoint_table import contents
from msnb.notebook.display.tensor_html import tensor_html
from msnb.notebook.graph import view

READS = 100


@pytest.fixture(scope="module")
def training():
    """Return (network, step, its inputs) of a training that has run once."""
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.SequentialCell([nn.Dense(8, 8), nn.ReLU(), nn.Dense(8, 1)])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params())).set_train()
    inputs = Tensor(np.ones((4, 8), np.float32)), Tensor(np.ones((4, 1), np.float32))
    step(*inputs)
    return net, step, inputs


def weights(net):
    return {parameter.name: parameter for parameter in net.get_parameters()}


READERS = {
    "asnumpy": lambda net, folder: net[0].weight.asnumpy,
    "numpy": lambda net, folder: lambda: np.asarray(net[0].weight),
    "float": lambda net, folder: lambda: float(net[2].bias),
    "Tensor": lambda net, folder: lambda: Tensor(net[0].weight).asnumpy(),
    "HTML": lambda net, folder: lambda: tensor_html(net[0].weight),
    "graph view": lambda net, folder: weight_on_page(net),
    "table of Parameters": lambda net, folder: lambda: contents(weights(net))._repr_html_(),
    "checkpoint": lambda net, folder: lambda: ms.save_checkpoint(net, str(folder / "net.ckpt")),
}


def weight_on_page(net):
    """Return a call that requests a weight as the page of a graph does."""
    shown = view(net, Tensor(np.ones((4, 8), np.float32)))
    return lambda: shown._format_weight("0.weight")


@pytest.mark.parametrize("reader", READERS)
def test_a_parameter_can_be_read_on_another_thread_while_it_is_trained(reader, training, tmp_path):
    context.set_context(mode=context.GRAPH_MODE)
    net, step, inputs = training
    read = READERS[reader](net, tmp_path)
    trains, ended, problems = threading.Event(), threading.Event(), []

    def read_all():
        trains.wait(60)
        try:
            for _ in range(READS):
                read()
        except Exception as problem:
            problems.append(problem)
        finally:
            ended.set()

    thread = threading.Thread(target=read_all)
    thread.start()
    steps = 0
    while not ended.is_set():
        step(*inputs)
        trains.set()
        steps += 1
    thread.join(60)
    assert not problems and steps > 1
