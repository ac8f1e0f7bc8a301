"""Relevance of nodes and channels for a region of a picture: the activations times the gradient of a score."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.insight.attribution.traced_network import Call
from msnb.insight.debugger.names import place_of_node
from msnb.insight.gradients.rows import is_real
from msnb.insight.instrument import Point
from msnb.ir.anf import CNode, FuncGraph

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class NodeRegion:
    """Relevance of one node in a region.

    Attributes:
        node (CNode): the node.
        box (tuple[int]): first row, first column, behind the last row, behind the last column, in its own pixels.
        channels (numpy.ndarray): relevance of each channel in the region, float32, of shape (C,).
        share (float): absolute relevance in the region, as a share of that of the picture; 0 if there is none.
    """

    node: CNode
    box: tuple[int, int, int, int]
    channels: np.ndarray
    share: float

    @property
    def relevance(self) -> float:
        """Sum over the channels."""
        return float(self.channels.sum())


class PictureRelevance:
    """Relevance of each element of the 4-D nodes of a network for one score of one picture.

    All nodes are differentiated in one compiled program. `Call` documents the errors.

    Args:
        net (Union[Cell, Callable]): the network; it returns scores of shape (1, classes).
        inputs (Union[Tensor, numpy.ndarray]): the picture, of shape (1, C, H, W).
        target (int): index of the score.

    Attributes:
        graph (FuncGraph): the graph of the network.
        score (float): the score.

    Raises:
        ValueError: If the network has no node of shape (1, C, H, W).
    """

    def __init__(self, net: Any, inputs: Any, target: int) -> None:
        call = Call(net, (inputs,), target)
        self._network = call.network
        self.graph: FuncGraph = call.network.graph
        self._points = [point for point in call.network.points if _has_pixels(point)]
        if not self._points:
            raise ValueError(f"{call.network.name} has no node of shape (1, C, H, W), so no channel sees a region.")
        form = call.network.compile("relevance of all nodes", self._build_program)
        maps, score = form(call.inputs, call.indices)
        self._maps = {
            point.node.id: np.asarray(one) for point, one in zip(self._points, maps, strict=True) if point.node
        }
        self.score = float(score)

    def _build_program(self):
        def compute(inputs, indices):
            def compute_score(changes):
                values: list[Any] = [None] * len(changes)

                def replace(at):
                    def add(value):
                        values[at] = value
                        return value + changes[at]

                    return add

                changed = {point: replace(at) for at, point in enumerate(self._points)}
                outputs = self._network.evaluate(inputs, changed)
                return jnp.sum(self._network.compute_scores(outputs, indices)), values

            zeros = [jnp.zeros(point.shape, point.dtype) for point in self._points]
            (score, values), gradients = jax.value_and_grad(compute_score, has_aux=True)(zeros)
            maps = [
                (value.astype(jnp.float32) * gradient.astype(jnp.float32))[0]
                for value, gradient in zip(values, gradients, strict=True)
            ]
            return maps, score

        return compute

    def select_node(self, query: Any = None) -> CNode:
        """Return the node of a Cell's path or a query of the graph view, by default the last convolution.

        Raises:
            ValueError: If no node matches, or the node has no value of shape (1, C, H, W).
        """
        nodes = [point.node for point in self._points if point.node is not None]
        if query is None:
            return next((node for node in reversed(nodes) if node.op.startswith("Conv")), nodes[-1])
        node = self._network.find_node(query)
        if node.id not in self._maps:
            shape = list(node.types[0].shape) if node.types else []
            raise ValueError(f"{place_of_node(node)} has the shape {shape}, not (1, C, H, W). Select another node.")
        return node

    def get_map(self, node: CNode) -> np.ndarray:
        """Return the relevance of a node, float32, of shape (C, H, W)."""
        return self._maps[node.id]

    def measure(self, node: CNode, box: Box) -> NodeRegion:
        """Return the relevance of a node in a region.

        Args:
            node (CNode): a node of `list_nodes`.
            box (tuple[float]): top, left, bottom and right, as shares of the height and the width. Pixels that the
                region touches belong to it.
        """
        relevance = self._maps[node.id]
        height, width = relevance.shape[1:]
        top, left = (min(int(share * size), size - 1) for share, size in zip(box[:2], (height, width), strict=True))
        bottom, right = (
            max(low + 1, min(int(np.ceil(share * size - 1e-9)), size))
            for low, share, size in zip((top, left), box[2:], (height, width), strict=True)
        )
        region = relevance[:, top:bottom, left:right]
        total = float(np.abs(relevance).sum())
        share = float(np.abs(region).sum()) / total if total else 0.0
        return NodeRegion(node, (top, left, bottom, right), region.sum((1, 2)), share)

    def list_nodes(self) -> list[CNode]:
        """Return the nodes with pixels, in the order of execution."""
        return [point.node for point in self._points if point.node is not None]


def _has_pixels(point: Point) -> bool:
    node = point.node
    return (
        node is not None
        and node.direction == "forward"
        and is_real(point.dtype)
        and len(point.shape) == 4
        and point.shape[0] == 1
        and point.shape[2] * point.shape[3] > 1
        and not (point.nested or point.vmapped or point.in_condition)
    )
