"""The pullbacks of a tape are compiled on several threads, each once, before the backward pass runs them."""

import collections
import threading

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import nn, ops
from msnb.core.eager import integer_gradients, pullback_compilation


class Stack(nn.Cell):
    """Layers of distinct widths, so that each has kernels of its own."""

    def __init__(self, first):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(first + i, first + i + 1, activation="tanh") for i in range(4)])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return ops.reduce_sum(x * x)


@pytest.fixture(autouse=True)
def pynative(monkeypatch):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    monkeypatch.setattr(pullback_compilation.os, "cpu_count", lambda: 2)


def compute_gradients(first):
    net, x = Stack(first), ms.Tensor(np.linspace(-1, 1, 3 * first, dtype=np.float32).reshape(3, first))
    gradients = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(x)
    return net, x, gradients


def record_compilations():
    """Return a list to which each compilation adds (name of the function, thread), and a function that ends it."""
    compiled = []

    def note(event, _, **more):
        if event.endswith("backend_compile_duration"):
            compiled.append((more.get("fun_name"), threading.current_thread().name))

    jax.monitoring.register_event_duration_secs_listener(note)
    return compiled, lambda: jax.monitoring.unregister_event_duration_listener(note)


def test_each_pullback_is_compiled_once_and_some_on_another_thread():
    compiled, stop = record_compilations()
    try:
        compute_gradients(41)
        gradients = collections.Counter(name for name, _ in compiled if "Grad" in name)
        assert [count for name, count in gradients.items() if "TanhGrad" in name] == [4]
        assert "msnb-compile" in {thread for _, thread in compiled}
        first = len(compiled)
        compute_gradients(41)
        assert len([name for name, _ in compiled[first:] if "Grad" in name]) == 0
    finally:
        stop()
    assert "msnb-compile" not in {thread.name for thread in threading.enumerate()}
    assert not pullback_compilation.is_due()


def test_pullbacks_are_compiled_while_the_forward_pass_runs():
    compiled, stop = record_compilations()
    try:
        compute_gradients(101)
    finally:
        stop()
    first_gradient = next(i for i, (name, _) in enumerate(compiled) if "Grad" in name)
    last_forward = max(i for i, (name, _) in enumerate(compiled) if "Tanh" in name and "Grad" not in name)
    assert first_gradient < last_forward and compiled[first_gradient][1] == "msnb-compile"
    assert pullback_compilation._ahead._thread is None and not pullback_compilation._ahead._jobs


def test_gradients_are_those_of_kernels_that_compile_one_by_one(monkeypatch):
    net, x, gradients = compute_gradients(51)
    monkeypatch.setattr(pullback_compilation, "is_due", lambda: False)
    jax.clear_caches()
    again = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(x)
    for one, other in zip(gradients, again, strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_the_error_of_a_pullback_is_raised_where_it_runs(monkeypatch):
    monkeypatch.setattr(integer_gradients, "cast_gradient", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        compute_gradients(61)


def test_an_interrupt_ends_the_compilation_and_later_gradients_are_computed(monkeypatch):
    def interrupt(jobs, take):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pullback_compilation, "_compile", interrupt)
        patch.setattr(pullback_compilation.threading.Thread, "start", lambda self: None)
        patch.setattr(pullback_compilation, "is_due_in_forward", lambda: False)
        with pytest.raises(KeyboardInterrupt):
            compute_gradients(71)
    _, _, gradients = compute_gradients(71)
    assert all(np.isfinite(gradient.asnumpy()).all() for gradient in gradients)


def test_a_gradient_that_jax_traces_compiles_no_pullback_of_its_own():
    net = Stack(81)
    gradient = ops.GradOperation(get_all=True)(net)
    x = np.linspace(-1, 1, 3 * 81, dtype=np.float32).reshape(3, 81)
    compiled, stop = record_compilations()
    try:
        traced = jax.jit(lambda array: gradient(ms.Tensor(array))[0]._array)(x)
        assert not [name for name, _ in compiled if "Grad" in name]
    finally:
        stop()
    np.testing.assert_allclose(traced, gradient(ms.Tensor(x))[0].asnumpy(), rtol=1e-4, atol=1e-6)


def test_arrays_on_a_chosen_device_have_gradients():
    net = Stack(91)
    x = ms.Tensor(jax.device_put(np.ones((3, 91), np.float32), jax.devices()[0]))
    gradients = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(x)
    assert all(np.isfinite(gradient.asnumpy()).all() for gradient in gradients)
