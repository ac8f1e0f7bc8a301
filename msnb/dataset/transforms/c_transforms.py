"""The general transforms, under MindSpore's path. The table ``DE_C_RELATIONAL`` maps each member to itself."""

from msnb.dataset.transforms._common import (
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Relational,
    Slice,
    TypeCast,
    Unique,
    _SliceOption,
)
from msnb.dataset.transforms._composite import Compose, RandomApply, RandomChoice

DE_C_RELATIONAL = {member: member for member in Relational}

__all__ = [
    "Compose",
    "Concatenate",
    "DE_C_RELATIONAL",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "RandomApply",
    "RandomChoice",
    "Relational",
    "Slice",
    "TypeCast",
    "Unique",
    "_SliceOption",
]
