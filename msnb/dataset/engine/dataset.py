"""``Dataset``: a lazy description of a pipeline.

It reads nothing before an iterator, a size or a shape is requested.
"""

import copy
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from msnb.common import display_hooks
from msnb.common.arguments import answered
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.execution.optimiser import explain, optimise_plan
from msnb.dataset.engine.queries import Queries

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.cache_client import DatasetCache


class Dataset(Queries):
    """Base of all data sets. Its methods are the operators that can follow a data set, such as ``batch``.

    Args:
        children (Union[Dataset, list[Dataset]], optional): Its inputs. Default: None.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        cache (DatasetCache, optional): Cache of its rows. Default: None.
    """

    # results that the first query caches; `Queries` has further ones
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
        inputs = () if children is None else children if isinstance(children, list | tuple) else (children,)
        self.children: list[Dataset] = list(inputs)
        self.parent: list[Any] = []
        for child in self.children:
            child.parent.append(weakref.ref(self))
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "parent": []}

    def __deepcopy__(self, memo: dict[int, Any]) -> "Dataset":
        """Copy the pipeline and its samplers. The copy shares the user's objects: sources and functions."""
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
        """Return the constructor arguments of this operator as a dict."""
        skip = {"children", "parent", "dataset_size", "saved_output_shapes", "saved_output_types"}
        return {k: v for k, v in self.__dict__.items() if k not in skip and not k.startswith("_")}

    def _make_plan_node(self, children):
        """Return the node of this operator in a plan, on top of the nodes `children` of its inputs."""
        raise NotImplementedError(f"{type(self).__name__} has to say how it runs.")

    def make_plan(self, optimise: bool = True) -> Any:
        """Return an executable plan (a tree of nodes) of this pipeline."""
        self._prune_dead_parents()
        plan = _drop_meta_columns(self._build_plan())
        return optimise_plan(plan) if optimise else plan

    def _build_plan(self):
        return self._make_plan_node([child._build_plan() for child in self.children])

    def _prune_dead_parents(self):
        parents = [p() for p in self.parent]
        parents = [p for p in parents if p is not None]
        for child in self.children:
            child._prune_dead_parents()
        if len(parents) > 1:
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
        """Call a function with this data set, and return the data set that it returns.

        Args:
            apply_func (Callable): Takes a Dataset, returns a Dataset.

        Returns:
            Dataset.

        Raises:
            TypeError: If `apply_func` is not a function or returns something else.
        """
        if not callable(apply_func):
            raise TypeError("apply_func must be a function.")
        result = apply_func(self)
        if isinstance(result, Dataset):
            return result
        raise TypeError(f"apply_func must return a dataset, but returned {type(result).__name__}.")

    def reset(self) -> None:
        """Do nothing: every iterator starts from the beginning."""


def _drop_meta_columns(plan):
    """Drop the columns whose names begin with ``_meta-`` from the rows: they only describe samples."""
    names = [name for name in plan.columns if not name.startswith("_meta-")]
    if len(names) == len(plan.columns):
        return plan
    if not names:
        raise RuntimeError(
            f"No effective column found: {', '.join(plan.columns)} is left out of the rows; rename it to keep it."
        )
    return nodes.Project(plan, names)


def _copy_sampler(sampler):
    new = copy.copy(sampler)
    if getattr(new, "child_sampler", None) is not None:
        new.child_sampler = _copy_sampler(new.child_sampler)
    return new


def fluent(function: Any) -> Any:
    """Decorate a function to become a method of `Dataset`, so that each operator has its own module.

    ``@fluent("zip")`` gives the method another name than the function's. Editors and type checkers read the methods in
    `dataset.pyi`, which ``python -m msnb.cli.stubs`` writes.
    """
    if isinstance(function, str):
        return lambda decorated: _attach_method(decorated, function)
    return _attach_method(function, function.__name__)


def _attach_method(function, name):
    function.__qualname__ = f"Dataset.{name}"
    setattr(Dataset, name, function)
    return function
