"""Operators that users declare: in both modes, in graphs, differentiated, in files; and the helper that tries them."""

import copy
import importlib
import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, ir, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.exchange.onnx import read, write
from msnb.exchange.onnx.write import lowerings
from msnb.exchange.tracing import traced

MODES = [ms.GRAPH_MODE, ms.PYNATIVE_MODE]
X = np.array([[-2.0, -0.1, 0.3], [1.5, 0.7, -0.9]], np.float32)


@ms.custom_operator
def SoftThreshold(x, *, level=0.5):
    """Numbers nearer to zero by a level."""
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - level, 0)


@ms.custom_operator
def Scaled(x, by: float, bias=None, *, twice: bool = False):
    """With a number of each call, and a Tensor that may be left out."""
    y = x * (2 * by if twice else by)
    return y if bias is None else y + bias


@ms.custom_operator
def Halves(x):
    """Several results."""
    return x[: len(x) // 2], x[len(x) // 2 :]


@ms.custom_operator
def Straight(x, *, slope=1.0):
    """Rounded, and differentiated as if it were not."""
    return jnp.round(x)


@Straight.backward
def _straight(x, out, dout, *, slope):
    return dout * slope


@ms.pallas_operator(lambda x, y: x)
def AddScaled(x_ref, y_ref, out_ref, *, scale=2.0):
    """A kernel of two Tensors."""
    out_ref[...] = (x_ref[...] + y_ref[...]) * scale


@AddScaled.backward
def _add_scaled(x, y, out, dout, *, scale):
    return dout * scale, dout * scale


def shrunk(x, level):
    return np.sign(x) * np.maximum(np.abs(x) - level, 0)


@pytest.mark.parametrize("mode", MODES)
def test_a_function_of_arrays_is_an_operator(mode):
    ms.set_context(mode=mode)
    np.testing.assert_allclose(SoftThreshold()(Tensor(X)).asnumpy(), shrunk(X, 0.5), rtol=1e-6)
    np.testing.assert_allclose(SoftThreshold(level=0.25)(Tensor(X)).asnumpy(), shrunk(X, 0.25), rtol=1e-6)
    np.testing.assert_allclose(Scaled(twice=True)(Tensor(X), 3.0).asnumpy(), 6 * X, rtol=1e-6)
    np.testing.assert_allclose(Scaled()(Tensor(X), 3.0, Tensor(X)).asnumpy(), 4 * X, rtol=1e-6)
    first, second = Halves()(Tensor(X))
    np.testing.assert_array_equal(np.concatenate([first.asnumpy(), second.asnumpy()]), X)


@pytest.mark.parametrize("mode", MODES)
def test_the_gradient_is_that_of_jax_or_the_users(mode):
    ms.set_context(mode=mode)
    result = ops.GradOperation()(SoftThreshold(level=0.5))(Tensor(X))
    np.testing.assert_array_equal(result.asnumpy(), (np.abs(X) > 0.5).astype(np.float32))
    result = ops.GradOperation()(Straight(slope=3.0))(Tensor(X))
    np.testing.assert_array_equal(result.asnumpy(), np.full_like(X, 3))
    result = ops.GradOperation(get_all=True)(AddScaled(scale=4.0))(Tensor(X), Tensor(X))
    np.testing.assert_array_equal([g.asnumpy() for g in result], np.full((2, *X.shape), 4, np.float32))


@pytest.mark.parametrize("mode", MODES)
def test_a_pallas_kernel_is_an_operator(mode):
    ms.set_context(mode=mode)
    np.testing.assert_allclose(AddScaled()(Tensor(X), Tensor(X + 1)).asnumpy(), 2 * (2 * X + 1), rtol=1e-6)


def test_a_kernel_runs_over_a_grid_with_several_results():
    from jax.experimental import pallas as pl

    spec = pl.BlockSpec((1, 3), lambda i: (i, 0))

    @ms.pallas_operator(
        lambda x: [x, ((x.shape[0], 1), ms.float32)],
        grid=lambda x: (x.shape[0],),
        in_specs=[spec],
        out_specs=(spec, pl.BlockSpec((1, 1), lambda i: (i, 0))),
    )
    def RowScaled(x_ref, out_ref, sum_ref):
        total = jnp.sum(x_ref[...])
        sum_ref[...] = total.reshape(1, 1)
        out_ref[...] = x_ref[...] / total

    scaled, sums = RowScaled()(Tensor(X))
    np.testing.assert_allclose(sums.asnumpy(), X.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(scaled.asnumpy(), X / X.sum(1, keepdims=True), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="'RowScaled' is a Pallas kernel.*@RowScaled.backward"):
        ops.GradOperation()(lambda x: RowScaled()(x)[0])(Tensor(X))


class Net(nn.Cell):
    """A layer and both kinds of operators."""

    def __init__(self):
        super().__init__()
        self.dense, self.shrink, self.add = nn.Dense(3, 3), SoftThreshold(level=0.1), AddScaled()

    def construct(self, x):
        y = self.shrink(self.dense(x))
        return self.add(y, x)


def test_a_graph_shows_them_with_their_attributes_and_runs():
    net, x = Net(), Tensor(X)
    graph = ir.graph(net, x)
    nodes = {node.op: node for node in graph.nodes}
    assert nodes["SoftThreshold"].attrs == {"level": 0.1} and nodes["AddScaled"].attrs == {"scale": 2.0}
    weights = {p.name: p for p in net.get_parameters()}
    np.testing.assert_array_equal(nn.GraphCell(graph, weights)(x).asnumpy(), net(x).asnumpy())


def test_stablehlo_has_them(tmp_path):
    net, x = Net(), Tensor(X)
    ms.export(net, x, file_name=str(tmp_path / "net"), file_format="STABLEHLO")
    result = ms.load_stablehlo(str(tmp_path / "net.stablehlo"))(x)
    np.testing.assert_allclose(result.asnumpy(), net(x).asnumpy(), rtol=1e-6)


def test_onnx_has_what_jax_computes_and_what_has_a_lowering():
    net, x = Net(), Tensor(X)
    with pytest.raises(
        NotImplementedError, match=r"no form here for AddScaled\..*\n  AddScaled .*its kernel uses pallas_call"
    ):
        write.model_of(traced(net, x))

    @ms.pallas_operator(lambda x, y: x)
    def AddTwice(x_ref, y_ref, out_ref, *, scale=2.0):
        out_ref[...] = (x_ref[...] + y_ref[...]) * scale

    @lowerings.register(AddTwice)
    def _add_twice(b, x, y, scale):
        return b.op("Mul", b.op("Add", x, y), b.const(np.float32(scale)))

    net.add = AddTwice(scale=3.0)
    result = read.cell_of(write.model_of(traced(net, x)))(x)
    np.testing.assert_allclose(result.asnumpy(), net(x).asnumpy(), rtol=1e-6)


def test_a_class_that_a_user_has_derived_has_a_lowering_too():
    class Cube(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, power=3):
            pass

        def kernel(self, x):
            return x**self.power

    @lowerings.register(Cube)
    def _cube(b, x, power, **_):
        return b.op("Pow", x, b.const(np.float32(power)))

    model = write.model_of(traced(Cube(2), Tensor(X)))
    assert [node["op_type"] for node in model["graph"]["node"]].count("Pow") == 1


def test_instances_are_copied_and_pickled():
    for twin in (copy.deepcopy(SoftThreshold(level=0.25)), pickle.loads(pickle.dumps(SoftThreshold(level=0.25)))):
        np.testing.assert_allclose(twin(Tensor(X)).asnumpy(), shrunk(X, 0.25), rtol=1e-6)


def test_what_cannot_be_declared_is_refused():
    with pytest.raises(ValueError, match="MindSpore has an operator 'Add'"):

        @ms.custom_operator
        def Add(x, y):
            return x + y

    with pytest.raises(TypeError, match="fixed number of inputs.*'\\*xs'"):
        ms.custom_operator(lambda *xs: xs[0])
    with pytest.raises(TypeError, match="'function' should be a function"):
        ms.custom_operator(3)
    with pytest.raises(TypeError, match="'out' should be a function of the Tensors"):
        ms.pallas_operator((2, 3))
    with pytest.raises(TypeError, match="the attribute 'depth'|'depth'"):
        SoftThreshold(depth=2)


def test_wrong_gradients_are_reported():
    @ms.custom_operator(backward=lambda x, y, out, dout: dout)
    def OneTooFew(x, y):
        return x + y

    @ms.custom_operator(backward=lambda x, out, dout: dout[:1])
    def TooShort(x):
        return x + 1

    with pytest.raises(TypeError, match=r"one array per Tensor \(x, y\), but returned 1"):
        ops.GradOperation()(OneTooFew())(Tensor(X), Tensor(X))
    with pytest.raises(ValueError, match=r"for 'x' should have its shape \(2, 3\), but has \(1, 3\)"):
        ops.GradOperation()(TooShort())(Tensor(X))


# ---------------------------------------------------------------------- check_operator
def test_right_operators_are_confirmed():
    result = ms.check_operator(SoftThreshold(level=0.2), [Tensor(X)], expected=shrunk(X, 0.2))
    assert result.results == (((2, 3), "float32"),) and result.gradients == (0,) and result.worst < 1e-2
    assert ms.check_operator(AddScaled(), [Tensor(X), Tensor(X)]).gradients == (0, 1)
    assert ms.check_operator(ops.Gather(), [Tensor(X), Tensor(np.array([1, 0])), 0]).gradients == (0,)
    assert ms.check_operator(ops.Argmax(), [Tensor(X)]).gradients == ()


def test_an_error_is_reported_with_its_element():
    with pytest.raises(AssertionError, match=r"gradient of 'Straight' by input 0 at \(\d, \d\) is .*, but finite"):
        ms.check_operator(Straight(), [Tensor(X)])
    with pytest.raises(AssertionError, match=r"of 'SoftThreshold' is -1.5 at \(0, 0\), but of what is expected -2.0"):
        ms.check_operator(SoftThreshold(), [Tensor(X)], expected=X)
    calls = []

    def drifting(x):
        calls.append(1)
        return x * len(calls)

    with pytest.raises(AssertionError, match="'drifting' within a graph"):
        ms.check_operator(drifting, [Tensor(X)])


class Announces(ops.PrimitiveWithInfer):
    """It says what it gives, and computes nothing: r1.1's own tests are full of these."""

    @ops.prim_attr_register
    def __init__(self):
        pass

    def __call__(self, *inputs):
        raise NotImplementedError("nothing is computed")

    def get_bprop(self):
        return lambda x, out, dout: (x * dout,)

    def infer_shape(self, x):
        return [1]

    def infer_dtype(self, x):
        return x


def test_an_operator_that_only_announces_stands_in_a_graph_and_does_not_run():
    ms.set_context(mode=ms.GRAPH_MODE)
    announced = Announces()
    graph = program_of(ms.ms_function(lambda x: ops.grad(lambda y: announced(y * 2))(x)), Tensor(X))
    assert "Announces" in graph.names and graph.jaxpr.out_avals[0].shape == X.shape
    with pytest.raises(NotImplementedError, match="'Announces' announces shapes and has no kernel"):
        ms.ms_function(lambda x: announced(x))(Tensor(X))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    with pytest.raises(NotImplementedError, match="nothing is computed"):
        announced(Tensor(X))


# ---------------------------------------------------------------------- ops.Custom
@pytest.mark.parametrize("mode", MODES)
def test_a_python_function_over_numpy_arrays_is_an_operator(mode):
    ms.set_context(mode=mode)
    sine = ops.Custom(np.sin, lambda x: x, lambda x: x, "pyfunc", bprop=lambda x, out, dout: (dout * ops.cos(x),))
    np.testing.assert_allclose(sine(Tensor(X)).asnumpy(), np.sin(X), rtol=1e-6)
    result = ops.GradOperation()(lambda x: sine(x) * 2)(Tensor(X))
    np.testing.assert_allclose(result.asnumpy(), 2 * np.cos(X), rtol=1e-5)
    both = ops.Custom(lambda x, y: (x + y, (x > y)), lambda x, y: (x, x), lambda x, y: (x, ms.bool_), "pyfunc")
    total, more = both(Tensor(X), Tensor(X[::-1].copy()))
    np.testing.assert_allclose(total.asnumpy(), X + X[::-1], rtol=1e-6)
    np.testing.assert_array_equal(more.asnumpy(), X > X[::-1])


def test_a_fixed_shape_and_type_will_do():
    op = ops.Custom(lambda x: np.array([x.sum(), x.max()], np.float32), (2,), ms.float32, func_type="pyfunc")
    np.testing.assert_allclose(op(Tensor(X)).asnumpy(), [X.sum(), X.max()], rtol=1e-5)


@pytest.mark.parametrize("kind", ["hybrid", "akg", "tbe", "aot", "aicpu", "julia"])
def test_what_is_compiled_for_other_devices_is_refused_with_what_to_write(kind):
    with pytest.raises(NotImplementedError, match=f"func_type='{kind}'.*custom_operator.*pallas_operator.*pyfunc"):
        ops.Custom(lambda x: x, func_type=kind)


def test_unsupported_uses_of_custom_are_named():
    with pytest.raises(ValueError, match="'func_type' should be one of"):
        ops.Custom(np.sin, (1,), ms.float32, "python")
    with pytest.raises(ValueError, match="'out_shape' is needed"):
        ops.Custom(np.sin, func_type="pyfunc")
    with pytest.raises(NotImplementedError, match="'Custom' of sin has no gradient"):
        ops.GradOperation()(ops.Custom(np.sin, lambda x: x, lambda x: x, "pyfunc"))(Tensor(X))
    with pytest.raises(Exception, match=r"out_shape says \(2, 3\), but <lambda> returned \(1, 3\)"):
        ops.Custom(lambda x: x[:1], lambda x: x, lambda x: x, "pyfunc")(Tensor(X)).asnumpy()


@pytest.mark.parametrize("shape, compiled", [((4, 8), True), ((2, 3), False)])
def test_on_a_gpu_a_kernel_is_compiled_that_can_be_and_else_interpreted(monkeypatch, caplog, shape, compiled):
    pallas_operator = importlib.import_module("msnb.core.custom.pallas_operator")

    class _Gpu:
        platform = "gpu"

    monkeypatch.setattr(pallas_operator.context, "device", lambda: _Gpu)
    like = jnp.zeros(shape)
    assert pallas_operator._needs_interpretation(f"Kernel{shape}", [like], [like], {}) is not compiled


def test_what_xla_has_not_on_a_device_is_an_error_that_says_what_to_do():
    from msnb.core.errors.messages import explain_kernel_error

    raw = NotImplementedError("MLIR translation rule for primitive 'schur' not found for platform cuda")
    message = explain_kernel_error(raw, "MatrixLogarithm", [])
    assert isinstance(message, NotImplementedError) and str(message).startswith(
        "For 'MatrixLogarithm', XLA has nothing"
    )
    assert 'set_context(device_target="CPU")' in str(message)
