"""Face of ``mindspore.dataset.engine``: the data sets and samplers."""

from importlib import import_module
from typing import Any

_MODULES = (
    "datasets",
    "samplers",
    "iterators",
    "graphdata",
    "serializer_deserializer",
    "cache_client",
    "validators",
    "cache_admin",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"msnb.dataset.engine.{name}")
    if name == "config":
        return import_module("msnb.dataset.core.config")
    if name[:1].isupper() or name == "zip":  # else the import of any submodule would come by here, and load them all
        for module in ("datasets", "samplers"):
            found = import_module(f"msnb.dataset.engine.{module}")
            if name in found.__all__:
                return getattr(found, name)
        if name == "DatasetCache":
            return import_module("msnb.dataset.engine.cache_client").DatasetCache
        if name == "GraphData":
            return import_module("msnb.dataset.engine.graphdata").GraphData
    raise AttributeError(f"module 'mindspore.dataset.engine' has no attribute {name!r}")
