"""``mindspore.dataset``: pipelines that read, transform, shuffle and batch samples."""

from importlib import import_module
from typing import Any

from msnb.common.missing import asked
from msnb.dataset.core import config
from msnb.dataset.engine import samplers
from msnb.dataset.engine.cache_client import DatasetCache
from msnb.dataset.engine.datasets import (
    Cifar10Dataset,
    Cifar100Dataset,
    Dataset,
    GeneratorDataset,
    ImageFolderDataset,
    MnistDataset,
    NumpySlicesDataset,
    PaddedDataset,
    Schema,
    Shuffle,
    TextFileDataset,
    zip,
)
from msnb.dataset.engine.samplers import (
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from msnb.dataset.engine.sources.names import PUBLIC_SETS

_LATER = {
    **dict.fromkeys(PUBLIC_SETS, "engine.datasets"),
    "CelebADataset": "engine.datasets",
    "CLUEDataset": "engine.datasets",
    "CocoDataset": "engine.datasets",
    "CSVDataset": "engine.datasets",
    "ManifestDataset": "engine.datasets",
    "MindDataset": "engine.datasets",
    "RandomDataset": "engine.datasets",
    "TFRecordDataset": "engine.datasets",
    "VOCDataset": "engine.datasets",
    "BatchInfo": "engine.datasets",
    # MindSpore 2's modules of data sets also have these names.
    **dict.fromkeys(
        (
            *("BatchDataset", "ConcatDataset", "MappableDataset", "RepeatDataset", "SourceDataset", "context"),
            *("AudioBaseDataset", "TextBaseDataset", "UnionBaseDataset", "VisionBaseDataset"),
        ),
        "engine.datasets",
    ),
    "DictIterator": "engine.iterators",
    "TupleIterator": "engine.iterators",
    "GraphData": "engine.graphdata",
    "DSCallback": "callback",
    "WaitedDSCallback": "callback",
    "serialize": "engine.serializer_deserializer",
    "deserialize": "engine.serializer_deserializer",
    "register_function": "engine.deserialize",
    "show": "engine.serializer_deserializer",
    "compare": "engine.serializer_deserializer",
}
_MODULES = ("audio", "callback", "core", "engine", "text", "transforms", "vision")

__all__ = [
    "CLUEDataset",
    "CSVDataset",
    "CelebADataset",
    "Cifar100Dataset",
    "Cifar10Dataset",
    "CocoDataset",
    "Dataset",
    "DatasetCache",
    "DistributedSampler",
    "GeneratorDataset",
    "GraphData",
    "ImageFolderDataset",
    "ManifestDataset",
    "MindDataset",
    "MnistDataset",
    "NumpySlicesDataset",
    "PKSampler",
    "PaddedDataset",
    "RandomDataset",
    "RandomSampler",
    "Sampler",
    "Schema",
    "SequentialSampler",
    "Shuffle",
    "SubsetRandomSampler",
    "SubsetSampler",
    "TFRecordDataset",
    "TextFileDataset",
    "VOCDataset",
    "WeightedRandomSampler",
    *PUBLIC_SETS,
    "compare",
    "config",
    "deserialize",
    "register_function",
    "serialize",
    "show",
    "zip",
]


def __getattr__(name: str) -> Any:
    if name in _LATER or name in _MODULES:
        module = import_module(f"msnb.dataset.{_LATER.get(name, name)}")  # imported on first use, to save time
        return getattr(module, name) if name in _LATER else module
    return asked(__name__, name)
