"""A number that is an argument of a graph is an input where that will do, and a constant where an operator needs it."""

import inspect

import numpy as np
import pytest
from operator_rows import ROWS, boxed
from sweeps import swept

import msnb as ms
from msnb import Tensor, log, nn, ops
from msnb.core.program import program_cache
from msnb.core.program.program_cache import program_of
from msnb.exchange.tracing import traced

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


def with_numbers(row):
    """Return (function of a row's floats, the floats)."""
    inputs, named = [boxed(v) for v in row.inputs()], {k: boxed(v) for k, v in row.keywords().items()}
    positions = [i for i, v in enumerate(inputs) if type(v) is float]
    names = [k for k, v in named.items() if type(v) is float]
    target = row.case.target

    def call(*numbers):
        args, kwargs = list(inputs), dict(named)
        for place, number in zip(positions, numbers, strict=False):
            args[place] = number
        kwargs.update(zip(names, numbers[len(positions) :], strict=True))
        return target(**kwargs)(*args) if inspect.isclass(target) else target(*args, **kwargs)

    return call, [inputs[place] for place in positions] + [named[name] for name in names]


NUMBERED = [row for row in ROWS if "graph" not in row.case.left_out and with_numbers(row)[1]]


@pytest.mark.parametrize("row", swept(NUMBERED, lambda row: row.file), ids=lambda row: row.key)
def test_every_operator_takes_its_numbers_from_the_arguments_of_a_graph(row):
    call, numbers = with_numbers(row)
    assert len(program_of(ms.jit(call), *numbers, anew=True).outputs)


def test_a_program_is_one_for_the_numbers_that_are_constants_and_serves_all_of_the_others():
    @ms.jit
    def f(x, p, scale):
        return ops.cdist(x, x, p) * scale

    def plain(p, scale):
        return (ops.cdist(X, X, p) * scale).asnumpy()

    for p, scale in ((1.0, 2.0), (3.0, 2.0), (1.0, 5.0), (1.0, -0.5)):
        np.testing.assert_allclose(f(X, p, scale).asnumpy(), plain(p, scale), rtol=1e-6)
    first, same, other = program_of(f, X, 1.0, 7.0), program_of(f, X, 1.0, 2.0), program_of(f, X, 3.0, 2.0)
    assert first is same and first is not other
    assert [name for _, name in first.inputs] == ["x", "scale"]
    np.testing.assert_allclose(ms.grad(f)(X, 3.0, 2.0).asnumpy().sum(), 0, atol=1e-6)


@pytest.mark.parametrize("numbers", [(0.0, -0.0), (float("nan"), float("nan"))])
def test_zeros_have_their_own_programs_and_nan_has_one(numbers):
    def f(x, p):
        return x + float(np.copysign(1.0, p.__float__()))

    first, second = (program_of(jitted, X, number) for jitted in [ms.jit(f)] for number in numbers)
    assert (first is second) == (numbers[0] != numbers[0])


def test_what_fails_with_constants_too_says_so_and_is_not_remembered():
    @ms.jit
    def f(x, p):
        return ops.cdist(x, x, -p)

    with pytest.raises(ValueError, match=r"'p'.*-2\.0"):
        f(X, 2.0)
    assert not program_cache.programs_of(f).constants


def test_constants_that_change_in_each_call_are_reported(capsys):
    log._reset()

    @ms.jit
    def f(x, p):
        return ops.cdist(x, x, p)

    for p in (1.0, 2.0, 3.0):
        f(X, p)
    assert "the Python number 'p' was 1.0, 2.0, 3.0. An operator needs 'p' as a constant" in capsys.readouterr().err
    log._reset()


def test_a_file_has_the_numbers_in_both_cases():
    class Net(nn.Cell):
        def construct(self, x, p, scale):
            return ops.cdist(x, x, p) * scale

    graph = traced(Net(), X, 3.0, 2.0)
    assert [node.name for node in graph.parameters] == ["x"]


def test_a_number_is_a_number_to_isinstance():
    @ms.jit
    def f(x, p):
        return isinstance(p, float), isinstance(p, Tensor), isinstance(x, Tensor), isinstance(x, float)

    assert f(X, 2.0) == (True, False, True, False)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.reshape(x, Tensor([3, 2])),
        lambda x: ops.reshape(x, Tensor([3, 2], ms.int32)),
        lambda x: x.reshape(tuple(Tensor([3, 2], ms.int32))),
        lambda x: x.reshape((int(Tensor([3, 2])[0]), Tensor([1, 2])[-1])),
        lambda x: x.reshape(Tensor(np.array([1, 3, 2]))[1:].asnumpy().tolist()),
        lambda x: x.reshape((Tensor(3), Tensor(2.0, ms.int64).item())),
    ],
)
def test_a_tensor_of_constants_that_a_graph_makes_is_one_of_constants(call):
    assert ms.jit(call)(X).shape == (3, 2)
