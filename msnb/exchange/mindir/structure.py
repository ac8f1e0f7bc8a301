"""Nodes of a MINDIR file that compute nothing: tuples and their items, functions with arguments, choices, orders."""

from msnb.exchange.mindir.values import ORDER, Choice, Closure, Layers, Order
from msnb.formats.reading import BadFileError


def _item(values):
    sequence, place = values[:2]
    if not isinstance(sequence, (tuple, list)) or not isinstance(place, int):
        raise BadFileError("The file is damaged: an item is taken of what is no tuple.")
    return sequence[place]


def _partial(values):
    function = values[0]
    if not isinstance(function, Closure):
        raise BadFileError("The file is damaged: arguments are given to what is no function.")
    return Closure(function.function, (*function.values, *values[1:]))


def _choice(values):
    predicate, yes, no = values
    if not isinstance(yes, Closure) or not isinstance(no, Closure):
        raise NotImplementedError("The file has a choice among values that are no functions, which msnb does not read.")
    return Choice(predicate, yes, no)


def _layers(values):
    index, ways = values
    if not isinstance(ways, tuple) or not ways or not all(isinstance(way, Closure) for way in ways):
        raise NotImplementedError("The file has a choice among values that are no functions, which msnb does not read.")
    return Layers(index, ways)


def _loaded(values):
    """A Parameter as it is at a time."""
    value, *times = values
    return ORDER.after(times).loaded(value)


def _tuple(values):
    return tuple(v for v in values if not isinstance(v, Order))


ITEMS = frozenset(("TupleGetItem", "tuple_getitem", "ListGetItem"))
STRUCTURE = {
    "Load": _loaded,
    "Depend": lambda values: values[0],
    "UpdateState": ORDER.after,
    "MakeTuple": _tuple,
    "MakeList": _tuple,
    "make_tuple": _tuple,
    "TupleGetItem": _item,
    "tuple_getitem": _item,
    "ListGetItem": _item,
    "Partial": _partial,
    "partial": _partial,
    "Switch": _choice,
    "switch": _choice,
    "switch_layer": _layers,
    "SwitchLayer": _layers,
    "load": _loaded,
    "depend": lambda values: values[0],
    "Return": lambda values: values[0],
    "return": lambda values: values[0],
}
