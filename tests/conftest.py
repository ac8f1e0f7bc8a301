"""Settings for all tests: one CPU, no window, and the context put back after each test."""

import os
import signal
import sys

# Before anything imports jax: the tests compare numbers, so they run where every machine gives the same ones.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so it is in the background of a shell; some tests interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _context_as_before():
    """Tests change modes and seeds freely; the next one starts from the defaults."""
    yield
    context = sys.modules.get("msnb.context")
    if context is None:
        return
    defaults = {key: default for key, (default, _) in context._settings.rows.items()}
    changed = {key: default for key, default in defaults.items() if getattr(context._state, key) != default}
    context._settings.assign(changed)
    context._settings.assigned.clear()
    for key, value in changed.items():
        for listener in context._listeners.get(key, ()):
            listener(value)
    context.reset_auto_parallel_context()
    context.reset_ps_context()
    sys.modules["msnb.log"]._reset()
