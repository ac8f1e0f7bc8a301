"""MNIST to MindRecord."""

import gzip
import math
import os
import struct

import numpy as np

from msnb import log
from msnb.mindrecord.shardutils import SUCCESS, check_filename
from msnb.mindrecord.tools._convert import check_partitions, jpeg, write

__all__ = ["MnistToMR"]


class MnistToMR:
    """MNIST (its gzip files) to two sets of MindRecord files, ``<destination>_train.mindrecord`` and
    ``<destination>_test.mindrecord``;
    fields label, data (JPEG).

    Args:
        source (str): Folder with ``train-images-idx3-ubyte.gz``, ``train-labels-idx1-ubyte.gz`` and the two ``t10k``
            files.
        destination (str): Beginning of the paths.
        partition_number (int, optional): Number of files of each set. Default: 1.

    Raises:
        ValueError: If an argument has the wrong type.
    """

    def __init__(self, source, destination, partition_number=1):
        check_filename(source)
        check_filename(destination)
        check_partitions(partition_number)
        self.source = source
        self.destination = destination
        self.partition_number = partition_number

    def _read(self, name, axes):
        """The array in a file: the entries that are there, whatever their number in the header."""
        with gzip.open(os.path.join(self.source, name)) as stream:
            stream.read(4)
            _, *shape = struct.unpack(f">{axes}i", stream.read(4 * axes))
            values = np.frombuffer(stream.read(), np.uint8)
        there = len(values) // math.prod(shape)
        return values[: there * math.prod(shape)].reshape(there, *shape)

    def _rows(self, part):
        images = self._read(f"{part}-images-idx3-ubyte.gz", 3)
        labels = self._read(f"{part}-labels-idx1-ubyte.gz", 1)
        if len(images) != len(labels):
            log.warning(
                "%s has %d %s images, but %d labels: only pairs are converted.",
                self.source,
                len(images),
                part,
                len(labels),
            )
        for image, label in zip(images, labels, strict=False):
            yield {"label": int(label), "data": jpeg(image)}

    def run(self):
        """Convert.

        Returns:
            int, 0.
        """
        schema = {"label": {"type": "int64"}, "data": {"type": "bytes"}}
        for part, name in (("train", "train"), ("t10k", "test")):
            write(
                f"{self.destination}_{name}.mindrecord",
                self._rows(part),
                schema,
                "mnist_schema",
                ["label"],
                self.partition_number,
            )
        return SUCCESS

    transform = run
