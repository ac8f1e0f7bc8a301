"""MINDIR of what writes Parameters, train steps above all: both ways, and the gradients that they are written with."""

import inspect

import numpy as np
import pytest
from mindir_files import STEPS, agree, stored
from operator_rows import ROWS, answers, boxed
from sweeps import swept

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.exchange.mindir.gradients import gradients

NAMES = [path.stem for path in STEPS]


@pytest.fixture(autouse=True)
def _in_a_graph():
    """What is read from a file is one program; step by step each of its operators is, which takes longer to compile."""
    context.set_context(mode=context.GRAPH_MODE)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize("path", STEPS, ids=lambda p: p.stem)
def test_a_step_that_mindspore_wrote_trains_as_there(path, mode):
    context.set_context(mode=mode)
    inputs, results, _ = stored(path)
    cell = nn.GraphCell(ms.load(str(path)))
    agree([cell(*map(Tensor, inputs)).asnumpy() for _ in results], results)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_that_is_written_trains_as_the_network_does(name, networks, tmp_path):
    import mindir_networks

    make, inputs = mindir_networks.STEPS[name]
    step, given = make(), [Tensor(x) for x in inputs]
    ms.export(step, *given, file_name=str(tmp_path / name), file_format="MINDIR")
    step.set_train(False)
    cell = nn.GraphCell(ms.load(str(tmp_path / f"{name}.mindir")))
    own = [step(*given).asnumpy() for _ in range(4)]
    agree([cell(*given).asnumpy() for _ in range(4)], own)
    assert not np.allclose(own[0], own[-1])  # it learns, or counts
    values = {p.name: p.asnumpy() for p in step.get_parameters()}
    for parameter in cell.get_parameters():
        np.testing.assert_allclose(parameter.asnumpy(), values[parameter.name], rtol=1e-4, atol=1e-5)


class Differentiated(nn.Cell):
    """Gradients of a call for its floats, of the sum of squares of its first result."""

    def __init__(self, call, inputs):
        super().__init__()
        self.call, self.inputs, self.grad = call, inputs, ops.GradOperation(get_all=True)

    def total(self, *floats):
        given = iter(floats)

        def filled(x):
            return tuple(map(filled, x)) if type(x) is tuple else next(given) if is_float(x) else x

        out = self.call(*map(filled, self.inputs))
        return ops.square(out[0] if isinstance(out, tuple) else out).sum()

    def construct(self, *floats):
        return self.grad(self.total)(*floats)


def is_float(x):
    return isinstance(x, Tensor) and x.dtype in (ms.float32, ms.float16)


def floats_in(inputs):
    return [t for x in inputs for t in (floats_in(x) if type(x) is tuple else [x] if is_float(x) else [])]


def differentiable():
    """Rows of operators with a gradient of their own here, where MindSpore has one as well."""
    known = [row for row in ROWS if inspect.isclass(row.case.target) and gradients.get(row.case.target)]
    known = [row for row in known if "grad0" in answers(row) and not row.case.attributes.get("is_training")]
    return [row for row in known if floats_in([boxed(x) for x in row.inputs()])]


@pytest.mark.parametrize("row", swept(differentiable(), lambda row: row.file), ids=lambda row: row.key)
def test_a_gradient_in_operators_is_the_one_that_jax_derives(row, tmp_path):
    inputs = [boxed(x) for x in row.inputs()]
    given = floats_in(inputs)
    net = Differentiated(row.call(), inputs)
    expected = net(*given)
    ms.export(net, *given, file_name=str(tmp_path / "net"), file_format="MINDIR")
    own = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))(*given)
    own, expected = (o if isinstance(o, tuple) else (o,) for o in (own, expected))
    for a, b in zip(own, expected, strict=True):
        scale = max(1.0, float(np.abs(b.asnumpy().astype(float)).max()))
        near = 1e-2 if ms.float16 in (t.dtype for t in given) else 2e-5
        np.testing.assert_allclose(a.asnumpy() / scale, b.asnumpy() / scale, atol=near)


def test_what_is_differentiated_otherwise_is_named(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return ops.GradOperation()(ops.Asinh())(x)

    with pytest.raises(NotImplementedError, match="gradAsinh"):
        ms.export(Net(), Tensor(np.ones(2, np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")


def test_a_parameter_is_written_twice_and_read_between(tmp_path):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor(np.ones(2, np.float32)), name="weight")

        def construct(self, x):
            before = self.weight * x
            first = ops.assign_add(self.weight, x)
            return before, ops.assign_add(self.weight, first * 2), self.weight + x

    x, net = Tensor(np.array([1.0, 2.0], np.float32)), Net()
    ms.export(net, x, file_name=str(tmp_path / "net"), file_format="MINDIR")
    cell = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    for _ in range(2):
        agree([o.asnumpy() for o in cell(x)], [o.asnumpy() for o in net(x)])
