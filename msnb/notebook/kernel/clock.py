"""`--time`: the seconds of one cell, told apart into compiling and the rest."""

import time

import jax

_COMPILING = "/jax/core/compile/"


class Clock:
    """Measures from its making to :meth:`stop`."""

    def __init__(self):
        self._spans = []
        jax.monitoring.register_event_duration_secs_listener(self._hear)
        self._start = time.perf_counter()

    def _hear(self, event, duration, **_):
        if event.startswith(_COMPILING):
            now = time.perf_counter()
            self._spans.append((now - duration, now))

    def stop(self) -> str:
        """One line: wall, compile and run seconds."""
        wall = time.perf_counter() - self._start
        jax.monitoring.unregister_event_duration_listener(self._hear)
        compiling = min(_covered(self._spans), wall)
        return f"wall {_seconds(wall)}: compile {_seconds(compiling)}, run {_seconds(wall - compiling)}"


def _covered(spans):
    """Seconds that at least one span covers: what JAX traces within a trace is reported twice."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _seconds(value):
    if value < 0.001:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"
