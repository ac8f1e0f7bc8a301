"""`Recall`: the fraction of the samples of a class that are predicted as this class."""

from msnb.nn.metrics._evaluation import ShareOfTruePositives

__all__ = ["Recall"]


class Recall(ShareOfTruePositives):
    r"""
    Recall of each class: TP / (TP + FN).

    Args:
        eval_type (str): "classification" or "multilabel". Default: "classification".

    Raises:
        TypeError: If `eval_type` is neither.

    Examples:
        >>> x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]))
        >>> metric = nn.Recall('classification')
        >>> metric.update(x, Tensor(np.array([1, 0, 1])))
        >>> print(metric.eval())
        [1.  0.5]
    """

    def _select_divisor_array(self, predicted, true):
        return true
