"""Compiler and runtime settings of MindSpore 1.5 and later are accepted, and one without effect says so."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


@ms.jit_class
class Halving:
    factor = 0.5

    def __call__(self, x):
        if x.sum() > 0:
            return x * self.factor
        return x


class Uses(nn.Cell):
    @ms.lazy_inline
    def __init__(self):
        super().__init__()
        self.halving = Halving()

    def construct(self, x):
        return self.halving(x) + Halving.factor


@BOTH_MODES
def test_construct_uses_objects_of_a_marked_class(mode):
    context.set_context(mode=mode)
    assert Uses()(Tensor([2.0])).asnumpy() == [1.5] and Uses()(Tensor([-2.0])).asnumpy() == [-1.5]


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (lambda: ms.jit_class(3), TypeError),
        (lambda: ms.jit_class(Uses), TypeError),
        (lambda: ms.lazy_inline(Uses), ValueError),
        (lambda: ms.lazy_inline(policy="back"), ValueError),
        (lambda: ms.no_inline(3), ValueError),
        (lambda: ms.set_recursion_limit(0), ValueError),
        (lambda: ms.JitConfig(jit_level="O5"), ValueError),
        (lambda: ms.set_device("CPU", -1), ValueError),
        (lambda: ms.set_device("NPU"), ValueError),
        (lambda: ms.set_deterministic("ON"), TypeError),
        (lambda: ms.manual_seed("1"), TypeError),
        (lambda: ms.set_rng_state(Tensor([1.0])), ValueError),
        (lambda: ms.hal.get_device_name(99), ValueError),
        (lambda: ms.Event().elapsed_time(ms.Event()), RuntimeError),
        (lambda: ms.data_sink(len, None, 0), ValueError),
    ],
)
def test_what_makes_no_sense_raises_as_in_mindspore(refused, error):
    with pytest.raises(error):
        refused()


def test_jit_takes_its_function_by_the_name_of_later_versions():
    assert ms.jit(function=lambda x: x + 1)(Tensor([1.0])).asnumpy() == [2.0]


def test_what_runs_without_gradient_is_a_constant_of_the_gradient_around():
    context.set_context(mode=context.PYNATIVE_MODE)
    w = Parameter(Tensor([2.0]), name="w")

    def loss(x):
        with ms._no_grad():
            scale = w * 3
        return (w * scale * x).sum()

    (gradient,) = ms.grad(loss, None, ms.ParameterTuple([w]))(Tensor([1.0]))
    assert gradient.asnumpy() == [6.0]
    with pytest.raises(RuntimeError, match="stop_gradient"):
        ms.jit(loss)(Tensor([1.0]))


def test_the_stream_of_random_numbers_goes_back_to_a_state():
    state = ms.manual_seed(5).get_state()
    assert ms.initial_seed() == 5
    first = ops.standard_normal((3,)).asnumpy()
    ms.set_rng_state(state)
    np.testing.assert_array_equal(ops.standard_normal((3,)).asnumpy(), first)
    assert ms.Generator().manual_seed(7).initial_seed() == 7 and ms.initial_seed() == 5


@pytest.mark.parametrize("config", [None, ms.JitConfig("O1")], ids=["plain", "compiled"])
def test_a_function_takes_its_batches_itself_and_begins_the_dataset_anew(config):
    numbers = ms.dataset.NumpySlicesDataset({"x": np.arange(3, dtype=np.float32)}, shuffle=False)
    step = ms.data_sink(lambda x: x * 10, numbers, sink_size=2, jit_config=config)
    assert [float(step()) for _ in range(3)] == [10.0, 0.0, 20.0]


def test_devices_memory_and_stream_answer(capsys):
    ms.set_device("CPU")
    assert ms.get_current_device() == ("CPU", 0) and ms.get_current_device().device_target == "CPU"
    assert ms.hal.is_available("CPU") and ms.hal.device_count("CPU") >= 1
    assert ms.hal.get_device_capability(0, "CPU") is None and ms.hal.get_arch_list("CPU") is None
    assert ms.runtime.memory_allocated() <= ms.runtime.max_memory_allocated()
    assert "MiB" in ms.hal.memory_summary("CPU")
    begin, end = (ms.Event(enable_timing=True) for _ in range(2))
    with ms.StreamCtx(ms.current_stream()):
        begin.record()
        ms.current_stream().record_event(end)
    assert begin.elapsed_time(end) >= 0 and ms.default_stream() == ms.current_stream()
    ms.synchronize()
    assert end.query()
    ms.run_check()
    assert "CPU is right" in capsys.readouterr().out
