"""Floats among a program's arguments that its operators need as constants: the order of a norm, a length, a choice.

A float is an input, and one program serves all its values. Where tracing fails of that, as a number is asked for that
only a run would know, the program is one for this value. Which floats that takes is found by trying: with all of them
as constants, and then with each as an input again. It is remembered with the signature.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.errors.data_dependent_shape import DataDependentShape


def narrowed(
    key: Any, arrays: Sequence[Any], boxes: Sequence[Any], constants: Sequence[int]
) -> tuple[Any, list[Any], list[Any]]:
    """(key, arrays, boxes) of a program to which the floats at the places `constants` belong, from those of one that
    takes them as inputs."""
    rest = [place for place in range(len(arrays)) if place not in constants]
    values = tuple([arrays[place].hex() for place in constants])  # of both zeros, and of NaN, its own
    return (*key, constants, values), [arrays[place] for place in rest], [boxes[place] for place in rest]


def found(
    find: Callable[[], Any], constants: dict[Any, tuple[int, ...]], key: Any, arrays: Sequence[Any]
) -> tuple[Any, list[Any], list[Any]]:
    """What `find` finds once the floats that have to be are constants; as few of them as possible.

    Args:
        find (Callable): Finds a call's program, or traces it, with the floats as constants that are said so.
        constants (dict): Where that is said: signature -> places among the inputs.
        key (object): The call's signature.
        arrays (Sequence): Its inputs.

    Raises:
        Exception: What tracing raises although all floats are constants.
    """
    constants[key] = tuple([place for place, array in enumerate(arrays) if type(array) is float])
    try:
        result = find()
    except DataDependentShape:
        raise
    except Exception:
        del constants[key]
        raise
    for place in constants[key] if len(constants[key]) > 1 else ():
        before = constants[key]
        constants[key] = tuple([other for other in before if other != place])
        try:
            result = find()
        except Exception:
            constants[key] = before
    return result
