"""Device topology of AUTO_PARALLEL's search: hosts, cost of bytes between them, and memory of a device."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import context
from msnb.communication import _processes
from msnb.parallel._cost_model_context import reset_cost_model_context, set_cost_model_context
from msnb.parallel.cost_model.topology import BETWEEN, device_memory, make_cost_model, search_axes
from msnb.parallel.cost_model.transfer_cost import MeshCostModel
from msnb.parallel.graph.flatten_jaxpr import flatten_jaxpr
from msnb.parallel.modes import auto
from msnb.parallel.planning.estimate import communication
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.solver import dynamic_programming, peak_nodes_bytes


@pytest.fixture
def hosts(monkeypatch):
    """Return a function that sets the number of processes in total and on each machine."""

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
def test_first_search_axis_is_machines(hosts, processes, devices, sizes):
    hosts(*processes)
    cost_model = make_cost_model(search_axes(devices), devices)
    assert cost_model.sizes == sizes
    assert cost_model.weights == {axis: BETWEEN if axis == "hosts" else 1.0 for axis in sizes}


def create_problem(weights):
    """Return the search problem of two products with a trained weight."""

    def step(w, x):
        loss = lambda w: (jnp.tanh(x @ w) @ w).sum()  # noqa: E731
        return w - jax.grad(loss)(w)

    shapes = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((64, 64), (256, 64))]
    return Problem(
        flatten_jaxpr(jax.make_jaxpr(step)(*shapes)), MeshCostModel({"hosts": 2, "inside": 4}, weights), {0: 0}
    )


def test_search_sends_less_along_expensive_axis():
    def between(weights):
        """Return the bytes along the slow axis of the solution for `weights`."""
        search_problem = create_problem(weights)
        chosen = dynamic_programming(search_problem, operation=1e-3)
        return sum(one.bytes for one in communication(search_problem, chosen) if "hosts" in one.axes)

    assert between({"hosts": BETWEEN, "inside": 1.0}) < between({"hosts": 1.0, "inside": 1.0})


def test_search_respects_device_memory_capacity():
    assert device_memory() is None  # of a CPU
    search_problem = create_problem({"hosts": 1.0, "inside": 1.0})
    try:
        set_cost_model_context(device_memory_capacity=40e3)
        assert device_memory() == 40e3
        for mode in auto.SEARCHES:
            context.set_auto_parallel_context(auto_parallel_search_mode=mode)
            assert (
                peak_nodes_bytes(search_problem, auto._get_search_function()(search_problem, device_memory())) <= 40e3
            )
        set_cost_model_context(device_memory_capacity=1e3)
        context.set_auto_parallel_context(auto_parallel_search_mode="dynamic_programming")
        with pytest.raises(RuntimeError, match="each would have to keep .* KiB, but has 1,000 B"):
            auto._get_search_function()(search_problem, device_memory())
    finally:
        reset_cost_model_context()
        context.reset_auto_parallel_context()
    assert device_memory() is None
