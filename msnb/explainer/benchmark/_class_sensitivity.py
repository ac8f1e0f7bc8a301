"""Class sensitivity: the difference between the maps of the surest and the least sure label."""

import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.explainer._compiled import predict
from msnb.explainer.benchmark._metric import LabelAgnosticMetric, correlate
from msnb.explainer.explanation._attribution import Attribution


class ClassSensitivity(LabelAgnosticMetric):
    """Score of the difference between the maps for the labels of highest and lowest logit.

    The score is (1 - correlation of the two maps) / 2, from 0 to 1. A constant map has correlation 0.

    Examples:
        >>> from mindspore.explainer.benchmark import ClassSensitivity
        >>> from mindspore.explainer.explanation import Gradient
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 4)])
        >>> image = Tensor(np.ones((1, 3, 8, 8)), mindspore.float32)
        >>> ClassSensitivity().evaluate(Gradient(network), image).shape
        (1,)
    """

    def evaluate(self, explainer: Attribution, inputs: Tensor) -> np.ndarray:
        """Return the score of an explainer for one image.

        Args:
            explainer (Attribution): The explainer.
            inputs (Tensor): An image (1, C, H, W).

        Returns:
            numpy.ndarray, float64[1].

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If `inputs` is not one image.
        """
        self._check_explainer(explainer, inputs)
        (logits,) = predict(explainer.network, None, inputs.asnumpy())
        surest, least_sure = (
            explainer(inputs, Tensor(np.array([label], np.int32))).asnumpy().reshape(-1)
            for label in (logits.argmax(), logits.argmin())
        )
        return np.array([(1 - correlate(surest, least_sure)) / 2])
