"""Occlusion: the loss of probability if a window of the image is covered."""

import numpy as np

from msnb import ops
from msnb.common import dtype as mstype
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.tracing import evaluating
from msnb.explainer._arguments import as_labels, check_images, check_range
from msnb.explainer._compiled import compile_for, pad
from msnb.explainer._progress import Reporter
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

    _unit = "windows"

    def __init__(self, network: Cell, activation_fn: Cell, perturbation_per_eval: int = 32):
        super().__init__(network, activation_fn, perturbation_per_eval)

    def __call__(self, inputs: Tensor, targets: Tensor | int) -> Tensor:
        """Return the saliency maps of images for labels."""
        check_images(inputs, "Occlusion")
        labels = as_labels(targets, len(inputs), "Occlusion")
        images = inputs.asnumpy().astype(np.float32, copy=False)
        windows = _list_windows(*images.shape[2:])
        maps, done = np.zeros((len(images), 1, *images.shape[2:]), np.float32), 0
        with Reporter(self, len(images) * len(windows), self._unit) as reporter, evaluating(self._network):
            reporter.report(0, 0, maps.copy)
            for index, image in enumerate(images):
                losses = _Losses(image.shape[1:])
                for batch, probabilities in self._predict_covered(image, windows):
                    check_range(labels[index], probabilities.shape[1], "Occlusion")
                    losses.add(batch, probabilities[:, labels[index, 0]])
                    maps[index, 0] = np.abs(losses.average())
                    done += len(batch)
                    reporter.report(done, len(batch), maps.copy)
        return Tensor(maps)

    def _count_steps(self, n_images: int, height: int, width: int) -> int:
        return n_images * len(_list_windows(height, width))

    def _predict_covered(self, image, windows):
        """Yield batches of windows, and the probabilities (number of windows, K) of the image with each covered."""
        size = self._perturbation_per_eval
        function = compile_for(self._network, self._activation_fn, _cover_and_predict, size)
        for start in range(0, len(windows), size):
            batch = windows[start : start + size]
            yield batch, function(Tensor(image), Tensor(pad(batch, size))).asnumpy()[: len(batch)]


class _Losses:
    """The losses of probability of the windows that cover each pixel of an image.

    Args:
        shape (tuple[int]): Height and width.
    """

    def __init__(self, shape):
        self._total, self._count = np.zeros(shape), np.zeros(shape)
        self._original = None

    def add(self, windows, probabilities):
        """Add the probabilities of the image with each window covered. The first window is the empty one."""
        for window, probability in zip(windows, probabilities, strict=True):
            if self._original is None:
                self._original = probability
            top, bottom, left, right = window
            self._total[top:bottom, left:right] += self._original - probability
            self._count[top:bottom, left:right] += 1

    def average(self):
        """Return the mean of the losses at each pixel, 0 where there is none."""
        return self._total / np.maximum(self._count, 1)


def _list_windows(height, width):
    """Return the windows as int32 rows (top, bottom, left, right). The first one is empty: the original image."""

    def spans(length):
        window, stride = (length // _WINDOWS_PER_AXIS,) * 2 if length > _WINDOWS_PER_AXIS else (3, 1)
        starts = np.arange(0, length - window + 1, stride)
        return [(start, start + window) for start in starts]

    windows = [(*rows, *columns) for rows in spans(height) for columns in spans(width)]
    return np.array([(0, 0, 0, 0), *windows], np.int32)


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
