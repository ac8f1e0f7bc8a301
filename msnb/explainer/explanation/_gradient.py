"""Explainers that are gradients of a logit with respect to the image."""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.exchange.tracing import evaluating
from msnb.explainer._arguments import as_labels, check_images
from msnb.explainer.explanation._attribution import Attribution
from msnb.insight import attribution


class _GradientAttribution(Attribution):
    """Base class of explainers that reduce a gradient to a map."""

    def _explain(self, inputs: Any, targets: Any, compute: Callable[[Tensor, np.ndarray], np.ndarray]) -> Tensor:
        """Return the largest absolute value over the channels of ``compute(inputs, labels)``."""
        owner = type(self).__name__
        check_images(inputs, owner)
        labels = as_labels(targets, len(inputs), owner)[:, 0]
        with evaluating(self._network):
            gradients = compute(inputs, labels)
        return Tensor(np.abs(gradients).max(axis=1, keepdims=True), inputs.dtype)


class Gradient(_GradientAttribution):
    r"""Saliency by the gradient of the logit of a label with respect to the image.

    The importance of a pixel is the largest absolute value over its channels:

    .. math::
        map = \max_{channels} \left|\frac{\partial{y}}{\partial{x}}\right|

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.

    Inputs:
        - **inputs** (Tensor) - Images (N, C, H, W).
        - **targets** (Union[Tensor, int]) - One label for all images, or labels (N,).

    Outputs:
        Tensor, saliency maps (N, 1, H, W).

    Raises:
        TypeError: If an argument or input is of another type.
        ValueError: If a shape does not fit, or a label is not the number of an output.

    Examples:
        >>> from mindspore.explainer.explanation import Gradient
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 4)])
        >>> gradient = Gradient(network)
        >>> gradient(Tensor(np.ones((2, 3, 8, 8)), mindspore.float32), Tensor([0, 3], mindspore.int32)).shape
        (2, 1, 8, 8)
    """

    def __call__(self, inputs: Tensor, targets: Tensor | int) -> Tensor:
        """Return the saliency maps of images for labels."""
        return self._explain(inputs, targets, lambda x, labels: attribution.gradient(self._network, x, labels))


class _ModifiedReLU(_GradientAttribution):
    """Base class of explainers with another gradient at ReLU nodes."""

    _rule: str

    def __call__(self, inputs: Tensor, targets: Tensor | int) -> Tensor:
        """Return the saliency maps of images for labels."""
        return self._explain(
            inputs,
            targets,
            lambda x, labels: attribution.modified_relu_gradient(self._network, x, labels, self._rule),
        )


class Deconvolution(_ModifiedReLU):
    """Saliency by deconvolution: as `Gradient`, but only positive gradients pass a ReLU, for all its inputs.

    The rule applies to each ReLU and ReLU6 of the graph: Cells, functions and Tensor methods. See
    https://arxiv.org/abs/1311.2901.

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.

    Inputs:
        - **inputs** (Tensor) - Images (N, C, H, W).
        - **targets** (Union[Tensor, int]) - One label for all images, or labels (N,).

    Outputs:
        Tensor, saliency maps (N, 1, H, W).

    Raises:
        TypeError: If an argument or input is of another type.
        ValueError: If a shape does not fit, or a label is not the number of an output.

    Examples:
        >>> from mindspore.explainer.explanation import Deconvolution
        >>> network = nn.SequentialCell([nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dense(4 * 8 * 8, 4)])
        >>> deconvolution = Deconvolution(network)
        >>> deconvolution(Tensor(np.ones((1, 3, 8, 8)), mindspore.float32), 2).shape
        (1, 1, 8, 8)
    """

    _rule = "deconvolution"


class GuidedBackprop(_ModifiedReLU):
    """Saliency by guided backpropagation: as `Gradient`, but only positive gradients pass a ReLU, for positive inputs.

    The rule applies to each ReLU and ReLU6 of the graph: Cells, functions and Tensor methods. See
    https://arxiv.org/abs/1412.6806.

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.

    Inputs:
        - **inputs** (Tensor) - Images (N, C, H, W).
        - **targets** (Union[Tensor, int]) - One label for all images, or labels (N,).

    Outputs:
        Tensor, saliency maps (N, 1, H, W).

    Raises:
        TypeError: If an argument or input is of another type.
        ValueError: If a shape does not fit, or a label is not the number of an output.

    Examples:
        >>> from mindspore.explainer.explanation import GuidedBackprop
        >>> network = nn.SequentialCell([nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dense(4 * 8 * 8, 4)])
        >>> guided = GuidedBackprop(network)
        >>> guided(Tensor(np.ones((1, 3, 8, 8)), mindspore.float32), 2).shape
        (1, 1, 8, 8)
    """

    _rule = "guided"
