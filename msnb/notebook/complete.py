"""Completion of what stands behind msnb's magics."""

from typing import Any

from IPython.core.completer import SimpleCompletion, context_matcher

from msnb.notebook.magics import DEVICES, MODES, OPTIONS
from msnb.notebook.rewrite import MAGIC

_SHORT = {"-m": MODES, "--mode": MODES, "-d": DEVICES, "--device": DEVICES}


def candidates(line: str) -> list[str] | None:
    """What may follow at the end of a line, None where msnb has no say."""
    words = line.split()
    if not words or line[-1:].isspace():
        words.append("")
    *before, word = words
    if not before:
        return None
    if before[0] == MAGIC:
        found = _SHORT.get(before[-1]) or [o for o in OPTIONS if o not in before]
    elif before == ["%ms_mode"]:
        found = MODES
    elif before == ["%mindspore"]:
        found = ("on", "off")
    else:
        return None
    return [name for name in found if name.lower().startswith(word.lower())]


@context_matcher(identifier="msnb")
def matcher(context):
    """IPython matcher for the options of the magics."""
    line = context.line_with_cursor
    found = candidates(line)
    if not found:
        return {"completions": []}
    fragment = "" if line[-1:].isspace() else line.split()[-1]
    return {
        "completions": [SimpleCompletion(name, type="magic option") for name in found],
        "matched_fragment": fragment,
        "suppress": True,
    }


# milliseconds that IPython gives types and signatures: its own 400 end before the modules behind `ms.nn.` are loaded
_PATIENCE = 2500


def install(shell: Any) -> Any:
    """Register the matcher with a shell, and let completion take the time to find types; returns what undoes it."""
    completer = shell.Completer
    completer.custom_matchers.append(matcher)
    before = completer.jedi_compute_type_timeout
    completer.jedi_compute_type_timeout = max(before, _PATIENCE)

    def undo():
        if completer.jedi_compute_type_timeout == _PATIENCE:
            completer.jedi_compute_type_timeout = before
        if matcher in shell.Completer.custom_matchers:
            shell.Completer.custom_matchers.remove(matcher)

    return undo
