"""Checks of the inputs and outputs of a network."""

from msnb.common.checks.words import names_of
from msnb.common.kinds import refusal


def check_input_format(input_param):
    """Return `input_param` if it is "NCHW"; raise ValueError otherwise."""
    if input_param != "NCHW":
        raise refusal(ValueError, None, "input_format", "'NCHW'", repr(input_param))
    return input_param


def check_input_data(*data, data_class):
    """Raise ValueError unless all values in `data`, also in nested lists, tuples and dicts, are of `data_class` and not
    empty."""
    classes = data_class if isinstance(data_class, (tuple, list)) else (data_class,)
    for item in data:
        if isinstance(item, (list, tuple)):
            check_input_data(*item, data_class=data_class)
        elif isinstance(item, dict):
            check_input_data(*item.values(), data_class=data_class)
        elif not any(item is None if c is None else isinstance(item, c) for c in classes):
            raise ValueError(
                f"Inputs of the model should be {names_of(classes)}, alone or in a tuple, list or dict, "
                f"but got {type(item).__name__}."
            )
        elif getattr(item, "size", None) == 0:
            raise ValueError("Inputs of the model should not be empty, but got one without elements.")


def check_output_data(data):
    """Raise RuntimeError if a network returned None."""
    if data is None:
        raise RuntimeError("The network returned None; does its construct end with a return statement?")
