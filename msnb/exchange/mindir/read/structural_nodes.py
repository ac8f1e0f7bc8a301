"""Read nodes of a MINDIR file that compute nothing: tuples and items, partial applications, choices, order of side
effects.
"""

from msnb.exchange.mindir.read.values import START, Choice, Closure, EffectToken, IndexedChoice
from msnb.formats.text_files import BadFileError


def _get_item(values):
    sequence, index = values[:2]
    if not isinstance(sequence, (tuple, list)) or not isinstance(index, int):
        raise BadFileError("The file is damaged: an item is taken of what is no tuple.")
    return sequence[index]


def _bind_arguments(values):
    function = values[0]
    if not isinstance(function, Closure):
        raise BadFileError("The file is damaged: arguments are given to what is no function.")
    return Closure(function.function, (*function.values, *values[1:]))


def _make_choice(values):
    predicate, yes, no = values
    if not isinstance(yes, Closure) or not isinstance(no, Closure):
        raise NotImplementedError("The file has a choice among values that are no functions, which msnb does not read.")
    return Choice(predicate, yes, no)


def _make_indexed_choice(values):
    index, closures = values
    if not isinstance(closures, tuple) or not closures or not all(isinstance(closure, Closure) for closure in closures):
        raise NotImplementedError("The file has a choice among values that are no functions, which msnb does not read.")
    return IndexedChoice(index, closures)


def _load_parameter(values):
    """Return the value of a Parameter after the side effects that the tokens stand for."""
    value, *tokens = values
    return START.join(tokens).load(value)


def _make_tuple(values):
    return tuple(v for v in values if not isinstance(v, EffectToken))


ITEMS = frozenset(("TupleGetItem", "tuple_getitem", "ListGetItem"))
STRUCTURE = {
    "Load": _load_parameter,
    "Depend": lambda values: values[0],
    "UpdateState": START.join,
    "MakeTuple": _make_tuple,
    "MakeList": _make_tuple,
    "make_tuple": _make_tuple,
    "TupleGetItem": _get_item,
    "tuple_getitem": _get_item,
    "ListGetItem": _get_item,
    "Partial": _bind_arguments,
    "partial": _bind_arguments,
    "Switch": _make_choice,
    "switch": _make_choice,
    "switch_layer": _make_indexed_choice,
    "SwitchLayer": _make_indexed_choice,
    "load": _load_parameter,
    "depend": lambda values: values[0],
    "Return": lambda values: values[0],
    "return": lambda values: values[0],
}
