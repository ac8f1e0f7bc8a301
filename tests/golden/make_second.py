"""Names that MindSpore 2 and r1.1 define differently: small computations, and their results in MindSpore 2.

    ORACLE/bin/python tests/golden/make_second.py

ORACLE is a virtual environment with mindspore 2. tests/test_mindspore2.py runs `CASES` under `msnb.mindspore2`.
"""

import pathlib

import numpy as np


def numbers(*shape):
    """Return the same numbers each time."""
    return (np.sin(np.arange(1, np.prod(shape) + 1) * 1.7) * 0.8).astype(np.float32).reshape(shape)


def fill(net):
    """Give each Parameter its numbers."""
    for param in net.get_parameters():
        param.set_data(type(param.data)(numbers(*param.shape)) if param.shape else param.data)
    return net


def names(net):
    return " ".join(f"{param.name}{list(param.shape)}" for param in net.get_parameters())


def lstm(ms, **settings):
    """Results, last states, and the gradients by the input and the Parameters."""
    length = settings.pop("length", None)
    net = fill(ms.nn.LSTM(3, 4, **settings))
    x = ms.Tensor(numbers(2, 5, 3) if settings.get("batch_first") else numbers(5, 2, 3))
    states = net.num_layers * (2 if net.bidirectional else 1)
    hx = (ms.Tensor(numbers(states, 2, 4)), ms.Tensor(numbers(states, 2, 4) * 2))
    rest = () if length is None else (ms.Tensor(np.array(length, np.int32)),)
    out, (h, c) = net(x, hx, *rest)

    def loss(x):
        out, (h, c) = net(x, hx, *rest)
        return (out * out).sum() + h.sum() + (c * 0.5).sum()

    grads = ms.grad(loss, 0, net.trainable_params())(x)
    return [names(net), out, h, c, grads[0], *grads[1]]


def lstm_cell(ms, has_bias=True):
    net = fill(ms.nn.LSTMCell(3, 4, has_bias))
    x, h, c = (ms.Tensor(numbers(*shape)) for shape in ((2, 3), (2, 4), (2, 4)))
    grads = ms.grad(lambda x: sum(part.sum() for part in net(x, (h, c))), 0, net.trainable_params())(x)
    return [names(net), *net(x, (h, c)), grads[0], *grads[1]]


def own_optimizer(ms):
    """As programs for MindSpore 2 write one: it counts its steps itself. Those of MindSpore are in make_optim.py."""

    class Plain(ms.nn.Optimizer):
        def construct(self, gradients):
            rate = self.get_lr()
            self.assignadd(self.global_step, self.global_step_increase_tensor)
            for param, gradient in zip(self.parameters, gradients):
                ms.ops.assign(param, param - rate * gradient)
            return True

    weight = ms.Parameter(ms.Tensor(numbers(2, 2)), name="weight")
    optimizer = Plain([0.1, 0.2, 0.4], [weight])
    for _ in range(3):
        optimizer((ms.Tensor(numbers(2, 2)),))
    return [names(optimizer), weight, optimizer.global_step]


def hooks(ms):
    """Return gradients with backward hooks, and the shapes that the hooks receive, in their order."""
    net, seen = fill(ms.nn.Dense(3, 2)), []

    def first(cell, grad_input, grad_output):
        seen.append(f"{type(cell).__name__} {[g.shape for g in grad_input]} {[g.shape for g in grad_output]}")

    net.register_backward_hook(first)
    handle = net.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 2,))
    result = ms.grad(lambda x: net(x).sum())(ms.Tensor(numbers(4, 3)))
    handle.remove()
    return [result, ms.grad(lambda x: net(x).sum())(ms.Tensor(numbers(4, 3))), "; ".join(dict.fromkeys(seen))]


def loaded(ms):
    """Return missing and surplus names of a load; float16 becomes float32."""
    net = fill(ms.nn.Dense(3, 2))
    weight = ms.Parameter(ms.Tensor(np.ones((2, 3)), ms.float16), name="weight")
    result = ms.load_param_into_net(net, {"weight": weight, "other": weight})
    return [str(result), net.weight]


def vjp(ms):
    x = ms.Tensor(numbers(3))
    out, back = ms.vjp(lambda a: a * a, x)
    more = ms.vjp(lambda a, b: (a * b, b), x, ms.Tensor(numbers(3) * 2), has_aux=True)
    return [out, *back(x), more[0], more[2], *more[1](x)]


def operators(ms):
    ops, x = ms.ops, ms.Tensor(numbers(1, 2, 5, 4))
    halves = [ops.Eps()(ms.Tensor([1.0], dtype)) for dtype in (ms.float16, ms.float32, ms.float64)]
    ranges = [ops.Range(maxlen=10)(*[ms.Tensor(n, ms.int32) for n in (1, 9, 3)]), ops.Range()(5, 0, -2)]
    product = ops.BatchMatMul(transpose_b=True)
    products = [product(x[0, 0], x[0, 1]), product(x, x), ms.grad(lambda a: product(a, x[0, 1]).sum())(x[0, 0])]
    return [*halves, *ranges, *products, *ops.AdaptiveMaxPool2D((2, 3))(x)]


CASES = {
    "operators": operators,
    "lstm": lstm,
    "lstm_layers": lambda ms: lstm(ms, num_layers=2, bidirectional=True, has_bias=False),
    "lstm_lengths": lambda ms: lstm(ms, bidirectional=True, batch_first=True, length=[2, 5]),
    "lstm_cell": lstm_cell,
    "lstm_cell_plain": lambda ms: lstm_cell(ms, False),
    "own_optimizer": own_optimizer,
    "hooks": hooks,
    "loaded": loaded,
    "vjp": vjp,
    "tensor": lambda ms: [ms.tensor([1, 2]), ms.tensor(3, ms.float16), ms.ops.identity(ms.tensor([1.5]))],
}


def stored(result):
    return {
        str(i): np.array(part) if isinstance(part, str) else part.asnumpy() if hasattr(part, "asnumpy") else part
        for i, part in enumerate(result)
    }


if __name__ == "__main__":
    import mindspore

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE, device_target="CPU")
    arrays = {f"{name}/{i}": a for name, run in CASES.items() for i, a in stored(run(mindspore)).items()}
    np.savez_compressed(pathlib.Path(__file__).parent / "second.npz", **arrays)
