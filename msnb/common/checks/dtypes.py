"""Checks of MindSpore types: element types, families of types, and equality."""

from msnb.common import dtype as mstype
from msnb.common.checks.words import as_tuple, names_of
from msnb.common.kinds import refusal


def check_subclass(arg_name, type_, template_types, prim_name, addition_error_info=None):
    """Raise TypeError unless `type_` is one of `template_types` or belongs to such a family, as int32 to int_."""
    templates = as_tuple(template_types)
    if not any(type_ is t or (isinstance(t, mstype.Type) and mstype.issubclass_(type_, t)) for t in templates):
        family = f"of type {' or '.join(map(str, templates))}"
        more = f". {addition_error_info}" if addition_error_info else ""
        raise refusal(TypeError, prim_name, arg_name, family, f"{type_}{more}")


def check_type_name(arg_name, arg_type, valid_types, prim_name):
    """Return the element type of `arg_type` if it is one of `valid_types`; raise TypeError otherwise."""
    valid_types = as_tuple(valid_types)
    arg_type = _get_element_type(arg_type)
    if arg_type not in valid_types:
        raise refusal(TypeError, prim_name, arg_name, names_of(valid_types), f"{names_of((arg_type,))}")
    return arg_type


def _get_element_type(type_):
    return type_.element_type() if isinstance(type_, mstype.TensorType) else type_


def check_types_same_and_valid(args, valid_values, prim_name):
    """Raise TypeError unless the types in the dict `args` (name to type) are valid and all the same."""
    for name, type_ in args.items():
        check_subclass(name, type_, valid_values, prim_name)
    _check_same_types(args, prim_name)


def _check_same_types(args, prim_name):
    (first, expected), *rest = args.items()
    for name, type_ in rest:
        if type_ != expected:
            raise TypeError(
                f"For '{prim_name}', '{name}' should have the same type as '{first}', {expected}, but got {type_}."
            )


def check_tensors_dtypes_same_and_valid(args, valid_dtypes, prim_name):
    """Raise TypeError unless the Tensor types in the dict `args` have the same, valid element type."""
    check_types_same_and_valid(args, [mstype.tensor_type(t) for t in as_tuple(valid_dtypes)], prim_name)


def check_tensor_dtype_valid(arg_name, arg_type, valid_dtypes, prim_name):
    """Raise TypeError unless the Tensor type `arg_type` has a valid element type."""
    check_subclass(arg_name, arg_type, [mstype.tensor_type(t) for t in as_tuple(valid_dtypes)], prim_name)


def check_scalar_or_tensor_types_same(args, valid_values, prim_name, allow_mix=False):
    """Raise TypeError unless element types are valid and equal. With `allow_mix` Tensors and scalars may be mixed."""
    for name, type_ in args.items():
        if _get_element_type(type_) not in valid_values:
            raise refusal(TypeError, prim_name, name, " or ".join(map(str, valid_values)), str(type_))
    _check_same_types(
        {name: _get_element_type(type_) for name, type_ in args.items()} if allow_mix else args, prim_name
    )
