"""Converter from CIFAR-100 to MindRecord."""

from msnb.mindrecord.tools._convert import TrainTestConverter, encode_jpeg
from msnb.mindrecord.tools.cifar100 import Cifar100

__all__ = ["Cifar100ToMR"]


class Cifar100ToMR(TrainTestConverter):
    """Converts CIFAR-100 (its Python version) to two MindRecord files: `destination` and `destination` + ``_test``.

    The fields are id, fine_label, coarse_label and data (JPEG).

    Args:
        source (str): Folder with ``train`` and ``test``.
        destination (str): Path of the MindRecord file.

    Raises:
        ParamValueError: If a path is wrong.
        PathNotExistsError: If the files are not there.
    """

    needed: tuple[tuple[str, str], tuple[str, str]] = (("train", "train"), ("test", "test"))
    schema: dict[str, dict[str, str]] = {name: {"type": "int64"} for name in ("id", "fine_label", "coarse_label")} | {
        "data": {"type": "bytes"}
    }

    def _iterate_subsets(self):
        columns = Cifar100(self.source, False).load_data()
        for subset in (columns[:3], columns[3:]):
            rows = (
                {"fine_label": int(fine[0]), "coarse_label": int(coarse[0]), "data": encode_jpeg(image[..., ::-1])}
                for image, fine, coarse in zip(*subset, strict=True)
            )
            yield len(subset[0]), rows
