"""``sync_wait``: rows pass only when the consumer allows it."""

import threading
from collections.abc import Callable
from typing import Any, Self

from msnb import log
from msnb.common.kinds import checked
from msnb.dataset.core.config import get_callback_timeout
from msnb.dataset.core.kinds import Int, Text
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes


class BlockReleasePair:
    """Counter of the rows that may pass: `block_func` waits until a row may pass, `release_func` lets more pass.

    Args:
        init_release_rows (int): Rows that may pass at first, and per update.
        callback (Callable, optional): Called with the data of each update. Default: None.

    Raises:
        ValueError: If `init_release_rows` is not positive.
    """

    def __init__(self, init_release_rows: int, callback: Callable[..., Any] | None = None) -> None:
        _check_positive(init_release_rows, "release_rows")
        self.callback = callback
        self._share = init_release_rows  # rows per update
        self._free = init_release_rows  # rows that may pass now
        self._open = False  # every row may pass
        self._changed = threading.Condition()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # An iterator runs a copy of the pipeline, and the user updates the original: both share one count.
        self.reset()
        return self

    def reset(self) -> None:
        """Let as many rows pass as at the beginning."""
        with self._changed:
            self._free = self._share
            self._changed.notify_all()

    def update_batched_size(self, batch_size: int | Callable[..., int]) -> None:
        """Count batches of `batch_size` rows instead of single rows."""
        _check_positive(batch_size, "batch_size")
        with self._changed:
            self._share, self._free = self._share * batch_size, self._free * batch_size

    def block_func(self, left: Callable[[], bool] = lambda: False) -> bool:
        """Wait until a row may pass and return True. Return False if ``left()`` is true.

        A waiting call checks ``left()`` again after :meth:`wake`.
        """
        with self._changed:
            timeout = get_callback_timeout()
            if not self._changed.wait_for(lambda: self._free > 0 or self._open or left(), timeout):
                self._open = True
                log.warning(
                    f"No sync_update came for the rows behind sync_wait within {timeout} seconds; from here on rows "
                    "pass without one."
                )
            if left():
                return False
            self._free -= 1
            return True

    def release_func(self, pass_rows: int | None = None, data: Any = None) -> None:
        """Let `pass_rows` more rows pass. The default is `init_release_rows`."""
        more = self._share if pass_rows is None else pass_rows
        with self._changed:
            self._free += more
            if self.callback is not None:
                self.callback(data)
            self._changed.notify_all()

    def disable_lock(self) -> None:
        """Let every row pass."""
        self._open = True
        self.wake()

    def wake(self) -> None:
        """Wake waiting threads, so that they check their condition again."""
        with self._changed:
            self._changed.notify_all()


def _check_positive(rows, name):
    if rows <= 0:
        raise ValueError(f"{name} need to be greater than 0. Got {rows}.")


class _SyncGate(nodes.Node):
    """Plan node that passes rows when the consumer allows it, and stops when the loop over the rows is exited."""

    def __init__(self, child, pair):
        super().__init__([child], child.columns)
        self.pair = pair
        self.left: bool = False

    def chunks(self, hint):
        for chunk in self.children[0].chunks(nodes.Hint(1)):
            if not self.pair.block_func(lambda: self.left):
                return
            yield chunk

    def close(self):
        self.left = True
        self.pair.wake()
        super().close()

    def describe(self):
        return "sync_wait"


class SyncWaitDataset(Dataset):
    """Data set that :meth:`Dataset.sync_wait` returns."""

    def __init__(
        self, input_dataset: Dataset, condition_name: str, num_batch: int, callback: Callable[..., Any] | None = None
    ) -> None:
        super().__init__(input_dataset)
        _check_positive(num_batch, "num_batch")
        if condition_name in super().get_sync_notifiers():
            raise RuntimeError(f"Condition name is already in use: {condition_name!r}.")
        self._name = condition_name
        self._pair = BlockReleasePair(num_batch, callback)

    def _make_plan_node(self, children):
        self._pair.reset()
        return _SyncGate(*children, self._pair)

    def get_sync_notifiers(self) -> dict[str, Callable[..., None]]:
        """Return the functions that let rows pass, by condition name."""
        return super().get_sync_notifiers() | {self._name: self._pair.release_func}

    def is_sync(self) -> bool:
        """Return True."""
        return True

    def update_sync_batch_size(self, batch_size: int | Callable[..., int]) -> None:
        """Count batches of `batch_size` rows instead of single rows."""
        self._pair.update_batched_size(batch_size)

    def disable_sync(self) -> None:
        """Let every row pass from now on."""
        self._pair.disable_lock()


@fluent
@checked
def sync_wait(
    self: Dataset, condition_name: Text, num_batch: Int = 1, callback: Callable | None = None
) -> SyncWaitDataset:
    """Let rows pass only as :meth:`sync_update` allows.

    Args:
        condition_name (str): Name of the condition.
        num_batch (int, optional): Batches that pass at the beginning and per update. Default: 1.
        callback (Callable, optional): Called with the data of each update. Default: None.

    Returns:
        SyncWaitDataset.

    Raises:
        RuntimeError: If the name is used already.
    """
    return SyncWaitDataset(self, condition_name, num_batch, callback)


@fluent
def get_sync_notifiers(self: Dataset) -> dict[str, Callable]:
    """Return the functions that let rows pass, by condition name."""
    return self.children[0].get_sync_notifiers() if self.children else {}


@fluent
def disable_sync(self: Dataset) -> None:
    """Let every row pass from now on."""
    if self.children:
        self.children[0].disable_sync()


@fluent
def is_sync(self: Dataset) -> bool:
    """Return True if a ``sync_wait`` is in the pipeline."""
    return self.children[0].is_sync() if self.children else False


@fluent
def sync_update(self: Dataset, condition_name: str, num_batch: int | None = None, data: object = None) -> None:
    """Let the next batches pass.

    Args:
        condition_name (str): Name given to :meth:`sync_wait`.
        num_batch (int, optional): Number of batches. Default: None, as many as given to ``sync_wait``.
        data (Any, optional): Argument of the callback. Default: None.

    Raises:
        RuntimeError: If the name is unknown or `num_batch` not positive.
    """
    if num_batch is not None and (not isinstance(num_batch, int) or num_batch <= 0):
        self.disable_sync()
        raise RuntimeError(f"Sync_update batch size can only be positive, got : {num_batch}.")
    notifiers = self.get_sync_notifiers()
    if condition_name not in notifiers:
        self.disable_sync()
        raise RuntimeError(f"Condition name not found: {condition_name!r}; there are {sorted(notifiers)}.")
    if num_batch is not None:
        num_batch *= self.get_batch_size()
    notifiers[condition_name](num_batch, data)
