"""`Precision`: the fraction of predictions of a class that are correct."""

from msnb.nn.metrics._evaluation import ShareOfTruePositives

__all__ = ["Precision"]


class Precision(ShareOfTruePositives):
    r"""
    Precision of each class: TP / (TP + FP).

    Args:
        eval_type (str): "classification" or "multilabel". Default: "classification".

    Raises:
        TypeError: If `eval_type` is neither.

    Examples:
        >>> x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]))
        >>> metric = nn.Precision('classification')
        >>> metric.update(x, Tensor(np.array([1, 0, 1])))
        >>> print(metric.eval())
        [0.5 1. ]
    """

    def _select_divisor_array(self, predicted, true):
        return predicted
