"""What this machine can do at best: operations and bytes per second, measured once per process."""

import functools
import os
import time
from typing import Any

import jax
import jax.numpy as jnp

_SIZES = {"cpu": (1024, 1 << 24), "gpu": (8192, 1 << 28), "tpu": (8192, 1 << 28)}  # matrix side, elements streamed
_BUDGET = 0.25  # seconds for each of the two measurements


class Machine:
    """Attributes:
    device (str): kind of device, ``"cpu"``, ``"gpu"`` or ``"tpu"``, and its name.
    flops (float): float32 operations per second that a large matrix product reaches.
    bandwidth (float): bytes per second that adding one to a large array reads and writes.
    seconds (float): how long finding out took.
    """

    __slots__ = ("device", "flops", "bandwidth", "seconds")

    def __init__(self, device: Any, flops: float, bandwidth: float, seconds: float = 0.0) -> None:
        self.device: Any = device
        self.flops: float = flops
        self.bandwidth: float = bandwidth
        self.seconds: float = seconds

    def at_best(self, flops: float, nbytes: float) -> float:
        """Seconds that so much work takes at least: the longer of computing and moving (Williams et al., 2009)."""
        return max(flops / self.flops, nbytes / self.bandwidth)

    def bound(self, flops: float, nbytes: float) -> str:
        """``"compute"`` or ``"memory"``, whichever takes longer."""
        return "compute" if flops / self.flops >= nbytes / self.bandwidth else "memory"

    def __repr__(self) -> str:
        return f"Machine({self.device}: {self.flops / 1e9:.0f} GFLOP/s, {self.bandwidth / 1e9:.1f} GB/s)"


@functools.cache
def machine():
    """Measure the default device; takes less than a second the first time and nothing afterwards.

    Returns:
        Machine.
    """
    started = time.perf_counter()
    device = jax.devices()[0]
    side, stream = _SIZES.get(device.platform, _SIZES["cpu"])
    a = jnp.ones((side, side), jnp.float32)
    product = _best(jax.jit(lambda x, y: x @ y), a, a)
    del a
    long = jnp.ones((stream,), jnp.float32)
    moved = _best_in_place(jax.jit(lambda x: x + 1, donate_argnums=0), long)
    name = getattr(device, "device_kind", device.platform)
    if device.platform == "cpu":
        name = f"cpu, {_cores()} cores"
    return Machine(name, 2 * side**3 / product, 2 * 4 * stream / moved, time.perf_counter() - started)


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _best_in_place(fn, array):
    """As `_best`, of a function that overwrites its argument: fresh memory would cost page faults as well."""
    state = [array]

    def again():
        state[0] = fn(state[0])
        return state[0]

    return _best(again)


def _best(fn, *args):
    """Shortest of the runs that fit into the budget, seconds."""
    jax.block_until_ready(fn(*args))
    best, stop = float("inf"), time.perf_counter() + _BUDGET
    while True:
        start = time.perf_counter()
        jax.block_until_ready(fn(*args))
        end = time.perf_counter()
        best = min(best, end - start)
        if end > stop:
            return best
