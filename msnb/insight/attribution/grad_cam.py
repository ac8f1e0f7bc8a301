"""Grad-CAM and Grad-CAM++: a map of the activations of a node, weighted by their gradients."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.insight.attribution.traced_network import Call, Source
from msnb.insight.debugger.names import place_of_node

_EPSILON = 1e-6  # of the denominator of Grad-CAM++


def compute_grad_cam(source: Source, inputs: list[Any], indices: Any, is_plus_plus: bool) -> tuple[Any, Any]:
    """Return (maps of shape (N, 1, H, W) in the size of the activations, scores)."""
    activations = source.read(inputs)
    gradients, scores = source.differentiate(activations, inputs, indices)
    activations, gradients = activations.astype(jnp.float32), gradients.astype(jnp.float32)
    spatial = (2, 3)
    if is_plus_plus:
        squares = gradients**2
        sums = jnp.sum(activations, axis=spatial, keepdims=True)
        shares = jnp.where(gradients != 0, squares / (2 * squares + sums * squares * gradients + _EPSILON), 0)
        weights = jnp.sum(jnp.maximum(gradients, 0) * shares, axis=spatial, keepdims=True)
    else:
        weights = jnp.mean(gradients, axis=spatial, keepdims=True)
    return jnp.maximum(jnp.sum(weights * activations, axis=1, keepdims=True), 0), scores


def resize_map(maps: Any, size: tuple[int, int]) -> Any:
    """Resize maps of shape (N, C, H, W) bilinearly; corners are not aligned."""
    shape = (*maps.shape[:2], *size)
    return maps if shape == maps.shape else jax.image.resize(maps, shape, "bilinear", antialias=False)


def run_grad_cam(call: Call, is_plus_plus: bool = False) -> tuple[Any, Any]:
    """Return (maps of shape (N, 1, H, W) in the size of the input, scores) of a call."""
    point = call.source.point
    shape = call.attributed.shape if point is None else point.shape
    if len(shape) != 4:
        at = "The input" if point is None else place_of_node(point.node)
        raise ValueError(
            f"Grad-CAM needs activations of shape (N, C, H, W), but {at} has the shape {list(shape)}. Select a "
            "convolution with `node`."
        )
    height, width = call.attributed.shape[2:] if len(call.attributed.shape) == 4 else shape[2:]

    def compute(source, inputs, indices):
        maps, scores = compute_grad_cam(source, inputs, indices, is_plus_plus)
        return resize_map(maps, (height, width)), scores

    return call.run(("grad_cam", is_plus_plus), compute)


def grad_cam(net: Any, inputs: Any, targets: Any, node: Any = "") -> np.ndarray:
    """Return Grad-CAM maps: activations of a node times the mean of their gradients, summed over channels, above 0.

    Args:
        net (Union[Cell, Callable]): the network; it returns scores of shape (N, classes).
        inputs (Tensor): the inputs, of shape (N, C, H, W).
        targets (Union[int, Sequence[int], Tensor]): class of each example.
        node (Any): path of a Cell, such as ``"layer4"``, or a query of a node as in the search of the graph view, such
            as ``"op:ReLU line:12"``. Of several matches the last one is used, which is the output of a Cell. Default:
            "", the input.

    Returns:
        numpy.ndarray of shape (N, 1, H, W), resized bilinearly to the size of the input.

    Raises:
        ValueError: If no node matches; the message has the nearest names.
    """
    return np.asarray(run_grad_cam(Call(net, (inputs,), targets, node))[0])


def grad_cam_plus_plus(net: Any, inputs: Any, targets: Any, node: Any = "") -> np.ndarray:
    """Return Grad-CAM++ maps. They weight positive gradients by their share, which suits several objects of a class.

    Args:
        net (Union[Cell, Callable]): as for `grad_cam`.
        inputs (Tensor): as for `grad_cam`.
        targets (Union[int, Sequence[int], Tensor]): as for `grad_cam`.
        node (Any): as for `grad_cam`. Default: "".

    Returns:
        numpy.ndarray of shape (N, 1, H, W), resized bilinearly to the size of the input.
    """
    return np.asarray(run_grad_cam(Call(net, (inputs,), targets, node), is_plus_plus=True)[0])
