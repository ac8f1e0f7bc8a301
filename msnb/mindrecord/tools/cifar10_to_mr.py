"""CIFAR-10 to MindRecord."""

import os

from msnb.mindrecord.common.exceptions import PathNotExistsError
from msnb.mindrecord.shardutils import SUCCESS, check_filename
from msnb.mindrecord.tools._convert import jpeg, write
from msnb.mindrecord.tools.cifar10 import Cifar10

__all__ = ["Cifar10ToMR"]


class Cifar10ToMR:
    """CIFAR-10 (its Python version) to two MindRecord files: `destination` and `destination` + ``_test``; fields id,
    label, data (JPEG).

    Args:
        source (str): Folder with ``data_batch_1`` to ``data_batch_5`` and ``test_batch``.
        destination (str): Path of the MindRecord file.

    Raises:
        ParamValueError: If a path is wrong.
        PathNotExistsError: If the batches are not there.
    """

    def __init__(self, source, destination):
        check_filename(source)
        check_filename(destination)
        files = os.listdir(source)
        for prefix, shown in (("data_batch_", "data_batch_*"), ("test_batch", "test_batch")):
            if not any(f.startswith(prefix) for f in files):
                raise PathNotExistsError(shown)
        self.source = source
        self.destination = destination

    def run(self, fields=None):
        """Convert.

        Args:
            fields (list[str], optional): Index fields. Default: None.

        Returns:
            int, 0.
        """
        if fields and not isinstance(fields, list):
            raise ValueError("The parameter fields should be None or list")
        data = Cifar10(self.source, False)
        data.load_data()
        schema = {"id": {"type": "int64"}, "label": {"type": "int64"}, "data": {"type": "bytes"}}
        for path, images, labels, name in (
            (self.destination, data.images, data.labels, "img_train"),
            (self.destination + "_test", data.Test.images, data.Test.labels, "img_test"),
        ):
            rows = (
                {"id": i, "label": int(label[0]), "data": jpeg(image[..., ::-1])}
                for i, (image, label) in enumerate(zip(images, labels, strict=True))
            )
            write(path, rows, schema, name, fields)
        return SUCCESS

    transform = run
