"""Operators: declarations, the classes generated from them, their calls, and tables keyed by operators.

`rule_table` is loaded by the packages that have such tables and is imported by its own name.
"""

from msnb.core.operator.abstract_operator import call_abstractly
from msnb.core.operator.annotations import changes
from msnb.core.operator.api_generations import (
    DIFFERENCES,
    VERSIONS,
    api2_meaning,
    as_api2,
    called_as,
    current_generation,
    difference,
    differs_in_api2,
    generation_scope,
    replaces_in_api2,
)
from msnb.core.operator.array_like import ArrayLike, array_type, as_tensor, common_type, element_type, promote_types
from msnb.core.operator.autocast import cast_result, cast_tensor, is_constant, register_cell_tensor
from msnb.core.operator.bprop_registry import bprop_getters
from msnb.core.operator.cases import F16, F, Flags, I, U, Values, Written, case, refused
from msnb.core.operator.declare import (
    NUMPY,
    SPELLINGS,
    class_of,
    keyword_aliases,
    operator,
    spell,
    spelling,
    variant,
    with_source_of,
)
from msnb.core.operator.operator_types import FUNCTIONAL, REGISTRY, USER_OPERATORS, Operator, operand
from msnb.core.operator.primitive import DeclaredPrimitive, Primitive, settings_of
from msnb.core.operator.ufunc import angle, angles, as_given, in_type, number, of_array, real, truth
from msnb.core.operator.user_primitive import PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register
from msnb.core.operator.value_checks import Check, Range, index, label, position

__all__ = [
    "ArrayLike",
    "Check",
    "DIFFERENCES",
    "DeclaredPrimitive",
    "F",
    "F16",
    "FUNCTIONAL",
    "Flags",
    "I",
    "NUMPY",
    "Operator",
    "Primitive",
    "PrimitiveWithCheck",
    "PrimitiveWithInfer",
    "REGISTRY",
    "Range",
    "SPELLINGS",
    "U",
    "USER_OPERATORS",
    "VERSIONS",
    "Values",
    "Written",
    "angle",
    "angles",
    "api2_meaning",
    "array_type",
    "as_api2",
    "as_given",
    "as_tensor",
    "bprop_getters",
    "call_abstractly",
    "called_as",
    "case",
    "cast_result",
    "cast_tensor",
    "changes",
    "class_of",
    "common_type",
    "current_generation",
    "difference",
    "differs_in_api2",
    "element_type",
    "generation_scope",
    "in_type",
    "index",
    "is_constant",
    "keyword_aliases",
    "label",
    "number",
    "of_array",
    "operand",
    "operator",
    "position",
    "prim_attr_register",
    "promote_types",
    "real",
    "refused",
    "register_cell_tensor",
    "replaces_in_api2",
    "settings_of",
    "spell",
    "spelling",
    "truth",
    "variant",
    "with_source_of",
]
