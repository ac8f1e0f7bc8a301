"""Says once that the loss of a training is not finite any more, without ever making a step wait."""

import numpy as np

from msnb import log
from msnb.core.dtype import is_inexact
from msnb.core.tensor import Tensor

_EVERY = 128  # steps from one look within an epoch to the next


class LossWatch:
    """Looks at the loss of a step now and then: at one that is computed by the time of the next look."""

    def __init__(self):
        self._seen = None  # (loss or what a step with a loss scale returns, epoch, step)
        self._told = False

    def step(self, outputs, epoch, step):
        """Look, every few steps."""
        if step % _EVERY == 0:
            self.look(outputs, epoch, step)

    def look(self, outputs, epoch, step):
        """Judge the step that was seen before if it is computed, and see this one."""
        if self._told:
            return
        if self._seen is not None and self._seen[0][0]._array.is_ready():
            self._judge()
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        if outputs and isinstance(outputs[0], Tensor) and is_inexact(outputs[0]._array.dtype):
            self._seen = outputs if _is_scaled(outputs) else outputs[:1], epoch, step

    def finish(self):
        """Judge the last step that was seen; training is over and may wait for it."""
        if not self._told and self._seen is not None:
            self._judge()

    def _judge(self):
        (outputs, epoch, step), self._seen = self._seen, None
        loss = outputs[0].asnumpy().ravel()
        wrong = loss[~np.isfinite(loss)]
        if not wrong.size or _was_skipped(outputs):
            return
        self._told = True
        log.warning(
            "The loss is not finite (%s) in step %d, epoch %d of Model.train, maybe since an earlier one, and "
            "training goes on. Is the learning rate too high, or is there a NaN in the data? LossMonitor() "
            "stops at the first such step.",
            wrong[0],
            step,
            epoch,
        )


def _is_scaled(outputs):
    """Whether these are the loss, whether the step overflowed, and the loss scale."""
    return len(outputs) == 3 and all(isinstance(o, Tensor) for o in outputs) and outputs[1].size == outputs[2].size == 1


def _was_skipped(outputs):
    """Whether the step overflowed under a loss scale that can still fall: that is how a loss scale is found."""
    return _is_scaled(outputs) and bool(outputs[1].asnumpy().item()) and float(outputs[2].asnumpy().item()) > 1
