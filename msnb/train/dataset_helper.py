"""`DatasetHelper`: the batches of a dataset, epoch by epoch."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb._checkparam import Validator
from msnb.common.arguments import answered
from msnb.train._utils import _get_types_and_shapes

if TYPE_CHECKING:  # used in annotations only
    from msnb.dataset.engine.dataset import Dataset
    from msnb.nn.cell import Cell

__all__ = ["DatasetHelper", "connect_network_with_dataset"]


def connect_network_with_dataset(network: "Cell", dataset_helper: "DatasetHelper") -> "Cell":
    """Return `network` unchanged: msnb has no device queue to connect it with.

    Iterating over the helper gives the batches.

    Args:
        network (Cell): The network.
        dataset_helper (DatasetHelper): The dataset, in sink mode.

    Returns:
        Cell, `network`.

    Raises:
        RuntimeError: If the helper is not in sink mode.

    Examples:
        >>> dataset_helper = mindspore.DatasetHelper(train_dataset, dataset_sink_mode=True)
        >>> net = connect_network_with_dataset(net_with_loss, dataset_helper)
        >>> for inputs in dataset_helper:
        ...     loss = net(*inputs)
    """
    if isinstance(dataset_helper.iter, _DatasetIterNormal):
        raise RuntimeError(
            "Only a DatasetHelper in sink mode can be connected with a network: give it dataset_sink_mode=True."
        )
    return network


class DatasetHelper:
    """Iterates over a dataset: each `for` loop over the helper is one epoch.

    Args:
        dataset (Dataset): The dataset.
        dataset_sink_mode (bool): Whether an epoch may be shorter or longer than the dataset, see `sink_size`. Batches
            go to the device one by one in either case. Default: True.
        sink_size (int): Batches per epoch in sink mode, continued where the previous epoch ended; -1 for the complete
            dataset. Default: -1.
        epoch_num (int): Number of epochs, -1 for any number. Default: 1.

    Raises:
        TypeError: If `dataset_sink_mode` is not a bool, or `sink_size` is not an int.
        ValueError: If `sink_size` is neither -1 nor positive.

    Examples:
        >>> dataset_helper = mindspore.DatasetHelper(train_dataset, dataset_sink_mode=False)
        >>> for inputs in dataset_helper:
        ...     loss = net_with_loss(*inputs)
    """

    @answered
    def __init__(
        self, dataset: "Dataset", dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1
    ) -> None:
        Validator.check_bool(dataset_sink_mode, "dataset_sink_mode", "DatasetHelper")
        Validator.check_is_int(sink_size, "sink_size", "DatasetHelper")
        if sink_size < -1 or sink_size == 0:
            raise ValueError(f"For 'DatasetHelper', 'sink_size' should be -1 or positive, but got {sink_size}.")
        if not hasattr(dataset, "create_tuple_iterator"):
            raise TypeError(
                f"For 'DatasetHelper', 'dataset' should be a mindspore.dataset Dataset, "
                f"but got {type(dataset).__name__}."
            )
        if dataset_sink_mode:
            log.info("Dataset sink mode: there are no device queues, batches go to the device one by one.")
            self.iter = _DatasetIterSink(dataset, sink_size, epoch_num)
        else:
            self.iter = _DatasetIterNormal(dataset, epoch_num)

    def __iter__(self) -> "Iterator[Any]":
        return iter(self.iter)

    def types_shapes(self) -> tuple[list[Any], list[Any]]:
        """Return (dtypes, shapes) of the columns."""
        return _get_types_and_shapes(self.iter.dataset)

    def sink_size(self) -> int:
        """Return 1, the number of batches that one call of the network consumes."""
        return 1

    def stop_send(self) -> None:
        """Do nothing: there is no device queue."""

    def release(self) -> None:
        """Close the dataset's iterator."""
        self.iter.close()

    def continue_send(self) -> None:
        """Do nothing: there is no device queue."""

    def get_data_info(self) -> tuple[list[Any], list[Any]]:
        """Return (dtypes, shapes) of the columns, with numpy dtypes."""
        return self.iter.dataset.output_types(), self.iter.dataset.output_shapes()


class _Batches:
    """An iterator over a dataset that can be closed."""

    def __init__(self, dataset: Any, passes: int) -> None:
        self.dataset = dataset
        self.iter = dataset.create_tuple_iterator(num_epochs=passes, do_copy=True)

    def close(self) -> None:
        """Close the iterator, with its threads and processes. They would continue if a loop ended early."""
        stop = getattr(self.iter, "stop", None)  # datasets of other libraries have other iterators
        self.iter = iter(())
        if stop is not None:
            stop()


class _DatasetIterNormal(_Batches):
    """One pass over the dataset per `for` loop."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.iter.__next__()


class _DatasetIterSink(_Batches):
    """`sink_size` batches per `for` loop, continued where the previous loop ended."""

    def __init__(self, dataset: Any, sink_size: int, epoch_num: int) -> None:
        size = dataset.get_dataset_size()
        self.sink_size = size if sink_size == -1 else sink_size
        passes = -1 if epoch_num == -1 else -(-epoch_num * self.sink_size // max(size, 1))
        super().__init__(dataset, passes)

    def __iter__(self) -> Iterator[Any]:
        left, empty = self.sink_size, False
        while left:
            try:
                batch = self.iter.__next__()
            except StopIteration:
                if empty:  # twice in a row: there are no more passes
                    return
                empty = True
                continue
            empty = False
            left -= 1
            yield batch
