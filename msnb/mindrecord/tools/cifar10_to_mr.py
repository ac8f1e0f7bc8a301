"""Converter from CIFAR-10 to MindRecord."""

from msnb.mindrecord.tools._convert import TrainTestConverter, encode_jpeg
from msnb.mindrecord.tools.cifar10 import Cifar10

__all__ = ["Cifar10ToMR"]


class Cifar10ToMR(TrainTestConverter):
    """Converts CIFAR-10 (its Python version) to two MindRecord files: `destination` and `destination` + ``_test``.

    The fields are id, label and data (JPEG).

    Args:
        source (str): Folder with ``data_batch_1`` to ``data_batch_5`` and ``test_batch``.
        destination (str): Path of the MindRecord file.

    Raises:
        ParamValueError: If a path is wrong.
        PathNotExistsError: If the batches are not there.
    """

    needed: tuple[tuple[str, str], tuple[str, str]] = (("data_batch_*", "data_batch_*"), ("test_batch*", "test_batch"))
    schema: dict[str, dict[str, str]] = {name: {"type": "int64"} for name in ("id", "label")} | {
        "data": {"type": "bytes"}
    }

    def _iterate_subsets(self):
        train, labels, test, test_labels = Cifar10(self.source, False).load_data()
        for subset in ((train, labels), (test, test_labels)):
            pairs = zip(*subset, strict=True)
            yield (
                len(subset[0]),
                ({"label": int(label[0]), "data": encode_jpeg(image[..., ::-1])} for image, label in pairs),
            )
