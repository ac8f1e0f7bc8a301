"""RISE: the mean of random masks, weighted by the probability of the masked image."""

from collections.abc import Iterator

import numpy as np

from msnb.common.seed import get_seed
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.tracing import evaluating
from msnb.explainer._arguments import as_labels, check_images, check_range
from msnb.explainer._compiled import compile_for, pad
from msnb.explainer._progress import Reporter
from msnb.explainer.explanation._attribution import PerturbationAttribution
from msnb.nn.cell import Cell


class RISE(PerturbationAttribution):
    r"""Saliency by randomized input sampling: the image is multiplied by random masks.

    The map is the mean of 6,000 masks, each weighted by the probability of the label for the masked image:

    .. math::
        map = \frac{1}{n} \sum_{i=1}^{n} f_c(I \odot M_i)  M_i

    A mask is a random grid of 10 x 10 cells, each 1 with probability 0.5, enlarged bilinearly by 10 pixels more than
    the image, and cropped at a random position. The masks are equal for all images and in every call. They depend on
    `mindspore.set_seed`. See https://arxiv.org/abs/1806.07421.

    The mean of the masks so far is available while the explainer runs. Ctrl-C stops it.

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.
        activation_fn (Cell): Layer that turns logits into probabilities, such as nn.Softmax() or nn.Sigmoid().
        perturbation_per_eval (int): Number of masked images in one call of the network. Default: 32.

    Inputs:
        - **inputs** (Tensor) - Images (N, C, H, W).
        - **targets** (Union[Tensor, int]) - One label for all images, labels (N,), or several labels of each image,
          (N, l).

    Outputs:
        Tensor, saliency maps (N, l, H, W) in the dtype of `inputs`; l is 1 unless `targets` has two axes.

    Attributes:
        partial_saliency (Tensor): The maps after the masks of the last call so far, also if Ctrl-C has stopped it;
            None before the first call.

    Raises:
        TypeError: If an argument or input is of another type.
        ValueError: If a shape does not fit, or a label is not the number of an output.
        KeyboardInterrupt: At a Ctrl-C.

    Examples:
        >>> from mindspore.explainer.explanation import RISE
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 4)])
        >>> rise = RISE(network, nn.Softmax(), perturbation_per_eval=500)
        >>> images = Tensor(np.ones((2, 3, 8, 8)), mindspore.float32)
        >>> rise(images, Tensor([[0, 1, 2], [1, 2, 3]], mindspore.int32)).shape
        (2, 3, 8, 8)
    """

    _unit = "masks"

    def __init__(self, network: Cell, activation_fn: Cell, perturbation_per_eval: int = 32):
        super().__init__(network, activation_fn, perturbation_per_eval)
        self._num_masks = 6000
        self._mask_probability = 0.5
        self._down_sample_size = 10
        self.partial_saliency: Tensor | None = None

    def __call__(self, inputs: Tensor, targets: Tensor | int) -> Tensor:
        """Return the saliency maps of images for labels."""
        check_images(inputs, "RISE")
        labels = as_labels(targets, len(inputs), "RISE", n_axes=2)
        images = inputs.asnumpy().astype(np.float32, copy=False)
        sums = np.zeros((*labels.shape, *images.shape[2:]), np.float64)
        saliency = Tensor(sums.astype(np.float32), inputs.dtype)
        function = compile_for(self._network, self._activation_fn, _mask_and_sum, self._perturbation_per_eval)
        self.partial_saliency, done = None, 0
        try:
            with Reporter(self, self._num_masks, self._unit) as reporter, evaluating(self._network):
                reporter.report(0, 0, saliency.asnumpy)
                for grids, rows, columns, is_mask in self._draw_masks(*images.shape[2:]):
                    masks = [Tensor(each) for each in (grids, rows, columns, is_mask)]
                    batch_sums = np.zeros_like(sums)
                    for index, image in enumerate(images):
                        batch_sum, probabilities = function(Tensor(image), Tensor(labels[index]), *masks)
                        if not done:
                            check_range(labels[index], probabilities.shape[1], "RISE")
                        batch_sums[index] = batch_sum.asnumpy()
                    count = int(is_mask.sum())
                    sums, done = sums + batch_sums, done + count
                    self.partial_saliency = saliency = Tensor((sums / done).astype(np.float32), inputs.dtype)
                    reporter.report(done, count, saliency.asnumpy)
        except KeyboardInterrupt as error:
            if done and not error.args:
                error.args = (
                    f"RISE was stopped after {done:,} of {self._num_masks:,} masks; `partial_saliency` of the "
                    f"explainer is the mean of these.",
                )
            raise
        return saliency

    def _count_steps(self, n_images: int, height: int, width: int) -> int:
        return self._num_masks

    def _draw_masks(self, height, width) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield batches of masks as (grids, rows, columns, is_mask).

        A mask is ``rows[i] @ grids[i] @ columns[i].T``: interpolation is linear along each axis. The last batch is
        padded; `is_mask` is 0 there.
        """
        size, batch = self._down_sample_size, self._perturbation_per_eval
        random = np.random.default_rng(get_seed() or 0)
        in_rows, in_columns = (_make_interpolation(size, length + size) for length in (height, width))
        for start in range(0, self._num_masks, batch):
            count = min(batch, self._num_masks - start)
            grids = (random.random((count, size, size)) < self._mask_probability).astype(np.float32)
            shifts = random.integers(0, size + 1, (2, count, 1))
            rows = in_rows[shifts[0] + np.arange(height)]
            columns = in_columns[shifts[1] + np.arange(width)]
            yield tuple(pad(each, batch) for each in (grids, rows, columns, np.ones(count, np.float32)))


def _make_interpolation(size, length):
    """Return the float32 matrix (length, size) of linear interpolation between the centres of cells."""
    positions = (np.arange(length) + 0.5) * size / length - 0.5
    distances = np.abs(np.clip(positions, 0, size - 1)[:, None] - np.arange(size))
    return np.maximum(1 - distances, 0).astype(np.float32)


def _mask_and_sum(probabilities):
    def rise(image, labels, grids, rows, columns, is_mask):
        count, height, width = len(grids), rows.shape[1], columns.shape[1]
        masks = rows.matmul(grids).matmul(columns.transpose(0, 2, 1))
        all_probabilities = probabilities(image.expand_dims(0) * masks.expand_dims(1))
        weights = all_probabilities.transpose(1, 0)[labels] * is_mask
        sums = weights.matmul(masks.reshape(count, height * width)).reshape(len(labels), height, width)
        return sums, all_probabilities

    return rise
