"""``zip`` and ``concat``: join data sets by columns and by rows."""

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from msnb.common.kinds import check, checked
from msnb.dataset.core.kinds import list_of, of_type
from msnb.dataset.engine import samplers
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import shuffle_repeat
from msnb.dataset.engine.operations.batch import BatchDataset
from msnb.dataset.engine.sources.mappable import MappableDataset

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.samplers import DistributedSampler, RandomSampler


class ZipDataset(Dataset):
    """Data set that :meth:`Dataset.zip` returns."""

    def __init__(self, datasets: Any) -> None:
        for dataset in datasets:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"Invalid dataset, expected Dataset object, but got {type(dataset)}!")
        super().__init__(list(datasets))
        self.datasets = datasets

    def _make_plan_node(self, children):
        return shuffle_repeat.Zip(children)

    def is_sync(self) -> bool:
        """Return True if a ``sync_wait`` is in any of the pipelines."""
        return any(c.is_sync() for c in self.children)


@fluent("zip")
@checked
def zip_with(self: Dataset, datasets: Annotated[tuple[Dataset, ...] | Dataset, of_type(tuple, Dataset)]) -> ZipDataset:
    """Join the columns of several data sets.

    Args:
        datasets (Union[tuple, Dataset]): Data sets whose columns are added.

    Returns:
        ZipDataset.
    """

    return ZipDataset((self, *(datasets if isinstance(datasets, tuple) else (datasets,))))


@checked
def zip(datasets: Annotated[tuple[Dataset, ...], of_type(tuple)]) -> ZipDataset:
    """Join the columns of several data sets.

    Args:
        datasets (tuple[Dataset]): Data sets, at least two.

    Returns:
        ZipDataset.

    Raises:
        ValueError: If there are fewer than two.
        TypeError: If `datasets` is not a tuple of data sets.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.zip((images, labels))
    """
    if len(datasets) <= 1:
        raise ValueError("Can't zip empty or just one dataset!")
    return ZipDataset(datasets)


class ConcatDataset(Dataset):
    """Data set that :meth:`Dataset.concat` returns."""

    def __init__(self, datasets: Any) -> None:
        super().__init__(list(datasets))
        for dataset in datasets:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"Invalid dataset, expected Dataset object, but got {type(dataset)}!")
        self.datasets = datasets
        self._shard = None
        self._interleaved = False
        self.children_sizes_: list[int] = [c.get_dataset_size() for c in self.children]
        for number, size in enumerate(self.children_sizes_):
            if size == 0:
                raise ValueError(
                    f"There are no samples in the dataset number {number}. Please make sure there are valid samples in "
                    "the dataset."
                )

    def use_sampler(self, sampler: "DistributedSampler | RandomSampler") -> None:
        """Read one shard of the concatenated samples, or all samples in random order.

        In a random order, the samples of each data set keep their own order.

        Args:
            sampler (Union[DistributedSampler, RandomSampler]): The former without shuffle, the latter without
                replacement, both without num_samples.

        Raises:
            TypeError: If it is another sampler, or one of the concatenated data sets is batched.
            ValueError: If it shuffles a shard, repeats or limits the samples.
        """
        if isinstance(sampler, samplers.RandomSampler):
            self._use_random_order(sampler)
            return
        if not isinstance(sampler, samplers.DistributedSampler):
            raise TypeError(f"The parameter {sampler} of concat must be DistributedSampler or RandomSampler!")
        if sampler.is_shuffled():
            raise ValueError("The parameter shuffle of DistributedSampler must be False!")
        if sampler.get_num_samples() is not None:
            raise ValueError("The parameter num_samples of DistributedSampler is not support to be set!")
        for child in self.children:
            if getattr(child, "sampler", None) is not None and child.sampler.get_num_samples() is not None:
                raise ValueError(f"The parameter NumSamples of {child} is not support to be set!")
            if isinstance(child, BatchDataset):
                raise TypeError(f"The parameter {child} of concat must not be BatchDataset!")
        self.dataset_size: int | None = None
        _undo_automatic_sharding(self)
        self.children_sizes_ = [c.get_dataset_size() for c in self.children]
        self._shard, self._interleaved = shard_children(self, sampler), False

    def _use_random_order(self, sampler):
        if sampler.replacement:
            raise ValueError("The parameter replacement of RandomSampler must be False!")
        if sampler.get_num_samples() is not None:
            raise ValueError("The parameter num_samples of RandomSampler is not support to be set!")
        self._shard, self._interleaved = None, True
        for child in self.children:
            if isinstance(child, ConcatDataset):
                child._use_random_order(sampler)

    def _make_plan_node(self, children):
        return (
            shuffle_repeat.Interleave(children) if self._interleaved else shuffle_repeat.Concat(children, self._shard)
        )

    def _count_classes(self):
        counts = [c._count_classes() for c in self.children]
        return max((c for c in counts if c is not None), default=None)


@fluent
@checked
def concat(self: Dataset, datasets: Annotated[list[Dataset] | Dataset, of_type(list, Dataset)]) -> ConcatDataset:
    """Append data sets with the same columns; ``+`` does the same.

    Args:
        datasets (Union[list, Dataset]): Data sets to append.

    Returns:
        ConcatDataset.
    """

    if isinstance(datasets, list):
        check(list_of(Dataset), datasets, "dataset", "concat")
    return ConcatDataset([self, *(datasets if isinstance(datasets, list) else [datasets])])


def _undo_automatic_sharding(dataset):
    """Let the sources of `dataset` read all data in each process, because `dataset` is sharded as one."""
    dataset.dataset_size = None
    for child in dataset.children:
        _undo_automatic_sharding(child)
    if hasattr(dataset, "read_all"):
        dataset.read_all()


class ConcatShard:
    """Selects the rows of one shard: every `num_shards`-th row of the concatenated data sets."""

    def __init__(self, num_shards: int | None, shard_id: int | None) -> None:
        self.num_shards = num_shards
        self.shard_id = shard_id
        self.position: Any = 0

    def keep(self, chunk: Any, number: int, first: int) -> Any:
        """Return the rows of this shard, or None if there are none."""
        if number == 0 and chunk.first == 0:
            self.position = 0
        positions = np.arange(self.position, self.position + chunk.n)
        self.position += chunk.n
        chosen = np.flatnonzero(positions % self.num_shards == self.shard_id).tolist()
        return chunk.pick(chosen) if chosen else None

    def size(self, node: Any) -> int | None:
        """Return the number of rows of this shard, or None if the size of a child is unknown."""
        sizes = [c.size() for c in node.children]
        if None in sizes:
            return None
        return len(range(self.shard_id, sum(sizes), self.num_shards))


def shard_children(dataset: Dataset, sampler: Any) -> Any:
    """Set the children to sequential order, and return the `ConcatShard` of their concatenation."""
    for child in dataset.children:
        if isinstance(child, MappableDataset) and child.sampler is not None:
            child.use_sampler(samplers.SequentialSampler())
    return ConcatShard(sampler.num_shards, sampler.shard_id)
