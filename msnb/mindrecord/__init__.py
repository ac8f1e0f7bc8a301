"""``mindspore.mindrecord``: MindSpore's file format for datasets, with its reader, writer and converters."""

from importlib import import_module
from typing import Any

from msnb.common.missing import asked
from msnb.mindrecord.common.exceptions import *  # noqa: F403 (every error class is public)
from msnb.mindrecord.filereader import FileReader
from msnb.mindrecord.filewriter import FileWriter
from msnb.mindrecord.mindpage import MindPage
from msnb.mindrecord.shardutils import FAILED, SUCCESS

_LATER = {
    "Cifar10ToMR": "cifar10_to_mr",
    "Cifar100ToMR": "cifar100_to_mr",
    "CsvToMR": "csv_to_mr",
    "ImageNetToMR": "imagenet_to_mr",
    "MnistToMR": "mnist_to_mr",
    "TFRecordToMR": "tfrecord_to_mr",
}

__all__ = ["FAILED", "FileReader", "FileWriter", "MindPage", "SUCCESS", *_LATER]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        module = import_module(f"msnb.mindrecord.tools.{_LATER[name]}")  # lazy: reading a file needs no converters
        return getattr(module, name)
    return asked(__name__, name)
