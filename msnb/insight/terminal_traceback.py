"""Display uncaught errors of scripts in a terminal: the script's lines, and one sentence at the end.

``MSNB_TRACEBACK=full`` in the environment shows all frames. A program with its own `sys.excepthook` is not changed.
"""

import os
import signal
import sys
import traceback
from typing import Any

from msnb.core.program import background_compile


def install() -> None:
    """Install an excepthook that removes frames of msnb and JAX from errors that involve msnb."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = show


def uninstall() -> None:
    """Undo :func:`install`."""
    if sys.excepthook is show:
        sys.excepthook = sys.__excepthook__


def show(kind: type[BaseException], error: BaseException, tb: Any) -> None:
    """Print an error to standard error; this is a `sys.excepthook`."""
    if os.environ.get("MSNB_TRACEBACK") == "full":
        return sys.__excepthook__(kind, error, tb)
    short_traceback = _import_short_traceback()
    if not short_traceback.concerns(error, tb):
        return sys.__excepthook__(kind, error, tb)
    with short_traceback.shortened(error, tb) as (short, left_out):
        while short is not None and short_traceback.is_library(short):  # frames of the launcher
            short = short.tb_next
        error.__traceback__ = short
        formatted = traceback.TracebackException.from_exception(error)
        sentence = list(formatted.format_exception_only())
        lines = list(formatted.format())[: -len(sentence)]
    if left_out:
        frames = f"{left_out} frame{'s' * (left_out > 1)}"
        lines.append(f"({frames} inside msnb and JAX left out; MSNB_TRACEBACK=full shows them)\n")
    callback_sentence = short_traceback.sentence_from_callback(error)
    print(
        "".join([*lines, *([f"{callback_sentence}\n"] if callback_sentence else sentence)]),
        end="",
        file=sys.stderr,
        flush=True,
    )


def interrupted(error: KeyboardInterrupt) -> None:
    """Print the line at which Ctrl-C has stopped a script. The next Ctrl-C ends Python without waiting for threads."""
    short_traceback = _import_short_traceback()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    where = short_traceback.last_line(error)
    line = f"\nInterrupted{f' at {where}' if where else ''}."
    if background_compile.is_compiling():
        line += " XLA finishes what it is compiling first; Ctrl-C again does not wait for that."
    print(line, file=sys.stderr, flush=True)


def _import_short_traceback():
    from msnb.insight import short_traceback  # imported here, because most programs do not fail

    return short_traceback
