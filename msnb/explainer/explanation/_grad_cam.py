"""GradCAM: the activations of a layer, weighted by their gradients."""

import difflib
import re

from msnb._checkparam import check_value_type
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.tracing import evaluating
from msnb.explainer._arguments import as_labels, check_images
from msnb.explainer.explanation._attribution import Attribution
from msnb.insight import attribution
from msnb.nn.cell import Cell

_PATH = re.compile(r"[\w.]*")


class GradCAM(Attribution):
    r"""Saliency by class activation: the activations of a layer, weighted by their mean gradients.

    .. math::
        \alpha_k = \frac{1}{Z} \sum_i \sum_j \frac{\partial{y}}{\partial{A_{i,j}^k}}, \qquad
        map = ReLU\left(\sum_k \alpha_k A^k\right)

    The map is resized bilinearly to the size of the image. See https://arxiv.org/abs/1610.02391.

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.
        layer (str): Name of the Cell whose output is used, usually the last convolution; or a query of a node, as in
            the search of the graph view, such as "op:ReLU line:12". Default: '', the image.

    Inputs:
        - **inputs** (Tensor) - Images (N, C, H, W).
        - **targets** (Union[Tensor, int]) - One label for all images, or labels (N,).

    Outputs:
        Tensor, saliency maps (N, 1, H, W).

    Raises:
        TypeError: If an argument or input is of another type.
        ValueError: If there is no such layer, a shape does not fit, or a label is not the number of an output.

    Examples:
        >>> from mindspore.explainer.explanation import GradCAM
        >>> network = nn.SequentialCell([nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dense(4 * 8 * 8, 4)])
        >>> grad_cam = GradCAM(network, layer="0")
        >>> grad_cam(Tensor(np.ones((1, 3, 8, 8)), mindspore.float32), 2).shape
        (1, 1, 8, 8)
    """

    def __init__(self, network: Cell, layer: str = ""):
        super().__init__(network)
        check_value_type("layer", layer, str, "GradCAM")
        names = [name for name, _ in network.cells_and_names()]
        if _PATH.fullmatch(layer) and layer not in names:
            similar = difflib.get_close_matches(layer, names, n=3, cutoff=0.5) or [name for name in names if name][:12]
            raise ValueError(
                f"For 'GradCAM', 'layer' should be the name of a Cell of the network, but got {layer!r}. "
                f"It has, for example: {', '.join(similar)}."
            )
        self._layer = layer

    def __call__(self, inputs: Tensor, targets: Tensor | int) -> Tensor:
        """Return the saliency maps of images for labels."""
        check_images(inputs, "GradCAM")
        labels = as_labels(targets, len(inputs), "GradCAM")[:, 0]
        with evaluating(self._network):
            return Tensor(attribution.grad_cam(self._network, inputs, labels, self._layer), inputs.dtype)
