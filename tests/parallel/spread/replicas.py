"""DATA_PARALLEL and HYBRID_PARALLEL: each of eight devices computes its own batch."""

import numpy as np
from eight_devices import RANDOM, count_communication, floats

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ir.stages import Stages


class Classifier(nn.Cell):
    """Dense, BatchNorm, Dense. The second one mixes examples of a batch."""

    def __init__(self, layerwise=False):
        super().__init__()
        random = np.random.default_rng(3)
        draw = lambda *shape: Tensor(random.standard_normal(shape).astype(np.float32) / 4)  # noqa: E731
        self.inner, self.norm = nn.Dense(8, 16, weight_init=draw(16, 8)), nn.BatchNorm1d(16)
        self.outer = nn.Dense(16, 3, weight_init=draw(3, 16))
        self.outer.weight.layerwise_parallel = layerwise

    def construct(self, x):
        return self.outer(ops.tanh(self.norm(self.inner(x))))


def classified(layerwise=False):
    """Return (a Cell that returns loss and gradients, its network)."""
    net = Classifier(layerwise)
    return nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")), net


def by_hand(x, y, parts, mean, layerwise=False, steps=2, rate=0.5):
    """Return (losses, weights) by r1.1's definition: own batch, loss and statistics per process, and summed
    gradients.
    """
    context.reset_auto_parallel_context()
    context.set_context(mode=context.GRAPH_MODE)
    weights, losses = None, []
    for _ in range(steps):
        results = []
        for rank in range(parts):
            loss_net, net = classified()
            loss_net.set_train()
            if weights is not None:
                for p, value in zip(net.trainable_params(), weights[rank], strict=True):
                    p.set_data(Tensor(value))
            rows = slice(rank * len(x) // parts, (rank + 1) * len(x) // parts)
            params = ms.ParameterTuple(net.trainable_params())
            loss, grads = ops.value_and_grad(loss_net, None, params)(Tensor(x[rows]), Tensor(y[rows]))
            results.append((loss.asnumpy(), [g.asnumpy() for g in grads], [p.asnumpy() for p in params]))
        joined = [np.sum(g, axis=0) / (parts if mean else 1) for g in zip(*(g for _, g, _ in results), strict=True)]
        alone = [layerwise and name == "outer.weight" for name in (p.name for p in params)]
        weights = [
            [w - rate * (own if single else all_) for w, own, all_, single in zip(ws, gs, joined, alone, strict=True)]
            for _, gs, ws in results
        ]
        losses.append(np.mean([loss for loss, *_ in results]))
    return losses, weights[0]


def check_data_parallel_equals_processes():
    x, y = RANDOM.standard_normal((32, 8)).astype(np.float32), RANDOM.integers(0, 3, 32).astype(np.int32)
    for mode, mean, layerwise in (
        ("data_parallel", True, False),
        ("data_parallel", False, False),
        ("hybrid_parallel", True, True),
    ):
        losses, weights = by_hand(x, y, 4, mean, layerwise)
        context.set_auto_parallel_context(parallel_mode=mode, device_num=4, gradients_mean=mean)
        loss_net, net = classified(layerwise)
        step = nn.TrainOneStepCell(loss_net, nn.SGD(net.trainable_params(), 0.5)).set_train()
        got = [step(Tensor(x), Tensor(y)).asnumpy() for _ in range(2)]
        np.testing.assert_allclose(got, losses, rtol=1e-5)
        for p, expected in zip(net.trainable_params(), weights, strict=True):
            np.testing.assert_allclose(p.asnumpy(), expected, rtol=0, atol=2e-6, err_msg=f"{mode} {p.name}")
        program = program_of(step, Tensor(x), Tensor(y))
        assert count_communication(program, 4).keys() == {"all-reduce"}
        scopes = {node.scope for node in Stages(program, "step")["optimised"].all_nodes()}
        assert any("inner-Dense" in scope for scope in scopes) and "shard_map" not in str(scopes), scopes


def check_global_batch_norm_uses_full_batch():
    x, y = floats(16, 6), floats(16, 6)
    for one, all_ in (
        (nn.BatchNorm1d, nn.SyncBatchNorm),
        (nn.BatchNorm1d, lambda number: nn.GlobalBatchNorm(number, device_num_each_group=4)),
        (ms.mint.nn.BatchNorm1d, ms.mint.nn.SyncBatchNorm),
    ):
        results = []
        for make, settings in ((one, {}), (all_, {"parallel_mode": "data_parallel", "device_num": 4})):
            context.reset_auto_parallel_context()
            context.set_auto_parallel_context(gradients_mean=True, **settings)
            norm = make(6)
            net = nn.SequentialCell(nn.Dense(6, 6, weight_init=Tensor(np.eye(6, dtype=np.float32))), norm)
            loss = nn.WithLossCell(net, nn.MSELoss())
            step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.5)).set_train()
            losses = [step(x, y).asnumpy() for _ in range(2)]
            results.append([losses, *[p.asnumpy() for p in net.get_parameters()]])
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=2e-6, err_msg=str(all_))
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=4)
    context.set_context(mode=context.GRAPH_MODE)
    rows = x.asnumpy().reshape(4, 4, 6)
    for norm, groups in (
        (nn.GlobalBatchNorm(6), [[0, 1], [2, 3]]),
        (nn.SyncBatchNorm(6, process_groups=[[3, 0], [1, 2]]), [[0, 3], [1, 2]]),
        (ms.mint.nn.SyncBatchNorm(6), [[0, 1, 2, 3]]),
    ):
        got = norm.set_train()(x).asnumpy().reshape(4, 4, 6)
        for group in groups:
            own = rows[group]
            expected = (own - own.mean((0, 1))) / np.sqrt(own.var((0, 1)) + 1e-5)
            np.testing.assert_allclose(got[group], expected, rtol=1e-4, atol=1e-5)
    for norm in (nn.GlobalBatchNorm(6, device_num_each_group=3), nn.SyncBatchNorm(6, process_groups=[[0, 1], [2]])):
        try:
            norm.set_train()(x)
        except ValueError as error:
            assert "4 devices" in str(error), error
        else:
            raise AssertionError(norm)


def check_indivisible_batch_raises():
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=8)
    try:
        Classifier()(floats(12, 8))
    except ValueError as error:
        assert "of shape (12, 8) cannot be divided by rows over 8 devices" in str(error)
    else:
        raise AssertionError("it is divided")
