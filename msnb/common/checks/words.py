"""Texts of values and types for error messages."""

from collections.abc import Iterable

from msnb.common.arguments import describe_briefly, uncalled


def got(value):
    """Return the text of a value and its type."""
    return uncalled(value) or f"{describe_briefly(value)} ({type(value).__name__})"


def names_of(types):
    """Return the names of types, joined by "or"."""
    return " or ".join(getattr(t, "__name__", str(t)) for t in types)


def as_tuple(types):
    """Return one type, or a list or tuple of types, as a tuple."""
    return tuple(types) if isinstance(types, Iterable) else (types,)
