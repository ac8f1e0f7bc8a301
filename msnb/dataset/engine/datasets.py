"""All data sets. Sources that few programs use are imported on first access."""

from importlib import import_module
from typing import Any

from msnb.common.missing import asked
from msnb.dataset.engine import iterators, preview  # noqa: F401 (their methods of Dataset)
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.execution import monitor  # noqa: F401 (its method of Dataset)
from msnb.dataset.engine.execution.nodes import BatchInfo
from msnb.dataset.engine.operations import saving, splitting  # noqa: F401 (their methods of Dataset)
from msnb.dataset.engine.operations.batch import BatchDataset
from msnb.dataset.engine.operations.bucket import BucketBatchByLengthDataset
from msnb.dataset.engine.operations.columns import ProjectDataset, RenameDataset
from msnb.dataset.engine.operations.device_queue import TransferDataset
from msnb.dataset.engine.operations.map import MapDataset
from msnb.dataset.engine.operations.sync import BlockReleasePair, SyncWaitDataset
from msnb.dataset.engine.operations.take_skip import (
    FilterDataset,
    RepeatDataset,
    ShuffleDataset,
    SkipDataset,
    TakeDataset,
)
from msnb.dataset.engine.operations.zip_concat import ConcatDataset, ZipDataset, zip
from msnb.dataset.engine.schema import Schema
from msnb.dataset.engine.sources.base import Shuffle, SourceDataset
from msnb.dataset.engine.sources.cifar import Cifar10Dataset, Cifar100Dataset
from msnb.dataset.engine.sources.generator import GeneratorDataset, NumpySlicesDataset, PaddedDataset
from msnb.dataset.engine.sources.image_folder import ImageFolderDataset
from msnb.dataset.engine.sources.mappable import MappableDataset
from msnb.dataset.engine.sources.mnist import MnistDataset
from msnb.dataset.engine.sources.names import PUBLIC_SETS
from msnb.dataset.engine.sources.textfile import TextFileDataset
from msnb.dataset.text import sentencepiece, vocab  # noqa: F401 (their methods of Dataset)

# Sources that few programs use are imported on first access.
_LATER = {
    **PUBLIC_SETS,
    "VOCDataset": "sources.voc",
    "CocoDataset": "sources.coco",
    "CelebADataset": "sources.celeba",
    "ManifestDataset": "sources.manifest",
    "CLUEDataset": "sources.clue",
    "CSVDataset": "sources.csvfile",
    "TFRecordDataset": "sources.tfrecord",
    "MindDataset": "sources.minddata",
    "RandomDataset": "sources.random",
    "RangeDataset": "sources.random",
    "SamplerFn": "sampler_workers",
}

__all__ = [
    "BatchDataset",
    "BatchInfo",
    "BlockReleasePair",
    "BucketBatchByLengthDataset",
    "Cifar100Dataset",
    "Cifar10Dataset",
    "ConcatDataset",
    "Dataset",
    "FilterDataset",
    "GeneratorDataset",
    "ImageFolderDataset",
    "MapDataset",
    "MappableDataset",
    "MnistDataset",
    "NumpySlicesDataset",
    "PaddedDataset",
    "ProjectDataset",
    "RenameDataset",
    "RepeatDataset",
    "Schema",
    "Shuffle",
    "ShuffleDataset",
    "SkipDataset",
    "SourceDataset",
    "SyncWaitDataset",
    "TakeDataset",
    "TextFileDataset",
    "TransferDataset",
    "ZipDataset",
    "zip",
    *_LATER,
]


# Every data set has all methods here. MindSpore 2 has a base for the methods of each kind of data.
TextBaseDataset = VisionBaseDataset = AudioBaseDataset = UnionBaseDataset = Dataset


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"msnb.dataset.engine.{_LATER[name]}"), name)  # avoids importing unused readers
    if name == "context":
        return import_module("msnb.context")  # imported on demand: only MindSpore's own code uses this name
    return asked(__name__, name)


def _set_training_dataset(dataset: Any) -> None:  # called by libraries with their own training loop
    """Do nothing: the engine does not depend on the data set that a training reads."""
