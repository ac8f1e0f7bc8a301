"""Operators whose attributes decide whether they write in place or draw random numbers.

Most calls do neither, and then the statistics are no output of a graph and no key is drawn for them.
"""
from msnb.core.operator import REGISTRY, Operator


def variant(name, fn, when, writes=(), random=False):
    """Make the declared operator `name` run `fn` where `when(attributes)` is true.

    Args:
        name (str): Class name of a declared operator; both have its attributes and its name in the graph.
        fn (Callable): The other computation, declared like an operator's function.
        when (Callable): Of the dict of attributes.
        writes (tuple): Names of inputs that `fn` updates.
        random (bool): Whether `fn` takes a key first.
    """
    cls = REGISTRY[name].primitive
    usual, other = cls.__call__, Operator(fn, name, writes, "results", random)

    def call(self, *args, **kwargs):
        if when(self._attributes):
            return other(self._attributes, args, kwargs)
        return usual(self, *args, **kwargs)

    cls.__call__ = call
