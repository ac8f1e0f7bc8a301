"""``shuffle``, ``filter``, ``repeat``, ``skip`` and ``take``: selection and order of rows."""

from collections.abc import Callable
from typing import Annotated, Any

from msnb import log
from msnb.common.kinds import Worded, check, checked
from msnb.core.operator import api_generations
from msnb.dataset.callback.watching import multiply_passes
from msnb.dataset.core.kinds import INT32_MAX, Columns, Count, NoEnd, Workers, as_list, of_type, within
from msnb.dataset.core.tensor_op import as_str
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution import nodes, shuffle_repeat


def _check_repeat_count(count, name):
    of_type(int, type(None))(count, "repeat")
    return count if count is None else check(Count, count, name, "repeat")


Repeats = Annotated[int | None, Worded("-1, a positive int or None", _check_repeat_count)]


class ShuffleDataset(Dataset):
    """Data set that :meth:`Dataset.shuffle` returns."""

    def __init__(self, input_dataset: Dataset, buffer_size: int) -> None:
        super().__init__(input_dataset)
        self.buffer_size: int = buffer_size
        self.reshuffle_each_epoch: bool = True
        self.own_seed: Any = None
        if self.is_sync():
            raise RuntimeError("No shuffle after sync operators.")

    def _make_plan_node(self, children):
        return shuffle_repeat.Shuffle(children[0], self.buffer_size, self.reshuffle_each_epoch, self.own_seed)

    def is_shuffled(self) -> bool:
        """Return True."""
        return True


@fluent
@checked
def shuffle(self: Dataset, buffer_size: Annotated[int, within(2, INT32_MAX, int)]) -> ShuffleDataset:
    """Shuffle rows with a buffer: each row is drawn at random from the `buffer_size` rows in it.

    Args:
        buffer_size (int): At least 2. The size of the data set gives a uniform shuffle.

    Returns:
        ShuffleDataset.

    Raises:
        ValueError: If `buffer_size` is less than 2.
        RuntimeError: If it follows ``sync_wait``.

    Examples:
        >>> dataset = dataset.shuffle(10000)
    """

    return ShuffleDataset(self, buffer_size)


class FilterDataset(Dataset):
    """Data set that :meth:`Dataset.filter` returns."""

    def __init__(
        self,
        input_dataset: Dataset,
        predicate: Callable[..., Any],
        input_columns: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
    ) -> None:
        super().__init__(input_dataset, num_parallel_workers)
        self.predicate = predicate
        self.input_columns: list[str] = as_list(input_columns) or []

    def _make_plan_node(self, children):
        predicate = self.predicate
        if api_generations.shared == 2:  # predicates take str, as functions of `map` do
            return nodes.Filter(children[0], lambda *row: bool(predicate(*map(as_str, row))), self.input_columns)
        return nodes.Filter(children[0], lambda *row: bool(predicate(*row)), self.input_columns)


@fluent
@checked
def filter(
    self: Dataset,
    predicate: Callable,
    input_columns: Columns | None = None,
    num_parallel_workers: Workers | None = 1,
) -> FilterDataset:
    """Keep the rows for which `predicate` is true.

    Args:
        predicate (Callable): Takes the input columns, returns a bool.
        input_columns (Union[str, list[str]], optional): Columns that `predicate` takes. Default: None, which means all.
        num_parallel_workers (int, optional): Without effect: predicates run in order. Default: 1.

    Returns:
        FilterDataset.

    Examples:
        >>> dataset = dataset.filter(lambda label: label < 5, input_columns=["label"])
    """

    if not callable(predicate):
        raise TypeError("Predicate should be a Python function or a callable Python object.")
    if (num_parallel_workers or 1) > 1:
        log.once("Dataset.filter: predicates run one at a time, in order; num_parallel_workers has no effect.")
    return FilterDataset(self, predicate, input_columns, num_parallel_workers)


class RepeatDataset(Dataset):
    """Data set that :meth:`Dataset.repeat` returns."""

    def __init__(self, input_dataset: Dataset, count: int) -> None:
        super().__init__(input_dataset)
        self.count: int = -1 if count is None else count

    def _make_plan_node(self, children):
        if any(getattr(op, "callbacks", None) for op in _iterate_descendants(self)):
            multiply_passes(children[0], max(self.count, 1))
        return shuffle_repeat.Repeat(children[0], self.count)

    def _count_repeats(self):
        return self.count


@fluent
@checked
def repeat(self: Dataset, count: Repeats = None) -> RepeatDataset:
    """Repeat the data `count` times per epoch.

    Args:
        count (int, optional): Positive, or -1 for ever. Default: None, for ever.

    Returns:
        RepeatDataset.

    Examples:
        >>> dataset = dataset.repeat(3)
    """

    return RepeatDataset(self, count)


class SkipDataset(Dataset):
    """Data set that :meth:`Dataset.skip` returns."""

    def __init__(self, input_dataset: Dataset, count: int) -> None:
        super().__init__(input_dataset)
        self.count: int = count

    def _make_plan_node(self, children):
        if self.count < 0:
            raise RuntimeError(f"SkipNode: skip_count should not be negative, skip_count: {self.count}")
        return shuffle_repeat.Skip(children[0], self.count)


@fluent
@checked
def skip(self: Dataset, count: NoEnd) -> SkipDataset:
    """Omit the first `count` rows.

    Args:
        count (int): Not negative.

    Returns:
        SkipDataset.
    """

    return SkipDataset(self, count)


class TakeDataset(Dataset):
    """Data set that :meth:`Dataset.take` returns."""

    def __init__(self, input_dataset: Dataset, count: int) -> None:
        super().__init__(input_dataset)
        self.count: int = count

    def _make_plan_node(self, children):
        return shuffle_repeat.Take(children[0], self.count)


@fluent
@checked
def take(self: Dataset, count: Count = -1) -> TakeDataset:
    """Keep the first `count` rows.

    Args:
        count (int, optional): Positive, or -1 for all. Default: -1.

    Returns:
        TakeDataset.
    """

    return TakeDataset(self, count)


def _iterate_descendants(dataset):
    for child in dataset.children:
        yield child
        yield from _iterate_descendants(child)
