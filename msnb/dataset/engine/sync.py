"""``sync_wait``: rows pass when the consumer says so."""

import threading

from msnb import log
from msnb.dataset.core.config import get_callback_timeout
from msnb.dataset.engine import nodes
from msnb.dataset.engine.dataset import Dataset


class BlockReleasePair:
    """A counter of rows that may pass, with a function that waits for one and a function that adds some.

    Args:
        init_release_rows (int): Rows that may pass at first, and per update.
        callback (Callable, optional): Called with the data of each update. Default: None.

    Raises:
        ValueError: If `init_release_rows` is not positive.
    """

    def __init__(self, init_release_rows, callback=None):
        if isinstance(init_release_rows, int) and init_release_rows <= 0:
            raise ValueError(f"release_rows need to be greater than 0, but got {init_release_rows}.")
        self.default_rows = init_release_rows
        self.row_count = -init_release_rows
        self.callback = callback
        self.cv = threading.Condition()
        self.disable = False

    def __deepcopy__(self, memo):
        self.reset()
        return self

    def reset(self):
        """As at the beginning."""
        with self.cv:
            self.row_count = -self.default_rows
            self.cv.notify_all()

    def update_batched_size(self, batch_size):
        """Count in batches of that many rows."""
        if isinstance(batch_size, int) and batch_size <= 0:
            raise ValueError(f"batch_size need to be greater than 0, but got {batch_size}.")
        self.row_count *= batch_size
        self.default_rows *= batch_size

    def block_func(self):
        """Wait until a row may pass."""
        with self.cv:
            if not self.cv.wait_for(lambda: self.row_count < 0 or self.disable, timeout=get_callback_timeout()):
                log.warning(
                    "Timeout happened in sync_wait, maybe dataset.sync_update(condition=...) is not added after "
                    "dataset.create_dict_iterator(...), now disabling lock."
                )
                self.disable = True
            self.row_count += 1
        return True

    def release_func(self, pass_rows=None, data=None):
        """Let more rows pass."""
        with self.cv:
            self.row_count -= self.default_rows if pass_rows is None else pass_rows
            if self.callback is not None:
                self.callback(data)
            self.cv.notify_all()

    def disable_lock(self):
        """Let every row pass."""
        with self.cv:
            self.disable = True
            self.cv.notify_all()


class SyncWaitDataset(Dataset):
    """The result of :meth:`Dataset.sync_wait`."""

    def __init__(self, input_dataset, condition_name, num_batch, callback=None):
        super().__init__(input_dataset)
        if isinstance(num_batch, int) and num_batch <= 0:
            raise ValueError(f"num_batch need to be greater than 0. It is {num_batch}.")
        self._condition_name = condition_name
        self._pair = BlockReleasePair(num_batch, callback)
        if condition_name in self.children[0].get_sync_notifiers():
            raise RuntimeError(f"Condition name is already in use: {condition_name!r}.")

    def _node(self, children):
        self._pair.reset()
        return nodes.SyncWait(children[0], self._pair.block_func)

    def get_sync_notifiers(self):
        """Condition names to the functions that let rows pass."""
        return {**self.children[0].get_sync_notifiers(), self._condition_name: self._pair.release_func}

    def is_sync(self):
        """True."""
        return True

    def update_sync_batch_size(self, batch_size):
        """Count in batches of that many rows."""
        if isinstance(batch_size, int) and batch_size <= 0:
            raise ValueError(f"num_batch need to be greater than 0. It is {batch_size}.")
        self._pair.update_batched_size(batch_size)

    def disable_sync(self):
        """Let every row pass from now on."""
        self._pair.disable_lock()
