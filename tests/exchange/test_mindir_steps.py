"""MINDIR files that write Parameters, such as train steps: import, export, and gradient rules."""

import inspect

import numpy as np
import pytest
from mindir_files import STEPS, assert_close, load_golden
from operator_rows import ROWS, answers, boxed
from sweeps import swept

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.exchange.mindir.write.gradients import gradients

NAMES = [path.stem for path in STEPS]


@pytest.fixture(autouse=True)
def use_graph_mode():
    """Use GRAPH mode: one program per file compiles faster than one program per operator."""
    context.set_context(mode=context.GRAPH_MODE)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize("path", STEPS, ids=lambda p: p.stem)
def test_mindspore_train_step_gives_mindspore_losses(path, mode):
    context.set_context(mode=mode)
    inputs, results, _ = load_golden(path)
    cell = nn.GraphCell(ms.load(str(path)))
    assert_close([cell(*map(Tensor, inputs)).asnumpy() for _ in results], results)


@pytest.mark.parametrize("name", NAMES)
def test_exported_train_step_gives_the_same_losses(name, networks, tmp_path):
    import mindir_networks

    make, inputs = mindir_networks.STEPS[name]
    step, tensors = make(), [Tensor(x) for x in inputs]
    ms.export(step, *tensors, file_name=str(tmp_path / name), file_format="MINDIR")
    step.set_train(False)
    cell = nn.GraphCell(ms.load(str(tmp_path / f"{name}.mindir")))
    losses = [step(*tensors).asnumpy() for _ in range(4)]
    assert_close([cell(*tensors).asnumpy() for _ in range(4)], losses)
    assert not np.allclose(losses[0], losses[-1])  # it learns, or counts
    values = {p.name: p.asnumpy() for p in step.get_parameters()}
    for parameter in cell.get_parameters():
        np.testing.assert_allclose(parameter.asnumpy(), values[parameter.name], rtol=1e-4, atol=1e-5)


class InputGradient(nn.Cell):
    """The gradients of the sum of squares of a call's first result, for its float inputs."""

    def __init__(self, call, inputs):
        super().__init__()
        self.call, self.inputs, self.grad = call, inputs, ops.GradOperation(get_all=True)

    def total(self, *floats):
        remaining = iter(floats)

        def fill_floats(x):
            return tuple(map(fill_floats, x)) if type(x) is tuple else next(remaining) if is_float(x) else x

        out = self.call(*map(fill_floats, self.inputs))
        return ops.square(out[0] if isinstance(out, tuple) else out).sum()

    def construct(self, *floats):
        return self.grad(self.total)(*floats)


def is_float(x):
    return isinstance(x, Tensor) and x.dtype in (ms.float32, ms.float16)


def floats_in(inputs):
    return [t for x in inputs for t in (floats_in(x) if type(x) is tuple else [x] if is_float(x) else [])]


def differentiable_rows():
    """Return the rows of operators with a gradient rule, if MindSpore has a gradient as well."""
    rows = [row for row in ROWS if inspect.isclass(row.case.target) and gradients.get(row.case.target)]
    rows = [row for row in rows if "grad0" in answers(row) and not row.case.attributes.get("is_training")]
    return [row for row in rows if floats_in([boxed(x) for x in row.inputs()])]


@pytest.mark.parametrize("row", swept(differentiable_rows(), lambda row: row.file), ids=lambda row: row.key)
def test_gradient_rules_agree_with_jax(row, tmp_path):
    inputs = [boxed(x) for x in row.inputs()]
    float_inputs = floats_in(inputs)
    net = InputGradient(row.call(), inputs)
    expected = net(*float_inputs)
    ms.export(net, *float_inputs, file_name=str(tmp_path / "net"), file_format="MINDIR")
    actual = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))(*float_inputs)
    actual, expected = (o if isinstance(o, tuple) else (o,) for o in (actual, expected))
    for a, b in zip(actual, expected, strict=True):
        scale = max(1.0, float(np.abs(b.asnumpy().astype(float)).max()))
        tolerance = 1e-2 if ms.float16 in (t.dtype for t in float_inputs) else 2e-5
        np.testing.assert_allclose(a.asnumpy() / scale, b.asnumpy() / scale, atol=tolerance)


def test_gradient_without_a_rule_raises(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return ops.GradOperation()(ops.Asinh())(x)

    with pytest.raises(NotImplementedError, match="gradAsinh"):
        ms.export(Net(), Tensor(np.ones(2, np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")


def test_parameter_written_twice_and_read_in_between(tmp_path):
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
        assert_close([o.asnumpy() for o in cell(x)], [o.asnumpy() for o in net(x)])
