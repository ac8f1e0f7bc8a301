"""Influence of each setting of many runs on a metric: permutation importance of a small forest.

A forest learns the metric from the settings. Each tree predicts its test runs twice: with the recorded settings, and
with one setting permuted. The increase of the error is the importance of the setting (Breiman, Machine Learning 45,
2001). MindInsight computes the correlation of one setting with the metric, which detects neither an optimum in the
middle nor interactions of settings.

The forest is implemented in msnb. optuna's evaluators were tried on the runs of `tests/insight/test_runs_compared.py`:
- PED-ANOVA is the only one that does not need scikit-learn. It ranks the two settings that matter second and last.
- fANOVA and the mean decrease of impurity skip settings that not all runs have. They need scikit-learn, an import of
  seconds and 50 MB, and take 5 to 100 times as long as this forest.
- None has an R² or standard errors, so noise looks like a result.

On 30 to 1,000 synthetic runs the shares of this forest are closer to the true ones than those of scikit-learn's random
forest, and slightly less close than those of its extremely randomised forest.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.insight.runs.forest import Forest
from msnb.insight.runs.table import METRIC, OPERATION, SETTING, Table

_MIN_RUNS = 12  # minimum number of runs; a forest of fewer runs fits noise
_MIN_EXPLAINED = 0.1  # R² on test runs below which the result is marked as unreliable
_MAX_WORDS = 64  # maximum number of different texts; a setting with more of them identifies the run
_PERMUTATIONS = 3  # permutations of a setting


class Row(NamedTuple):
    """The importance of one setting.

    Attributes:
        name (str): The setting.
        key (str): Key of its column.
        share (float): Share of the setting in the importance of all settings, from 0 to 1.
        error (float): Standard error of `share`, over the trees.
        trend (Union[float, None]): Spearman's rank correlation with the metric, from -1 to 1. None for words.
    """

    name: str
    key: str
    share: float
    error: float
    trend: float | None


class Importance:
    """The importance of the settings of many runs for one metric.

    Attributes:
        target (str): The metric.
        rows (list[Row]): The settings, most important first.
        runs (int): Number of runs.
        explained (Union[float, None]): R² of the forest on test runs, at most 1. None if it was not computed.
        note (str): The reason why the result is unreliable or empty; "" if there is none.
    """

    def __init__(self, target: str, rows: list[Row], runs: int, explained: float | None, note: str) -> None:
        self.target, self.rows, self.runs, self.explained, self.note = target, rows, runs, explained, note

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes in a dict of JSON values."""
        return {
            "target": self.target,
            "runs": self.runs,
            "explained": self.explained,
            "note": self.note,
            "rows": [row._asdict() for row in self.rows],
        }

    def __repr__(self) -> str:
        head = f"What matters for {self.target}, by {self.runs} run{'' if self.runs == 1 else 's'}"
        if self.explained is not None:
            head += f" (a forest explains {max(self.explained, 0):.0%} of its spread)"
        lines = [head, *([self.note] if self.note else [])]
        for row in self.rows:
            trend = "" if row.trend is None else f"  rank correlation {row.trend:+.2f}"
            lines.append(f"{row.share:6.1%} ± {row.error:5.1%}  {row.name}{trend}")
        return "\n".join(lines)


def importance(
    table: Table, target: str | None = None, among: Sequence[str] | None = None, seed: int = 0
) -> Importance:
    """Estimate the influence of each setting and dataset operation on a metric.

    Args:
        table (Table): The runs.
        target (str): The metric. Default: None, `Table.target`.
        among (Sequence[str]): Names of the runs to use. Default: None, all.
        seed (int): Seed of the forest. Default: 0.

    Returns:
        Importance. Its `note` says if there are fewer than 12 runs, or if the settings explain nothing.

    Raises:
        KeyError: If there is no such metric, or run.
        ValueError: If the metric is not a number, or no run has a metric.

    Examples:
        >>> from msnb.insight.runs import Table
        >>> from msnb.insight.runs.importance import importance
        >>> settings = [{"lr": 10.0 ** (i % 5 - 5), "seed": i} for i in range(60)]
        >>> metrics = [{"loss": abs(i % 5 - 2) + 0.0} for i in range(60)]
        >>> importance(Table.of(list(map(str, range(60))), settings, [{}] * 60, metrics)).rows[0].name
        'lr'
    """
    target = table.target() if target is None else target
    if target is None:
        raise ValueError("No run has a metric that is a number: log one, as in run.log({'loss': 0.5}).")
    column = table[target]
    if not column.number:
        raise ValueError(f"{target!r} is no number in these runs, so nothing can matter for it.")
    index_of = {name: index for index, name in enumerate(table.names)}
    missing = [name for name in among or () if name not in index_of]
    if missing:
        raise KeyError(f"there is no run {missing[0]!r}")
    indices = np.array([index_of[name] for name in among] if among is not None else range(len(table)), np.int64)
    values = column.array()[indices]
    indices, values = indices[np.isfinite(values)], values[np.isfinite(values)]
    columns = [c for c in table.of_group(SETTING, OPERATION) if _is_informative(c, indices)]
    reason = _explain_no_result(target, columns, values)
    if reason:
        return Importance(target, [], len(values), None, reason)
    words = [0 if c.number else len(c.words) for c in columns]
    features = np.stack([c.array()[indices] for c in columns], 1)
    forest = Forest(features, words, _compute_normalized_ranks(values), seed)
    shares, errors, explained = _compute_permutation_importance(forest, _compute_normalized_ranks(values), len(columns))
    rows = [
        Row(
            c.name,
            c.key,
            float(shares[index]),
            float(errors[index]),
            _rank_correlation(features[:, index], values) if c.number else None,
        )
        for index, c in enumerate(columns)
    ]
    note = ""
    if explained < _MIN_EXPLAINED:
        note = f"These settings explain next to nothing of {target}: do not believe the order."
    elif len(values) < 3 * _MIN_RUNS:
        note = f"{len(values)} runs are few: take the order as a hint."
    return Importance(target, sorted(rows, key=lambda row: -row.share), len(values), float(explained), note)


def _is_informative(column, indices):
    values = [column.values[index] for index in indices]
    distinct = set(map(str, values))
    return (
        column.group != METRIC
        and len(distinct) > 1
        and (column.number or len(distinct) <= min(_MAX_WORDS, len(values) / 2))
    )


def _explain_no_result(target, columns, values):
    if len(values) < _MIN_RUNS:
        plural = "" if len(values) == 1 else "s"
        return f"{len(values)} run{plural} with {target}: {_MIN_RUNS} are needed to say what matters."
    if not columns:
        return "The settings of these runs do not differ, so nothing can be said of what matters."
    if np.ptp(values) == 0:
        return f"{target} is {values[0]:.6g} in all of these runs: nothing matters for it."
    return ""


def _compute_normalized_ranks(values):
    """Return ranks from 0 to 1. They limit the influence of an outlier, such as a loss of 1e9."""
    distinct, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts + 1) / 2
    return mean_rank[position] / max(len(values) - 1, 1)


def _compute_permutation_importance(forest, target, features):
    """Return shares, their standard errors, and R² on test runs."""
    tree, run, truth = forest.tree, forest.run, target[forest.run]
    trees = int(tree.max(initial=0)) + 1
    test_counts = np.maximum(np.bincount(tree, minlength=trees), 1)

    def error(predictions):
        return np.bincount(tree, (predictions - truth) ** 2, trees) / test_counts

    predictions = forest.predict()
    base_error = error(predictions)
    importances = np.stack(
        [
            np.mean([error(forest.predict(feature)) for _ in range(_PERMUTATIONS)], 0) - base_error
            for feature in range(features)
        ]
    )
    prediction_counts = np.bincount(run, minlength=len(target))
    mean = (np.bincount(run, predictions, len(target)) / np.maximum(prediction_counts, 1))[prediction_counts > 0]
    predicted_target = target[prediction_counts > 0]
    explained = 1 - np.mean((mean - predicted_target) ** 2) / max(np.var(predicted_target), 1e-300)
    shares = np.maximum(importances.mean(1), 0.0)
    total = shares.sum() or 1.0
    return shares / total, importances.std(1) / np.sqrt(trees) / total, explained


def _rank_correlation(values, target):
    is_present = ~np.isnan(values)
    if is_present.sum() < 3 or np.ptp(values[is_present]) == 0 or np.ptp(target[is_present]) == 0:
        return None
    return float(
        np.corrcoef(_compute_normalized_ranks(values[is_present]), _compute_normalized_ranks(target[is_present]))[0, 1]
    )
