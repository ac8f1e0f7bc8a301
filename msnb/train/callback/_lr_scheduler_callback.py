"""`LearningRateScheduler`."""
import math

from msnb.common import dtype as mstype
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor
from msnb.train.callback._callback import Callback


class LearningRateScheduler(Callback):
    """Changes the learning rate between steps.

    Args:
        learning_rate_function (Callable): Takes the learning rate and the number of the step (from 1) and returns the
            new learning rate.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> def halve(lr, cur_step_num):
        ...     return lr * 0.5 if cur_step_num % 1000 == 0 else lr
        >>> model.train(1, dataset, callbacks=[LearningRateScheduler(halve)])
    """

    def __init__(self, learning_rate_function):
        super().__init__()
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context):
        """Ask the function and set what it says.

        Args:
            run_context (RunContext): Values of the moment.

        Raises:
            TypeError: If the optimizer has no single learning rate.
        """
        cb_params = run_context.original_args()
        rate = cb_params.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise TypeError(f"LearningRateScheduler changes the learning rate of an optimizer that was given one "
                            f"number, but this one has a {type(rate).__name__}.")
        old = float(str(rate.asnumpy()))
        new = self.learning_rate_function(old, cb_params.cur_step_num)
        if not math.isclose(old, new, rel_tol=1e-10):
            rate.set_data(Tensor(new, mstype.float32))
            print(f"At step {cb_params.cur_step_num}, learning_rate change to {new}")
