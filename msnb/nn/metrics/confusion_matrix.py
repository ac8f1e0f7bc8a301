"""Confusion matrices and the measures computed from them."""

from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Bool, OneOf, PositiveInt, Str, checked
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["ConfusionMatrix", "ConfusionMatrixMetric"]


class ConfusionMatrix(Metric):
    """
    Confusion matrix: counts of samples by true class (rows) and predicted class (columns).

    Args:
        num_classes (int): Number of classes.
        normalize (str): "no_norm" for counts; or fractions of the sum of each row ("target"), of each column
            ("prediction"), or of the matrix ("all"). Default: "no_norm".
        threshold (float): Score from which the second of two classes is predicted. Default: 0.5.

    Raises:
        TypeError: If `num_classes` is no int, or `threshold` is no float.
        ValueError: If `normalize` is unknown.

    Examples:
        >>> print(nn.ConfusionMatrix(2)(np.array([1, 0, 1, 0]), np.array([1, 0, 0, 1])))
        [[1. 1.]
         [1. 1.]]
    """

    @checked
    def __init__(
        self,
        num_classes: PositiveInt,
        normalize: Annotated[str, OneOf("no_norm", "target", "prediction", "all")] = "no_norm",
        threshold: FiniteFloat = 0.5,
    ) -> None:
        super().__init__()
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `y_pred`, class numbers, scores of two classes (N, ...) or scores (N, C, ...), and `y`, numbers
                (N, ...).

        Raises:
            ValueError: If there are not 2 inputs, or their shapes or values do not fit.
        """
        predicted, true = self._to_arrays(inputs, "y_pred", "y")
        if predicted.ndim == true.ndim + 1:
            predicted = predicted.argmax(axis=1)
        elif np.issubdtype(predicted.dtype, np.floating):
            predicted = predicted >= self.threshold
        if predicted.shape != true.shape:
            raise ValueError(
                f"For 'ConfusionMatrix', 'y_pred' should have the shape of 'y', or an axis of classes more, but got "
                f"{predicted.shape} and {true.shape}."
            )
        rows, columns = true.reshape(-1).astype(int), predicted.reshape(-1).astype(int)
        outside = [n for n in (*rows, *columns) if not 0 <= n < self.num_classes]
        if outside:
            raise ValueError(f"For 'ConfusionMatrix' of {self.num_classes} classes, there is a class {outside[0]}.")
        np.add.at(self.confusion_matrix, (rows, columns), 1)

    def eval(self) -> np.ndarray:
        """
        Return the matrix over all batches since `clear`.

        Returns:
            numpy.ndarray, of shape (C, C).

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        matrix = self.confusion_matrix
        self._check_has_updates(matrix.sum())
        axes = {"target": 1, "prediction": 0, "all": None}
        if self.normalize == "no_norm":
            return matrix.copy()
        totals = np.broadcast_to(matrix.sum(axis=axes[self.normalize], keepdims=True), matrix.shape)
        return np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)


def _divide_or_nan(part, total):
    return np.divide(part, total, out=np.full(np.shape(part), np.nan), where=total != 0)


def _compute_tpr_tnr_ppv_npv(tp, fp, tn, fn):
    return (
        _divide_or_nan(tp, tp + fn),
        _divide_or_nan(tn, tn + fp),
        _divide_or_nan(tp, tp + fp),
        _divide_or_nan(tn, tn + fn),
    )


def _prevalence_threshold(tp, fp, tn, fn):
    sensitivity, specificity, _, _ = _compute_tpr_tnr_ppv_npv(tp, fp, tn, fn)
    return _divide_or_nan(np.sqrt(sensitivity * (1 - specificity)) + specificity - 1, sensitivity + specificity - 1)


def _matthews_correlation(tp, fp, tn, fn):
    return _divide_or_nan(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


# Functions of the numbers of true positives, false positives, true negatives and false negatives.
_MEASURES = {
    "tpr": lambda tp, fp, tn, fn: _divide_or_nan(tp, tp + fn),
    "tnr": lambda tp, fp, tn, fn: _divide_or_nan(tn, tn + fp),
    "ppv": lambda tp, fp, tn, fn: _divide_or_nan(tp, tp + fp),
    "npv": lambda tp, fp, tn, fn: _divide_or_nan(tn, tn + fn),
    "fnr": lambda tp, fp, tn, fn: _divide_or_nan(fn, tp + fn),
    "fpr": lambda tp, fp, tn, fn: _divide_or_nan(fp, tn + fp),
    "fdr": lambda tp, fp, tn, fn: _divide_or_nan(fp, tp + fp),
    "for": lambda tp, fp, tn, fn: _divide_or_nan(fn, tn + fn),
    "pt": _prevalence_threshold,
    "ts": lambda tp, fp, tn, fn: _divide_or_nan(tp, tp + fn + fp),
    "acc": lambda tp, fp, tn, fn: _divide_or_nan(tp + tn, tp + fp + tn + fn),
    "ba": lambda *four: sum(_compute_tpr_tnr_ppv_npv(*four)[:2]) / 2,
    "f1": lambda tp, fp, tn, fn: _divide_or_nan(2 * tp, 2 * tp + fn + fp),
    "mcc": _matthews_correlation,
    "fm": lambda *four: np.sqrt(_compute_tpr_tnr_ppv_npv(*four)[0] * _compute_tpr_tnr_ppv_npv(*four)[2]),
    "bm": lambda *four: sum(_compute_tpr_tnr_ppv_npv(*four)[:2]) - 1,
    "mk": lambda *four: sum(_compute_tpr_tnr_ppv_npv(*four)[2:]) - 1,
}
_NAMES = {
    "tpr": "sensitivity recall hit_rate true_positive_rate",
    "tnr": "specificity selectivity true_negative_rate",
    "ppv": "precision positive_predictive_value",
    "npv": "negative_predictive_value",
    "fnr": "miss_rate false_negative_rate",
    "fpr": "fall_out false_positive_rate",
    "fdr": "false_discovery_rate",
    "for": "false_omission_rate",
    "pt": "prevalence_threshold",
    "ts": "threat_score critical_success_index csi",
    "acc": "accuracy",
    "ba": "balanced_accuracy",
    "f1": "f1_score",
    "mcc": "matthews_correlation_coefficient",
    "fm": "fowlkes_mallows_index",
    "bm": "informedness bookmaker_informedness",
    "mk": "markedness deltap",
}
_BY_NAME = {name: short for short, names in _NAMES.items() for name in (short, *names.split())}

# Reductions of a table of samples by classes: (axes in order, True for the mean and False for the sum).
_DECREASES = {
    "none": ((), False),
    "mean": ((1, 0), True),
    "sum": (((0, 1),), False),
    "mean_batch": ((0,), True),
    "sum_batch": ((0,), False),
    "mean_channel": ((1,), True),
    "sum_channel": ((1,), False),
}


def _reduce_ignoring_nan(chart, how):
    """Return (`chart` reduced by the method `how`; number of its values that are not NaN)."""
    there = (~np.isnan(chart)).astype(float)
    chart = np.nan_to_num(chart)
    axes, by_mean = _DECREASES[how]
    for axis in axes:
        number, chart = there.sum(axis=axis), chart.sum(axis=axis)
        if by_mean:
            chart = np.divide(chart, number, out=np.zeros_like(chart), where=number > 0)
        there = (number > 0).astype(float) if axis != axes[-1] else number
    return chart, there


class ConfusionMatrixMetric(Metric):
    """
    A measure of the true and false positives and negatives of one-hot predictions: sensitivity, precision, accuracy
    and fourteen more.

    Args:
        skip_channel (bool): If False, the first class is left out (the opposite of the name), as in MindSpore. Default:
            True.
        metric_name (str): The measure: accuracy, balanced accuracy, f1 score, precision, sensitivity (or recall),
            specificity, miss rate, fall out, threat score, prevalence threshold, matthews correlation coefficient,
            fowlkes mallows index, informedness, markedness, negative predictive value, false discovery rate, false
            omission rate, or an abbreviation such as "tpr". Default: "sensitivity".
        calculation_method (bool): Whether the measure is computed for each sample and averaged; otherwise the numbers
            of all samples are summed first. Default: False.
        decrease (str): With `calculation_method`, reduction over samples and classes: "none", "mean", "sum",
            "mean_batch", "sum_batch", "mean_channel" or "sum_channel". Default: "mean".

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `decrease` is unknown.
        NotImplementedError: If `metric_name` is unknown.

    Examples:
        >>> metric = nn.ConfusionMatrixMetric(metric_name="tpr")
        >>> print(metric(np.array([[[0], [1]], [[1], [0]]]), np.array([[[0], [1]], [[0], [1]]])))
        [0.5]
    """

    @checked
    def __init__(
        self,
        skip_channel: Bool = True,
        metric_name: Str = "sensitivity",
        calculation_method: Bool = False,
        decrease: Annotated[str, OneOf(*_DECREASES)] = "mean",
    ) -> None:
        super().__init__()
        short = _BY_NAME.get(metric_name.replace(" ", "_").lower())
        if short is None:
            measures = ", ".join(sorted(_BY_NAME))
            raise NotImplementedError(
                f"There is no measure {metric_name!r} of a confusion matrix; there are: {measures}."
            )
        self.metric_name, self._measure = metric_name, _MEASURES[short]
        self.skip_channel, self.calculation_method, self.decrease = skip_channel, calculation_method, decrease
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._total: Any = np.zeros(4)
        self._number: Any = 0
        self._accumulated = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Accumulate a batch.

        Args:
            inputs: `y_pred` and `y`, of one shape (N, C, ...), one-hot over axis 1.

        Raises:
            ValueError: If there are not 2 inputs, their shapes do not fit, or `y` contains other values than 0 and 1.
        """
        predicted, true = self._to_arrays(inputs, "y_pred", "y")
        if predicted.ndim < 2 or predicted.shape != true.shape or not np.isin(true, (0, 1)).all():
            raise ValueError(
                f"For 'ConfusionMatrixMetric', 'y_pred' and 'y' should be one-hot and of one shape, but got "
                f"{predicted.shape} and {true.shape}."
            )
        if not self.skip_channel and true.shape[1] > 1:
            predicted, true = predicted[:, 1:], true[:, 1:]
        predicted, true = (x.reshape(*x.shape[:2], -1).astype(float) for x in (predicted, true))
        right, wrong = (predicted + true == 2).sum(-1), (predicted + true == 0).sum(-1)
        there = true.sum(-1)
        four = (right, true.shape[-1] - there - wrong, wrong, there - right)
        self._accumulated += len(true)
        if not self.calculation_method:
            self._total = self._total + np.array([part.sum() for part in four])
            return
        if true.shape[-1] == 1:
            raise ValueError(
                "For 'ConfusionMatrixMetric', calculation_method=True needs samples of several elements, as in "
                "segmentation; of one class for each sample there is no measure of its own."
            )
        score, number = _reduce_ignoring_nan(self._measure(*(part.astype(float) for part in four)), self.decrease)
        self._total = score * number + (self._total if self._accumulated > len(true) else 0.0)
        self._number = self._number + number

    def eval(self) -> Any:
        """
        Return the measure over all batches since `clear`.

        Returns:
            Union[float, numpy.ndarray].

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._accumulated)
        if not self.calculation_method:
            return self._measure(*self._total[:, None])
        counts = np.asarray(self._number, float)
        means = _divide_or_nan(np.asarray(self._total, float), counts)
        return float(means) if means.ndim == 0 else means
