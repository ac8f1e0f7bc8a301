"""Small nets drawn at random in DATA_PARALLEL and HYBRID_PARALLEL, beside r1.1's rules written with numpy alone.

Each of n processes has its rows. Its loss is the mean over these, and BatchNorm takes mean and variance of these. A
gradient is the sum over all processes, or with gradients_mean that sum divided by n, but for a Parameter with
layerwise_parallel: there it is the process's own, divided by nothing. Each process updates its own Parameters; what is
read of one that differs is process 0's, and so are moving averages. A loss that is shown is the mean of all.
"""

import sys

import numpy as np
from eight_devices import floats
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import msnb as ms
from msnb import Parameter, ParameterTuple, Tensor, context, nn, ops

EXAMPLES = 40 if "--all" in sys.argv else 6
ACTIVATIONS = {
    "tanh": (np.tanh, lambda y: 1 - y**2),
    "sigmoid": (lambda a: 1 / (1 + np.exp(-a)), lambda y: y * (1 - y)),
    "softplus": (lambda a: np.log1p(np.exp(a)), lambda y: 1 - np.exp(-y)),  # of ReLU zeros BatchNorm makes noise
}
LAYERS = st.tuples(st.integers(2, 6), st.sampled_from([*ACTIVATIONS]), st.booleans())
PLANS = st.fixed_dictionaries(
    {
        "layers": st.lists(LAYERS, min_size=1, max_size=3),  # width, activation, whether it is normalised
        "devices": st.sampled_from([2, 4, 8]),
        "rows": st.integers(3, 5),  # of each device
        "mode": st.sampled_from(["data_parallel", "hybrid_parallel"]),
        "mean": st.booleans(),
        "classes": st.booleans(),
        "momentum": st.sampled_from([0.0, 0.9]),
        "decay": st.sampled_from([0.0, 0.1]),
        "alone": st.integers(0, 2**12 - 1),  # which Parameters are layerwise_parallel, a bit for each
        "drawn": st.integers(0, 10**6),
    }
)
RATE, STEPS, INPUTS, OUTPUTS = 0.1, 3, 5, 3


class Process:
    """One process of r1.1 in 64 bits: its Parameters, moments and moving means."""

    def __init__(self, plan, weights):
        self.plan, self.weights = plan, {name: w.astype(np.float64) for name, w in weights.items()}
        self.moments = {name: np.zeros_like(w) for name, w in self.weights.items()}
        self.means = {name: np.zeros_like(w) for name, w in self.weights.items() if name.endswith("gamma")}

    def gradients(self, x, y):
        """Return (loss, gradients) of its own batch, and update moving means."""
        w, activations, gradients = self.weights, [], {}
        for number, (_, activation, normal) in enumerate(self.plan["layers"]):
            into, a = x, x @ w[f"{number}.weight"].T + w[f"{number}.bias"]
            scaled = deviation = None
            if normal:
                name = f"{number}.gamma"
                self.means[name] = 0.9 * self.means[name] + 0.1 * a.mean(0)
                deviation = np.sqrt(a.var(0) + 1e-5)
                scaled = (a - a.mean(0)) / deviation
                a = scaled * w[name] + w[f"{number}.beta"]
            x = ACTIVATIONS[activation][0](a)
            activations.append((number, activation, into, scaled, deviation, x))
        out = x @ w["last.weight"].T
        if self.plan["classes"]:
            share = np.exp(out - out.max(1, keepdims=True))
            share /= share.sum(1, keepdims=True)
            chosen = np.eye(OUTPUTS)[y]
            loss, back = -np.log((share * chosen).sum(1)).mean(), (share - chosen) / len(x)
        else:
            loss, back = ((out - y) ** 2).mean(), 2 * (out - y) / out.size
        gradients["last.weight"], back = back.T @ x, back @ w["last.weight"]
        for number, activation, into, scaled, deviation, out in reversed(activations):
            back = back * ACTIVATIONS[activation][1](out)
            if scaled is not None:
                name = f"{number}.gamma"
                gradients[name], gradients[f"{number}.beta"] = (back * scaled).sum(0), back.sum(0)
                back = back * w[name]
                back = (back - back.mean(0) - scaled * (back * scaled).mean(0)) / deviation
            gradients[f"{number}.weight"], gradients[f"{number}.bias"] = back.T @ into, back.sum(0)
            back = back @ w[f"{number}.weight"]
        return loss, gradients

    def update(self, gradients):
        for name, gradient in gradients.items():
            if not name.endswith(("gamma", "beta")):  # which an optimizer leaves alone
                gradient = gradient + self.plan["decay"] * self.weights[name]
            self.moments[name] = self.plan["momentum"] * self.moments[name] + gradient
            self.weights[name] = self.weights[name] - RATE * self.moments[name]


def by_rule(plan, weights, alone, batches):
    """Return (losses, Parameters as read, moving means as read)."""
    every, losses = [Process(plan, weights) for _ in range(plan["devices"])], []
    for x, y in batches:
        rows = np.arange(len(x)).reshape(plan["devices"], -1)
        results = [one.gradients(x[own].astype(np.float64), y[own]) for one, own in zip(every, rows, strict=True)]
        losses.append(np.mean([loss for loss, _ in results]))
        for one, (_, own) in zip(every, results, strict=True):
            total = {name: sum(each[name] for _, each in results) for name in own}
            total = {name: g / (plan["devices"] if plan["mean"] else 1) for name, g in total.items()}
            one.update({name: own[name] if name in alone else total[name] for name in own})
    return losses, every[0].weights, every[0].means


class RandomNet(nn.Cell):
    """The same network as a Cell."""

    def __init__(self, plan, weights, alone):
        super().__init__()
        self.layer_parameters = {name: Parameter(Tensor(w), name=name) for name, w in weights.items()}
        for name in alone:
            self.layer_parameters[name].layerwise_parallel = True
        self.weights = ParameterTuple(
            [p for name, p in self.layer_parameters.items() if not name.endswith(("gamma", "beta"))]
        )
        self.norms, self.plan = nn.CellList(), plan
        for number, (width, _, normal) in enumerate(plan["layers"]):
            if normal:
                norm = nn.BatchNorm1d(width)
                norm.gamma, norm.beta = (
                    self.layer_parameters[f"{number}.gamma"],
                    self.layer_parameters[f"{number}.beta"],
                )
                self.norms.append(norm)

    def construct(self, x):
        norms = list(self.norms)
        for number, (_, activation, normal) in enumerate(self.plan["layers"]):
            x = ops.matmul(x, self.layer_parameters[f"{number}.weight"].T) + self.layer_parameters[f"{number}.bias"]
            x = norms.pop(0)(x) if normal else x
            x = getattr(ops, activation)(x)
        return ops.matmul(x, self.layer_parameters["last.weight"].T)


@seed(11)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(PLANS)
def check_replicas_follow_the_rules_of_processes(plan):
    """Compare losses, Parameters and moving means after three steps."""
    random, weights, width = np.random.default_rng(plan["drawn"]), {}, INPUTS
    for number, (after, _, normal) in enumerate(plan["layers"]):
        weights[f"{number}.weight"] = random.standard_normal((after, width)) / np.sqrt(width)
        weights[f"{number}.bias"] = random.standard_normal(after) / 4
        if normal:
            weights[f"{number}.gamma"], weights[f"{number}.beta"] = random.uniform(0.5, 1.5, (2, after))
        width = after
    weights["last.weight"] = random.standard_normal((OUTPUTS, width)) / np.sqrt(width)
    weights = {name: w.astype(np.float32) for name, w in weights.items()}
    alone = {name for number, name in enumerate(weights) if plan["alone"] >> number & 1}
    size, batches = plan["devices"] * plan["rows"], []
    for _ in range(STEPS):
        y = random.integers(0, OUTPUTS, size) if plan["classes"] else random.standard_normal((size, OUTPUTS))
        x = random.standard_normal((size, INPUTS)).astype(np.float32)
        batches.append((x, y.astype(np.int32 if plan["classes"] else np.float32)))
    losses, read, means = by_rule(plan, weights, alone, batches)

    context.reset_auto_parallel_context()
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(
        parallel_mode=plan["mode"], device_num=plan["devices"], gradients_mean=plan["mean"]
    )
    net = RandomNet(plan, weights, alone)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean") if plan["classes"] else nn.MSELoss()
    optimizer = nn.Momentum(net.trainable_params(), RATE, plan["momentum"], plan["decay"])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    got = [step(Tensor(x), Tensor(y)).asnumpy() for x, y in batches]
    np.testing.assert_allclose(got, losses, rtol=1e-4, err_msg=str(plan))
    for name, expected in read.items():
        np.testing.assert_allclose(
            net.layer_parameters[name].asnumpy(), expected, rtol=0, atol=1e-4, err_msg=f"{name} of {plan}"
        )
    for norm, expected in zip(net.norms, means.values(), strict=True):
        np.testing.assert_allclose(norm.moving_mean.asnumpy(), expected, rtol=0, atol=1e-4, err_msg=str(plan))


def check_float16_gradients_are_summed_in_float32():
    """The sum of eight times 20000 overflows float16, but the mean does not. r1.1 casts before the sum and after the
    division.
    """
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=8)
    params = [Parameter(Tensor(np.zeros(3, np.float16)), name=name) for name in "ab"]
    params[1].layerwise_parallel = True
    reducer = nn.DistributedGradReducer(params, True)
    ones = floats(8, 3) * 0 + 1

    @ms.ms_function
    def reduced(x):
        large = (x[0] * 20000).astype(ms.float16)
        a, b = reducer((large, large))
        return ops.expand_dims(a, 0), ops.expand_dims(b, 0)

    for got in reduced(ones):
        assert got.dtype == ms.float16 and np.array_equal(got.asnumpy(), np.full((8, 3), 20000, np.float16)), got
