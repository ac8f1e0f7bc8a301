"""The `--time` option: wall, compile and run seconds of one cell."""

import time

import jax

_COMPILING = "/jax/core/compile/"


class Clock:
    """Measure the time from construction to :meth:`stop`."""

    def __init__(self):
        self._spans = []
        jax.monitoring.register_event_duration_secs_listener(self._record_compile_span)
        self._start = time.perf_counter()

    def _record_compile_span(self, event, duration, **_):
        if event.startswith(_COMPILING):
            now = time.perf_counter()
            self._spans.append((now - duration, now))

    def stop(self) -> str:
        """Return a line with wall, compile and run seconds."""
        wall = time.perf_counter() - self._start
        jax.monitoring.unregister_event_duration_listener(self._record_compile_span)
        compiling = min(_compute_union_length(self._spans), wall)
        wall, compiling, running = map(_format_seconds, (wall, compiling, wall - compiling))
        return f"wall {wall}: compile {compiling}, run {running}"


def _compute_union_length(spans):
    """Return the length of the union of (start, end) pairs. JAX reports a trace within a trace twice."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _format_seconds(value):
    if value < 0.001:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"
