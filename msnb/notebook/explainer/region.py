"""Answers to a region that the user selects in a picture: its channels, and the nodes on the graph."""

from typing import Any

import numpy as np

from msnb.common.dtype import float32
from msnb.core.tensor.tensor import Tensor
from msnb.dataset.engine.datasets import Dataset
from msnb.explainer._data_order import fixed_order
from msnb.formats.explanation_records import Explanations
from msnb.insight.debugger.names import line_of, name_of_node, short_line
from msnb.insight.region_relevance import Box, PictureRelevance
from msnb.notebook.display import page
from msnb.notebook.graph.view import GraphView
from msnb.notebook.graph.widget import MODULE as GRAPH_MODULE

_CHANNELS = 12  # channels in the list
_NODES = 16  # nodes in the list


class RegionQueries:
    """The network behind a view of explanations.

    Args:
        explanations (Explanations): the samples.
        net (Union[Cell, Callable, None]): the network.
        inputs (Any): its inputs by sample, or None for the pictures of the folder.
        node (Any): the node whose channels are listed, or None for the last convolution.

    Raises:
        TypeError: If an argument has another type, or is of no use without `net`.
    """

    def __init__(self, explanations: Explanations, net: Any, inputs: Any, node: Any) -> None:
        if net is not None and not callable(net):
            raise TypeError(f"For 'explanations', 'net' should be a Cell or a function, but got {type(net).__name__}.")
        for name, value in (("inputs", inputs), ("node", node)):
            if net is None and value is not None:
                raise TypeError(f"For 'explanations', {name!r} needs 'net', the network.")
        if inputs is not None and not isinstance(inputs, (Tensor, np.ndarray, Dataset)):
            raise TypeError(
                "For 'explanations', 'inputs' should be a Tensor, an array or a data set, but got "
                f"{type(inputs).__name__}."
            )
        self._explanations, self._net, self._inputs, self._node = explanations, net, inputs, node
        self._last: tuple[Any, PictureRelevance | None] = (None, None)

    @property
    def has_network(self) -> bool:
        """True if regions can be asked for."""
        return self._net is not None

    def rank(self, sample: int, label: int, box: Box, graph: bool = False) -> tuple[dict[str, Any], list[bytes]]:
        """Return (answer, buffers): the channels and nodes that carry a region.

        Args:
            sample (int): number of the sample.
            label (int): the label whose score is explained.
            box (tuple[float]): top, left, bottom, right, as shares of the picture.
            graph (bool): True to return the graph with the relevance of each node instead. Default: False.
        """
        relevance = self._compute_relevance(sample, label)
        if graph:
            return {}, [self._mark_graph(relevance, box), page.packed(GRAPH_MODULE)]
        node = relevance.select_node(self._node)
        region = relevance.measure(node, box)
        order = np.argsort(-np.abs(region.channels), kind="stable")[:_CHANNELS]
        maps = relevance.get_map(node)[order]
        measured = [relevance.measure(one, box) for one in relevance.list_nodes()]
        convolutions = [one for one in measured if one.node.op.startswith("Conv") or one.node.id == node.id]
        answer = {
            "node": name_of_node(node),
            "line": short_line(line_of(node)) if line_of(node) else "",
            "cells": region.box,
            "size": list(relevance.get_map(node).shape),
            "score": relevance.score,
            "relevance": region.relevance,
            "share": region.share,
            "is_exact": self._inputs is not None,
            "channels": [{"channel": int(at), "relevance": float(region.channels[at])} for at in order],
            "nodes": [
                {"node": name_of_node(one.node), "relevance": one.relevance, "share": one.share}
                for one in sorted(convolutions, key=lambda one: -one.share)[:_NODES]
            ],
        }
        return answer, [_scale_maps(maps)]

    def _mark_graph(self, relevance, box):
        view = GraphView(relevance.graph)
        regions = {node.id: relevance.measure(node, box) for node in relevance.list_nodes()}
        nodes = list(relevance.graph.all_nodes())
        view.set_column(
            "region",
            {
                "values": [regions[node.id].share if node.id in regions else None for node in nodes],
                "note": [_describe_node(regions[node.id]) if node.id in regions else None for node in nodes],
                "label": "share of the relevance in the region",
                "fold": "max",
            },
        )
        return view.payload

    def _compute_relevance(self, sample: int, label: int) -> PictureRelevance:
        key, relevance = self._last
        if relevance is None or key != (sample, label):
            self._last = None, None  # free the maps before the next ones are computed
            relevance = PictureRelevance(self._net, Tensor(self._read_input(sample), float32), label)
            self._last = (sample, label), relevance
        return relevance

    def _read_input(self, sample):
        """Return the input of a sample, of shape (1, C, H, W)."""
        if self._inputs is None:
            return self._read_picture(sample)
        if isinstance(self._inputs, Dataset):
            self._inputs = _read_first_column(self._inputs)
        count = len(self._inputs)
        if not 0 <= sample < count:
            raise ValueError(f"'inputs' has {count} pictures, but sample {sample} is asked for.")
        inputs = self._inputs.asnumpy() if isinstance(self._inputs, Tensor) else self._inputs
        return inputs[sample : sample + 1]

    def _read_picture(self, sample):
        from PIL import Image

        with Image.open(self._explanations.resolve(self._explanations.samples[sample].image_path)) as picture:
            pixels = np.asarray(picture if picture.mode in ("L", "RGB") else picture.convert("RGB"), np.float32) / 255
        return pixels[None, None] if pixels.ndim == 2 else np.moveaxis(pixels, -1, 0)[None]


def _read_first_column(dataset):
    """Return the first column of a data set as one array, in the order of an ImageClassificationRunner."""
    with fixed_order():
        rows = [row[0] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    return np.concatenate(rows) if rows[0].ndim == 4 else np.stack(rows)


def _describe_node(region):
    best = int(np.argmax(np.abs(region.channels)))
    return f"{region.share:.1%} of the relevance, channel {best} most: {region.channels[best]:.3g}"


def _scale_maps(maps):
    """Return maps as bytes: 128 is 0, and the largest magnitude of all maps is 1 or 255."""
    largest = max(float(np.abs(maps).max(initial=0)), 1e-30)
    return np.uint8(np.round(maps / largest * 127) + 128).tobytes()
