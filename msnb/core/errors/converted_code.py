"""Registry of the code objects that the source transformation created.

Error messages look here to decide if a line of Python is part of a graph.
"""

import types

from msnb.core.support.weak_identity import WeakIdentityDict

_converted = WeakIdentityDict()  # converted code -> True


def is_converted(code):
    """Return True if a code object was created by the source transformation."""
    return code in _converted


def register_converted(code):
    """Register converted code and the functions nested in it."""
    _converted[code] = True
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            register_converted(const)
