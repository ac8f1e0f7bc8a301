"""``TransferDataset``: a pipeline that runs in the background and queues its rows, like MindSpore's device queues."""

import queue
import threading
import uuid
from typing import Any

from msnb import log
from msnb.common.kinds import check, checked
from msnb.context import get_context
from msnb.dataset.core.kinds import Flag, NoEnd, PositiveInt32
from msnb.dataset.engine.dataset import Dataset, fluent

_DEPTH = 2


class _Sender:
    """Background thread that reads the rows of a pipeline and puts them into a queue."""

    def __init__(self, dataset, num_epochs, with_info):
        self.iterator = dataset.create_tuple_iterator(num_epochs=num_epochs, output_numpy=True)
        self.num_epochs = num_epochs
        self.rows = queue.Queue(_DEPTH)
        self.info = queue.Queue() if with_info else None
        self.going = threading.Event()
        self.going.set()
        self.ended: bool = False
        self.error = None
        self.thread = threading.Thread(target=self._send_rows, name="msnb-to-device", daemon=True)
        self.thread.start()

    def _send_rows(self):
        epoch = 0
        try:
            while not self.ended and (self.num_epochs == -1 or epoch < self.num_epochs):
                for row in self.iterator:
                    self.going.wait()
                    if self.ended:
                        return
                    if self.info is not None:
                        self.info.put(([a.dtype for a in row], [list(a.shape) for a in row]))
                    self._put_row_in_queue(row)
                epoch += 1
        except Exception as error:
            if self.ended:  # the pipeline was stopped
                return
            self.error = error
            log.error(f"The pipeline that sends to the device stopped: {error}")

    def _put_row_in_queue(self, row):
        while not self.ended:
            try:
                return self.rows.put(row, timeout=0.1)
            except queue.Full:
                # No consumer reads the queue here. Drop the oldest row, which a device would have read.
                try:
                    self.rows.get_nowait()
                except queue.Empty:
                    pass

    def end(self):
        """Stop the thread and release the pipeline."""
        self.ended = True
        self.going.set()
        self.iterator.stop()


def _raise_unsupported(restriction):
    raise RuntimeError(f"TransferDataset {restriction}: its rows go to the device.")


class TransferDataset(Dataset):
    """Data set that :meth:`Dataset.to_device` returns.

    Args:
        input_dataset (Dataset): Data set whose rows are sent.
        send_epoch_end (bool, optional): True to send ends of epochs. Default: True.
        create_data_info_queue (bool, optional): True to record types and shapes of rows. Default: False.
    """

    def __init__(
        self, input_dataset: Dataset, send_epoch_end: bool = True, create_data_info_queue: bool = False
    ) -> None:
        super().__init__(input_dataset)
        self.queue_name: str = str(uuid.uuid1())
        self.device_type: Any = get_context("device_target")
        self.send_epoch_end: bool = send_epoch_end
        self.create_data_info_queue: bool = create_data_info_queue
        self._sender = None

    def _make_plan_node(self, children):
        return children[0]

    def create_dict_iterator(self, num_epochs: int = -1, output_numpy: bool = False) -> None:
        """Raise an error, because the rows are sent to the device."""
        _raise_unsupported("is not iterable")

    def create_tuple_iterator(
        self, columns: Any = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = True
    ) -> None:
        """Raise an error, because the rows are sent to the device."""
        _raise_unsupported("is not iterable")

    def __iter__(self) -> None:
        _raise_unsupported("is not iterable")

    def output_shapes(self) -> None:
        """Raise an error, because the rows are sent to the device."""
        _raise_unsupported("does not support obtaining output_shapes")

    def output_types(self) -> None:
        """Raise an error, because the rows are sent to the device."""
        _raise_unsupported("does not support obtaining output_types")

    def send(self, num_epochs: int = -1) -> None:
        """Start to send rows to the queue.

        Args:
            num_epochs (int, optional): Number of epochs to send; -1 for no end. Default: -1.
        """
        passes = -1 if num_epochs is None else num_epochs
        check(NoEnd, passes, "num_epochs", "send")
        self.release()
        self._sender = _Sender(self.children[0], passes, self.create_data_info_queue)

    def stop_send(self) -> None:
        """Pause the thread that sends rows."""
        if self._sender is not None:
            self._sender.going.clear()

    def continue_send(self) -> None:
        """Resume sending rows after :meth:`stop_send`."""
        if self._sender is not None:
            self._sender.going.set()

    def get_data_info(self) -> Any:
        """Return (types, shapes) of the next row that was sent.

        Raises:
            RuntimeError: If nothing was sent, or `create_data_info_queue` is False.
        """
        if self._sender is None or self._sender.info is None:
            raise RuntimeError("Calling get_data_info with bad state.")
        while True:
            try:
                return self._sender.info.get(timeout=0.2)
            except queue.Empty:
                if not self._sender.thread.is_alive() and self._sender.info.empty():
                    raise RuntimeError(
                        "Calling get_data_info with bad state: every row was asked for."
                    ) from self._sender.error

    def release(self) -> None:
        """Stop sending rows permanently."""
        if self._sender is not None:
            self._sender.end()
            self._sender = None

    def __del__(self) -> None:
        try:
            self.release()
        except Exception:  # at interpreter exit, modules may be unloaded
            pass


@fluent
@checked
def to_device(self: Dataset, send_epoch_end: Flag = True, create_data_info_queue: Flag = False) -> TransferDataset:
    """Return a data set whose rows are sent to the device in the background.

    Args:
        send_epoch_end (bool, optional): True to send ends of epochs. Default: True.
        create_data_info_queue (bool, optional): True to record shapes and types of each row. Default: False.

    Returns:
        TransferDataset.
    """
    log.unused("Dataset.to_device", "nobody waits for ends of epochs", send_epoch_end=not send_epoch_end)
    return TransferDataset(self, send_epoch_end, create_data_info_queue)


@fluent
@checked
def device_que(
    self: Dataset,
    prefetch_size: PositiveInt32 | None = None,
    send_epoch_end: Flag = True,
    create_data_info_queue: Flag = False,
) -> TransferDataset:
    """Return a data set whose rows are sent to the device, as :meth:`to_device`. `prefetch_size` has no effect."""
    log.unused("Dataset.device_que", "rows are held ready in any case", prefetch_size=prefetch_size is not None)
    return self.to_device(send_epoch_end, create_data_info_queue)
