"""Settings for all tests: one CPU, no window, and the context put back after each test."""

import ctypes
import gc
import os
import signal
import sys
from pathlib import Path

import chance
import cheap_xla  # noqa: F401 - before anything imports jax
import hypothesis
import no_grammar  # noqa: F401 - before anything imports nbformat
import pytest
from fresh import Fresh
from sweeps import by_turns

# Before anything imports jax: the tests compare numbers, so they run where every machine gives the same ones.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("MSNB_COMPILE_CACHE", "0")  # what is compiled here is nobody else's
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

# hypothesis draws the same examples in each run, in CI and elsewhere; no example depends on the last run.
hypothesis.settings.register_profile("the same", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("the same")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so it is in the background of a shell; some tests interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Above this size of the process, compiled programs are dropped between two tests. A dropped program compiles again, and
# the search takes a second, so a machine of 16 GB does it less often.
MEMORY = 1200 << 20
if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
    MEMORY = max(MEMORY, min(1800 << 20, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 10))


def _resident():
    """Return the resident memory of this process in bytes, or 0 if the system does not report it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


HERE = Path(__file__).parent


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Each worker begins to collect at another folder. In a new clone it rewrites the assertions of the first ones, and
    finds on disk what the others have rewritten meanwhile.
    """
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker and report.result and collector.path == HERE:
        # A worker that replaces one that has crashed has a number beyond the count.
        share = int(worker["workerid"].removeprefix("gw")) % worker["workercount"] / worker["workercount"]
        sizes = [len(list(node.path.rglob("test_*.py"))) or 1 for node in report.result]
        first = next(n for n in range(len(sizes)) if sum(sizes[: n + 1]) > share * sum(sizes))
        report.result = report.result[first:] + report.result[:first]
    return report


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_mark_by_turns(items):
    """Before pytest looks at the marks, and hypothesis at the sources."""
    for item in by_turns(items):
        item.add_marker(pytest.mark.slow)
    chance.without_constants()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Move tests that wait for browsers and kernels to the front. One worker gets all of them: while it waits, the
    others use the processors, and at the end no worker waits for a session that began last.
    """
    items.sort(key=lambda item: (item.get_closest_marker("first") is None, item.path.parts[len(HERE.parts)]))


PLAIN = {"ops", "nn", "np_face", "mint", "exchange", "train", "compression"}  # folders that ask no program for lines


@pytest.fixture(scope="module", autouse=True)
def _no_places_in_programs(request):
    """Nobody looks there for the line that an instruction came from, and to note it is a fifteenth of the time."""
    import jax

    before = jax.config.jax_traceback_in_locations_limit
    if PLAIN & set(request.path.relative_to(HERE).parts[:1]):
        jax.config.update("jax_traceback_in_locations_limit", 0)
    yield
    jax.config.update("jax_traceback_in_locations_limit", before)


@pytest.fixture(scope="session", autouse=True)
def _one_device():
    """Computing has begun: no test that asks for several devices changes how many the others have."""
    import jax

    jax.devices()


gc.disable()  # until all is collected, of which nothing is garbage: to look through it again and again takes a second


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """The million objects that are there before the first test stay; a look for garbage among them takes 0.8 s.

    Tracing makes many objects that live on: to look after 700 new ones, as Python does by default, is 5 % of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """No test draws by chance, and none draws what another one's seed has left."""
    chance.begin()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Freeze the objects that a file of tests leaves behind, so that garbage collection skips them.

    With the programs of a thousand tests in JAX's caches one `gc.collect` takes a second, and fifty tests call it.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish():
    """A program that a test has compiled stays in JAX's caches, 1.5 MB each, thousands in all."""
    global MEMORY
    if _resident() < MEMORY or "jax" not in sys.modules:
        return
    sys.modules["jax"].clear_caches()
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
    MEMORY = max(MEMORY, _resident() + (300 << 20))  # what is held for good is not looked for after every test


@pytest.fixture(scope="session")
def fresh():
    """Yield an interpreter that has imported msnb and done nothing else; see `Fresh.run`."""
    if not hasattr(os, "fork"):
        pytest.skip("there are no forks here")
    interpreter = Fresh()
    yield interpreter
    interpreter.close()


@pytest.fixture
def graph_mode():
    """Run the test in GRAPH mode; `_context_as_before` ends it."""
    from msnb import context

    context.set_context(mode=context.GRAPH_MODE)


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
