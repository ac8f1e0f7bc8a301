"""``Dataset``: a lazy description of a pipeline. Nothing is read before an iterator, a size or a shape is asked for."""

import copy
import weakref

from msnb import log
from msnb.dataset.core.validator_helpers import (
    INT32_MAX,
    check_cache,
    check_columns,
    check_num_parallel_workers,
    check_pad_info,
    check_pos_int32,
    check_value,
    type_check,
    type_check_list,
)
from msnb.dataset.engine.chunk import Hint, rows_of


class Dataset:
    """Base of every data set: the operators that any of them can be followed by.

    Args:
        children (Union[Dataset, list[Dataset]], optional): What it reads from. Default: None.
        num_parallel_workers (int, optional): Workers of this operator. Default: None, that of ``dataset.config``.
        cache (DatasetCache, optional): Where to keep its rows. Default: None.
    """

    def __new__(cls, *args, **kwargs):
        new = super().__new__(cls)
        new._made_with = (args, kwargs)
        return new

    def __init__(self, children=None, num_parallel_workers=None, cache=None):
        if children is None:
            children = []
        self.children = list(children) if isinstance(children, list | tuple) else [children]
        self.parent = []
        for child in self.children:
            child.parent.append(weakref.ref(self))
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache
        self.dataset_size = None
        self.saved_output_shapes = None
        self.saved_output_types = None
        self._col_names = None
        self._input_indexs = ()
        self._batch_size = None
        self._repeat_count = None
        self._num_classes = None

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

    def __add__(self, datasets):
        return self.concat(datasets)

    def __iter__(self):
        return self.create_tuple_iterator(num_epochs=1)

    def get_args(self):
        """What this operator was made with, as a dict."""
        skip = {"children", "parent", "dataset_size", "saved_output_shapes", "saved_output_types"}
        return {k: v for k, v in self.__dict__.items() if k not in skip and not k.startswith("_")}

    # ---- running it

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

    # ---- operators

    def bucket_batch_by_length(
        self,
        column_names,
        bucket_boundaries,
        bucket_batch_sizes,
        element_length_function=None,
        pad_info=None,
        pad_to_bucket_boundary=False,
        drop_remainder=False,
    ):
        """Batch rows of similar length together.

        Args:
            column_names (list[str]): Columns whose length counts.
            bucket_boundaries (list[int]): Increasing upper bounds (exclusive) of the buckets; n bounds make n + 1
                buckets.
            bucket_batch_sizes (list[int]): Batch size of each bucket.
            element_length_function (Callable, optional): Length of a row, from the columns. Default: None, the first
                dimension of
                the one column.
            pad_info (dict, optional): Column to (shape, value) to pad to; None in a shape stands for the longest.
                Default: None,
                no padding.
            pad_to_bucket_boundary (bool, optional): Whether None in a shape is the bucket's bound - 1 instead. Default:
                False.
            drop_remainder (bool, optional): Whether incomplete batches are dropped. Default: False.

        Returns:
            BucketBatchByLengthDataset.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If bounds or sizes do not fit together.

        Examples:
            >>> pad_info = {"col": ([None], 0)}
            >>> dataset = dataset.bucket_batch_by_length(["col"], [5, 10], [2, 3, 1], lambda x: len(x), pad_info)
        """
        from msnb.dataset.engine.bucket import BucketBatchByLengthDataset

        return BucketBatchByLengthDataset(
            self,
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def padded_batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        """Batch rows, padding each column to one shape.

        Args:
            batch_size (Union[int, Callable]): Rows per batch.
            drop_remainder (bool, optional): Whether the last, incomplete batch is dropped. Default: False.
            num_parallel_workers (int, optional): Workers. Default: None.
            pad_info (dict, optional): Column to (shape, value). Default: None, every column, to the longest, with
                zeros.

        Returns:
            BatchDataset.
        """
        return self.batch(
            batch_size, drop_remainder, num_parallel_workers, pad_info={} if pad_info is None else pad_info
        )

    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_workers=None,
        per_batch_map=None,
        input_columns=None,
        output_columns=None,
        column_order=None,
        pad_info=None,
        python_multiprocessing=False,
        max_rowsize=16,
    ):
        """Combine consecutive rows into one with a leading axis.

        Args:
            batch_size (Union[int, Callable]): Rows per batch, or a function of BatchInfo that tells it.
            drop_remainder (bool, optional): Whether the last, incomplete batch is dropped. Default: False.
            num_parallel_workers (int, optional): Workers. Default: None.
            per_batch_map (Callable, optional): Called with a list of arrays per input column and a BatchInfo before
                rows are put
                together; returns as many lists. Default: None.
            input_columns (Union[str, list[str]], optional): Columns for `per_batch_map`. Default: None.
            output_columns (Union[str, list[str]], optional): Names of its results. Default: None, those of the input
                columns.
            column_order (Union[str, list[str]], optional): Order of the columns afterwards. Default: None.
            pad_info (dict, optional): Column to (shape, value) to pad to; None in a shape is the longest of the batch.
                Default: None.
            python_multiprocessing (bool, optional): Whether `per_batch_map` runs in processes. Default: False.
            max_rowsize (int, optional): Accepted for 2.x's sake. Default: 16.

        Returns:
            BatchDataset.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If arguments contradict each other.

        Examples:
            >>> dataset = dataset.batch(32, drop_remainder=True)
        """
        from msnb.dataset.engine.operators import BatchDataset

        if not (isinstance(batch_size, int) or callable(batch_size)):
            raise TypeError(f"batch_size should either be an int or a callable, but got {batch_size!r}.")
        if callable(batch_size):
            if len(_parameters(batch_size)) != 1:
                raise ValueError("callable batch_size should take one parameter (BatchInfo).")
        else:
            check_pos_int32(batch_size, "batch_size")
        if num_parallel_workers is not None:
            check_num_parallel_workers(num_parallel_workers)
        type_check(drop_remainder, (bool,), "drop_remainder")
        if pad_info is not None:
            if per_batch_map is not None:
                raise ValueError("pad_info and per_batch_map can't both be set.")
            check_pad_info(pad_info)
        if (per_batch_map is None) != (input_columns is None):
            raise ValueError("per_batch_map and input_columns need to be passed in together.")
        if input_columns is not None:
            check_columns(input_columns, "input_columns")
            wanted = 1 if isinstance(input_columns, str) else len(input_columns)
            takes = _parameters(per_batch_map)
            if takes is not None and wanted != len(takes) - 1:
                raise ValueError(
                    f"The signature of per_batch_map should match with input columns: it takes {len(takes)} arguments, "
                    f"but gets {wanted} columns and a BatchInfo."
                )
        for name, value in (("output_columns", output_columns), ("column_order", column_order)):
            if value is not None:
                check_columns(value, name)
        if python_multiprocessing is not None:
            type_check(python_multiprocessing, (bool,), "python_multiprocessing")
        return BatchDataset(
            self,
            batch_size,
            drop_remainder,
            num_parallel_workers,
            per_batch_map,
            input_columns,
            output_columns,
            column_order,
            pad_info,
            python_multiprocessing,
        )

    def sync_wait(self, condition_name, num_batch=1, callback=None):
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
        from msnb.dataset.engine.sync import SyncWaitDataset

        type_check(condition_name, (str,), "condition_name")
        type_check(num_batch, (int,), "num_batch")
        return SyncWaitDataset(self, condition_name, num_batch, callback)

    def shuffle(self, buffer_size):
        """Shuffle rows through a buffer: each next row is drawn from the `buffer_size` rows waiting in it.

        Args:
            buffer_size (int): At least 2; the whole data set's size shuffles perfectly.

        Returns:
            ShuffleDataset.

        Raises:
            ValueError: If `buffer_size` is less than 2.
            RuntimeError: If it follows ``sync_wait``.

        Examples:
            >>> dataset = dataset.shuffle(10000)
        """
        from msnb.dataset.engine.operators import ShuffleDataset

        type_check(buffer_size, (int,), "buffer_size")
        check_value(buffer_size, (2, INT32_MAX), "buffer_size")
        return ShuffleDataset(self, buffer_size)

    def flat_map(self, func):
        """Make a data set of each row and concatenate them.

        Args:
            func (Callable): Takes a row (a list of arrays), returns a Dataset.

        Returns:
            Dataset.

        Raises:
            TypeError: If `func` is no function or returns something else.
        """
        from msnb.dataset.engine.operators import ConcatDataset

        if not callable(func):
            raise TypeError("func must be a function.")
        parts = []
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            part = func(row)
            if not isinstance(part, Dataset):
                raise TypeError(f"flat_map must return a Dataset object, but func returned {type(part).__name__}.")
            parts.append(part)
        if not parts:
            raise TypeError("flat_map must return a Dataset object, but there was no row to make one from.")
        return parts[0] if len(parts) == 1 else ConcatDataset(parts)

    def map(
        self,
        operations,
        input_columns=None,
        output_columns=None,
        column_order=None,
        num_parallel_workers=None,
        python_multiprocessing=False,
        cache=None,
        callbacks=None,
        max_rowsize=16,
        offload=None,
    ):
        """Apply transforms or functions to columns of every row.

        Args:
            operations (Union[list, TensorOp, Callable]): Applied one after the other; each gets what the one before
                returns.
            input_columns (Union[str, list[str]], optional): Columns for the first. Default: None, the first column.
            output_columns (Union[str, list[str]], optional): Names of the results. Default: None, those of the input
                columns.
            column_order (list[str], optional): Order of the columns afterwards; needed when the numbers differ.
                Default: None.
            num_parallel_workers (int, optional): Workers. Functions of the user's run on that many threads when it is
                given and
                greater than 1, and one at a time, in order, when it is not. Default: None.
            python_multiprocessing (bool, optional): Whether the user's functions run in processes. Default: False.
            cache (DatasetCache, optional): Where to keep the results. Default: None.
            callbacks (Union[DSCallback, list[DSCallback]], optional): Called around steps and epochs. Default: None.
            max_rowsize (int, optional): Accepted for 2.x's sake. Default: 16.
            offload (bool, optional): Accepted for 2.x's sake. Default: None.

        Returns:
            MapDataset.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If column numbers differ and `column_order` is not given.

        Examples:
            >>> import mindspore.dataset.vision.c_transforms as CV
            >>> operations = [CV.Decode(), CV.Resize((32, 32))]
            >>> dataset = dataset.map(operations, input_columns="image", num_parallel_workers=4)
        """
        from msnb.dataset.callback import DSCallback
        from msnb.dataset.engine.operators import MapDataset

        if column_order is not None:
            type_check(column_order, (list,), "column_order")
        if num_parallel_workers is not None:
            check_num_parallel_workers(num_parallel_workers)
        type_check(python_multiprocessing, (bool,), "python_multiprocessing")
        check_cache(cache)
        if callbacks is not None:
            if isinstance(callbacks, list | tuple):
                type_check_list(callbacks, (DSCallback,), "callbacks")
            else:
                type_check(callbacks, (DSCallback,), "callbacks")
        for name, value in (
            ("input_columns", input_columns),
            ("output_columns", output_columns),
            ("column_order", column_order),
        ):
            if value is not None:
                check_columns(value, name)
        return MapDataset(
            self,
            operations,
            input_columns,
            output_columns,
            column_order,
            num_parallel_workers,
            python_multiprocessing,
            cache,
            callbacks,
        )

    def filter(self, predicate, input_columns=None, num_parallel_workers=1):
        """Keep the rows for which `predicate` is true.

        Args:
            predicate (Callable): Takes the input columns, returns a bool.
            input_columns (Union[str, list[str]], optional): Columns for it. Default: None, all.
            num_parallel_workers (int, optional): Accepted; predicates run in order. Default: 1.

        Returns:
            FilterDataset.

        Examples:
            >>> dataset = dataset.filter(lambda label: label < 5, input_columns=["label"])
        """
        from msnb.dataset.engine.operators import FilterDataset

        if not callable(predicate):
            raise TypeError("Predicate should be a Python function or a callable Python object.")
        if num_parallel_workers is not None:
            check_num_parallel_workers(num_parallel_workers)
        if input_columns is not None:
            check_columns(input_columns, "input_columns")
        return FilterDataset(self, predicate, input_columns, num_parallel_workers)

    def repeat(self, count=None):
        """Go through the data `count` times per epoch.

        Args:
            count (int, optional): Positive, or -1 for ever. Default: None, for ever.

        Returns:
            RepeatDataset.

        Examples:
            >>> dataset = dataset.repeat(3)
        """
        from msnb.dataset.engine.operators import RepeatDataset

        type_check(count, (int, type(None)), "repeat")
        if isinstance(count, int) and (count <= 0 and count != -1 or count > INT32_MAX):
            raise ValueError(f"count should be either -1 or positive integer, but got {count}.")
        return RepeatDataset(self, count)

    def skip(self, count):
        """Leave out the first `count` rows.

        Args:
            count (int): Not negative.

        Returns:
            SkipDataset.
        """
        from msnb.dataset.engine.operators import SkipDataset

        type_check(count, (int,), "count")
        check_value(count, (-1, INT32_MAX), "count")
        return SkipDataset(self, count)

    def take(self, count=-1):
        """Only the first `count` rows.

        Args:
            count (int, optional): Positive, or -1 for all. Default: -1.

        Returns:
            TakeDataset.
        """
        from msnb.dataset.engine.operators import TakeDataset

        type_check(count, (int,), "count")
        if count <= 0 and count != -1 or count > INT32_MAX:
            raise ValueError(f"count should be either -1 or positive integer, but got {count}.")
        return TakeDataset(self, count)

    def _split_sizes(self, sizes):
        """`sizes` as numbers of rows that add up to the size of the data set."""
        type_check(sizes, (list,), "sizes")
        if not sizes:
            raise ValueError("sizes cannot be empty.")
        integers = all(isinstance(s, int) and not isinstance(s, bool) for s in sizes)
        if not integers and not all(isinstance(s, float) for s in sizes):
            raise ValueError("sizes should be list of int or list of float.")
        if integers and not all(s > 0 for s in sizes):
            raise ValueError("split sizes should be positive: there should be no negative or zero numbers.")
        if not integers:
            if not all(0 < s <= 1 for s in sizes):
                raise ValueError("sizes is a list of float: there should be no numbers outside the range (0, 1].")
            if abs(sum(sizes) - 1) > 1e-9:
                raise ValueError("sizes is a list of float, but the percentages do not sum up to 1.")
        total = self.get_dataset_size()
        if not total:
            raise RuntimeError("dataset_size is unknown, unable to split.")
        if integers:
            if sum(sizes) != total:
                raise RuntimeError(f"Sum of split sizes {sum(sizes)} is not equal to dataset size {total}.")
            return sizes
        counts = [int(round(s * total)) for s in sizes]
        for share, count in zip(sizes, counts, strict=True):
            if count == 0:
                raise RuntimeError(f"Split percentage {share} is too small.")
        rest = total - sum(counts)
        if rest > 0:
            counts[0] += rest
        elif rest < 0:
            place = next((i for i, c in enumerate(counts) if c + rest > 0), None)
            if place is None:
                raise RuntimeError(f"Sum of calculated split sizes {sum(counts)} is not equal to dataset size {total}.")
            counts[place] += rest
        return counts

    def _checked_split(self, sizes, randomize):
        type_check(randomize, (bool,), "randomize")
        if self.is_shuffled():
            log.warning("Dataset is shuffled before split.")
        if self.is_sharded():
            raise RuntimeError("Dataset should not be sharded before split.")
        return self._split_sizes(sizes)

    def split(self, sizes, randomize=True):
        """Split the data set into parts that do not overlap.

        Args:
            sizes (Union[list[int], list[float]]): Rows of each part, or shares that add up to 1.
            randomize (bool, optional): Whether rows are shuffled (the same way in every epoch) before. Default: True.

        Returns:
            tuple(Dataset), the parts.

        Raises:
            RuntimeError: If the size is unknown, the data set sharded, or the sizes do not add up.
            ValueError: If `sizes` is empty or holds numbers out of range.

        Examples:
            >>> train, test = dataset.split([0.9, 0.1])
        """
        from msnb.dataset.core.config import fresh_seed

        parts, start, own_seed = [], 0, fresh_seed()
        for count in self._checked_split(sizes, randomize):
            part = copy.deepcopy(self)
            part.dataset_size = None
            if randomize:
                part = part.shuffle(10000)
                part.reshuffle_each_epoch, part.own_seed = False, own_seed
            if start:
                part = part.skip(start)
            parts.append(part.take(count))
            start += count
        return tuple(parts)

    def zip(self, datasets):
        """Put the columns of several data sets side by side.

        Args:
            datasets (Union[tuple, Dataset]): The others.

        Returns:
            ZipDataset.
        """
        from msnb.dataset.engine.operators import ZipDataset

        type_check(datasets, (tuple, Dataset), "datasets")
        return ZipDataset((self, *(datasets if isinstance(datasets, tuple) else (datasets,))))

    def concat(self, datasets):
        """Append data sets with the same columns; ``+`` does the same.

        Args:
            datasets (Union[list, Dataset]): The others.

        Returns:
            ConcatDataset.
        """
        from msnb.dataset.engine.operators import ConcatDataset

        type_check(datasets, (list, Dataset), "datasets")
        if isinstance(datasets, list):
            type_check_list(datasets, (Dataset,), "dataset")
        return ConcatDataset([self, *(datasets if isinstance(datasets, list) else [datasets])])

    def rename(self, input_columns, output_columns):
        """Give columns other names.

        Args:
            input_columns (Union[str, list[str]]): The old names.
            output_columns (Union[str, list[str]]): The new names.

        Returns:
            RenameDataset.
        """
        from msnb.dataset.engine.operators import RenameDataset

        check_columns(input_columns, "input_columns")
        check_columns(output_columns, "output_columns")
        old = input_columns if isinstance(input_columns, list) else [input_columns]
        new = output_columns if isinstance(output_columns, list) else [output_columns]
        if len(old) != len(new):
            raise ValueError(
                f"Number of column in input_columns and output_columns is not equal: {len(old)} and {len(new)}."
            )
        return RenameDataset(self, input_columns, output_columns)

    def project(self, columns):
        """Keep these columns, in this order.

        Args:
            columns (Union[str, list[str]]): Their names.

        Returns:
            ProjectDataset.
        """
        from msnb.dataset.engine.operators import ProjectDataset

        check_columns(columns, "columns")
        return ProjectDataset(self, columns)

    def apply(self, apply_func):
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
        dataset = apply_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"apply_func must return a dataset, but returned {type(dataset).__name__}.")
        return dataset

    def build_vocab(self, columns, freq_range, top_k, special_tokens, special_first):
        """Make a vocabulary of the words in the string columns; see :meth:`text.Vocab.from_dataset`."""
        from msnb.dataset.text.vocab import vocab_from_dataset

        return vocab_from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    def build_sentencepiece_vocab(self, columns, vocab_size, character_coverage, model_type, params):
        """Train a SentencePiece model on string columns; see :meth:`text.SentencePieceVocab.from_dataset`."""
        from msnb.dataset.text.sentencepiece import model_from_dataset

        return model_from_dataset(self, columns, vocab_size, character_coverage, model_type, params)

    def device_que(self, prefetch_size=None, send_epoch_end=True, create_data_info_queue=False):
        """A data set whose rows are sent to the device; :meth:`to_device` with an argument that has no effect."""
        if prefetch_size is not None:
            check_pos_int32(prefetch_size, "prefetch_size")
        return self.to_device(send_epoch_end, create_data_info_queue)

    def to_device(self, send_epoch_end=True, create_data_info_queue=False):
        """A data set whose rows are sent to the device in the background.

        Args:
            send_epoch_end (bool, optional): Whether ends of epochs are sent. Default: True.
            create_data_info_queue (bool, optional): Whether shapes and types are kept for each row. Default: False.

        Returns:
            TransferDataset.
        """
        from msnb.dataset.engine.transfer import TransferDataset

        type_check(send_epoch_end, (bool,), "send_epoch_end")
        type_check(create_data_info_queue, (bool,), "create_data_info_queue")
        return TransferDataset(self, send_epoch_end, create_data_info_queue)

    def save(self, file_name, num_files=1, file_type="mindrecord"):
        """Write the rows to MindRecord files.

        Args:
            file_name (str): Path of the (first) file.
            num_files (int, optional): Number of files, 1 to 1000. Default: 1.
            file_type (str, optional): 'mindrecord' is the only one. Default: 'mindrecord'.

        Raises:
            ValueError: If `num_files` or `file_type` is not supported.
        """
        from msnb.dataset.engine.saving import save

        type_check(num_files, (int,), "num_files")
        if not 1 <= num_files <= 1000:
            raise ValueError("num_files should between 1 and 1000.")
        type_check(file_name, (str,), "file_name")
        type_check(file_type, (str,), "file_type")
        if file_type != "mindrecord":
            raise ValueError(f"{file_type} dataset format is not supported.")
        save(self, file_name, num_files)

    # ---- iterating

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

    # ---- asking about it

    @property
    def input_indexs(self):
        """Numbers of the columns that are the network's inputs, as set on this data set or below."""
        if self._input_indexs != ():
            return self._input_indexs
        for child in self.children:
            if child.input_indexs != ():
                return child.input_indexs
        return self._input_indexs

    @input_indexs.setter
    def input_indexs(self, value):
        self._input_indexs = value

    def copy_batch_size(self, value):
        """Set the batch size that :meth:`get_batch_size` tells."""
        self._batch_size = value

    def get_col_names(self):
        """Names of the columns."""
        if self._col_names is None:
            plan = self.make_plan(optimise=False)
            self._col_names = list(plan.columns)
            plan.close()
        return self._col_names

    def _look_at_first_row(self):
        plan = self.make_plan()
        try:
            for chunk in plan.chunks(Hint(1)):
                row = [rows_of(c)[0] for c in chunk.columns]
                break
            else:
                row = []
        finally:
            plan.close()
        self.saved_output_shapes = [list(a.shape) for a in row]
        self.saved_output_types = [a.dtype if a.dtype.kind not in "SU" else a.dtype.type for a in row]
        self.saved_output_types = [getattr(t, "type", t) for t in self.saved_output_types]

    def output_shapes(self, estimate=False):
        """Shape of each column, as the first row has it; a list of lists."""
        if self.saved_output_shapes is None:
            self._look_at_first_row()
        return self.saved_output_shapes

    def output_types(self):
        """numpy type of each column, as the first row has it."""
        if self.saved_output_types is None:
            self._look_at_first_row()
        return self.saved_output_types

    def get_dataset_size(self):
        """Rows per epoch (batches, after ``batch``). Runs the pipeline once when nothing else can tell."""
        if self.dataset_size is None:
            plan = self.make_plan()
            try:
                size = plan.size()
                if size is None:
                    size = sum(chunk.n for chunk in plan.chunks(Hint(64)))
            finally:
                plan.close()
            self.dataset_size = size
        return self.dataset_size

    def num_classes(self):
        """Number of classes, None when the source does not know."""
        if self._num_classes is None:
            self._num_classes = self._count_classes()
        return self._num_classes

    def _count_classes(self):
        return self.children[-1]._count_classes() if self.children else None

    def get_batch_size(self):
        """Rows per batch; 1 when there is no batch."""
        if self._batch_size is None:
            self._batch_size = self._batch_rows()
        return self._batch_size

    def _batch_rows(self):
        return self.children[-1]._batch_rows() if self.children else 1

    def get_repeat_count(self):
        """The count of the (last) ``repeat``; 1 when there is none."""
        if self._repeat_count is None:
            self._repeat_count = self._repeats()
        return self._repeat_count

    def _repeats(self):
        return self.children[-1]._repeats() if self.children else 1

    def get_class_indexing(self):
        """Number of each class, by name; {} when the source has no classes."""
        return self.children[0].get_class_indexing() if self.children else {}

    def reset(self):
        """Nothing to do: every iterator starts from the beginning."""

    def is_shuffled(self):
        """Whether the order is random."""
        return any(child.is_shuffled() for child in self.children)

    def is_sharded(self):
        """Whether it is a share of the data."""
        return any(child.is_sharded() for child in self.children)

    # ---- sync_wait

    def get_sync_notifiers(self):
        """Condition names to the functions that let rows pass."""
        return self.children[0].get_sync_notifiers() if self.children else {}

    def disable_sync(self):
        """Let every row pass from now on."""
        return self.children[0].disable_sync() if self.children else {}

    def is_sync(self):
        """Whether a ``sync_wait`` is in the pipeline."""
        return self.children[0].is_sync() if self.children else False

    def sync_update(self, condition_name, num_batch=None, data=None):
        """Let the next batches pass.

        Args:
            condition_name (str): Name given to :meth:`sync_wait`.
            num_batch (int, optional): How many. Default: None, as many as given to ``sync_wait``.
            data (Any, optional): For the callback. Default: None.

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


def _copy_sampler(sampler):
    new = copy.copy(sampler)
    if getattr(new, "child_sampler", None) is not None:
        new.child_sampler = _copy_sampler(new.child_sampler)
    return new


def _parameters(function):
    import inspect

    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def _check_iterator(num_epochs, output_numpy):
    if output_numpy is not None:
        type_check(output_numpy, (bool,), "output_numpy")
    if num_epochs is not None:
        type_check(num_epochs, (int,), "num_epochs")
        check_value(num_epochs, (-1, INT32_MAX), "num_epochs")
