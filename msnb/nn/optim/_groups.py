"""Parameter groups: reading and checking the dicts that an optimizer takes."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

from msnb.common.kinds import Bool, Kind, check
from msnb.core.tensor.parameter import Parameter
from msnb.nn.optim._learning_rate import LearningRate, WeightDecay

_SETTINGS = {"lr": LearningRate, "weight_decay": WeightDecay, "grad_centralization": Bool}
_KEYS = ("params", *_SETTINGS, "order_params")


def _check_parameters(params):
    if isinstance(params, Parameter) or not isinstance(params, Iterable):
        raise TypeError
    parameters = list(params)
    if not parameters:
        raise ValueError("an empty list")
    for item in parameters:
        if not isinstance(item, Parameter):
            raise TypeError(f"one of them is a {type(item).__name__}")
    return parameters


def _check_parameters_or_groups(params):
    """Return the Parameters, or the dicts of parameter groups, as a list. Raise an error if the list is empty or mixes
    both."""
    if params is None:
        raise ValueError("does the network have Parameters that require gradients?")
    if isinstance(params, Parameter) or not isinstance(params, Iterable):
        raise TypeError
    entries = list(params)
    if not entries:
        raise ValueError("Optimizer got an empty parameter list: does the network have Parameters that are trained?")
    if isinstance(entries[0], dict):
        if not all(isinstance(item, dict) for item in entries):
            raise TypeError("some are dicts and some are not")
        return entries
    return _check_parameters(entries)


Parameters = Annotated[list[Parameter], Kind("a list of Parameters", _check_parameters, whole=True)]
Trained = Annotated[
    Iterable[Parameter] | Iterable[dict[str, Any]],
    Kind("a list of Parameters, or of dicts that describe groups of them", _check_parameters_or_groups, whole=True),
]


class Group:
    """A parameter group: Parameters with their own `lr`, `weight_decay` and `grad_centralization`, or None."""

    def __init__(self, number, options, owner):
        if "params" not in options:
            raise KeyError(f"For '{owner}', parameter group {number} has no key 'params'.")
        self.number = number
        self.params = check(Parameters, options["params"], f"params of group {number}", owner)
        self.lr = self.weight_decay = self.grad_centralization = None
        for key, kind in _SETTINGS.items():
            if options.get(key) is not None:
                setattr(self, key, check(kind, options[key], f"{key} of group {number}", owner))


def read_groups(dicts, owner):
    """Convert the dicts of an optimizer to Groups. Return (list of Groups, order of the Parameters). The order is None
    without `order_params`.

    Raises:
        KeyError: If a dict has an unknown key, or no "params".
        TypeError: If "params" contains anything but Parameters.
        ValueError: If a group is empty, or "order_params" does not name exactly the Parameters of all groups.
        RuntimeError: If a Parameter is in two groups.
    """
    groups, order = [], None
    for number, options in enumerate(dicts):
        unknown = ", ".join(repr(key) for key in options if key not in _KEYS)
        if unknown:
            allowed = ", ".join(map(repr, _KEYS))
            raise KeyError(f"For '{owner}', a parameter group has the keys {allowed}, but got {unknown}.")
        if "order_params" not in options:
            groups.append(Group(number, options, owner))
        elif len(options) > 1:
            raise ValueError(
                f"For '{owner}', a dict with 'order_params' has no other key, but got {', '.join(options)}."
            )
        else:
            order = check(Parameters, options["order_params"], "order_params", owner)
    names = Counter(param.name for group in groups for param in group.params)
    for name, times in names.items():
        if times > 1:
            raise RuntimeError(f"For '{owner}', the Parameter '{name}' is in the parameter groups {times} times.")
    if order is not None and Counter(param.name for param in order) != names:
        raise ValueError(
            f"For '{owner}', 'order_params' should hold exactly the {len(names)} Parameters of all groups, "
            f"but it holds {len(order)}, or other ones."
        )
    return groups, order


def by_parameter(groups, order):
    """Return a list of pairs (Parameter, Group), in the order `order`, or in that of the groups if `order` is None."""
    of = {param.name: (param, group) for group in groups for param in group.params}
    return list(of.values()) if order is None else [of[param.name] for param in order]
