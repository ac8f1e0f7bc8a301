"""A CPU that emulates several devices after something has been computed, as in a notebook."""

CODE = """
import numpy as np

import msnb
from msnb import Tensor, context, nn
from msnb.core.program.program_cache import program_of
from msnb.parallel.graph.collective_stats import collectives


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell([nn.Dense(16, 32, activation="relu"), nn.Dense(32, 16)])
        if context.get_auto_parallel_context("parallel_mode") == "semi_auto_parallel":
            devices = context.get_auto_parallel_context("device_num")
            self.layers[0].matmul.shard(((1, 1), (devices, 1)))

    def construct(self, x):
        return (self.layers(x) ** 2).mean()


x = Tensor(np.random.default_rng(0).standard_normal((32, 16)).astype(np.float32))
context.set_context(mode=context.GRAPH_MODE)
results = {}
for mode, devices in {MODES}:
    context.set_auto_parallel_context(parallel_mode=mode, device_num=devices, gradients_mean=True)
    msnb.set_seed(3)
    net = Loss()
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    losses = [float(step(x).asnumpy()) for _ in range(4)]
    weight = net.trainable_params()[0]
    assert len(weight._array.sharding.device_set) == devices, (mode, devices)
    plain = (weight * 2 + Tensor(np.ones((1, 16), np.float32))).asnumpy()  # goes on with what lies there
    np.testing.assert_allclose(plain, weight.asnumpy() * 2 + 1)
    results[mode, devices] = losses, [p.asnumpy() for p in net.trainable_params()]
    if devices > 1:
        program = program_of(step, x)
        assert mode == "auto_parallel" or collectives(program.compiled().as_text(), devices), mode
        msnb.common.api._pynative_executor.sync()
alone = results["stand_alone", 1]
for (mode, devices), (losses, weights) in results.items():
    np.testing.assert_allclose(losses, alone[0], rtol=1e-5, err_msg=mode)
    for one, other in zip(weights, alone[1], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6, err_msg=mode)
"""


def test_devices_requested_late_are_used(fresh, tmp_path):
    """The number of devices grows, then shrinks."""
    modes = [("stand_alone", 1), ("semi_auto_parallel", 8), ("data_parallel", 4), ("auto_parallel", 16)]
    modes += [("semi_auto_parallel", 2), ("data_parallel", 16)]
    done = fresh.run(CODE.replace("{MODES}", repr(modes)), tmp_path)
    assert not done.status, f"{done.out}\n{done.err}"


def test_device_count_in_xla_flags_raises(fresh, tmp_path):
    flags = "import os\nos.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'\n"
    done = fresh.run(flags + CODE.replace("{MODES}", repr([("stand_alone", 1), ("data_parallel", 4)])), tmp_path)
    assert done.status and "there are 2 CPUs. So it stands in XLA_FLAGS" in done.err, done.err
