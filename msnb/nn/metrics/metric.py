"""`Metric`: the base class of metrics."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np

from msnb.common.kinds import Kind, checked
from msnb.core.tensor.tensor import Tensor

__all__ = ["Metric", "rearrange_inputs"]


def _check_callable(value):
    if not callable(value):
        raise TypeError
    return value


Function = Annotated[Callable[..., Any], Kind("a function", _check_callable)]


@checked
def rearrange_inputs(func: Function) -> Callable[..., Any]:
    """
    Decorator for `update` of a metric: select the inputs by `set_indexes`.

    Args:
        func (Callable): The method.

    Returns:
        Callable, the method.

    Raises:
        TypeError: If `func` cannot be called.

    Examples:
        >>> class First(nn.Metric):
        ...     clear = eval = lambda self: None
        ...     @nn.rearrange_inputs
        ...     def update(self, *inputs):
        ...         print(*inputs)
        >>> First().set_indexes([2, 0]).update("loss", "prediction", "label")
        label loss
    """

    @functools.wraps(func)
    def update(self, *inputs):
        chosen = self.indexes
        return func(self, *(inputs if not chosen else [inputs[i] for i in chosen]))

    return update


class Metric(ABC):
    """
    Base class of metrics: `clear` resets the values, `update` accumulates a batch, `eval` returns the value so far.

    Examples:
        >>> class Count(nn.Metric):
        ...     def clear(self):
        ...         self.count = 0
        ...     def update(self, *inputs):
        ...         self.count += len(inputs[0])
        ...     def eval(self):
        ...         return self.count
    """

    _indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """Indices of the inputs that a method decorated with `rearrange_inputs` receives; None for all."""
        return self._indexes

    def set_indexes(self, indexes: list[int]) -> Self:
        """
        Select the inputs that `update`, decorated with `rearrange_inputs`, receives.

        Args:
            indexes (list[int]): Indices of the inputs, in the order of the arguments of `update`.

        Returns:
            Metric, itself.

        Raises:
            ValueError: If it is no list of int.
        """
        if not isinstance(indexes, list) or not all(type(i) is int for i in indexes):
            raise ValueError(
                f"For 'set_indexes' of {type(self).__name__}, 'indexes' should be a list of int, but got {indexes!r}."
            )
        self._indexes = indexes
        return self

    def _convert_data(self, data):
        """Return `data` (a Tensor, a list or an array) as an array."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, (list, np.ndarray)):
            return np.asarray(data)
        raise TypeError(
            f"For '{type(self).__name__}', an input should be a Tensor, a list or an array, but got {data!r} "
            f"of type {type(data).__name__}."
        )

    def _check_onehot_data(self, data):
        """Return True if `data` contains one-hot vectors along axis 1."""
        return data.ndim > 1 and np.isin(data, (0, 1)).all() and bool((data.sum(axis=1) == 1).all())

    def _to_arrays(self, inputs, *names):
        """Return the inputs as arrays; raise an error unless there is one for each of `names`."""
        if len(inputs) != len(names):
            raise ValueError(
                f"For '{type(self).__name__}', there should be {len(names)} inputs ({', '.join(names)}), "
                f"but got {len(inputs)}."
            )
        return tuple(map(self._convert_data, inputs))

    def _check_has_updates(self, number, of_what="samples"):
        """Raise RuntimeError if nothing was accumulated."""
        if not number:
            raise RuntimeError(
                f"'{type(self).__name__}' has no value yet, because the number of {of_what} is 0: call update first."
            )

    def __call__(self, *inputs: Any) -> Any:
        """Return the value for one batch, after clearing earlier ones."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self) -> None:
        """Clear the accumulated values."""
        raise NotImplementedError(f"'{type(self).__name__}' should define clear().")

    @abstractmethod
    def eval(self) -> Any:
        """Return the value over all batches since `clear`."""
        raise NotImplementedError(f"'{type(self).__name__}' should define eval().")

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: The data that the metric compares, usually predictions and labels.
        """
        raise NotImplementedError(f"'{type(self).__name__}' should define update(*inputs).")
