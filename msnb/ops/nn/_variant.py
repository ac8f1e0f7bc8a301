"""Operators whose attributes depend on one another: by what they forbid, and by what the operator then does."""

from msnb.core.operator import REGISTRY
from msnb.core.traced import declared


def variant(name, fn, when, writes=(), random=False):
    """Make the declared operator `name` run `fn` where `when(attributes)` is true.

    So an operator that writes in place or draws random numbers only with some attributes does not with the others:
    its inputs are then no outputs of a graph, and no key is drawn.

    Args:
        name (str): Class name of a declared operator; both have its attributes and its name in the graph.
        fn (Callable): The other computation, declared like an operator's function.
        when (Callable): Of the dict of attributes.
        writes (tuple): Names of inputs that `fn` updates.
        random (bool): Whether `fn` takes a key first.
    """
    cls = REGISTRY[name].primitive
    usual, other = cls.__call__, declared(fn, name, writes, "results", random)
    REGISTRY[name].variant = other, when

    def call(self, *args, **kwargs):
        if when(self._attributes):
            return other(self._attributes, args, kwargs)
        return usual(self, *args, **kwargs)

    cls.__call__ = call


def refuse(name, check):
    """Make the declared operator `name` call `check(attributes)`, which raises, when it is made."""
    cls = REGISTRY[name].primitive
    bind = cls._bind

    def checked(self, attributes):
        check(attributes)
        bind(self, attributes)

    cls._bind = checked
