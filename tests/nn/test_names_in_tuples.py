"""Names of the Parameters of a ParameterTuple: a Cell keeps them under their names, and loses none."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, ParameterTuple, Tensor, context, nn, ops
from msnb.core.operator import api_generations


def weight(value, name=None):
    return Parameter(Tensor([value], ms.float32), name=name) if name else Parameter(Tensor([value], ms.float32))


class Line(nn.Cell):
    def __init__(self):
        super().__init__()
        self.line = ParameterTuple([weight(1.0), weight(2.0)])

    def construct(self, x):
        return x * self.line[0] + self.line[1]


class Lines(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = ParameterTuple([weight(1.0), weight(2.0)])
        self.second = ParameterTuple([weight(3.0, "third"), weight(4.0)])
        self.within = Line()

    def construct(self, x):
        return x * self.first[0] + self.first[1] + self.second[0] * self.second[1] + self.within(x)


@pytest.fixture
def names_of_mindspore_2(monkeypatch):
    monkeypatch.setattr(api_generations, "shared", 2)


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
@pytest.mark.parametrize("generation", [1, 2])
def test_unnamed_parameters_of_a_tuple_are_all_trained(mode, generation, monkeypatch):
    monkeypatch.setattr(api_generations, "shared", generation)
    context.set_context(mode=mode)
    net = Lines()
    weights = net.trainable_params()
    assert len(weights) == 6
    gradients = ops.value_and_grad(net, None, weights)(Tensor([2.0], ms.float32))[1]
    by_value = {
        float(w.asnumpy()[0]) * 10 + ("within" in w.name): float(g.asnumpy()[0])
        for w, g in zip(weights, gradients, strict=True)
    }
    assert by_value == {10.0: 2.0, 20.0: 1.0, 30.0: 4.0, 40.0: 3.0, 11.0: 2.0, 21.0: 1.0}


def test_mindspore_2_numbers_unnamed_parameters_of_tuples(names_of_mindspore_2):
    assert [p.name for p in Lines().get_parameters()] == [
        "Parameter$1",
        "Parameter$2",
        "third",
        "Parameter$3",
        "within.Parameter$1",
        "within.Parameter$2",
    ]


def test_the_first_unnamed_parameter_keeps_its_name_of_r1_1():
    assert [p.name for p in Line().get_parameters()] == ["Parameter", "Parameter$1"]


def test_a_parameter_twice_in_a_tuple_is_one_parameter(names_of_mindspore_2):
    cell, same = nn.Cell(), weight(1.0)
    cell.both = ParameterTuple([same, same])
    assert [p.name for p in cell.get_parameters()] == ["Parameter$1"]
    assert cell.both[0] is cell.both[1]


def test_checkpoint_holds_all_unnamed_parameters_of_a_tuple(tmp_path):
    file = str(tmp_path / "line.ckpt")
    ms.save_checkpoint(Line(), file)
    net = Line()
    for param in net.get_parameters():
        param.set_data(Tensor([0.0], ms.float32))
    ms.load_param_into_net(net, ms.load_checkpoint(file))
    assert [float(p.asnumpy()[0]) for p in net.line] == [1.0, 2.0]


def test_optimizer_of_unnamed_parameters_has_a_moment_for_each(names_of_mindspore_2):
    weights = [weight(1.0), weight(2.0)]
    adam = nn.Adam(weights, 0.1)
    adam((Tensor([1.0], ms.float32), Tensor([1.0], ms.float32)))
    np.testing.assert_allclose([w.asnumpy()[0] for w in weights], [0.9, 1.9], rtol=1e-6)
    moments = [p.name for p in adam.get_parameters() if p.name.startswith("moment1")]
    assert moments == ["moment1.Parameter$1", "moment1.Parameter$2"]


def test_equal_names_in_a_tuple_raise_in_mindspore_2(names_of_mindspore_2):
    cell = nn.Cell()
    with pytest.raises(ValueError, match="two Parameters are named 'a'"):
        cell.both = ParameterTuple([weight(1.0, "a"), weight(2.0, "a")])


def test_equal_names_of_attributes_become_paths_in_mindspore_2(names_of_mindspore_2):
    class Sum(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = weight(1.0, "x"), weight(2.0, "x")

        def construct(self):
            return self.a + self.b

    context.set_context(mode=context.GRAPH_MODE)
    net = Sum()
    assert float(net().asnumpy()[0]) == 3.0
    assert [p.name for p in net.get_parameters()] == ["a", "b"]
