"""``Dataset``: a lazy description of a pipeline. Nothing is read before an iterator, a size or a shape is asked for."""

import copy
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from msnb.common import display_hooks
from msnb.common.arguments import answered
from msnb.dataset.engine import nodes
from msnb.dataset.engine.optimiser import explain, optimised
from msnb.dataset.engine.queries import Queries

if TYPE_CHECKING:  # named in annotations alone
    from msnb.dataset.engine.cache_client import DatasetCache


class Dataset(Queries):
    """Base of every data set: the operators that any of them can be followed by.

    Args:
        children (Union[Dataset, list[Dataset]], optional): What it reads from. Default: None.
        num_parallel_workers (int, optional): Workers of this operator. Default: None, that of ``dataset.config``.
        cache (DatasetCache, optional): Where to keep its rows. Default: None.
    """

    # What is known of it once somebody has asked, beside what Queries has.
    _col_names = _batch_size = _repeat_count = _num_classes = None
    _input_indexs = ()
    _mime_ = display_hooks.mime

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        new = super().__new__(cls)
        new._made_with = (args, kwargs)
        return new

    @answered
    def __init__(
        self,
        children: "Dataset | list[Dataset] | None" = None,
        num_parallel_workers: int | None = None,
        cache: "DatasetCache | None" = None,
    ) -> None:
        below = () if children is None else children if isinstance(children, list | tuple) else (children,)
        self.children: list[Dataset] = list(below)
        self.parent: list[Any] = []
        for child in self.children:
            child.parent.append(weakref.ref(self))
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "parent": []}

    def __deepcopy__(self, memo: dict[int, Any]) -> "Dataset":
        """A copy of the pipeline that shares the user's objects (sources, functions) but not the samplers."""
        if id(self) in memo:
            return memo[id(self)]
        new = copy.copy(self)
        memo[id(self)] = new
        new.parent = []
        new.children = [copy.deepcopy(child, memo) for child in self.children]
        for child in new.children:
            child.parent.append(weakref.ref(new))
        if getattr(self, "sampler", None) is not None:
            new.sampler = _copy_sampler(self.sampler)
        return new

    def __iter__(self) -> "Iterator[Any]":
        return self.create_tuple_iterator(num_epochs=1)

    def get_args(self) -> dict[str, Any]:
        """What this operator was made with, as a dict."""
        skip = {"children", "parent", "dataset_size", "saved_output_shapes", "saved_output_types"}
        return {k: v for k, v in self.__dict__.items() if k not in skip and not k.startswith("_")}

    def _node(self, children):
        """This operator as a node of a running plan."""
        raise NotImplementedError(f"{type(self).__name__} has to say how it runs.")

    def make_plan(self, optimise: bool = True) -> Any:
        """The running plan of this pipeline."""
        self._check_tree()
        plan = _without_meta(self._build())
        return optimised(plan) if optimise else plan

    def _build(self):
        return self._node([child._build() for child in self.children])

    def _check_tree(self):
        live = [p() for p in self.parent]
        live = [p for p in live if p is not None]
        for child in self.children:
            child._check_tree()
        if len(live) > 1:
            self.parent = [p for p in self.parent if p() is not None]

    def explain(self) -> None:
        """Print the plan as written and as it will run (msnb only).

        Examples:
            >>> dataset.explain()
        """
        print(explain(self))

    def __add__(self, datasets: Any) -> "Dataset":
        return self.concat(datasets)

    def apply(self, apply_func: "Callable[[Dataset], Dataset]") -> "Dataset":
        """Call a function with this data set; it returns another.

        Args:
            apply_func (Callable): Takes a Dataset, returns a Dataset.

        Returns:
            Dataset.

        Raises:
            TypeError: If `apply_func` is no function or returns something else.
        """
        if not callable(apply_func):
            raise TypeError("apply_func must be a function.")
        made = apply_func(self)
        if isinstance(made, Dataset):
            return made
        raise TypeError(f"apply_func must return a dataset, but returned {type(made).__name__}.")

    def reset(self) -> None:
        """Nothing to do: every iterator starts from the beginning."""


def _without_meta(plan):
    """The plan without columns that tell of the samples, which no row has: those whose names begin with ``_meta-``."""
    kept = [name for name in plan.columns if not name.startswith("_meta-")]
    if len(kept) == len(plan.columns):
        return plan
    if not kept:
        raise RuntimeError(
            f"No effective column found: {', '.join(plan.columns)} is left out of the rows; rename it to keep it."
        )
    return nodes.Project(plan, kept)


def _copy_sampler(sampler):
    new = copy.copy(sampler)
    if getattr(new, "child_sampler", None) is not None:
        new.child_sampler = _copy_sampler(new.child_sampler)
    return new


def fluent(function: Any) -> Any:
    """Decorator: a method of every data set, declared where what it makes is defined.

    ``@fluent("zip")`` gives it another name than the function's. Editors and type
    checkers read the methods in `dataset.pyi`, which ``python -m msnb.cli.stubs`` writes.
    """
    if isinstance(function, str):
        return lambda decorated: _attach(decorated, function)
    return _attach(function, function.__name__)


def _attach(function, name):
    function.__qualname__ = f"Dataset.{name}"
    setattr(Dataset, name, function)
    return function
