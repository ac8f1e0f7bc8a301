"""Metrics, and functions that find a metric by name."""

from typing import Any

from msnb.common.arguments import uncalled
from msnb.nn.metrics.accuracy import Accuracy
from msnb.nn.metrics.bleu_score import BleuScore
from msnb.nn.metrics.confusion_matrix import ConfusionMatrix, ConfusionMatrixMetric
from msnb.nn.metrics.cosine_similarity import CosineSimilarity
from msnb.nn.metrics.dice import Dice
from msnb.nn.metrics.error import MAE, MSE
from msnb.nn.metrics.fbeta import F1, Fbeta
from msnb.nn.metrics.hausdorff_distance import HausdorffDistance
from msnb.nn.metrics.loss import Loss
from msnb.nn.metrics.mean_surface_distance import MeanSurfaceDistance, RootMeanSquareDistance
from msnb.nn.metrics.metric import Metric, rearrange_inputs
from msnb.nn.metrics.occlusion_sensitivity import OcclusionSensitivity
from msnb.nn.metrics.perplexity import Perplexity
from msnb.nn.metrics.precision import Precision
from msnb.nn.metrics.recall import Recall
from msnb.nn.metrics.roc import ROC, auc
from msnb.nn.metrics.topk import Top1CategoricalAccuracy, Top5CategoricalAccuracy, TopKCategoricalAccuracy

__all__ = [
    "names",
    "get_metric_fn",
    "Accuracy",
    "MAE",
    "MSE",
    "Metric",
    "rearrange_inputs",
    "Precision",
    "Recall",
    "Fbeta",
    "F1",
    "TopKCategoricalAccuracy",
    "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy",
    "Loss",
    "get_metrics",
    "BleuScore",
    "ConfusionMatrix",
    "ConfusionMatrixMetric",
    "CosineSimilarity",
    "Dice",
    "HausdorffDistance",
    "MeanSurfaceDistance",
    "OcclusionSensitivity",
    "Perplexity",
    "ROC",
    "RootMeanSquareDistance",
    "auc",
]

__factory__: dict[str, Any] = {
    "accuracy": Accuracy,
    "acc": Accuracy,
    "precision": Precision,
    "recall": Recall,
    "F1": F1,
    "topk": TopKCategoricalAccuracy,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "mae": MAE,
    "mse": MSE,
    "loss": Loss,
    "dice": Dice,
    "roc": ROC,
    "auc": auc,
    "bleu_score": BleuScore,
    "cosine_similarity": CosineSimilarity,
    "occlusion_sensitivity": OcclusionSensitivity,
    "hausdorff_distance": HausdorffDistance,
    "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance,
    "perplexity": Perplexity,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
}


def names() -> list[str]:
    """
    Return the names of metrics that `Model(metrics=...)` and `get_metric_fn` accept.

    Returns:
        list[str], sorted.
    """
    return sorted(__factory__)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Metric:
    """
    Return a new metric by name.

    Args:
        name (str): One of `names()`.
        args: Arguments of the metric.
        kwargs: Keyword arguments of the metric.

    Returns:
        Metric.

    Raises:
        KeyError: If `name` is unknown.

    Examples:
        >>> metric = nn.get_metric_fn('precision', eval_type='classification')
    """
    make = __factory__.get(name)
    if make is None:
        raise KeyError(f"There is no metric {name!r}; the names are {', '.join(names())}.")
    return make(*args, **kwargs)


def get_metrics(metrics: dict[str, Metric] | set[str] | None) -> dict[str, Metric] | None:
    """
    Return the `metrics` argument of a Model as a dict {name: Metric}.

    Args:
        metrics (Union[dict, set, None]): A dict {name: Metric}, a set of names, or None.

    Returns:
        Union[dict, None], names with metrics.

    Raises:
        TypeError: If `metrics` is none of the above, or holds something of the wrong type.
    """
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in metrics}
    if metrics is not None and not isinstance(metrics, dict):
        got = uncalled(metrics) or repr(metrics)
        raise TypeError(f"'metrics' should be None, a set of names or a dict, but got {got}.")
    wrong = [item for item in (metrics or {}).items() if not (isinstance(item[0], str) and isinstance(item[1], Metric))]
    if wrong:
        name, metric = wrong[0]
        got = uncalled(metric) or repr(metric)
        raise TypeError(f"'metrics' as a dict should hold names and metrics, but {name!r} is {got}.")
    return metrics
