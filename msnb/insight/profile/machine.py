"""Peak performance of this machine: operations and bytes per second.

Each process measures it once, briefly. The best result of all processes is stored in the user's cache folder, because a
busy machine gives lower figures.
"""

import contextlib
import functools
import json
import os
import platform
import time
from typing import Any

import jax
import jax.numpy as jnp

from msnb._util.atomic_file import writing
from msnb._util.cache_dir import cache_folder

# platform -> (side of the matrices, elements of the array)
_SIZES = {"cpu": (1024, 1 << 24), "gpu": (8192, 1 << 28), "tpu": (8192, 1 << 28)}
_BUDGET = 0.25  # seconds for each of the two measurements


class Machine:
    """Peak performance of a device, as measured by `machine`.

    Attributes:
        device (str): kind of device, ``"cpu"``, ``"gpu"`` or ``"tpu"``, and its name.
        flops (float): float32 operations per second of a large matrix product.
        bandwidth (float): bytes per second of adding one to a large array, reads and writes.
        seconds (float): duration of the measurement.
    """

    __slots__ = ("device", "flops", "bandwidth", "seconds")

    def __init__(self, device: Any, flops: float, bandwidth: float, seconds: float = 0.0) -> None:
        self.device: Any = device
        self.flops: float = flops
        self.bandwidth: float = bandwidth
        self.seconds: float = seconds

    def at_best(self, flops: float, nbytes: float) -> float:
        """Return the minimum seconds for this work, by the roofline model (Williams et al., 2009)."""
        return max(flops / self.flops, nbytes / self.bandwidth)

    def bound(self, flops: float, nbytes: float) -> str:
        """Return ``"compute"`` if computing takes longer than moving the bytes, else ``"memory"``."""
        return "compute" if flops / self.flops >= nbytes / self.bandwidth else "memory"

    def __repr__(self) -> str:
        return f"Machine({self.device}: {self.flops / 1e9:.0f} GFLOP/s, {self.bandwidth / 1e9:.1f} GB/s)"


@functools.cache
def machine():
    """Measure FLOP/s and memory bandwidth of the default device in less than a second. The result is cached.

    Returns:
        Machine, with the highest values that were ever measured on this machine.
    """
    started = time.perf_counter()
    device = jax.devices()[0]
    side, stream = _SIZES.get(device.platform, _SIZES["cpu"])
    a = jnp.ones((side, side), jnp.float32)
    product = _measure_best_time(jax.jit(lambda x, y: x @ y), a, a)
    del a
    long = jnp.ones((stream,), jnp.float32)
    moved = _measure_best_time_in_place(jax.jit(lambda x: x + 1, donate_argnums=0), long)
    name = getattr(device, "device_kind", device.platform)
    if device.platform == "cpu":
        name = f"cpu, {cores()} cores"
    flops, bandwidth = _update_stored_maximum(name, 2 * side**3 / product, 2 * 4 * stream / moved)
    return Machine(name, flops, bandwidth, time.perf_counter() - started)


def load() -> float | None:
    """Return the load average over the last minute; None if the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _update_stored_maximum(name, flops, bandwidth):
    """Return and store the higher of the current and the stored values. A failure to store them is ignored."""
    file, key, stored = cache_folder() / "machine.json", f"{platform.node()}, {name}", {}
    with contextlib.suppress(OSError, ValueError):
        read = json.loads(file.read_text(encoding="utf-8"))
        stored = read if isinstance(read, dict) else {}
    now = flops, bandwidth
    with contextlib.suppress(TypeError, ValueError):
        before = stored.get(key, now)
        flops, bandwidth = (max(float(a), b) for a, b in zip(before, now, strict=True))
    if list(stored.get(key, ())) != [flops, bandwidth]:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            with writing(file) as opened:
                opened.write(json.dumps({**stored, key: [flops, bandwidth]}).encode())
    return flops, bandwidth


def _measure_best_time_in_place(fn, array):
    """Return the shortest time of a function that overwrites its argument. New memory would cost page faults."""
    state = [array]

    def again():
        state[0] = fn(state[0])
        return state[0]

    return _measure_best_time(again)


def _measure_best_time(fn, *args):
    """Return the seconds of the shortest call of `fn` within the time budget."""
    jax.block_until_ready(fn(*args))
    best, stop = float("inf"), time.perf_counter() + _BUDGET
    while True:
        start = time.perf_counter()
        jax.block_until_ready(fn(*args))
        end = time.perf_counter()
        best = min(best, end - start)
        if end > stop:
            return best
