"""`Optimizer` of MindSpore 2's `experimental.optim`: groups of Parameters are dicts that a program may read and change
while it trains."""

from collections import defaultdict
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core import trace
from msnb.core.errors import describe, user_line
from msnb.core.parameter import Parameter, ParameterTuple
from msnb.core.sparse_tensor import RowTensor
from msnb.core.tape import dense
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.optim._gradients import decayed
from msnb.ops import functional as F

__all__ = ["Optimizer"]

_thread = trace.thread


class Optimizer(Cell):
    """
    Base of the optimizers of `experimental.optim`; calling one with the gradients of its Parameters updates them.

    Args:
        params (Union[list[Parameter], list[dict]]): What to train. A dict describes a group: "params", and what is
            set for these alone, by the names of `defaults`.
        defaults (dict): What holds for groups that do not say otherwise; "lr" and "weight_decay" among it.

    Inputs:
        - **gradients** (tuple[Tensor]) - one for each Parameter, in their order.

    Raises:
        TypeError: If `params` is nothing that can be gone through, holds something else than Parameters, is a set, or
            a learning rate is no number and no Tensor.
        ValueError: If there are no Parameters, one is in two groups, or a learning rate is a Tensor with axes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> from mindspore.experimental import optim
        >>> net = nn.Dense(2, 3)
        >>> step = optim.SGD([{"params": [net.weight]}, {"params": [net.bias], "lr": 0.5}], lr=0.1)
        >>> [float(group["lr"]) for group in step.param_groups]
        [0.1..., 0.5]
    """

    _state: dict[str, Any] = {}  # attribute: what its Parameters, one for each that is trained, begin with
    _scalars: dict[str, float] = {}  # attribute: the same, of Parameters without axes
    _counter: str | None = None  # the attribute that counts steps
    _penalised = True  # whether the weight decay is added to the gradients; if not, `_step` sees to it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._compile_always = cls.__module__.startswith("msnb.")  # one update is one program, in PYNATIVE mode too

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        self._made_at = user_line()
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.parameters: ParameterTuple = ParameterTuple(())
        self.group_start_id: list[int] = []  # which of them is the first of each group
        self.lrs: list[Parameter] = []  # no state: checkpoints do not hold them, as those of MindSpore
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
        """
        Train further Parameters.

        Args:
            param_group (dict): "params", and what is set for them alone.

        Raises:
            TypeError: If it is no dict, or "params" holds something else than Parameters or is a set.
            ValueError: If a Parameter is in another group.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"A group of Parameters should be a dict, but got {describe(param_group)}.")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError("'params' should be a list, but got a set, which has no order.")
        params = [given] if isinstance(given, Parameter) else list(given)
        for param in params:
            if not isinstance(param, Parameter):
                raise TypeError(f"'params' should hold Parameters, but one of them is {describe(param)}.")
            if any(param is known for known in self.parameters):
                raise ValueError(f"The Parameter '{param.name}' is in two groups.")
        rate = _rate(param_group.get("lr", self.defaults.get("lr")), f"learning_rate_group_{len(self.param_groups)}")
        param_group.update({**self.defaults, **param_group, "params": params, "lr": rate})
        decay = param_group.get("weight_decay", 0.0)
        if not isinstance(decay, Real) or isinstance(decay, bool):
            raise TypeError(f"'weight_decay' should be a number, but got {describe(decay)}.")
        param_group["weight_decay"] = float(decay)
        self.param_groups.append(param_group)
        self.lrs = [*self.lrs, rate]
        self.group_start_id = [*self.group_start_id, len(self.parameters)]
        self.parameters = ParameterTuple((*self.parameters, *params))
        self._grow(params, param_group)

    def _grow(self, params, group):
        """The state of further Parameters."""
        for attribute, begin in self._state.items():
            begin = group[begin] if begin in group else begin
            own = ParameterTuple(params).clone(prefix=attribute, init=begin)
            setattr(self, attribute, ParameterTuple((*getattr(self, attribute), *own)))
        for attribute, begin in self._scalars.items():
            own = (Parameter(Tensor(np.float32(begin)), f"{attribute}_{param.name}") for param in params)
            setattr(self, attribute, ParameterTuple((*getattr(self, attribute), *own)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _thread.frame is None:
            for group, rate in zip(self.param_groups, self.lrs, strict=True):
                if isinstance(group["lr"], Real):  # written by the program: no other number compiles anew
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
            shared = self._of_group(group)
            for _ in group["params"]:
                param, gradient, *own = next(rows)
                gradient = dense(gradient) if isinstance(gradient, RowTensor) else gradient
                gradient = -gradient if group.get("maximize") else gradient
                if self._penalised and group["weight_decay"]:
                    gradient = decayed(gradient, param, group["weight_decay"])
                self._step(group, shared, param, gradient, *own)
        return True

    def _of_group(self, group) -> Any:
        """What the Parameters of a group share in this step."""
        return None

    def _step(self, group, shared, param, gradient, *own):
        """Update one Parameter and its state."""
        raise NotImplementedError(f"'{self.cls_name}' should define construct(gradients), which updates Parameters.")

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            shown = {key: value for key, value in sorted(group.items()) if key != "params"}
            shown["lr"] = float(shown["lr"])
            lines += [f"    {key}: {value}" for key, value in shown.items()]
        return "\n".join(lines) + "\n)"


def _rate(given, name):
    if isinstance(given, Tensor):
        if given.ndim:
            raise ValueError(f"'lr' should be a number or a Tensor without axes, but got one of shape {given.shape}.")
        return Parameter(Tensor(given, mstype.float32), name)
    if not isinstance(given, Real) or isinstance(given, bool):
        raise TypeError(f"'lr' should be a number or a Tensor without axes, but got {describe(given)}.")
    return Parameter(Tensor(float(given), mstype.float32), name)


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
