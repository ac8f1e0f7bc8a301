"""The losses of a training, read now and then, and never one that a step would have to wait for."""

from collections import deque

import numpy as np

from msnb import log
from msnb.core.support.type_promotion import is_float
from msnb.core.tensor.tensor import Tensor

_KEPT = 1024  # losses of single numbers that are kept: more steps than the device is behind, or two looks are apart


class LossWatch:
    """Keeps the losses of the newest steps, and says once which of them was the first that is not finite.

    Attributes:
        loss (Union[float, None]): The newest loss that was read, its mean where it is more than a number.
    """

    def __init__(self):
        self._recent = None  # a deque of (arrays, epoch, step), the oldest first
        self._finite = 0  # step up to which all is known to be well
        self._told = False
        self.loss = None

    def step(self, outputs, epoch, step):
        """Keep what a step has returned.

        Args:
            outputs (Union[Tensor, tuple]): The loss, or a tuple that begins with it.
            epoch (int), step (int): When it was.
        """
        arrays = (outputs._array,) if type(outputs) is Tensor else _arrays(outputs)
        if self._recent is None:  # of what is no single number two are enough to hold
            self._recent = deque(maxlen=2 if arrays and arrays[0].shape else _KEPT)
        self._recent.append((arrays, epoch, step))

    def look(self, most=1):
        """Read the newest loss that is computed, and some of those between the last look and it.

        Args:
            most (int): How many are read. Default: 1.

        Returns:
            list[tuple[int, float]], steps and their losses; empty where no further one is computed.
        """
        for place in range(len(self._recent or ()) - 1, -1, -1):
            arrays = self._recent[place][0]
            if not arrays or arrays[0].is_deleted() or arrays[0].is_ready():
                return self._read(place + 1, most)
        return []

    def finish(self, most=1):
        """Read as `look` does, up to the last step; training is over and may wait for it."""
        return self._read(len(self._recent or ()), most)

    def _read(self, many, most):
        read = [self._recent.popleft() for _ in range(many)]
        if not read:
            return []
        stride = -(-many // most)
        some = [(step, _mean(arrays)) for arrays, _, step in reversed(read[::-1][::stride])]
        arrays, _, step = read[-1]
        if some[-1][1] is not None:
            self.loss = some[-1][1]
            if np.isfinite(self.loss):
                self._finite = step
            elif not self._told and not _was_skipped(arrays):
                self._tell(read)
        return [(step, loss) for step, loss in some if loss is not None]

    def _tell(self, read):
        """Find the first loss that is not finite among those since the last look, and say so."""
        self._told = True
        arrays, epoch, step = next(entry for entry in read if _is_wrong(entry[0]))
        values = _value(arrays).ravel()
        log.warning(
            "The loss is not finite (%s) in step %d, epoch %d of Model.train%s, and training goes on. Is the learning "
            "rate too high, or is there a NaN in the data? GradientMonitor() among the callbacks, or %%ms_grad in a "
            "notebook, names the operator it comes from; LossMonitor() stops at the first such step.",
            values[~np.isfinite(values)][0],
            step,
            epoch,
            "" if step == self._finite + 1 or step > read[0][2] else ", maybe since an earlier one",
        )


def _arrays(outputs):
    """The loss; where a loss scale is searched for, whether the step overflowed and the scale as well; or nothing."""
    if isinstance(outputs, Tensor):
        return (outputs._array,)
    if not isinstance(outputs, tuple) or not outputs or not isinstance(outputs[0], Tensor):
        return ()
    scaled = len(outputs) == 3 and all(isinstance(o, Tensor) and o.size == 1 for o in outputs[1:])
    return tuple([o._array for o in (outputs if scaled else outputs[:1])])


def _value(arrays):
    """The loss as a numpy array; None where there is none."""
    if not arrays or arrays[0].is_deleted() or not is_float(arrays[0].dtype):
        return None
    return np.asarray(arrays[0])


def _mean(arrays):
    """The loss as one number; None where there is none."""
    loss = _value(arrays)
    return None if loss is None else float(np.mean(loss, dtype=np.float64))


def _is_wrong(arrays):
    loss = _mean(arrays)
    return loss is not None and not np.isfinite(loss) and not _was_skipped(arrays)


def _was_skipped(arrays):
    """Whether the step overflowed under a loss scale that can still fall: that is how a loss scale is found."""
    return len(arrays) == 3 and bool(np.asarray(arrays[1]).item()) and float(np.asarray(arrays[2]).item()) > 1
