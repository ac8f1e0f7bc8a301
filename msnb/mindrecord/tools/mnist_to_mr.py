"""Converter from MNIST to MindRecord."""

import math
import os
import struct

import numpy as np

from msnb import log
from msnb.formats.text_files import BadFileError, gunzip
from msnb.mindrecord.shardutils import SUCCESS, check_filename
from msnb.mindrecord.tools._convert import check_partitions, encode_jpeg, write

__all__ = ["MnistToMR"]


class MnistToMR:
    """Converts the gzip files of MNIST to two sets of MindRecord files.

    They are ``<destination>_train.mindrecord`` and ``<destination>_test.mindrecord``, with the fields label and data
    (JPEG).

    Args:
        source (str): Folder with ``train-images-idx3-ubyte.gz``, ``train-labels-idx1-ubyte.gz`` and the two ``t10k``
            files.
        destination (str): Prefix of the paths.
        partition_number (int, optional): Number of files of each set. Default: 1.

    Raises:
        ValueError: If an argument has the wrong type.
    """

    def __init__(self, source: str, destination: str, partition_number: int = 1) -> None:
        check_filename(source)
        check_filename(destination)
        check_partitions(partition_number)
        self.source = source
        self.destination = destination
        self.partition_number = partition_number

    def _read_array(self, name, axes):
        """Return all complete entries of a file as an array, regardless of the number in the header."""
        path = os.path.join(self.source, name)
        data, start = gunzip(path), 4 + 4 * axes
        if len(data) < start:
            raise BadFileError(f"Invalid file, {path!r} ends inside its header of {start} bytes.")
        size = math.prod(shape := struct.unpack_from(f">{axes - 1}I", data, 8))
        count = (len(data) - start) // size if size else 0
        return np.frombuffer(data, np.uint8, count * size, start).reshape(count, *shape)

    def _count_and_iterate_rows(self, prefix):
        """Return the number of rows of the train or the test set, and an iterator over them."""
        images = self._read_array(f"{prefix}-images-idx3-ubyte.gz", 3)
        labels = self._read_array(f"{prefix}-labels-idx1-ubyte.gz", 1)
        if len(images) != len(labels):
            log.warning(
                "%s has %d %s images, but %d labels: only pairs are converted.",
                self.source,
                len(images),
                prefix,
                len(labels),
            )
        pairs = zip(images, labels, strict=False)
        return min(len(images), len(labels)), (
            {"label": int(label), "data": encode_jpeg(image)} for image, label in pairs
        )

    def run(self) -> int:
        """Run the conversion: read the source and write the MindRecord files.

        Returns:
            int, 0.
        """
        schema = {"label": {"type": "int64"}, "data": {"type": "bytes"}}
        for prefix, name in (("train", "train"), ("t10k", "test")):
            total, rows = self._count_and_iterate_rows(prefix)
            path = f"{self.destination}_{name}.mindrecord"
            write(path, rows, schema, "mnist_schema", ["label"], self.partition_number, total)
        return SUCCESS

    transform = run
