"""Re-export module ``mindspore.dataset.engine``: data sets and samplers."""

from importlib import import_module
from typing import Any

from msnb.common.missing import asked

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
    # Only names of classes load the modules: the import system looks up the name of every submodule here first.
    if name[:1].isupper() or name == "zip":
        for path in ("datasets", "samplers"):
            module = import_module(f"msnb.dataset.engine.{path}")
            if name in module.__all__:
                return getattr(module, name)
        if name == "DatasetCache":
            return import_module("msnb.dataset.engine.cache_client").DatasetCache
        if name == "GraphData":
            return import_module("msnb.dataset.engine.graphdata").GraphData
    return asked(__name__, name)
