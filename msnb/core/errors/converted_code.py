"""Which code objects the source transformation made, so that an error knows whether a line became part of a graph."""

import types

from msnb.core.support.weak_identity import IdentityMap

_lowered = IdentityMap()  # code that lowering produced -> True


def is_lowered(code):
    """Whether a code object came out of lowering."""
    return code in _lowered


def remember(code):
    """Enter lowered code; functions nested in it are lowered as well."""
    _lowered[code] = True
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            remember(const)
