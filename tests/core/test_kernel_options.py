"""XLA's options for a program on CPU."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import Tensor, context, ms_function, nn, ops
from msnb.core.compat import jax_compilation
from msnb.core.program import xla_options


@pytest.fixture
def compilations(monkeypatch):
    """Return [(name in XLA, options)] of what is compiled from here on, as for somebody who has set no XLA_FLAGS."""
    seen = []
    compiler = jax_compilation._compiler
    load = compiler.backend_compile_and_load

    def watched(backend, module, devices, options, *rest):
        seen.append((str(module.operation.attributes["sym_name"]).strip('"'), dict(options.env_option_overrides)))
        return load(backend, module, devices, options, *rest)

    monkeypatch.setattr(compiler, "backend_compile_and_load", watched)
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    return seen


def _options_of(compilations, operator):
    return [options for name, options in compilations if name.startswith(f"jit_{operator}")]


def _tensor(*shape):
    return Tensor(np.ones(shape, np.float32))


def test_the_more_elements_a_kernel_has_the_more_it_is_optimized(compilations):
    context.set_context(mode=context.PYNATIVE_MODE)
    ops.Erfc()(_tensor(3, 5, 1, 7))
    ops.Erfc()(_tensor(2, 2, 256))
    ops.Erfc()(_tensor(3, 5, 69))
    ops.Erfc()(_tensor(3, 5, 101, 7))
    assert _options_of(compilations, "Erfc") == [xla_options._SMALL] * 2 + [xla_options._PROGRAM] * 2


def test_a_kernel_that_goes_through_its_inputs_in_order_is_compiled_quickly_up_to_a_quarter_of_a_million_elements(
    compilations,
):
    context.set_context(mode=context.PYNATIVE_MODE)
    few, many = _tensor(3, 5, 101, 9), _tensor(3, 5, 1001, 19)
    for x in (few, many):
        ops.ReLU()(x)
        ops.Transpose()(x, (1, 0, 3, 2))
        ops.Reshape()(x, (-1,))
    assert _options_of(compilations, "ReLU") == [xla_options._SMALL_PROGRAM, xla_options._PROGRAM]
    assert _options_of(compilations, "Transpose") == [xla_options._PROGRAM] * 2
    assert _options_of(compilations, "Reshape") == [xla_options._PROGRAM] * 2
    ops.grad(ops.ReLU())(_tensor(3, 5, 101, 11))
    ops.MaxPool(kernel_size=2, strides=2)(_tensor(3, 5, 100, 12))
    assert _options_of(compilations, "ReLUGrad") == [xla_options._SMALL_PROGRAM]
    assert _options_of(compilations, "MaxPool") == [xla_options._SMALL_PROGRAM]


def test_a_kernel_that_repeats_itself_is_optimized_however_few_its_elements(compilations):
    context.set_context(mode=context.PYNATIVE_MODE)
    ops.Igamma()(_tensor(2, 3, 1, 1, 2), _tensor(2, 3, 1, 1, 2))
    assert _options_of(compilations, "Igamma") == [xla_options._SMALL_PROGRAM]


def test_a_gradient_in_pynative_mode_is_a_kernel_too(compilations):
    context.set_context(mode=context.PYNATIVE_MODE)
    ops.grad(ops.Erfc())(_tensor(1, 3, 5, 1, 7))
    assert _options_of(compilations, "ErfcGrad") == [xla_options._SMALL]


def test_a_program_on_the_tape_is_compiled_like_a_program(compilations):
    class Chain(nn.Cell):
        def construct(self, x):
            for _ in range(400):
                x = x * 0.5 + 1.0
            return x

    chain = ms_function(Chain())
    context.set_context(mode=context.PYNATIVE_MODE)
    ops.grad(chain)(_tensor(2, 1, 3))
    assert [options for name, options in compilations if "Chain" in name] == [xla_options._PROGRAM] * 2


def test_an_option_of_the_user_stays(compilations, monkeypatch):
    context.set_context(mode=context.PYNATIVE_MODE)
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=3")
    ops.Erfc()(_tensor(3, 5, 1, 1, 2, 7))
    (options,) = _options_of(compilations, "Erfc")
    assert "xla_backend_optimization_level" not in options and "xla_cpu_parallel_codegen_split_count" in options


def test_a_small_program_is_compiled_quickly_and_one_of_dear_functions_by_the_newer_emitter(compilations):
    context.set_context(mode=context.GRAPH_MODE)

    class Erfc(nn.Cell):
        def construct(self, x):
            return ops.Erfc()(x) * 2

    class Erfcs(nn.Cell):
        def construct(self, x):
            for f in (ops.exp, ops.tanh, ops.sin, ops.cos, ops.log, ops.rsqrt):
                x = f(x) + x
            return ops.Erfc()(x)

    Erfc()(_tensor(3, 2, 5, 7))
    Erfcs()(_tensor(3, 2, 5, 7))
    Erfc()(_tensor(3, 20, 5, 7))
    options = [options for name, options in compilations if "Erfc" in name]
    assert options == [xla_options._SMALL_PROGRAM, xla_options._PROGRAM, xla_options._PROGRAM]


def test_what_the_user_compiles_gets_no_further_options(compilations):
    jax.jit(lambda x: jnp.sinh(x) + 3)(jnp.ones((3, 2, 5, 7)))
    assert [options for name, options in compilations if "lambda" in name] == [{}]


def test_programs_of_a_thread_share_what_they_are_lowered_into():
    mlir = jax_compilation._mlir
    contexts = [mlir.make_ir_context() for _ in range(2 * jax_compilation._MLIR_USES + 1)]
    assert 2 <= len({id(context) for context in contexts}) <= 4


def test_a_quick_compile_is_asked_for_kernels_and_programs_alike(compilations):
    class Bent(nn.Cell):
        def construct(self, x):
            return ops.tanh(x) + ops.erf(x)

    x, net = _tensor(7, 3, 101, 7), Bent()
    expected = [net(x).asnumpy(), ops.erfc(x).asnumpy()]
    context.set_context(mode=context.GRAPH_MODE)
    net(x)
    compilations.clear()
    context.set_context(compile_effort="quick")
    try:
        hasty = [net(x).asnumpy()]
        context.set_context(mode=context.PYNATIVE_MODE)
        hasty.append(ops.erfc(_tensor(7, 3, 101, 9)).asnumpy()[..., :7])
    finally:
        context.set_context(compile_effort="auto")
    assert [options for _, options in compilations] == [xla_options.QUICK_COMPILE] * 2
    for got, target in zip(hasty, expected, strict=True):
        np.testing.assert_allclose(got, target, rtol=1e-6)
