"""`Optimizer` of MindSpore 2's `experimental.optim`. Groups of Parameters are dicts that a program may change while it
trains.
"""

from collections import defaultdict
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.eager.tape import dense
from msnb.core.errors.messages import describe, user_line
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.sparse import RowTensor
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.optim._gradients import decayed
from msnb.ops import functional as F

__all__ = ["Optimizer"]

_thread = trace_state.thread


class Optimizer(Cell):
    """Base class of the optimizers of `experimental.optim`. A call with the gradients of its Parameters updates them.

    Args:
        params (Union[list[Parameter], list[dict]]): The Parameters to train. A dict describes a group: "params", and
            settings that override `defaults` for this group.
        defaults (dict): Default settings of all groups, including "lr" and "weight_decay".

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter, in their order.

    Raises:
        TypeError: If `params` is not iterable, the "params" of a group are a set or contain an object that is not a
            Parameter, or a learning rate is neither a number nor a Tensor.
        ValueError: If there are no Parameters, one is in two groups, or a learning rate is a Tensor that is not a
            scalar.

    Examples:
        >>> from mindspore.experimental import optim
        >>> net = nn.Dense(2, 3)
        >>> step = optim.SGD([{"params": [net.weight]}, {"params": [net.bias], "lr": 0.5}], lr=0.1)
        >>> [float(group["lr"]) for group in step.param_groups]
        [0.1..., 0.5]
    """

    _state: dict[str, Any] = {}  # attribute -> initial value of its Parameters, one for each trained Parameter
    _scalars: dict[str, float] = {}  # attribute -> initial value of scalar Parameters, one for each trained Parameter
    _counter: str | None = None  # the attribute that counts steps
    _penalised = True  # weight decay is added to the gradients; if False, `_update_parameter` applies it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # compile an update as one program in PYNATIVE mode, too
        cls._compile_always = cls.__module__.startswith("msnb.")

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        self._made_at = user_line()
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.parameters: ParameterTuple = ParameterTuple(())
        self.group_start_id: list[int] = []  # index of the first Parameter of each group
        self.lrs: list[Parameter] = []  # not part of checkpoints, as in MindSpore
        for attribute in (*self._state, *self._scalars):
            setattr(self, attribute, ParameterTuple(()))
        if self._counter:
            setattr(self, self._counter, Parameter(Tensor(0, mstype.int32), self._counter))
        if isinstance(params, Parameter) or not isinstance(params, Iterable):
            raise TypeError(f"'params' should be a list of Parameters or of dicts, but got {describe(params)}.")
        groups = list(params)
        if not groups:
            raise ValueError(f"'{self.cls_name}' got no Parameters: does the network have some that are trained?")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add Parameters to train.

        Args:
            param_group (dict): A group: "params", and settings for this group.

        Raises:
            TypeError: If `param_group` is not a dict, or "params" is a set or contains an object that is not a
                Parameter.
            ValueError: If a Parameter is already in a group.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"A group of Parameters should be a dict, but got {describe(param_group)}.")
        new_params = param_group["params"]
        if isinstance(new_params, set):
            raise TypeError("'params' should be a list, but got a set, which has no order.")
        params = [new_params] if isinstance(new_params, Parameter) else list(new_params)
        for param in params:
            if not isinstance(param, Parameter):
                raise TypeError(f"'params' should hold Parameters, but one of them is {describe(param)}.")
            if any(param is other for other in self.parameters):
                raise ValueError(f"The Parameter '{param.name}' is in two groups.")
        rate = _make_rate_parameter(
            param_group.get("lr", self.defaults.get("lr")), f"learning_rate_group_{len(self.param_groups)}"
        )
        param_group.update({**self.defaults, **param_group, "params": params, "lr": rate})
        decay = param_group.get("weight_decay", 0.0)
        if not isinstance(decay, Real) or isinstance(decay, bool):
            raise TypeError(f"'weight_decay' should be a number, but got {describe(decay)}.")
        param_group["weight_decay"] = float(decay)
        self.param_groups.append(param_group)
        self.lrs = [*self.lrs, rate]
        self.group_start_id = [*self.group_start_id, len(self.parameters)]
        self.parameters = ParameterTuple((*self.parameters, *params))
        self._create_parameter_state(params, param_group)

    def _create_parameter_state(self, params, group):
        """Create the state of new Parameters."""
        for attribute, initial in self._state.items():
            initial = group[initial] if initial in group else initial
            new_state = ParameterTuple(params).clone(prefix=attribute, init=initial)
            setattr(self, attribute, ParameterTuple((*getattr(self, attribute), *new_state)))
        for attribute, initial in self._scalars.items():
            new_state = (Parameter(Tensor(np.float32(initial)), f"{attribute}_{param.name}") for param in params)
            setattr(self, attribute, ParameterTuple((*getattr(self, attribute), *new_state)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _thread.frame is None:
            for group, rate in zip(self.param_groups, self.lrs, strict=True):
                # the user has set a number; a Parameter avoids a compilation for each number
                if isinstance(group["lr"], Real):
                    rate.set_data(Tensor(float(group["lr"]), mstype.float32))
                    group["lr"] = rate
        return super().__call__(*args, **kwargs)

    def construct(self, gradients: Any) -> bool:
        if len(gradients) != len(self.parameters):
            raise RuntimeError(
                f"'{self.cls_name}' should be called with a tuple of {len(self.parameters)} gradients, one for each "
                f"Parameter, but got {len(gradients)}."
            )
        if self._counter:
            counter = getattr(self, self._counter)
            F.assign(counter, counter + 1)
        columns = [getattr(self, attribute) for attribute in (*self._state, *self._scalars)]
        rows = zip(self.parameters, gradients, *columns, strict=True)
        for group in self.param_groups:
            shared = self._compute_group_values(group)
            for _ in group["params"]:
                param, gradient, *state = next(rows)
                gradient = dense(gradient) if isinstance(gradient, RowTensor) else gradient
                gradient = -gradient if group.get("maximize") else gradient
                if self._penalised and group["weight_decay"]:
                    gradient = decayed(gradient, param, group["weight_decay"])
                self._update_parameter(group, shared, param, gradient, *state)
        return True

    def _compute_group_values(self, group) -> Any:
        """Return values that all Parameters of a group use in this step."""
        return None

    def _update_parameter(self, group, shared, param, gradient, *state):
        """Update one Parameter and its state."""
        raise NotImplementedError(f"'{self.cls_name}' should define construct(gradients), which updates Parameters.")

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            settings = {key: value for key, value in sorted(group.items()) if key != "params"}
            settings["lr"] = float(settings["lr"])
            lines += [f"    {key}: {value}" for key, value in settings.items()]
        return "\n".join(lines) + "\n)"


def _make_rate_parameter(rate, name):
    if isinstance(rate, Tensor):
        if rate.ndim:
            raise ValueError(f"'lr' should be a number or a Tensor without axes, but got one of shape {rate.shape}.")
        return Parameter(Tensor(rate, mstype.float32), name)
    if not isinstance(rate, Real) or isinstance(rate, bool):
        raise TypeError(f"'lr' should be a number or a Tensor without axes, but got {describe(rate)}.")
    return Parameter(Tensor(float(rate), mstype.float32), name)


def at_least(owner: str, low: float = 0.0, **numbers: Any) -> None:
    """Raise ValueError unless each of `numbers` is at least `low`."""
    for name, value in numbers.items():
        if value < low:
            raise ValueError(f"For '{owner}', '{name}' should be at least {low:g}, but got {value}.")


def above(owner: str, low: float = 0.0, **numbers: Any) -> None:
    """Raise ValueError unless each of `numbers` is greater than `low`."""
    for name, value in numbers.items():
        if value <= low:
            raise ValueError(f"For '{owner}', '{name}' should be greater than {low:g}, but got {value}.")


def fractions(owner: str, betas: Any) -> None:
    """Raise ValueError unless both of `betas` are in [0, 1)."""
    for value in betas:
        if not 0.0 <= value < 1.0:
            raise ValueError(f"For '{owner}', both of 'betas' should be in [0, 1), but got {value}.")
