"""What AUTO_PARALLEL's search knows of the devices: hosts, what a byte costs between them, and how much each keeps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import context
from msnb.communication import _processes
from msnb.parallel import auto
from msnb.parallel._cost_model_context import reset_cost_model_context, set_cost_model_context
from msnb.parallel.planning.estimate import communication
from msnb.parallel.search.choosing import dynamic_programming, held
from msnb.parallel.search.costs import Machines
from msnb.parallel.search.flat import flat
from msnb.parallel.search.problem import Problem
from msnb.parallel.topology import BETWEEN, grouped, machines, memory


@pytest.fixture
def hosts(monkeypatch):
    """Says how many processes there are, and how many of them on each machine."""

    def say(size, local_size):
        monkeypatch.setattr(_processes, "_joined", _processes.World(size, 0, local_size, 0, None))

    return say


@pytest.mark.parametrize(
    ("processes", "devices", "sizes"),
    [
        ((1, 1), 8, {"outer": 2, "inner": 4}),
        ((8, 8), 8, {"outer": 2, "inner": 4}),  # on one machine
        ((8, 2), 8, {"hosts": 4, "inside": 2}),
        ((2, 1), 16, {"hosts": 2, "inside": 8}),
        ((4, 1), 4, {"outer": 2, "inner": 2}),  # each has a host, and all links are equal
        ((6, 3), 6, {"hosts": 2, "inside": 3}),
        ((6, 2), 6, {"outer": 2, "inner": 3}),  # the first axis of the mesh is of two devices, not of three hosts
    ],
)
def test_devices_on_several_machines_are_cut_by_these_first(hosts, processes, devices, sizes):
    hosts(*processes)
    found = machines(grouped(devices), devices)
    assert found.sizes == sizes
    assert found.weights == {axis: BETWEEN if axis == "hosts" else 1.0 for axis in sizes}


def problem(weights):
    """Two products of a weight that is trained."""

    def step(w, x):
        loss = lambda w: (jnp.tanh(x @ w) @ w).sum()  # noqa: E731
        return w - jax.grad(loss)(w)

    shapes = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((64, 64), (256, 64))]
    return Problem(flat(jax.make_jaxpr(step)(*shapes)), Machines({"hosts": 2, "inside": 4}, weights), {0: 0})


def test_less_goes_between_hosts_where_that_costs_more():
    def between(weights):
        """Bytes along the slow axis of what is found for these weights."""
        found = problem(weights)
        chosen = dynamic_programming(found, operation=1e-3)
        return sum(one.bytes for one in communication(found, chosen) if "hosts" in one.axes)

    assert between({"hosts": BETWEEN, "inside": 1.0}) < between({"hosts": 1.0, "inside": 1.0})


def test_the_search_keeps_what_the_cost_model_says_that_a_device_can():
    assert memory() is None  # of a CPU
    given = problem({"hosts": 1.0, "inside": 1.0})
    try:
        set_cost_model_context(device_memory_capacity=40e3)
        assert memory() == 40e3
        for mode in auto.SEARCHES:
            context.set_auto_parallel_context(auto_parallel_search_mode=mode)
            assert held(given, auto._search()(given, memory())) <= 40e3
        set_cost_model_context(device_memory_capacity=1e3)
        context.set_auto_parallel_context(auto_parallel_search_mode="dynamic_programming")
        with pytest.raises(RuntimeError, match="each would have to keep .* KiB, but has 1,000 B"):
            auto._search()(given, memory())
    finally:
        reset_cost_model_context()
        context.reset_auto_parallel_context()
    assert memory() is None
