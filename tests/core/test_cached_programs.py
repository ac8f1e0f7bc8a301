"""Programs that were compiled before are not lowered again; what is found is the same program, and nothing else is."""

import gc

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive
from jax.interpreters import mlir

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.compat import jax_compilation
from msnb.core.jaxpr.fingerprint import fingerprint
from msnb.core.program import lowering_cache, persistent_cache
from msnb.core.program.program_cache import program_of

X = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))


@pytest.fixture
def cache(tmp_path):
    """Yield the files of this test, in use."""
    persistent_cache.use(tmp_path / "compiled")
    yield persistent_cache.in_use()
    persistent_cache.use(None)


@pytest.fixture
def lowered(monkeypatch, cache):
    """Return a list of the programs that are lowered from here on: those whose graph has a fingerprint, and is not
    known."""
    names, table = [], jax_compilation._keys_of_modules

    class Watched(type(table)):
        def __setitem__(self, module, key):
            names.append(str(module.operation.attributes["sym_name"]).strip('"'))
            super().__setitem__(module, key)

    monkeypatch.setattr(jax_compilation, "_keys_of_modules", Watched())
    return names


class Net(nn.Cell):
    def __init__(self, slope=0.5):
        super().__init__()
        self.dense = nn.Dense(4, 3, weight_init="ones")
        self.slope = slope

    def construct(self, x):
        return ops.relu(self.dense(x)) * self.slope


def run(net):
    """Return the result of a network in GRAPH mode."""
    context.set_context(mode=ms.GRAPH_MODE)
    return net(X).asnumpy()


def test_what_was_compiled_before_is_not_lowered_again(lowered):
    first = run(Net())
    assert lowered
    del lowered[:]
    np.testing.assert_array_equal(run(Net()), first)
    assert not lowered


def test_a_second_process_lowers_nothing(fresh, tmp_path):
    """The fingerprint contains the text of msnb's own files, which must be found wherever the module lies."""
    code = """
        import numpy as np, msnb as ms
        from msnb.core.compat import jax_compilation
        class Counted(type(jax_compilation._keys_of_modules)):
            count = 0
            def __setitem__(self, module, key):
                Counted.count += 1
                super().__setitem__(module, key)
        jax_compilation._keys_of_modules = Counted()
        ms.set_context(mode=ms.GRAPH_MODE, enable_compile_cache=True)
        ms.nn.Dense(4, 3)(ms.Tensor(np.ones((2, 4), np.float32))).asnumpy()
        print(Counted.count)
    """
    environment = {"MSNB_CACHE": str(tmp_path), "MSNB_COMPILE_CACHE": ""}
    runs = [fresh.run(code, tmp_path, environment=environment) for _ in range(2)]
    first, second = [int(run.out) for run in runs]
    assert first > 0 and second == 0


def test_another_number_in_the_program_is_another_program(lowered):
    assert not np.array_equal(run(Net(0.5)), run(Net(0.25)))
    assert sum(name == "jit_Net" for name in lowered) == 2


def test_its_text_can_be_read_all_the_same(lowered):
    nets = Net(), Net()
    for net in nets:
        run(net)
    first, second = (program_of(net, X) for net in nets)
    assert first.lowered().as_text() == second.lowered().as_text()
    assert "fusion" in second.compiled().as_text() or "ENTRY" in second.compiled().as_text()


def test_what_stands_for_an_unlowered_program_goes_with_the_network(cache):
    run(Net())
    gc.collect()
    before = len(jax_compilation._unlowered_modules)
    net = Net()
    run(net)
    assert len(jax_compilation._unlowered_modules) > before
    del net
    gc.collect()
    assert len(jax_compilation._unlowered_modules) == before


def test_where_the_executable_is_gone_it_is_compiled_anew(cache):
    first = run(Net())
    for *_, path in cache.files():
        if path.suffix != ".note":
            path.unlink()
    assert cache.files() and not cache.executables()
    missed = cache.misses
    np.testing.assert_array_equal(run(Net()), first)
    assert cache.misses > missed


def test_other_code_of_operators_finds_nothing(lowered, monkeypatch):
    run(Net())
    del lowered[:]
    monkeypatch.setattr(lowering_cache, "_fingerprint_code", lambda: ["other"])
    run(Net())
    assert "jit_Net" in lowered


def test_another_precision_finds_nothing(lowered):
    run(Net())
    del lowered[:]
    with jax.default_matmul_precision("bfloat16"):
        run(Net())
    assert "jit_Net" in lowered


# ------------------------------------------------------------------ fingerprints
def _loop(x):
    def body(carry, row):
        return jnp.where(row.sum() > 0, carry @ carry, carry[::-1]), row[1:].argmax()

    return jax.lax.scan(body, x, x.reshape(-1, 3))


def _many(x):
    y = jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, jnp.pad(x, ((1, 1), (0, 2)), constant_values=3.0))
    return jax.nn.relu(y).astype(jnp.float16), jnp.take(x, jnp.array([1, 0]), axis=0), x.sum(axis=1), jnp.cumsum(x, 0)


def _convolved(x):
    image, weights = x.reshape(1, 1, 3, 3), x[:2, :2].reshape(1, 1, 2, 2)
    return jax.lax.conv_general_dilated(image, weights, (1, 1), "VALID"), jax.random.normal(jax.random.key(3), (2,))


EXAMPLE = jnp.ones((3, 3), jnp.float32)
GRAPHS = [jax.make_jaxpr(fn)(EXAMPLE) for fn in (_loop, _many, _convolved)]


def test_the_same_function_traced_again_has_the_same_fingerprint():
    for fn in (_loop, _many, _convolved):
        results = {fingerprint(jax.make_jaxpr(lambda x, fn=fn: fn(x))(EXAMPLE)) for _ in range(2)}
        assert len(results) == 1 and None not in results


def _otherwise(value):
    """Another value of the same kind; None where there is none to be had."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if type(value) is str:
        return value + "_"
    if type(value) is tuple and value:
        return value[:-1]
    if isinstance(value, np.dtype):
        return np.dtype("int8") if value != np.dtype("int8") else np.dtype("int16")
    return None


@pytest.mark.parametrize("graph", GRAPHS, ids=["loop", "many", "convolved"])
def test_every_parameter_of_every_equation_counts(graph):
    fingerprint_of_graph, tried = fingerprint(graph), 0
    for place, eqn in enumerate(graph.jaxpr.eqns):
        for name, value in eqn.params.items():
            other = _otherwise(value)
            if other is not None and name != "symbolic_zeros":
                eqns = list(graph.jaxpr.eqns)
                eqns[place] = eqn.replace(params={**eqn.params, name: other})
                changed = graph.replace(jaxpr=graph.jaxpr.replace(eqns=eqns))
                assert fingerprint(changed) not in (fingerprint_of_graph, None), f"{eqn.primitive}.{name}"
                tried += 1
    assert tried >= 3


@pytest.mark.parametrize(
    "one, other",
    [
        (lambda x: x - x[0], lambda x: x[0] - x),
        (lambda x: x * 2.0, lambda x: x * 3.0),
        (lambda x: x * np.float32(2), lambda x: x * np.float64(2)),
        (lambda x: x + np.array([1, 2, 3], np.float32), lambda x: x + np.array([1, 2, 4], np.float32)),
        (lambda x: (x, x + 1), lambda x: (x + 1, x)),
        (lambda x: jax.jit(jnp.sin)(x), lambda x: jax.jit(jnp.cos)(x)),
        (lambda x: jax.random.normal(jax.random.key(0), ()), lambda x: jax.random.normal(jax.random.key(1), ())),
    ],
)
def test_functions_that_differ_are_distinguished(one, other):
    marks = [fingerprint(jax.make_jaxpr(fn)(EXAMPLE)) for fn in (one, other)]
    assert None not in marks and marks[0] != marks[1]


def test_kinds_of_inputs_are_distinguished():
    marks = {
        fingerprint(jax.make_jaxpr(lambda x: x + x)(example))
        for example in (EXAMPLE, EXAMPLE[:2], EXAMPLE.astype(jnp.int32), 1.0, np.float64(1.0))
    }
    assert len(marks) == 5 and None not in marks


def test_what_python_or_others_take_part_in_has_no_fingerprint():
    foreign = Primitive("foreign")
    foreign.def_abstract_eval(lambda x: x)
    mlir.register_lowering(foreign, mlir.lower_fun(lambda x: x * 2, multiple_results=False))
    shape = jax.ShapeDtypeStruct((3, 3), np.float32)
    for fn in (
        foreign.bind,
        lambda x: jax.jit(foreign.bind)(x) + 1,
        lambda x: jax.pure_callback(np.sin, shape, x),
    ):
        assert fingerprint(jax.make_jaxpr(fn)(EXAMPLE)) is None
    assert fingerprint(object()) is None


def test_an_exported_function_is_lowered_however_often_it_was(cache):
    def twice(x):
        return jnp.tanh(x) * 2

    texts = {jax.export.export(jax.jit(lambda x: twice(x)))(EXAMPLE).mlir_module() for _ in range(2)}
    assert len(texts) == 1 and "tanh" in texts.pop()


OUTSIDE_XLA = """
import sys, numpy as np
import msnb as ms
from msnb import Tensor, ops
from msnb.core import compiled_files
compiled_files.use(sys.argv[1])
x = Tensor(np.array([[4.0, 1.0], [1.0, 3.0]], np.float32))
made = [ops.Cholesky()(x), ops.MatrixInverse()(x), ops.TopK()(x, 1)[0], ms.numpy.fft.fft(x)]
made.append(ops.grad(ops.Cholesky())(x))
print([np.asarray(m.asnumpy()).round(4).tolist() for m in made])
"""


def test_what_calls_other_libraries_is_lowered_in_each_process(fresh, tmp_path):
    """Lowering loads LAPACK; a call without it would end the process."""
    first, second = (fresh.run(OUTSIDE_XLA, tmp_path, tmp_path / "compiled") for _ in range(2))
    assert first.status == second.status == 0, second.err
    assert first.out == second.out and first.out.startswith("[[[2.0, 0.0]")
    assert any(path.is_file() for path in (tmp_path / "compiled").rglob("*"))
