"""The sentence for a name of MindSpore's that msnb does not have."""

import difflib
import sys
import types

from msnb.common import other_names

ROOT, _OURS = "mindspore", "msnb"


def missing(name: str) -> str:
    """The sentence for a name such as "mindspore.nn.Foo" that msnb does not have; it may be another framework's."""
    elsewhere = other_names.in_module(name[len(ROOT) + 1 :])
    if elsewhere is not None:
        return f"msnb has no {name}: in MindSpore it is {elsewhere}."
    parent, _, child = name.rpartition(".")
    owner = _named(parent)
    if owner is None:
        return f"msnb has no {name}: there is no {parent} either."
    names = [n for n in dir(owner) if not n.startswith("_")]
    near = difflib.get_close_matches(child, names, 3, 0.75)
    where = f"Did you mean {' or '.join(near)}?" if near else f"dir({parent}) lists what is there."
    return f"msnb has no {name}: it is misspelt, or belongs to a part of MindSpore that is not here yet. {where}"


def _named(path):
    """The module or class of a path, None where there is none."""
    found = sys.modules.get(_OURS + path[len(ROOT) :]) or sys.modules.get(_OURS)
    if found is sys.modules.get(_OURS):
        for part in path.split(".")[1:]:
            found = getattr(found, part, None)
    return found if isinstance(found, (types.ModuleType, type)) else None
