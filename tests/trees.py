"""Syntax trees of msnb's modules, for the tests that read them: to parse them all takes two seconds of CPU time."""

import ast
import functools
from pathlib import Path


def tree_of(path):
    """Return the tree of a file, one for all tests: it is read and never changed."""
    return _tree_of(str(path))


@functools.cache
def _tree_of(path):
    return ast.parse(Path(path).read_text(encoding="utf-8"))
