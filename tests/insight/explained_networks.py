"""Small networks for the tests of explainers."""

import contextlib

import jax

from msnb import Parameter, Tensor, nn, ops


class GoldenNetwork(nn.Cell):
    """The network of `tests/golden/make_explainer.py` without its softmax."""

    def __init__(self, weights, n_channels=3):
        super().__init__()
        self.kernel = Parameter(Tensor(weights["conv"][:, :n_channels]), "kernel")
        self.bias = Parameter(Tensor(weights["bias"]), "bias")
        self.dense = Parameter(Tensor(weights["dense"]), "dense")
        self.conv = ops.Conv2D(4, 3, pad_mode="same")
        self.relu = nn.ReLU()

    def construct(self, x):
        x = self.relu(self.conv(x, self.kernel) + self.bias.reshape(1, 4, 1, 1))
        return ops.matmul(x.mean((2, 3)), self.dense.T)


class Linear(nn.Cell):
    """A dense layer on the pixels, with a ReLU before it: a Cell or a function."""

    def __init__(self, n_labels=3, relu=None, shape=(1, 4, 4)):
        super().__init__()
        self.relu = relu or nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(shape[0] * shape[1] * shape[2], n_labels, weight_init="normal")

    def construct(self, x):
        return self.fc(self.flatten(self.relu(x)))


@contextlib.contextmanager
def counted_traces():
    """Yield a list that gets an element for each trace of JAX."""
    traces = []

    def note(event, seconds, **_):
        if event.endswith("jaxpr_trace_duration"):
            traces.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield traces
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
