"""Base classes of the learning rate schedulers of `experimental.optim`.

Most schedulers compute the next rate from the current rate, so several schedulers can change the rates of one
optimizer. Rates are stored in float32 Parameters; the computations use Python floats.
"""

from typing import Any

from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.experimental.optim.optimizer import Optimizer

__all__ = ["LRScheduler"]


def as_number(value: Any) -> float:
    """Return a number or a scalar Tensor as a float."""
    return float(value.asnumpy()) if isinstance(value, Tensor) else float(value)


def repeat_for_groups(value: Any, optimizer: Optimizer, name: str) -> list[Any]:
    """Return `value` as a list with one element for each group of Parameters."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"'{name}' should hold one for each of the {groups} groups, but it holds {len(value)}.")
    return list(value)


def check_kind(owner: str, kind: type, **arguments: Any) -> None:
    """Raise TypeError unless each argument is of type `kind` and not a bool."""
    for name, value in arguments.items():
        if not isinstance(value, kind) or isinstance(value, bool):
            expected = "an int" if kind is int else "a number"
            raise TypeError(f"For '{owner}', '{name}' should be {expected}, but got {describe(value)}.")


class RateSetter:
    """Base class of objects that set the learning rates of an optimizer."""

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"For '{type(self).__name__}', 'optimizer' should be one of mindspore.experimental.optim, but got "
                f"{describe(optimizer)}."
            )
        self.optimizer = optimizer
        self.groups_num = len(optimizer.param_groups)
        self._last_lr = list(optimizer.lrs)

    @property
    def _rates(self):
        """Return the current learning rates as floats."""
        return [as_number(rate) for rate in self._last_lr]

    def _set_rates(self, rates):
        for rate, group, value in zip(self._last_lr, self.optimizer.param_groups, rates, strict=True):
            rate.set_data(Tensor(as_number(value), mstype.float32))
            group["lr"] = rate

    def get_last_lr(self) -> list[Tensor]:
        """Return the current learning rates.

        Returns:
            list[Tensor], one for each group.
        """
        return [rate.value() for rate in self._last_lr]


class LRScheduler(RateSetter):
    """Base class of schedulers that count epochs. A subclass defines `get_lr`, which returns one rate for each group.

    Args:
        optimizer (Optimizer): The optimizer whose rates change. Each of its groups gets an entry "initial_lr" if it has
            none.
        last_epoch (int): Index of the last finished epoch, or -1 at the start. If it is not -1, each group must have an
            "initial_lr". Default: -1.

    Raises:
        TypeError: If `optimizer` is not an optimizer of `experimental.optim`, or `last_epoch` is not an int.
        ValueError: If `last_epoch` is below -1.
        KeyError: If `last_epoch` is not -1 and a group has no "initial_lr".

    Examples:
        >>> from mindspore.experimental import optim
        >>> class Halving(optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5 ** self.last_epoch for lr in self.base_lrs]
        >>> halving = Halving(optim.SGD(nn.Dense(2, 2).trainable_params(), lr=0.1))
        >>> halving.step()
        >>> halving.get_last_lr()
        [Tensor(shape=[], dtype=Float32, value= 0.05)]
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        super().__init__(optimizer)
        check_kind(type(self).__name__, int, last_epoch=last_epoch)
        if last_epoch < -1:
            raise ValueError(f"'last_epoch' should be at least -1, but got {last_epoch}.")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", as_number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"Group {number} has no 'initial_lr', from which 'last_epoch' would go on.")
        self.base_lrs: list[Any] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch: int = last_epoch
        self.step()

    def get_lr(self) -> list[Any]:
        """Return the rates of epoch `last_epoch`.

        Raises:
            NotImplementedError: In this base class.
        """
        raise NotImplementedError(f"'{type(self).__name__}' should define get_lr().")

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to the given epoch, and set the rates.

        Args:
            epoch (int): The epoch. Default: None, the next.
        """
        closed_form = getattr(self, "_get_closed_form_lr", self.get_lr)
        self.last_epoch = self.last_epoch + 1 if epoch is None else int(as_number(epoch))
        self._set_rates(self.get_lr() if epoch is None else closed_form())
