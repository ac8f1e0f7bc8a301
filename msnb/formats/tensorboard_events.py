"""TensorBoard's event files (``events.out.tfevents...``), which store the same values as
:mod:`msnb.formats.summary_events`."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from msnb.formats import protobuf

VERSION = "brain.Event:2"
_SCHEMA = {
    "Event": {
        "wall_time": (1, "double", False),
        "step": (2, "int", False),
        "file_version": (3, "str", False),
        "summary": (5, "Summary", False),
    },
    "Summary": {"value": (1, "Value", True)},
    "Value": {
        "tag": (1, "str", False),
        "simple_value": (2, "float", False),
        "image": (4, "Image", False),
        "histo": (5, "Histogram", False),
        "tensor": (8, "Tensor", False),
        "metadata": (9, "Metadata", False),
    },
    "Image": {
        "height": (1, "int", False),
        "width": (2, "int", False),
        "colorspace": (3, "int", False),
        "encoded_image_string": (4, "bytes", False),
    },
    "Histogram": {
        "min": (1, "double", False),
        "max": (2, "double", False),
        "num": (3, "double", False),
        "sum": (4, "double", False),
        "sum_squares": (5, "double", False),
        "bucket_limit": (6, "bytes", False),
        "bucket": (7, "bytes", False),
    },
    "Tensor": {"dtype": (1, "int", False), "tensor_shape": (2, "Shape", False), "tensor_content": (4, "bytes", False)},
    "Shape": {"dim": (2, "Dimension", True)},
    "Dimension": {"size": (1, "int", False)},
    "Metadata": {"plugin_data": (1, "PluginData", False)},
    "PluginData": {"plugin_name": (1, "str", False)},
}
_FLOAT = 1  # TensorFlow's number of float32
_LARGEST = float(np.finfo(np.float32).max)


def version_event(wall_time: float) -> bytes:
    """Encode the version event with which a file begins. Return its payload."""
    return protobuf.encode(_SCHEMA, "Event", {"wall_time": wall_time, "file_version": VERSION})


def summary_event(wall_time: float, step: int, values: Iterable[tuple[str, str, Any]]) -> bytes:
    """Encode an event with values of one step; see :func:`msnb.formats.summary_events.summary_event`.

    Landscapes, which TensorBoard does not support, are dropped.
    """
    messages = [{"tag": tag, **_FORMS[kind](content)} for tag, kind, content in values if kind in _FORMS]
    return protobuf.encode(_SCHEMA, "Event", {"wall_time": wall_time, "step": step, "summary": {"value": messages}})


def _make_scalar_field(number):
    return {"simple_value": number if abs(number) <= _LARGEST or number != number else np.copysign(np.inf, number)}


def _make_image_field(image):
    table = {"height": image.height, "width": image.width, "colorspace": image.colorspace}
    return {"image": {**table, "encoded_image_string": image.png}}


def _make_histogram_field(histogram):
    middles = (histogram.edges[1:] + histogram.edges[:-1]) / 2  # approximate the numbers in each bin
    table = {
        "min": histogram.min,
        "max": histogram.max,
        "num": float(histogram.counts.sum()),
        "sum": histogram.sum,
        "sum_squares": float((histogram.counts * middles**2).sum()),
        "bucket_limit": histogram.edges[1:].astype("<f8").tobytes(),
        "bucket": histogram.counts.astype("<f8").tobytes(),
    }
    return {"histo": table}


def _make_tensor_field(array):
    table = {"dtype": _FLOAT, "tensor_shape": {"dim": [{"size": size} for size in array.shape]}}
    tensor = {**table, "tensor_content": array.astype("<f4").tobytes()}
    return {"tensor": tensor, "metadata": {"plugin_data": {"plugin_name": "tensor"}}}


_FORMS = {
    "scalar": _make_scalar_field,
    "image": _make_image_field,
    "histogram": _make_histogram_field,
    "tensor": _make_tensor_field,
}
