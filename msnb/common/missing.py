"""Errors for names of MindSpore that msnb does not have."""

import difflib
import functools
import sys
import types
from typing import Any

from msnb._util.placeholders import not_yet, placeholder
from msnb.common import suggestions, unsupported

ROOT, _OURS = "mindspore", "msnb"


def missing(name: str) -> str:
    """Return the message for a name such as "mindspore.nn.Foo" that msnb does not have. If another framework has the
    name, the message gives MindSpore's counterpart."""
    elsewhere = suggestions.in_module(name[len(ROOT) + 1 :])
    if elsewhere is not None:
        return f"msnb has no {name}: in MindSpore it is {elsewhere}."
    why = unsupported.reason(name[len(ROOT) + 1 :])
    if why is not None:
        return f"msnb has no {name}: {why}."
    parent, _, child = name.rpartition(".")
    owner = _find_module_or_class(parent)
    if owner is None:
        return f"msnb has no {name}: there is no {parent} either."
    names = [n for n in dir(owner) if not n.startswith("_")]
    # Names with an underscore get no suggestions: pytest and other tools ask for many, and a search takes 20 ms.
    near = [] if child.startswith("_") else difflib.get_close_matches(child, names, 3, 0.75)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"dir({parent}) lists what is there."
    return f"msnb has no {name}: it is misspelt, or belongs to a part of MindSpore that is not here yet. {hint}"


def _find_module_or_class(path):
    """Return the module or class of a path, or None."""
    value = sys.modules.get(_OURS + path[len(ROOT) :]) or sys.modules.get(_OURS)
    if value is sys.modules.get(_OURS):
        for part in path.split(".")[1:]:
            value = getattr(value, part, None)
    return value if isinstance(value, (types.ModuleType, type)) else None


def asked(module: str, name: str) -> Any:
    """Return a placeholder for a name that a module lacks, or raise AttributeError.

    Names in `unsupported.RAISES` have a placeholder, because programs import them without using them. A placeholder is
    a class that raises an error when it is used.

    Args:
        module (str): Name of the module, such as "msnb.nn".
        name (str): The missing name.

    Returns:
        type.

    Raises:
        AttributeError: For all other names, with a message that explains the lack.
    """
    parent = module[len(_OURS) + 1 :]
    why = unsupported.RAISES.get(f"{parent}.{name}".lstrip("."))
    path = f"{ROOT}.{parent}".rstrip(".")
    if why is not None:
        return _placeholder(name, path, why)
    message = missing(f"{path}.{name}") if not name.startswith("__") else f"module {module!r} has no attribute {name!r}"
    raise AttributeError(message, name=name, obj=sys.modules.get(module))


_placeholder = functools.cache(placeholder)  # one class for each name


def refused_use(path: str, name: str) -> NotImplementedError:
    """Return the error for a method that MindSpore has and msnb refuses, such as "shard" of "mindspore.nn.Cell"."""
    return not_yet(f"{path}.{name}", unsupported.RAISES.get(f"{path[len(ROOT) + 1 :]}.{name}"))
