"""pytest shows an error of msnb as notebook and terminal do: the lines of the test and of the user, and one sentence.

pytest loads this in each of its sessions, by its entry point in pyproject.toml. It stands beside the package because
`import msnb` loads JAX, which tests of other things do without. ``--full-trace`` and ``MSNB_TRACEBACK=full`` show all
frames; ``-p no:msnb`` leaves it out.
"""

import os
import sys
from typing import Any

import pytest
from _pytest._code import Traceback


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Write the report with the short traceback; the exception and pytest's debugger keep all frames."""
    error = call.excinfo.value if call.excinfo is not None else None
    whole = item.config.getoption("fulltrace", False) or os.environ.get("MSNB_TRACEBACK") == "full"
    if error is None or whole or "msnb" not in sys.modules:
        return (yield)
    from msnb.insight import short_traceback  # spares sessions in which nothing fails what names their lines

    if not short_traceback.concerns(error, error.__traceback__):
        return (yield)
    every = call.excinfo.traceback
    with short_traceback.shortened(error, error.__traceback__) as (short, left_out):
        call.excinfo.traceback = Traceback(short)
        try:
            report = yield
        finally:
            call.excinfo.traceback = every
    if left_out:
        frames = f"{left_out} frame{'s' * (left_out > 1)}"
        report.sections.append(("msnb", f"{frames} inside msnb and JAX left out; --full-trace shows them"))
    return report
