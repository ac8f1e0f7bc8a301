"""Functions and the base class shared by the converters."""

import fnmatch
import os
from itertools import islice
from typing import Any

from msnb.common.progress import follow
from msnb.mindrecord.common.exceptions import PathNotExistsError
from msnb.mindrecord.filewriter import FileWriter
from msnb.mindrecord.shardutils import SUCCESS, check_filename


def write(path, rows, schema, description, index=None, shards=1, total=None):
    """Write rows to a MindRecord file, 256 at a time. `total` is the number of rows, or None if it is unknown."""
    writer = FileWriter(path, shards)
    writer.set_page_size(1 << 26)
    writer.add_schema(schema, description)
    if index:
        writer.add_index(index)
    rows = follow(rows, f"writing {os.path.basename(path)}", total)
    while chunk := list(islice(rows, 256)):
        writer.write_raw_data(chunk)
    return writer.commit()


class TrainTestConverter:
    """Base of converters of a folder with a train and a test set.

    The sets are written to two files, `destination` and `destination` + ``_test``.
    """

    needed: tuple[()] = ()  # (pattern of a required file's name, its name in error messages)
    schema: dict[Any, Any] = {}

    def __init__(self, source: str, destination: str) -> None:
        for path in (source, destination):
            check_filename(path)
        names = os.listdir(source)
        for pattern, label in self.needed:
            if not fnmatch.filter(names, pattern):
                raise PathNotExistsError(label)
        self.source, self.destination = source, destination

    def _iterate_subsets(self):
        """Yield (number of rows, rows) of the train set and of the test set. Rows are dicts without ``id``."""
        raise NotImplementedError

    def run(self, fields: list[str] | None = None) -> int:
        """Run the conversion: read the source and write the MindRecord files.

        Args:
            fields (list[str], optional): Index fields. Default: None.

        Returns:
            int, 0.
        """
        if fields and not isinstance(fields, list):
            raise ValueError("The parameter fields should be None or list")
        subsets = zip(("", "_test"), ("img_train", "img_test"), self._iterate_subsets(), strict=True)
        for suffix, name, (total, rows) in subsets:
            numbered = ({"id": i, **row} for i, row in enumerate(rows))
            write(self.destination + suffix, numbered, self.schema, name, fields, total=total)
        return SUCCESS

    def transform(self, fields: list[str] | None = None) -> int:
        """Run the conversion, like :meth:`run`."""
        return self.run(fields)


def check_partitions(partition_number):
    """Raise ValueError unless `partition_number` is an int."""
    if not isinstance(partition_number, int) or isinstance(partition_number, bool):
        raise ValueError(f"The parameter partition_number must be int, but got {partition_number!r}.")


def encode_jpeg(image):
    """Encode an image, with OpenCV's channel order, as JPEG."""
    try:
        import cv2
    except ImportError:
        raise ModuleNotFoundError("opencv-python module not found, please use pip install it.") from None
    return cv2.imencode(".jpeg", image)[1].tobytes()
