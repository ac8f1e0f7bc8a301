"""Parameter groups: the list of dicts that an optimizer takes, read and checked."""

from collections.abc import Iterable

from msnb.core.parameter import Parameter

_KEYS = ("params", "lr", "weight_decay", "order_params")


class Group:
    """One group of Parameters with a learning rate and a weight decay of its own, None for the optimizer's."""

    __slots__ = ("number", "params", "lr", "weight_decay")

    def __init__(self, number, params, lr, weight_decay):
        self.number, self.params, self.lr, self.weight_decay = number, params, lr, weight_decay


class Groups(list):
    """All groups, and the order in which the optimizer keeps their Parameters.

    After `spread()`, `params`, `lr` and `weight_decay` have one element per Parameter.
    """

    order = None

    @property
    def ordered(self):
        """Whether the caller gave an order."""
        return self.order is not None

    def spread(self):
        """Fill `params`, `lr` and `weight_decay`."""
        rows = [(p, group.lr, group.weight_decay) for group in self for p in group.params]
        if self.order is not None:
            by_name = {row[0].name: row for row in rows}
            rows = [by_name[p.name] for p in self.order]
        self.params, self.lr, self.weight_decay = ([row[i] for row in rows] for i in range(3))


def read_groups(dicts, optimizer):
    """`Groups` from a list of dicts.

    Raises:
        KeyError: If a dict has an unknown key, or no "params".
        TypeError: If "params" holds something else than Parameters.
        ValueError: If a group is empty, or "order_params" does not name exactly the Parameters of all groups.
        RuntimeError: If a Parameter is in two groups.
    """
    groups, seen = Groups(), set()
    for number, given in enumerate(dicts):
        unknown = [key for key in given if key not in _KEYS]
        if unknown:
            raise KeyError(
                f"For '{optimizer}', a parameter group has the keys {', '.join(map(repr, _KEYS))}, "
                f"but got {', '.join(map(repr, unknown))}."
            )
        if "order_params" in given:
            groups.order = _order(given)
            continue
        if "params" not in given:
            raise KeyError(f"For '{optimizer}', parameter group {number} has no key 'params'.")
        params = given["params"]
        if not isinstance(params, Iterable) or isinstance(params, Parameter):
            raise TypeError(
                f"For '{optimizer}', 'params' of a group should be a list of Parameters, "
                f"but got {type(params).__name__}."
            )
        params = list(params)
        if not params:
            raise ValueError(f"Optimizer got an empty group parameter list (group {number}).")
        for param in params:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"For '{optimizer}', 'params' of a group should be a list of Parameters, "
                    f"but it holds {type(param).__name__}."
                )
            if param.name in seen:
                raise RuntimeError(f"The Parameter '{param.name}' is in the parameter groups twice.")
            seen.add(param.name)
        groups.append(Group(number, params, given.get("lr"), given.get("weight_decay")))
    if groups.order is not None and sorted(p.name for p in groups.order) != sorted(seen):
        raise ValueError(
            f"For '{optimizer}', 'order_params' should hold exactly the Parameters of all groups "
            f"({len(seen)}), but it holds {len(groups.order)}, or other ones."
        )
    return groups


def _order(given):
    if len(given) > 1:
        raise ValueError(
            f"The dict with 'order_params' should have no other key, but got {', '.join(map(repr, given))}."
        )
    order = given["order_params"]
    if not isinstance(order, Iterable):
        raise TypeError(f"'order_params' should be a list of Parameters, but got {type(order).__name__}.")
    return list(order)
