"""Metrics; this module re-exports those of its submodules and finds them by name."""

from msnb.nn.metrics.accuracy import Accuracy
from msnb.nn.metrics.error import MAE, MSE
from msnb.nn.metrics.fbeta import F1, Fbeta
from msnb.nn.metrics.loss import Loss
from msnb.nn.metrics.metric import Metric
from msnb.nn.metrics.precision import Precision
from msnb.nn.metrics.recall import Recall
from msnb.nn.metrics.topk import Top1CategoricalAccuracy, Top5CategoricalAccuracy, TopKCategoricalAccuracy

__all__ = [
    "names",
    "get_metric_fn",
    "Accuracy",
    "MAE",
    "MSE",
    "Metric",
    "Precision",
    "Recall",
    "Fbeta",
    "F1",
    "TopKCategoricalAccuracy",
    "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy",
    "Loss",
]

__factory__ = {
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
}


def names():
    """
    The names of the metrics, which `Model(metrics=...)` and `get_metric_fn` understand.

    Returns:
        list[str], sorted.
    """
    return sorted(__factory__)


def get_metric_fn(name, *args, **kwargs):
    """
    Make the metric of a name.

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
    if name not in __factory__:
        raise KeyError(f"Unknown Metric: {name!r}, please use one of {names()}.")
    return __factory__[name](*args, **kwargs)


def get_metrics(metrics):
    """
    The metrics that a Model was given, as a dict.

    Args:
        metrics (Union[dict, set, None]): Names with metrics, names, or nothing.

    Returns:
        Union[dict, None], names with metrics.

    Raises:
        TypeError: If `metrics` is none of the above, or holds something of the wrong type.
    """
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(
                    "A key in metrics should be a str and a value a subclass of Metric, "
                    f"but got {name!r}: {type(metric).__name__}."
                )
        return metrics
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in metrics}
    raise TypeError(f"Metrics should be None, dict or set, but got {metrics!r}.")
