"""Older ways to say what `core.declare` says; they go with the last declaration that uses them."""

from msnb.core import declare
from msnb.core.operator import REGISTRY


def variant(name, fn, when, writes=(), random=False):
    """See `core.declare.variant`."""
    declare.variant(REGISTRY[name].primitive, when, writes, random)(fn)


def refuse(name, check):
    """See `refuses` of `core.declare.operator`."""
    REGISTRY[name].refuses = check
