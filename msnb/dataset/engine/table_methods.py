"""Operators that work on whole data sets: split, zip, concat, names of columns, and where the rows go."""

import copy

from msnb import log
from msnb.dataset.core.validator_helpers import (
    check_columns,
    check_pos_int32,
    type_check,
    type_check_list,
)


class TableMethods:
    """Methods of :class:`Dataset` that divide, join, rename and deliver data sets."""

    def __add__(self, datasets):
        return self.concat(datasets)

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
        from msnb.dataset.engine.dataset import Dataset
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
        from msnb.dataset.engine.dataset import Dataset
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
        from msnb.dataset.engine.dataset import Dataset

        if not callable(apply_func):
            raise TypeError("apply_func must be a function.")
        made = apply_func(self)
        if isinstance(made, Dataset):
            return made
        raise TypeError(f"apply_func must return a dataset, but returned {type(made).__name__}.")

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
