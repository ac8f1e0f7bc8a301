"""Levels of mixed precision, as MindSpore's C++ module numbers them."""

import enum
from typing import NoReturn

from msnb._util.placeholders import not_yet


class AmpLevel(enum.IntEnum):
    """Levels of mixed precision."""

    AmpO0 = 0
    AmpO1 = 1
    AmpO2 = 2
    AmpO3 = 3
    AmpAuto = 4


_INSTEAD = "amp.auto_mixed_precision and amp.custom_mixed_precision choose the precision of a network"


def create_amp_strategy(level, dtype, white_list, black_list) -> NoReturn:
    """Raise NotImplementedError: operators do not look for a strategy when they run."""
    raise not_yet("mindspore._c_expression.amp.create_amp_strategy", _INSTEAD)


def push_amp_strategy(level, dtype, white_list, black_list) -> NoReturn:
    """Raise NotImplementedError, as `create_amp_strategy` does."""
    raise not_yet("mindspore._c_expression.amp.push_amp_strategy", _INSTEAD)


def pop_amp_strategy() -> NoReturn:
    """Raise NotImplementedError, as `create_amp_strategy` does."""
    raise not_yet("mindspore._c_expression.amp.pop_amp_strategy", _INSTEAD)
