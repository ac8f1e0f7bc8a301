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


def install(shell: Any) -> Any:
    """Register the matcher with a shell; returns what undoes it."""
    shell.Completer.custom_matchers.append(matcher)

    def undo():
        if matcher in shell.Completer.custom_matchers:
            shell.Completer.custom_matchers.remove(matcher)

    return undo
