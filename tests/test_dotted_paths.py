"""Every string in msnb that names one of its modules, or a name in one, resolves. No rename tool sees such strings."""

import ast
import importlib
import re

import pytest
from test_architecture import MODULES, tree_of

# Modules of earlier versions, which old files name.
_GONE = {"msnb.dataset.vision._deterministic"}
_DOTTED = re.compile(r"msnb(\.[A-Za-z_]\w*)+")


def dotted_strings(module):
    """Return the string constants of `module` that are a dotted path below msnb.

    Keys of dictionaries are left out: a table of renamed modules has the old path there.
    """
    tree = tree_of(module)
    keys = {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in keys
        and _DOTTED.fullmatch(node.value)
    }


def resolve(path):
    """Import the longest prefix of `path` that is a module and return what the rest names in it."""
    names = path.split(".")
    for end in range(len(names), 0, -1):
        prefix = ".".join(names[:end])
        if prefix in MODULES:
            value = importlib.import_module(prefix)
            for name in names[end:]:
                value = getattr(value, name)
            return value
    raise ModuleNotFoundError(path)


PATHS = sorted({path for module in MODULES for path in dotted_strings(module)} - _GONE)


def test_there_are_such_strings():
    assert len(PATHS) > 30


@pytest.mark.parametrize("path", PATHS)
def test_a_dotted_string_resolves(path):
    resolve(path)
