"""`LearningRateScheduler`: a callback that changes the learning rate."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.train.callback._callback import Callback

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class LearningRateScheduler(Callback):
    """Changes the learning rate between steps.

    Args:
        learning_rate_function (Callable): Takes the learning rate and the number of the step (from 1) and returns the
            new learning rate.

    Raises:
        TypeError: If `learning_rate_function` is not callable.

    Examples:
        >>> def halve(lr, cur_step_num):
        ...     return lr * 0.5 if cur_step_num % 1000 == 0 else lr
        >>> model.train(1, dataset, callbacks=[LearningRateScheduler(halve)])
    """

    @answered
    def __init__(self, learning_rate_function: Callable[..., Any]) -> None:
        super().__init__()
        if not callable(learning_rate_function):
            raise TypeError(
                f"For 'LearningRateScheduler', 'learning_rate_function' should be a function of the "
                f"learning rate and the number of the step, but got {learning_rate_function!r}."
            )
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: "RunContext") -> None:
        """Call the function and set the learning rate.

        Args:
            run_context (RunContext): Values of the current step and epoch.

        Raises:
            TypeError: If the optimizer has no single learning rate.
        """
        values = run_context.original_args()
        rate, number = values.optimizer.learning_rate, values.cur_step_num
        if not isinstance(rate, Parameter):
            raise TypeError(
                f"LearningRateScheduler changes the learning rate of an optimizer that was given one "
                f"number, but this one has a {type(rate).__name__}."
            )
        before = float(str(rate.asnumpy()))  # 0.1, as the user wrote it, and not 0.10000000149
        after = self.learning_rate_function(before, number)
        if math.isclose(after, before, rel_tol=1e-10):
            return
        rate.set_data(Tensor(after, mstype.float32))
        print(f"At step {number}, learning_rate change to {after}")
