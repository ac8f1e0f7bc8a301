"""Robustness: the change of a map if the image changes a little."""

import numpy as np

from msnb import log
from msnb.common.seed import get_seed
from msnb.core.tensor.tensor import Tensor
from msnb.explainer._arguments import check_cell
from msnb.explainer._compiled import predict
from msnb.explainer.benchmark._metric import LabelSensitiveMetric
from msnb.explainer.explanation._attribution import Attribution
from msnb.nn.cell import Cell


class Robustness(LabelSensitiveMetric):
    r"""Score of the largest change of a map under small noise.

    Uniform noise from -0.2 to 0.2 is added to the image 10 times. With the map e(x) the score is

    .. math::
        \exp\left(-\max_{i} \frac{\left\|e(x_i) - e(x)\right\|}{\left\|e(x)\right\|}\right)

    A draw is repeated up to 2 times if it changes the probabilities by more than 0.1 (Euclidean distance). The noise is
    equal in every call and depends on `mindspore.set_seed`.

    Args:
        num_labels (int): The number of labels, which is the number of outputs of the network.
        activation_fn (Cell): Layer that turns logits into probabilities, such as nn.Softmax() or nn.Sigmoid().

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If `num_labels` is not positive.

    Examples:
        >>> from mindspore.explainer.benchmark import Robustness
        >>> from mindspore.explainer.explanation import Gradient
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 4)])
        >>> image = Tensor(np.ones((1, 3, 8, 8)), mindspore.float32)
        >>> Robustness(4, nn.Softmax()).evaluate(Gradient(network), image, 2).tolist()
        [1.0]
    """

    def __init__(self, num_labels: int, activation_fn: Cell):
        super().__init__(num_labels)
        check_cell("activation_fn", activation_fn, "Robustness")
        self._activation_fn = activation_fn
        self._num_perturbations = 10
        self._radius = 0.2
        self._threshold = 0.1
        self._num_attempts = 3

    def evaluate(
        self, explainer: Attribution, inputs: Tensor, targets: Tensor | int, saliency: Tensor | None = None
    ) -> np.ndarray:
        """Return the score of an explainer for one image and label.

        Args:
            explainer (Attribution): The explainer.
            inputs (Tensor): An image (1, C, H, W).
            targets (Union[Tensor, int]): The label.
            saliency (Tensor): The map (1, 1, H, W). Default: None, the explainer computes it.

        Returns:
            numpy.ndarray, float64[1]. NaN if the map is 0.

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If a shape does not fit, or a label is not the number of an output.
        """
        self._check_call(explainer, inputs, targets, saliency)
        saliency = explainer(inputs, targets) if saliency is None else saliency
        original = saliency.asnumpy().astype(np.float64)
        norm = np.linalg.norm(original)
        if norm == 0:
            log.warning("Robustness: the map is 0 everywhere, so its score is NaN.")
            return np.array([np.nan])
        changes = [
            np.linalg.norm(explainer(Tensor(noisy, inputs.dtype), targets).asnumpy() - original)
            for noisy in self._draw_noisy_images(explainer.network, inputs.asnumpy())
        ]
        return np.array([np.exp(-np.max(changes) / norm)])

    def _draw_noisy_images(self, network, image):
        random = np.random.default_rng(get_seed() or 0)
        (original,) = predict(network, self._activation_fn, image)
        for _ in range(self._num_perturbations):
            noisy = image
            for _ in range(self._num_attempts):
                noisy = (image + random.uniform(-self._radius, self._radius, image.shape)).astype(image.dtype)
                (probabilities,) = predict(network, self._activation_fn, noisy)
                if np.linalg.norm(probabilities - original) <= self._threshold:
                    break
            yield noisy
