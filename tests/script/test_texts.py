"""Output of a network while its graph runs, and texts with Tensors in them."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops

X = Tensor(np.array([1.0, 2.0], np.float32))


class Prints(nn.Cell):
    """Prints as people do."""

    def construct(self, x, n):
        y = x * 2
        print("shape", y.shape)
        print("y is", y, end=";\n")
        print(f"mean is {y.mean()}, {y.mean().asnumpy() if False else 3:04d}, {n!r:>5}", (1, y), sep=" | ")
        print("%s of %s" % (y.sum(), "six"), "{0} and {last}".format(y.sum(), last=x.dtype))  # noqa: UP031, UP032 - what is tried
        print("a " + f"{y.sum()}" + " b", str(y), [y, "z"], "%(one)s" % {"one": n}, "%s" % n)  # noqa: UP031
        if y.sum() > 5:
            print("large")
        else:
            print("small")
        i = Tensor(0, ms.int32)
        while i < n:
            print("round")
            i = i + 1
        print()
        return y


def _printed(capfd, mode, times=1):
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        net = Prints()
        for _ in range(times):
            net(X, Tensor(2, ms.int32))
    finally:
        context.set_context(mode=before)
    return capfd.readouterr().out


def test_a_graph_prints_what_python_does_in_order_and_each_time(capfd):
    eager = _printed(capfd, context.PYNATIVE_MODE)
    assert eager.count("round\n") == 2 and "mean is 3.0, 0003" in eager
    assert _printed(capfd, context.GRAPH_MODE, 3) == eager * 3


def test_what_is_printed_of_a_list_is_what_it_was_then(capfd):
    @ms.ms_function
    def f(x):
        seen = [1]
        print(seen)
        seen.append(2)
        return x * len(seen)

    f(X)
    f(X)
    assert capfd.readouterr().out == "[1]\n[1]\n"


@pytest.mark.parametrize("wrong", [False, True])
def test_a_print_is_done_when_the_call_is(capfd, wrong):
    @ms.ms_function
    def f(x):
        print("inside", x.sum() if wrong else "")
        return x

    f(X)
    print("outside")
    assert capfd.readouterr().out.splitlines()[-1] == "outside"


def test_print_of_ops_prints_constants_each_time(capfd):
    @ms.ms_function
    def f(x):
        ops.Print()("constant")
        return x

    for _ in range(3):
        f(X).asnumpy()
    assert capfd.readouterr().out == "constant\n" * 3


def test_prints_of_constants_do_not_disturb_the_values_of_the_graph(capfd):
    class Own(nn.Cell):
        def construct(self, x):
            print("forward")
            return x * x

        def bprop(self, x, out, dout):
            print("backward")
            return (2 * x * dout,)

    class Holds(nn.Cell):
        def __init__(self):
            super().__init__()
            self.own = Own()
            self.plain = nn.Dense(2, 2)

        def construct(self, x):
            print("outer")
            x = self.plain(x)
            for _ in range(2):
                x = self.own(x)
            return x.sum()

    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        net = Holds()
        step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
        x = Tensor(np.ones((3, 2), np.float32))
        for _ in range(2):
            step(x)
        printed = capfd.readouterr().out.split()
        assert printed == ["outer", "forward", "forward", "backward", "backward"] * 2
        mapped = ms.vmap(lambda row: Own()(row))
        assert mapped(x).asnumpy().tolist() == [[1, 1]] * 3
    finally:
        context.set_context(mode=before)


def test_a_compiled_function_in_a_gradient_of_pynative_mode_prints_once(capfd):
    @ms.ms_function
    def f(x):
        print("sum", x.sum())
        print("constant")
        return x.sum()

    before = context.get_context("mode")
    context.set_context(mode=context.PYNATIVE_MODE)
    try:
        for _ in range(2):
            assert ms.grad(f)(X).asnumpy().tolist() == [1, 1]
    finally:
        context.set_context(mode=before)
    assert capfd.readouterr().out == "sum 3.0\nconstant\n" * 2
