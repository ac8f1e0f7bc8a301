"""Which code objects the source transformation made, so that an error knows whether a line became part of a graph."""

import types

from msnb.core.support.weak_identity import WeakIdentityDict

_lowered = WeakIdentityDict()  # code that lowering produced -> True


def is_converted(code):
    """Whether a code object came out of lowering."""
    return code in _lowered


def register_converted(code):
    """Enter lowered code; functions nested in it are lowered as well."""
    _lowered[code] = True
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            register_converted(const)
