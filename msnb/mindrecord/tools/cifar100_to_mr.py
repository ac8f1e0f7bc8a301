"""CIFAR-100 to MindRecord."""

import os

from msnb.mindrecord.common.exceptions import PathNotExistsError
from msnb.mindrecord.shardutils import SUCCESS, check_filename
from msnb.mindrecord.tools._convert import jpeg, write
from msnb.mindrecord.tools.cifar100 import Cifar100

__all__ = ["Cifar100ToMR"]


class Cifar100ToMR:
    """CIFAR-100 (its Python version) to two MindRecord files: `destination` and `destination` + ``_test``; fields id,
    fine_label,
    coarse_label, data (JPEG).

    Args:
        source (str): Folder with ``train`` and ``test``.
        destination (str): Path of the MindRecord file.

    Raises:
        ParamValueError: If a path is wrong.
        PathNotExistsError: If the files are not there.
    """

    def __init__(self, source, destination):
        check_filename(source)
        check_filename(destination)
        for name in ("train", "test"):
            if name not in os.listdir(source):
                raise PathNotExistsError(name)
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
        data = Cifar100(self.source, False).load_data()
        schema = {
            "id": {"type": "int64"},
            "fine_label": {"type": "int64"},
            "coarse_label": {"type": "int64"},
            "data": {"type": "bytes"},
        }
        for path, part, name in (
            (self.destination, data[:3], "img_train"),
            (self.destination + "_test", data[3:], "img_test"),
        ):
            rows = (
                {"id": i, "fine_label": int(fine[0]), "coarse_label": int(coarse[0]), "data": jpeg(image[..., ::-1])}
                for i, (image, fine, coarse) in enumerate(zip(*part, strict=True))
            )
            write(path, rows, schema, name, fields)
        return SUCCESS

    transform = run
