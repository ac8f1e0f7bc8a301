"""Float arguments that a program needs as constants, such as the order of a norm.

A float is an input of the program by default, so one program serves all its values. If tracing fails because an
operator needs the number itself, the program is traced for this value. `find_with_constants` finds the floats that
must be constants: it first makes all floats constants, then tries each one as an input again. Their indices are stored
with the signature.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.errors.data_dependent_shape import DataDependentShape


def split_constants(
    key: Any, arrays: Sequence[Any], boxes: Sequence[Any], constants: Sequence[int]
) -> tuple[Any, list[Any], list[Any]]:
    """Return (key, arrays, boxes) of a call after the floats at the indices `constants` have become constants."""
    rest = [index for index in range(len(arrays)) if index not in constants]
    # `hex` distinguishes 0.0 from -0.0, and gives equal texts for NaN
    values = tuple([arrays[index].hex() for index in constants])
    return (*key, constants, values), [arrays[index] for index in rest], [boxes[index] for index in rest]


def find_with_constants(
    find: Callable[[], Any], constants: dict[Any, tuple[int, ...]], key: Any, arrays: Sequence[Any]
) -> tuple[Any, list[Any], list[Any]]:
    """Return the result of `find` with as few floats as constants as possible.

    Args:
        find (Callable): Finds or traces the program of a call, with the floats in `constants` as constants.
        constants (dict): signature -> indices among the inputs; updated.
        key (object): Signature of the call.
        arrays (Sequence): Inputs of the call.

    Raises:
        Exception: The error of tracing with all floats as constants.
    """
    constants[key] = tuple([index for index, array in enumerate(arrays) if type(array) is float])
    try:
        result = find()
    except DataDependentShape:
        raise
    except Exception:
        del constants[key]
        raise
    for index in constants[key] if len(constants[key]) > 1 else ():
        before = constants[key]
        constants[key] = tuple([other for other in before if other != index])
        try:
            result = find()
        except Exception:
            constants[key] = before
    return result
