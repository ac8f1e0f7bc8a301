"""Lineage of a training: names and sizes of dataset, network, loss and optimizer."""

import json
import os
from typing import Any

import numpy as np

from msnb import log
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn.loss._base import LossBase
from msnb.nn.optim.optimizer import Optimizer

_FOLDER_OF = ("dataset_dir", "dataset_file", "dataset_files")


def optimizer_of(network: Any) -> Optimizer | None:
    """Return the optimizer in a network for training, or None."""
    for _, cell in network.cells_and_names():
        for candidate in (cell, getattr(cell, "optimizer", None)):
            if isinstance(candidate, Optimizer):
                return candidate
    return None


def loss_function_of(network: Any) -> Any:
    """Return the first Cell of a network that computes a loss, or None."""
    return next((cell for _, cell in network.cells_and_names() if isinstance(cell, LossBase)), None)


def learning_rate_of(optimizer: Any) -> float | None:
    """Return the learning rate of an optimizer; None if a schedule computes it."""
    rate = getattr(optimizer, "learning_rate", None)
    if isinstance(rate, (Parameter, Tensor)):
        rate = np.atleast_1d(rate.asnumpy()).ravel()[0]
    return float(rate) if isinstance(rate, (int, float, np.floating)) else None


def dataset_lineage(dataset: Any, phase: str) -> dict[str, Any]:
    """Return path and number of examples of a dataset; `phase` is "train" or "valid"."""
    lineage: dict[str, Any] = {}
    try:
        batches, batch = dataset.get_dataset_size(), dataset.get_batch_size()
        lineage[f"{phase}_dataset_size"] = int(batches * batch)
        if phase == "train":
            lineage["batch_size"] = int(batch)
        folder = _find_dataset_folder(dataset)
        if folder:
            lineage[f"{phase}_dataset_path"] = os.path.dirname(folder) if os.path.isfile(folder) else folder
    except Exception as error:  # a user's class need not define its size
        log.info("SummaryCollector: nothing is known of the dataset: %s", error)
    return lineage


def _find_dataset_folder(dataset):
    for name in _FOLDER_OF:
        value = getattr(dataset, name, None)
        if isinstance(value, (list, tuple)):
            value = value[0] if value else None
        if isinstance(value, (str, os.PathLike)) and os.fspath(value):
            return os.path.abspath(value)
    children = getattr(dataset, "children", None) or ()
    return next((folder for child in children if (folder := _find_dataset_folder(child))), None)


def dataset_graph_of(dataset: Any) -> dict[str, Any]:
    """Return the operations of a dataset, the last one first, with their settings, in the form of
    :mod:`msnb.formats.lineage_events`."""
    settings = {}
    for name, value in sorted(vars(dataset).items()):
        if name.startswith("_") or name in ("children", "operations", "sampler", "parent"):
            continue
        if isinstance(value, (bool, int, float, str)):
            settings[name] = value
        elif isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
            settings[name] = list(value)
    out = {
        "parameter": {"op_type": type(dataset).__name__.removesuffix("Dataset") or type(dataset).__name__, **settings},
        "children": [dataset_graph_of(child) for child in getattr(dataset, "children", None) or ()],
    }
    if not out["children"]:  # a source keeps its full class name, as in MindSpore
        out["parameter"]["op_type"] = type(dataset).__name__
    operations = getattr(dataset, "operations", None)
    if operations is not None:
        listed = operations if isinstance(operations, (list, tuple)) else [operations]
        out["operations"] = [_describe_operation(operation) for operation in listed]
    sampler = getattr(dataset, "sampler", None)
    if sampler is not None:
        out["sampler"] = {"sampler_name": type(sampler).__name__, **_list_plain_attributes(sampler)}
    return out


def _describe_operation(operation):
    kind = type(operation)
    name = getattr(operation, "__name__", kind.__name__)
    return {"tensor_op_module": kind.__module__, "tensor_op_name": name, **_list_plain_attributes(operation)}


def _list_plain_attributes(operation):
    try:
        attributes = vars(operation)
    except TypeError:
        return {}
    kinds = (bool, int, float, str)
    return {
        name: value
        for name, value in sorted(attributes.items())
        if not name.startswith("_")
        and (
            isinstance(value, kinds)
            or (isinstance(value, (list, tuple)) and value and all(isinstance(item, kinds) for item in value))
        )
    }


def checkpoint_of(callbacks: list[Any]) -> str | None:
    """Return the newest file of the last ModelCheckpoint among callbacks, or None."""
    files = [file for callback in callbacks if (file := getattr(callback, "latest_ckpt_file_name", None))]
    return os.path.realpath(files[-1]) if files else None


def train_lineage_of(moment: Any, loss: float | None, optimizer: Any) -> dict[str, Any]:
    """Return the lineage of a training at its end."""
    loss_function = moment.get("loss_fn") or loss_function_of(moment.train_network)
    checkpoint = checkpoint_of(moment.list_callback)
    return {
        "optimizer": type(optimizer).__name__ if optimizer is not None else None,
        "learning_rate": learning_rate_of(optimizer) if optimizer is not None else None,
        "loss_function": type(loss_function).__name__ if loss_function is not None else None,
        "epoch": moment.epoch_num,
        "parallel_mode": moment.get("parallel_mode"),
        "device_num": moment.get("device_number", 1),
        **dataset_lineage(moment.train_dataset, "train"),
        "network": type(moment.network).__name__,
        "loss": loss,
        "model_path": json.dumps({"ckpt": checkpoint}),
        "model_size": os.path.getsize(checkpoint) if checkpoint and os.path.exists(checkpoint) else 0,
    }


def eval_lineage_of(moment: Any) -> dict[str, Any]:
    """Return the lineage of an evaluation at its end."""
    lineage = dataset_lineage(moment.valid_dataset, "valid")
    try:
        return {"metric": json.dumps(moment.metrics, default=_convert_to_json), **lineage}
    except TypeError as error:
        log.warning("SummaryCollector: the metrics are kept out of the lineage, as they are no plain values: %s", error)
        return lineage


def _convert_to_json(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is neither a number nor a list of numbers")
