"""Kinds: types of arguments that are checked. A Kind checks a value and returns it in a hashable normal form.

Operators, layers, optimizers, datasets and settings use Kinds. They are written in annotations, together with the
Python type that an editor reads: ``PositiveInt`` is ``Annotated[int, Kind(...)]``, ``Bool | None`` allows None, and
composed Kinds are written ``Annotated[str, OneOf("same", "valid")]``. `checked` makes a function or a constructor check
its arguments; `check` checks one value.

Attributes of the Kinds `Float`, `StrictFloat`, `PositiveFloat` and `Number` are traced: they are inputs of the
operator's program, and one program serves every value (`core.operator.traced_attributes`). The declared function then
gets a scalar without a concrete value. `ConstantAt` and `Static` declare numbers that are needed as Python values.
"""

from .checked import checked
from .composed import Between, ConstantAt, Each, Finite, Instance, OneOf, OneOrEach, Static
from .kind import (
    Kind,
    Optional,
    Worded,
    accept_value,
    check,
    hashable,
    is_constant,
    kind_of,
    python_type,
    refusal,
)
from .plain import (
    Axis,
    Bool,
    DType,
    Float,
    Int,
    IntOrTuple,
    Ints,
    NonNegInt,
    Number,
    PositiveFloat,
    PositiveInt,
    Shape,
    Str,
    StrictFloat,
    Tensors,
    Value,
)
from .readable import ReadableParameter, readable, readable_parameter, type_text

__all__ = [
    "Axis",
    "Between",
    "Bool",
    "ConstantAt",
    "DType",
    "Each",
    "Finite",
    "Float",
    "Instance",
    "Int",
    "IntOrTuple",
    "Ints",
    "Kind",
    "NonNegInt",
    "Number",
    "OneOf",
    "OneOrEach",
    "Optional",
    "PositiveFloat",
    "PositiveInt",
    "ReadableParameter",
    "Shape",
    "Static",
    "Str",
    "StrictFloat",
    "Tensors",
    "Value",
    "Worded",
    "accept_value",
    "check",
    "checked",
    "hashable",
    "is_constant",
    "kind_of",
    "python_type",
    "readable",
    "readable_parameter",
    "refusal",
    "type_text",
]
