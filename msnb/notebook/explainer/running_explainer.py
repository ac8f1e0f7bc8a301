"""Partial saliency maps: while an explainer runs, open views show how far it is."""

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.explainer._progress import observe

_PICTURES = 4  # maps that are shown, at most
_SIDE = 112  # pixels of the longer side of a map, at most


def follow(widget: Any) -> Callable[[], None]:
    """Send the partial maps of running explainers to a widget. Return the function that stops it."""
    reference = weakref.ref(widget)

    def send(explainer, maps, done, total):
        view = reference()
        if view is not None:
            view.send(
                {"running": type(explainer).__name__, "done": done, "total": total, **_describe(maps)},
                [_scale_to_bytes(_reduce(maps))],
            )

    def send_stopped(explainer):
        view = reference()
        if view is not None:
            view.send({"stopped": type(explainer).__name__})

    observing = contextlib.ExitStack()
    observing.enter_context(observe(send, send_stopped))
    return observing.close


def _reduce(maps):
    """Return the first maps, of shape (n, H, W), with every k-th pixel."""
    height, width = maps.shape[-2:]
    step = -(-max(height, width) // _SIDE)
    return maps.reshape(-1, height, width)[:_PICTURES, ::step, ::step]


def _describe(maps):
    count, height, width = _reduce(maps).shape
    return {"count": count, "height": height, "width": width}


def _scale_to_bytes(maps):
    """Scale each map from its range to 0 to 255."""
    low, high = maps.min((1, 2), keepdims=True), maps.max((1, 2), keepdims=True)
    return np.uint8((maps - low) / np.maximum(high - low, 1e-10) * 255).tobytes()
