"""How much each setting of many runs matters for a metric: permutation importance of a small forest.

A forest learns the metric from the settings. Each tree then judges the runs that it has not seen, once as they are and
once with a setting dealt anew among them: by how much it errs more is what the setting is worth to it (Breiman, Machine
Learning 45, 2001). MindInsight takes the correlation of one setting with the metric, which sees no optimum in the
middle and nothing that two settings do together.

The forest is our own: of 30 to 1,000 synthetic runs its shares are nearer to the true ones than those of scikit-learn's
random forest and not quite as near as those of its extremely randomised one, in a quarter to a twentieth of their time
and without the seconds and the 50 MB of the import.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.insight.runs.forest import Forest
from msnb.insight.runs.table import METRIC, OPERATION, SETTING, Table

_FEW = 12  # runs; below, a forest finds whatever chance has put there
_UNSURE = 0.1  # share of the spread that a forest has to explain of runs that it has not seen
_WORDS = 64  # more different texts than this tell runs apart and nothing of them
_DEALS = 3  # how often a setting is dealt anew


class Row(NamedTuple):
    """What one setting is worth.

    Attributes:
        name (str): The setting.
        key (str): The column that it is.
        share (float): Its part of what all settings are worth, from 0 to 1.
        error (float): Standard error of `share`, over the trees.
        trend (Union[float, None]): Spearman's rank correlation with the metric, from -1 to 1: whether more of it goes
            with more of the metric. None for words.
    """

    name: str
    key: str
    share: float
    error: float
    trend: float | None


class Importance:
    """What the settings of many runs are worth for one metric.

    Attributes:
        target (str): The metric.
        rows (list[Row]): The settings, the one that matters most first.
        runs (int): How many runs it was learned from.
        explained (Union[float, None]): Share of the metric's spread that the forest explains of runs that it has not
            seen (R²), at most 1. None where it was not asked.
        note (str): Why not to believe it, or why there are no rows; empty where there is no reason.
    """

    def __init__(self, target: str, rows: list[Row], runs: int, explained: float | None, note: str) -> None:
        self.target, self.rows, self.runs, self.explained, self.note = target, rows, runs, explained, note

    def as_dict(self) -> dict[str, Any]:
        """The same, of what JSON knows."""
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
            way = "" if row.trend is None else f"  rank correlation {row.trend:+.2f}"
            lines.append(f"{row.share:6.1%} ± {row.error:5.1%}  {row.name}{way}")
        return "\n".join(lines)


def importance(
    table: Table, target: str | None = None, among: Sequence[str] | None = None, seed: int = 0
) -> Importance:
    """How much each setting and dataset operation matters for a metric.

    Args:
        table (Table): The runs.
        target (str): The metric. Default: None, `Table.target`.
        among (Sequence[str]): Names of the runs to look at. Default: None, all.
        seed (int): Of the forest. Default: 0.

    Returns:
        Importance. With fewer than 12 runs, or settings that explain nothing, it says so.

    Raises:
        KeyError: If there is no such metric, or run.
        ValueError: If no run has a number there.

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
    known = {name: at for at, name in enumerate(table.names)}
    missing = [name for name in among or () if name not in known]
    if missing:
        raise KeyError(f"there is no run {missing[0]!r}")
    kept = np.array([known[name] for name in among] if among is not None else range(len(table)), np.int64)
    values = column.array()[kept]
    kept, values = kept[np.isfinite(values)], values[np.isfinite(values)]
    columns = [c for c in table.of_group(SETTING, OPERATION) if _tells(c, kept)]
    why = _why_not(target, columns, values)
    if why:
        return Importance(target, [], len(values), None, why)
    words = [0 if c.number else len(c.words) for c in columns]
    features = np.stack([c.array()[kept] for c in columns], 1)
    forest = Forest(features, words, _ranks(values), seed)
    shares, errors, explained = _worth(forest, _ranks(values), len(columns))
    rows = [
        Row(c.name, c.key, float(shares[at]), float(errors[at]), _trend(features[:, at], values) if c.number else None)
        for at, c in enumerate(columns)
    ]
    note = ""
    if explained < _UNSURE:
        note = f"These settings explain next to nothing of {target}: do not believe the order."
    elif len(values) < 3 * _FEW:
        note = f"{len(values)} runs are few: take the order as a hint."
    return Importance(target, sorted(rows, key=lambda row: -row.share), len(values), float(explained), note)


def _tells(column, kept):
    values = [column.values[at] for at in kept]
    different = set(map(str, values))
    return (
        column.group != METRIC
        and len(different) > 1
        and (column.number or len(different) <= min(_WORDS, len(values) / 2))
    )


def _why_not(target, columns, values):
    if len(values) < _FEW:
        return (
            f"{len(values)} run{'' if len(values) == 1 else 's'} with {target}: {_FEW} are needed to say what matters."
        )
    if not columns:
        return "The settings of these runs do not differ, so nothing can be said of what matters."
    if np.ptp(values) == 0:
        return f"{target} is {values[0]:.6g} in all of these runs: nothing matters for it."
    return ""


def _ranks(values):
    """From 0 to 1: one run that went astray, with a loss of 1e9, is the last and not the only one that counts."""
    different, place, many = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(many) - (many + 1) / 2
    return middle[place] / max(len(values) - 1, 1)


def _worth(forest, target, features):
    """(shares, their standard errors, R² of unseen runs)."""
    tree, run, truth = forest.tree, forest.run, target[forest.run]
    trees = int(tree.max(initial=0)) + 1
    judged = np.maximum(np.bincount(tree, minlength=trees), 1)

    def error(said):
        return np.bincount(tree, (said - truth) ** 2, trees) / judged

    plain = forest.said()
    before = error(plain)
    worth = np.stack([np.mean([error(forest.said(at)) for _ in range(_DEALS)], 0) - before for at in range(features)])
    asked = np.bincount(run, minlength=len(target))
    mean = (np.bincount(run, plain, len(target)) / np.maximum(asked, 1))[asked > 0]
    known = target[asked > 0]
    explained = 1 - np.mean((mean - known) ** 2) / max(np.var(known), 1e-300)
    shares = np.maximum(worth.mean(1), 0.0)
    whole = shares.sum() or 1.0
    return shares / whole, worth.std(1) / np.sqrt(trees) / whole, explained


def _trend(values, target):
    both = ~np.isnan(values)
    if both.sum() < 3 or np.ptp(values[both]) == 0 or np.ptp(target[both]) == 0:
        return None
    return float(np.corrcoef(_ranks(values[both]), _ranks(target[both]))[0, 1])
