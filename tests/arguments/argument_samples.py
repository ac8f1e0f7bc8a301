"""Functions whose parameters have known fates, for the test of the walk itself. Nobody calls them."""

import numbers
from typing import Annotated

from msnb import log
from msnb.common.kinds import OneOf


def check_size(size, name="size"):
    if not isinstance(size, numbers.Integral):
        raise TypeError(f"{name} should be an int, but got {size!r}.")


def positive(value, name):
    if value <= 0:
        raise ValueError(f"{name} should be positive, but got {value}.")
    return value


def _doubled(number, unit):
    del unit
    return number * 2


class Box:
    def __init__(self, silent_stored, kept):
        self.attribute_that_nobody_reads = silent_stored
        self.kept_by_a_box = kept

    def show(self):
        return self.kept_by_a_box

    def method(self, value, silent_handed_on):
        return self._inner(value, silent_handed_on)

    def _inner(self, value, ignored):
        if ignored is not None and ignored < 0:
            raise ValueError
        return value


class Wide(Box):
    def __init__(self, silent_handed_up, kept):
        super().__init__(silent_handed_up, kept)


def checks(silent_checked, silent_positive, silent_deleted, silent_local):
    check_size(silent_checked)
    positive(silent_positive, "silent_positive")
    del silent_deleted
    forgotten = silent_local + 1
    forgotten = forgotten * 2


def hands_on(used, silent_unit):
    silent_result = _doubled(used, silent_unit)
    return silent_result


def branches(used, silent_range, silent_kind, silent_choice):
    if used:
        return 1
    if silent_range < 0 or silent_range > 5:
        raise ValueError(silent_range)
    if not isinstance(silent_kind, str):
        raise TypeError(silent_kind)
    if silent_choice not in ("a", "b"):
        raise ValueError(silent_choice)
    return 0


def compares(used_shape, used_axes):
    if used_shape != used_axes.shape:
        raise ValueError(used_shape)


def refuses(said_absent, said_other):
    if said_absent is not None:
        raise ValueError("only None")
    if said_other > 1:
        raise NotImplementedError("one, for now")


def logs(said_given, said_tested, silent_unsaid):
    log.unused("logs", "nothing here", said_given=said_given)
    if said_tested:
        log.once("that does nothing")
    check_size(silent_unsaid)


def declares(
    said_otherwise: Annotated[int, OneOf(1, otherwise="one is enough")] = 1,
    said_alone: Annotated[str, OneOf("one")] = "one",
    silent_kind: Annotated[str, OneOf("one", "two")] = "one",
):
    pass_on = said_otherwise, said_alone, silent_kind
    del pass_on


def loops(used_number, used_items, used_limit):
    results = []
    for item in used_items:
        if len(results) == used_limit:
            break
        results.append(item + used_number)
    return results


def closes_over(used, silent):
    check_size(silent)

    def inner():
        return used

    return inner
