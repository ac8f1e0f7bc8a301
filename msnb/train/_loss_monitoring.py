"""`LossWatch`: read the losses of a training from time to time, without waiting for a step."""

from collections import deque

import numpy as np

from msnb import log
from msnb.core.support.type_promotion import is_float
from msnb.core.tensor.tensor import Tensor

_QUEUE_LENGTH = 1024  # Maximum number of scalar losses in the queue; the device lags behind by fewer steps.


class LossWatch:
    """Stores the losses of the newest steps and warns once about the first one that is not finite.

    Attributes:
        loss (Union[float, None]): The newest loss that was read; the mean of its elements if it has several.
    """

    def __init__(self):
        self._recent = None  # a deque of (arrays, epoch, step), the oldest first
        self._finite = 0  # the last step with a finite loss
        self._has_warned = False
        self.loss = None

    def step(self, outputs, epoch, step):
        """Store the outputs of a step.

        Args:
            outputs (Union[Tensor, tuple]): The loss, or a tuple that begins with it.
            epoch (int), step (int): Number of the epoch and of the step.
        """
        arrays = (outputs._array,) if type(outputs) is Tensor else _select_loss_arrays(outputs)
        if self._recent is None:  # two entries are enough for a loss that is not a scalar
            self._recent = deque(maxlen=2 if arrays and arrays[0].shape else _QUEUE_LENGTH)
        self._recent.append((arrays, epoch, step))

    def look(self, most=1):
        """Return up to `most` of the losses computed since the last call, the newest included. Does not wait.

        Args:
            most (int): The largest number of losses to read. Default: 1.

        Returns:
            list[tuple[int, float]], steps and their losses; empty if no further loss is computed.
        """
        for index in range(len(self._recent or ()) - 1, -1, -1):
            arrays = self._recent[index][0]
            if not arrays or arrays[0].is_deleted() or arrays[0].is_ready():
                return self._read_losses(index + 1, most)
        return []

    def finish(self, most=1):
        """Read losses as `look` does, up to the last step. Waits until the last step is computed."""
        return self._read_losses(len(self._recent or ()), most)

    def _read_losses(self, count, most):
        read = [self._recent.popleft() for _ in range(count)]
        if not read:
            return []
        stride = -(-count // most)
        losses = [(step, _compute_mean_loss(arrays)) for arrays, _, step in reversed(read[::-1][::stride])]
        arrays, _, step = read[-1]
        if losses[-1][1] is not None:
            self.loss = losses[-1][1]
            if np.isfinite(self.loss):
                self._finite = step
            elif not self._has_warned and not _is_step_skipped(arrays):
                self._warn_of_nonfinite_loss(read)
        return [(step, loss) for step, loss in losses if loss is not None]

    def _warn_of_nonfinite_loss(self, read):
        """Find the first loss since the last call that is not finite, and warn about it."""
        self._has_warned = True
        arrays, epoch, step = next(entry for entry in read if _is_loss_not_finite(entry[0]))
        values = _get_loss_array(arrays).ravel()
        log.warning(
            "The loss is not finite (%s) in step %d, epoch %d of Model.train%s, and training goes on. Is the learning "
            "rate too high, or is there a NaN in the data? GradientMonitor() among the callbacks, or %%ms_grad in a "
            "notebook, names the operator it comes from; LossMonitor() stops at the first such step.",
            values[~np.isfinite(values)][0],
            step,
            epoch,
            "" if step == self._finite + 1 or step > read[0][2] else ", maybe since an earlier one",
        )


def _select_loss_arrays(outputs):
    """Return the loss; with a dynamic loss scale also the overflow flag and the scale; () if there is no loss."""
    if isinstance(outputs, Tensor):
        return (outputs._array,)
    if not isinstance(outputs, tuple) or not outputs or not isinstance(outputs[0], Tensor):
        return ()
    scaled = len(outputs) == 3 and all(isinstance(o, Tensor) and o.size == 1 for o in outputs[1:])
    return tuple([o._array for o in (outputs if scaled else outputs[:1])])


def _get_loss_array(arrays):
    """Return the loss as a numpy array, or None."""
    if not arrays or arrays[0].is_deleted() or not is_float(arrays[0].dtype):
        return None
    return np.asarray(arrays[0])


def _compute_mean_loss(arrays):
    """Return the loss as one number, or None."""
    loss = _get_loss_array(arrays)
    return None if loss is None else float(np.mean(loss, dtype=np.float64))


def _is_loss_not_finite(arrays):
    loss = _compute_mean_loss(arrays)
    return loss is not None and not np.isfinite(loss) and not _is_step_skipped(arrays)


def _is_step_skipped(arrays):
    """Return True if the step overflowed and the loss scale can still fall. A dynamic loss scale skips such steps."""
    return len(arrays) == 3 and bool(np.asarray(arrays[1]).item()) and float(np.asarray(arrays[2]).item()) > 1
