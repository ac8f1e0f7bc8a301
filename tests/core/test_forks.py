"""Processes that are forked while JAX is in use."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb.dataset as ds
from msnb import Parameter, Tensor, nn, ops

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
net = nn.Dense(2, 2)


def add():
    return (Tensor(np.ones(3)) + 1).asnumpy()


def call_a_network():
    return net(Tensor(np.ones((4, 2), np.float32))).asnumpy()


def call_an_operator_on_a_parameter():
    return ops.ReLU()(Parameter(Tensor(np.ones(3)))).asnumpy()


def differentiate():
    return ops.GradOperation()(lambda x: x * x)(Tensor(3.0)).asnumpy()


def use_jax():
    import jax.numpy as jnp

    return np.asarray(jnp.sin(np.ones(3)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("work", [add, call_a_network, call_an_operator_on_a_parameter, differentiate, use_jax])
def test_an_operator_in_a_forked_process_raises_a_sentence(work):
    work()  # compiled before or not, it is refused
    with multiprocessing.get_context("fork").Pool(1) as pool:
        with pytest.raises(RuntimeError, match="operators cannot run in worker processes.*Use numpy"):
            pool.apply_async(work).get(20)


def read():
    return float(net.weight.asnumpy().sum() + Tensor(np.ones(2)).asnumpy().sum())


@pytest.mark.filterwarnings("ignore")
def test_tensors_can_be_created_and_read_in_a_forked_process():
    expected = read()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(read).get(20) == pytest.approx(expected)


@pytest.mark.parametrize("where", ["map", "source"])
def test_an_operator_in_a_worker_process_of_a_pipeline_is_named_with_the_users_line(where):
    add()

    class Source:
        def __len__(self):
            return 8

        def __getitem__(self, number):
            return (add(),)

    if where == "map":
        data = ds.NumpySlicesDataset(np.ones((8, 2), np.float32), ["x"], shuffle=False)
        data = data.map(lambda x: x + add(), num_parallel_workers=2, python_multiprocessing=True)
    else:
        data = ds.GeneratorDataset(Source(), ["x"], num_parallel_workers=2, python_multiprocessing=True, shuffle=False)
    with pytest.raises(RuntimeError, match=r"(?s)operators cannot run in worker.*test_forks.py:\d+, in add"):
        list(data.create_dict_iterator(output_numpy=True))


PROGRAM = """
import os, sys
import numpy as np
import msnb
from msnb import Tensor

def child():
    pid = os.fork()
    if pid == 0:
        try:
            good = (Tensor(np.ones(3)) + 1).asnumpy().sum() == 6
            os._exit(0 if good else 1)
        except RuntimeError as error:
            os._exit(2 if "worker processes" in str(error) else 3)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

before = child()
Tensor(np.ones(3)) + 1
print(before, child())
"""


def test_a_process_that_was_forked_before_jax_was_used_computes():
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=300, env=env
    )
    assert done.stdout.split() == ["0", "2"], done.stderr
