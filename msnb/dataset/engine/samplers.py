"""Samplers, which select the samples of a data set and their order.

``open(rows, class_ids)`` returns the running sampler (``sampling.py``). Its ``next_epoch()`` is an array of sample
numbers.
"""

import copy
import numbers
from collections.abc import Iterable, Iterator
from itertools import islice
from types import FunctionType
from typing import Any, Self

import numpy as np

from msnb.common.arguments import answered
from msnb.dataset.engine.execution import sampling
from msnb.dataset.engine.execution.record_sampling import RECORDS, RecordOrder

__all__ = [
    "Sampler",
    "BuiltinSampler",
    "DistributedSampler",
    "PKSampler",
    "RandomSampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
    "IterSampler",
]


def _check_int(name, value):
    if type(value) is not int:
        raise TypeError(f"{name} should be an integer, but got {name}: {value!r}.")
    return value


def _check_positive(name, value):
    if _check_int(name, value) <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}: {value}.")
    return value


def _check_bool(name, value):
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}: {value}.")
    return value


def _check_num_samples(num_samples):
    return num_samples if num_samples is None else _check_positive("num_samples", num_samples)


def _check_elements(name, elements, kind):
    """Raise a TypeError unless all elements are numbers of this kind."""
    for i, x in enumerate(elements):
        if not isinstance(x, kind):
            raise TypeError(f"type of {name} element should be number, but got w[{i}]: {x}, type: {type(x)}.")


def open_for_records(sampler: Any, rows: Any, class_ids: Any = None) -> Any:
    """Open a sampler and its children on a MindDataset of `rows` rows."""

    def copy_for_records(one):
        new = copy.copy(one)
        new.of_records = True
        if new.child_sampler is not None:
            new.child_sampler = copy_for_records(new.child_sampler)
        return new

    return RecordOrder(copy_for_records(sampler).open(rows, class_ids))


class _ChainedSampler:
    """Base of all samplers. A sampler may have a child, and then selects among the samples that the child draws."""

    child_sampler: Any = None
    num_samples: Any = None

    def create(self) -> Any:
        """Return this sampler. MindSpore creates its C++ counterpart here."""
        return self

    def add_child(self, sampler: Any) -> None:
        """Select among the samples that `sampler` draws, instead of among all samples."""
        self.child_sampler = sampler

    def get_child(self) -> Any:
        """Return the child, or None."""
        return self.child_sampler

    def create_child(self) -> Any:
        """Return the child. MindSpore creates its C++ counterpart here."""
        child = self.get_child()
        return child and child.create()

    def is_shuffled(self) -> bool:
        """Return True if the order is random. If there is a child, its order counts."""
        return self._call_child_method("is_shuffled", False)

    def is_sharded(self) -> bool:
        """Return True if only a shard of the samples is drawn. If there is a child, its samples count."""
        return self._call_child_method("is_sharded", False)

    def _call_child_method(self, method, default):
        child = self.get_child()
        return default if child is None else getattr(child, method)()

    def set_num_rows(self, num_rows: int) -> None:
        """Set the number of samples of the data set, for :meth:`get_indices`."""
        self._rows = num_rows

    def set_num_samples(self, num_samples: int) -> None:
        """Limit the number of samples."""
        self.num_samples = num_samples

    def initialize(self) -> Any:
        """Start the sampler. :meth:`get_indices` returns the first epoch afterwards."""
        self._at_work = self.open(self._rows)

    def get_indices(self) -> Any:
        """Return the sample numbers of the next epoch."""
        return self._at_work.next_epoch()


class BuiltinSampler(_ChainedSampler):
    """Base of the samplers of the library.

    Args:
        num_samples (int, optional): Maximal number of samples per epoch. Default: None, which means all.
    """

    _running = None
    of_records = False  # for MindDataset: draws as MindRecord does, and wraps around after the last row

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        new = super().__new__(cls)
        new._made_with = (args, kwargs)
        return new

    def __init__(self, num_samples: int | None = None) -> None:
        self.num_samples: Any = _check_num_samples(num_samples)

    def open(self, rows: Any, class_ids: Any = None) -> Any:
        """Return the running sampler for a data set of `rows` samples."""
        return (RECORDS.get(self._running, self._running) if self.of_records else self._running)(self, rows, class_ids)

    def create_for_minddataset(self) -> Any:
        """Return this sampler."""
        return self.create()

    def create_child_for_minddataset(self) -> Any:
        """Return the child."""
        return self.create_child()

    def get_num_samples(self) -> int | None:
        """Return the smaller `num_samples` of this sampler and its child, or None if neither has one."""
        limits = self.num_samples, self._call_child_method("get_num_samples", None)
        return min((n for n in limits if n is not None), default=None)


class Sampler(_ChainedSampler):
    """Base of samplers that users write. ``__iter__`` must yield the sample indices of an epoch.

    Within it, ``self.dataset_size`` is the number of samples of the data set and ``self.num_samples`` the requested
    number.

    Args:
        num_samples (int, optional): Maximal number of samples per epoch. Default: None, which means all.

    Examples:
        >>> import mindspore.dataset as ds
        >>> class Reversed(ds.Sampler):
        ...     def __iter__(self):
        ...         yield from range(self.dataset_size - 1, -1, -1)
    """

    dataset_size: int = 0

    @answered
    def __init__(self, num_samples: int | None = None) -> None:
        self.num_samples: Any = num_samples

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has to define __iter__, which yields sample numbers.")

    def reset(self) -> None:
        """Prepare the next epoch. It is called before every epoch but the first."""

    def _handshake(self, ds_size, num_samples):
        """Store the sizes when iterating begins."""
        self.dataset_size, self.num_samples = ds_size, num_samples

    def _get_indices(self):
        return np.array(list(islice(self, self.num_samples or None)))

    def open(self, rows: Any, class_ids: Any = None) -> Any:
        """Return the running sampler for a data set of `rows` samples."""
        return sampling.FromPython(self, rows, class_ids)

    def get_num_samples(self) -> int | None:
        """Return the number of samples per epoch, or None if it is not limited."""
        return self.num_samples if self.num_samples is None else len(self._get_indices())


def _is_consumed(iterable):
    """Return True if `iterable` can be read once only: a generator or one of Python's own iterators."""
    return isinstance(iterable, Iterator) and not isinstance(type(iterable).__iter__, FunctionType)


_MAX_READ = 10_000_000  # sample numbers that are stored of an iterator


def _read_sample_numbers(iterator, num_samples):
    """Return the first `num_samples` sample numbers of an iterator, or all of them, as a list."""
    numbers = list(islice(iterator, num_samples or _MAX_READ + 1))
    if len(numbers) > _MAX_READ:
        raise ValueError(
            f"The sampler is an iterator that yields more than {_MAX_READ:,} sample numbers: give 'num_samples', or an "
            "object whose __iter__ starts again in each epoch."
        )
    return numbers


class IterSampler(BuiltinSampler):
    """Draw the sample indices that an iterable yields.

    Args:
        sampler (iterable): Sample numbers, iterated again in each epoch.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
    """

    _running = sampling.FromIterable

    def __init__(self, sampler: Iterable[Any], num_samples: int | None = None) -> None:
        self.num_samples: int | None = num_samples
        self.sampler: Iterable[Any] = _read_sample_numbers(sampler, num_samples) if _is_consumed(sampler) else sampler

    def is_shuffled(self) -> bool:
        """Return False, because the order of the iterable is unknown."""
        return False

    def is_sharded(self) -> bool:
        """Return False."""
        return False


class BatchesSampler(IterSampler):
    """Draw the batches that an iterable yields, each a list of sample indices.

    Args:
        batches (iterable): Lists of sample numbers, iterated again in each epoch.
    """

    _running = sampling.FromBatches

    def __init__(self, batches: Iterable[Any]) -> None:
        super().__init__(batches)
        self.batches: Iterable[Any] = batches


class SequentialSampler(BuiltinSampler):
    """Draw the samples in the order in which they are stored.

    Args:
        start_index (int, optional): Index of the first sample. Default: None, 0.
        num_samples (int, optional): Number of samples to draw. Default: None, which means all.

    Raises:
        ValueError: If `start_index` is negative or `num_samples` not positive.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.SequentialSampler(start_index=100, num_samples=10))
    """

    _running = sampling.Sequential

    @answered
    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        if start_index is not None and _check_int("start_index", start_index) < 0:
            raise ValueError(
                f"start_index should be a positive integer value or 0, but got start_index: {start_index}."
            )
        super().__init__(num_samples)
        self.start_index = start_index


class RandomSampler(BuiltinSampler):
    """Draw the samples in random order, which changes in each epoch.

    Args:
        replacement (bool, optional): True if a sample may be drawn more than once per epoch. Default: False.
        num_samples (int, optional): Number of samples to draw. Default: None, which means all.

    Raises:
        ValueError: If `replacement` is not a bool or `num_samples` not positive.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.RandomSampler())
    """

    _running = sampling.Random

    own_seed = None
    reshuffle_each_epoch = True

    @answered
    def __init__(self, replacement: bool = False, num_samples: int | None = None) -> None:
        self.replacement: bool = _check_bool("replacement", replacement)
        super().__init__(num_samples)

    def is_shuffled(self) -> bool:
        """Return True."""
        return True


class DistributedSampler(BuiltinSampler):
    """Draw one of `num_shards` equal shards of the samples. The first samples are repeated to make the shards equal.

    Args:
        num_shards (int): Number of shards.
        shard_id (int): Index of this shard.
        shuffle (bool, optional): True to shuffle all samples before they are divided. Default: True.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        offset (int, optional): Index of the shard that gets the first sample; -1 for equal shards. Default: -1.

    Raises:
        ValueError: If an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.ImageFolderDataset("images", sampler=ds.DistributedSampler(10, 2))
    """

    _running = sampling.Distributed
    seed = 0

    @answered
    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: int | None = None, offset: int = -1
    ) -> None:
        self.num_shards: int = _check_positive("num_shards", num_shards)
        self.shard_id: int = _check_int("shard_id", shard_id)
        self.offset: int = _check_int("offset", offset)
        self.shuffle: bool = _check_bool("shuffle", shuffle)
        if shard_id not in range(num_shards):
            raise ValueError(f"shard_id should in range [0, {num_shards - 1}], but got shard_id: {shard_id}.")
        if offset > num_shards:
            raise ValueError(f"offset should be no more than num_shards: {num_shards}, but got offset: {offset}")
        super().__init__(num_samples)

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        return self._call_child_method("is_shuffled", self.shuffle)

    def is_sharded(self) -> bool:
        """Return True if there is more than one shard."""
        return self._call_child_method("is_sharded", self.num_shards > 1)

    def set_offset(self, offset: int) -> Self:
        """Let the first sample go to shard `offset`."""
        self.offset = offset
        return self


class PKSampler(BuiltinSampler):
    """Draw `num_val` random samples of each class.

    Args:
        num_val (int): Samples per class.
        num_class (int, optional): Must be None: all classes take part. Default: None.
        shuffle (bool, optional): True if the classes come in random order. Default: False.
        class_column (str, optional): Column with the class, for MindDataset. Default: 'label'.
        num_samples (int, optional): Maximal number of samples in total. Default: None, which means all.

    Raises:
        NotImplementedError: If `num_class` is given.
        ValueError: If an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.ImageFolderDataset("images", sampler=ds.PKSampler(3))
    """

    _running = sampling.PK

    @answered
    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        self.num_val: int = _check_positive("num_val", num_val)
        self.class_column: str = class_column
        self.shuffle: bool = _check_bool("shuffle", shuffle)
        if num_class is not None:
            raise NotImplementedError("Not supported to specify num_class for PKSampler.")

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        return self._call_child_method("is_shuffled", self.shuffle)


class SubsetSampler(BuiltinSampler):
    """Draw the samples with these indices, in the given order.

    Args:
        indices (Union[int, list[int]]): Sample indices; negative ones count from the end.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
    """

    _running = sampling.Subset
    is_random = False

    @answered
    def __init__(self, indices: int | list[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.indices: list[int] = list(indices) if isinstance(indices, list | np.ndarray | tuple | range) else [indices]
        _check_elements("indices", self.indices, numbers.Integral)

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        return self.is_random

    def get_num_samples(self) -> int | None:
        """Return the number of samples per epoch."""
        limit = super().get_num_samples()
        return len(self.indices) if limit is None else min(len(self.indices), limit)


class SubsetRandomSampler(SubsetSampler):
    """Draw the samples with these indices, in random order.

    Args:
        indices (Union[int, list[int]]): Sample indices.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.SubsetRandomSampler([0, 1, 2, 3, 7, 88]))
    """

    is_random = True


class WeightedRandomSampler(BuiltinSampler):
    """Draw random samples, each with a probability proportional to its weight.

    Args:
        weights (list[float, int]): Weight of each sample, not negative, not all zero.
        num_samples (int, optional): Number of samples to draw. Default: None, as many as there are samples.
        replacement (bool, optional): True if a sample may be drawn more than once per epoch. Default: True.

    Raises:
        TypeError: If a weight is not a number.
        ValueError: If the weights are empty, negative or all zero.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.WeightedRandomSampler([0.9, 0.01, 0.4], 2))
    """

    _running = sampling.Weighted

    @answered
    def __init__(self, weights: list[float | int], num_samples: int | None = None, replacement: bool = True) -> None:
        super().__init__(num_samples)
        self.replacement: bool = _check_bool("replacement", replacement)
        self.weights: list[Any] = weights.tolist() if isinstance(weights, np.ndarray) else weights
        if not isinstance(self.weights, list):
            self.weights: list[Any] = [self.weights]
        _check_elements("weights", self.weights, numbers.Number)
        if not self.weights:
            raise ValueError("weights size should not be 0")
        if min(self.weights) < 0:
            raise ValueError("weights should not contain negative numbers.")
        if not any(self.weights):
            raise ValueError("elements of weights should not be all zeros.")

    def is_shuffled(self) -> bool:
        """Return True."""
        return True


def select_sampler(
    num_samples: int | None, sampler: Any, shuffle: Any, num_shards: int | None, shard_id: int | None
) -> Any:
    """Return the sampler that the arguments of a data set describe."""
    if sampler is not None:
        if any(a is not None for a in (num_shards, shard_id, shuffle, num_samples)):
            raise ValueError(
                f"Conflicting arguments during sampler assignments. num_samples: {num_samples}, num_shards: "
                f"{num_shards}, "
                f"shard_id: {shard_id}, shuffle: {shuffle}. Give these to the sampler, or leave the sampler out."
            )
        return sampler
    num_samples = num_samples or None
    if num_shards is not None:
        return DistributedSampler(num_shards, shard_id, shuffle=shuffle is not False, num_samples=num_samples)
    if shuffle is False:
        return SequentialSampler(num_samples=num_samples)
    return RandomSampler(replacement=num_samples is not None, num_samples=num_samples)
