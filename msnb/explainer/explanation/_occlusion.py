"""Occlusion: the loss of probability if a window of the image is covered."""

import numpy as np

from msnb import ops
from msnb.common import dtype as mstype
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.tracing import evaluating
from msnb.explainer._arguments import as_labels, check_images, check_range
from msnb.explainer._compiled import compile_for, pad
from msnb.explainer.explanation._attribution import PerturbationAttribution
from msnb.nn.cell import Cell

_WINDOWS_PER_AXIS = 32


class Occlusion(PerturbationAttribution):
    """Saliency by occlusion: a window slides over the image, and its pixels are set to 0.

    The importance of a pixel is the absolute value of the mean loss of probability over the windows that cover it.
    Along an axis of more than 32 pixels the window has length // 32 pixels and moves by its own size. Along a shorter
    axis it has 3 pixels and moves by 1. Pixels at the end of an axis that no window reaches have importance 0. See
    https://arxiv.org/abs/1311.2901.

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.
        activation_fn (Cell): Layer that turns logits into probabilities, such as nn.Softmax() or nn.Sigmoid().
        perturbation_per_eval (int): Number of covered images in one call of the network. Default: 32.

    Inputs:
        - **inputs** (Tensor) - Images (N, C, H, W).
        - **targets** (Union[Tensor, int]) - One label for all images, or labels (N,).

    Outputs:
        Tensor, float32 saliency maps (N, 1, H, W).

    Raises:
        TypeError: If an argument or input is of another type.
        ValueError: If a shape does not fit, or a label is not the number of an output.

    Examples:
        >>> from mindspore.explainer.explanation import Occlusion
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 4)])
        >>> occlusion = Occlusion(network, nn.Softmax())
        >>> occlusion(Tensor(np.ones((1, 3, 8, 8)), mindspore.float32), 2).shape
        (1, 1, 8, 8)
    """

    def __init__(self, network: Cell, activation_fn: Cell, perturbation_per_eval: int = 32):
        super().__init__(network, activation_fn, perturbation_per_eval)

    def __call__(self, inputs: Tensor, targets: Tensor | int) -> Tensor:
        """Return the saliency maps of images for labels."""
        check_images(inputs, "Occlusion")
        labels = as_labels(targets, len(inputs), "Occlusion")
        images = inputs.asnumpy().astype(np.float32, copy=False)
        windows = _list_windows(*images.shape[2:])
        maps = np.zeros((len(images), 1, *images.shape[2:]), np.float32)
        with evaluating(self._network):
            for index, image in enumerate(images):
                probabilities = self._predict_covered(image, windows)
                check_range(labels[index], probabilities.shape[1], "Occlusion")
                of_label = probabilities[:, labels[index, 0]]
                maps[index, 0] = np.abs(_average(of_label[0] - of_label[1:], windows[1:], maps.shape[2:]))
        return Tensor(maps)

    def _predict_covered(self, image, windows):
        """Return the probabilities (number of windows, K) of an image with each window covered."""
        size, outputs = self._perturbation_per_eval, []
        function = compile_for(self._network, self._activation_fn, _cover_and_predict, size)
        for start in range(0, len(windows), size):
            batch = windows[start : start + size]
            outputs.append(function(Tensor(image), Tensor(pad(batch, size))).asnumpy()[: len(batch)])
        return np.concatenate(outputs)


def _list_windows(height, width):
    """Return the windows as int32 rows (top, bottom, left, right). The first one is empty: the original image."""

    def spans(length):
        window, stride = (length // _WINDOWS_PER_AXIS,) * 2 if length > _WINDOWS_PER_AXIS else (3, 1)
        starts = np.arange(0, length - window + 1, stride)
        return [(start, start + window) for start in starts]

    windows = [(*rows, *columns) for rows in spans(height) for columns in spans(width)]
    return np.array([(0, 0, 0, 0), *windows], np.int32)


def _average(losses, windows, shape):
    """Return the mean of the losses of the windows that cover each pixel, 0 where there is none."""
    total, count = np.zeros(shape), np.zeros(shape)
    for loss, (top, bottom, left, right) in zip(losses, windows, strict=True):
        total[top:bottom, left:right] += loss
        count[top:bottom, left:right] += 1
    return total / np.maximum(count, 1)


def _cover_and_predict(probabilities):
    def occlusion(image, windows):
        _, height, width = image.shape
        rows = ops.arange(height).reshape(1, height)
        columns = ops.arange(width).reshape(1, width)
        in_rows = ops.logical_and(rows >= windows[:, 0:1], rows < windows[:, 1:2])
        in_columns = ops.logical_and(columns >= windows[:, 2:3], columns < windows[:, 3:4])
        is_covered = ops.logical_and(in_rows.expand_dims(2), in_columns.expand_dims(1)).expand_dims(1)
        return probabilities(image.expand_dims(0) * (1 - is_covered.astype(mstype.float32)))

    return occlusion
