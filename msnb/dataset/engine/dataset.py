"""``Dataset``: a lazy description of a pipeline. Nothing is read before an iterator, a size or a shape is asked for."""

import copy
import weakref

from msnb.dataset.core.validator_helpers import (
    INT32_MAX,
    check_columns,
    check_optional,
    check_within,
)
from msnb.dataset.engine.query_methods import QueryMethods
from msnb.dataset.engine.row_methods import RowMethods
from msnb.dataset.engine.table_methods import TableMethods


class Dataset(RowMethods, TableMethods, QueryMethods):
    """Base of every data set: the operators that any of them can be followed by.

    Args:
        children (Union[Dataset, list[Dataset]], optional): What it reads from. Default: None.
        num_parallel_workers (int, optional): Workers of this operator. Default: None, that of ``dataset.config``.
        cache (DatasetCache, optional): Where to keep its rows. Default: None.
    """

    # What is known of it once somebody has asked.
    dataset_size = saved_output_shapes = saved_output_types = None
    _col_names = _batch_size = _repeat_count = _num_classes = None
    _input_indexs = ()

    def __new__(cls, *args, **kwargs):
        new = super().__new__(cls)
        new._made_with = (args, kwargs)
        return new

    def __init__(self, children=None, num_parallel_workers=None, cache=None):
        below = () if children is None else children if isinstance(children, list | tuple) else (children,)
        self.children, self.parent = list(below), []
        for child in self.children:
            child.parent.append(weakref.ref(self))
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache

    def __getstate__(self):
        return {**self.__dict__, "parent": []}

    def __deepcopy__(self, memo):
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

    def __iter__(self):
        return self.create_tuple_iterator(num_epochs=1)

    def get_args(self):
        """What this operator was made with, as a dict."""
        skip = {"children", "parent", "dataset_size", "saved_output_shapes", "saved_output_types"}
        return {k: v for k, v in self.__dict__.items() if k not in skip and not k.startswith("_")}

    def _node(self, children):
        """This operator as a node of a running plan."""
        raise NotImplementedError(f"{type(self).__name__} has to say how it runs.")

    def make_plan(self, optimise=True):
        """The running plan of this pipeline."""
        from msnb.dataset.engine.optimiser import optimised

        self._check_tree()
        plan = self._build()
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

    def explain(self):
        """Print the plan as written and as it will run (msnb only).

        Examples:
            >>> dataset.explain()
        """
        from msnb.dataset.engine.optimiser import explain

        print(explain(self))

    def monitor(self):
        """Measure each operator of this pipeline while it runs (msnb only).

        Returns:
            Monitor, to use with ``with``; printing it shows throughput and time of every operator and names the
            bottleneck.

        Examples:
            >>> with dataset.monitor() as monitor:
            ...     for batch in dataset.create_dict_iterator(num_epochs=1):
            ...         pass
            >>> print(monitor)
        """
        from msnb.dataset.engine.monitor import Monitor

        return Monitor(self)

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=True):
        """An iterator over rows as lists.

        Args:
            columns (list[str], optional): Columns and their order. Default: None, all.
            num_epochs (int, optional): How many epochs may be asked for; -1 for any number. Default: -1.
            output_numpy (bool, optional): Whether values are numpy arrays instead of Tensors. Default: False.
            do_copy (bool, optional): Accepted; values never share memory with the pipeline. Default: True.

        Returns:
            TupleIterator.

        Examples:
            >>> for image, label in dataset.create_tuple_iterator():
            ...     print(image.shape, label)
        """
        from msnb.dataset.engine.iterators import TupleIterator

        _check_iterator(num_epochs, output_numpy)
        if columns is not None:
            check_columns(columns, "column_names")
        return TupleIterator(self, columns, -1 if num_epochs is None else num_epochs, bool(output_numpy), do_copy)

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=True):
        """An iterator over rows as dicts.

        Args:
            num_epochs (int, optional): How many epochs may be asked for; -1 for any number. Default: -1.
            output_numpy (bool, optional): Whether values are numpy arrays instead of Tensors. Default: False.
            do_copy (bool, optional): Accepted; values never share memory with the pipeline. Default: True.

        Returns:
            DictIterator.

        Examples:
            >>> for row in dataset.create_dict_iterator(output_numpy=True):
            ...     print(row["image"].shape)
        """
        from msnb.dataset.engine.iterators import DictIterator

        _check_iterator(num_epochs, output_numpy)
        return DictIterator(self, -1 if num_epochs is None else num_epochs, bool(output_numpy), do_copy)

    def reset(self):
        """Nothing to do: every iterator starts from the beginning."""


def _copy_sampler(sampler):
    new = copy.copy(sampler)
    if getattr(new, "child_sampler", None) is not None:
        new.child_sampler = _copy_sampler(new.child_sampler)
    return new


def _check_iterator(num_epochs, output_numpy):
    check_optional((bool,), output_numpy=output_numpy)
    if num_epochs is not None:
        check_within(-1, INT32_MAX, num_epochs=num_epochs)
