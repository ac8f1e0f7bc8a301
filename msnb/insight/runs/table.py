"""Many runs as one table: a row for each run, a column for each setting, dataset operation and metric."""

import json
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

SETTING, OPERATION, METRIC = "setting", "data", "metric"
_LONG = 200  # characters of one value; a path or a list of layers may be of any length
_CROWDED = 0.25  # of the way from the least to the largest value: where half of the values may be
_DEEP = 4  # levels of settings within settings that get names of their own
# metrics of which more is better; of all others less is
_MORE = (
    "acc",
    "auc",
    "f1",
    "precision",
    "recall",
    "bleu",
    "dice",
    "iou",
    "map",
    "psnr",
    "ssim",
    "reward",
    "score",
    "r2",
)


class Column(NamedTuple):
    """One column of a table of runs.

    Attributes:
        name (str): As it was recorded; settings within settings are joined by dots, `optimizer.lr`.
        group (str): "setting", "data" or "metric".
        values (list): One per run, None where a run has none; floats and ints where `number` is true, else text.
        number (bool): Whether all values are numbers.
    """

    name: str
    group: str
    values: list[Any]
    number: bool

    @property
    def key(self) -> str:
        """What tells it from a column of another group that has the same name."""
        return f"{self.group}:{self.name}"

    @property
    def words(self) -> list[Any]:
        """The different values, numbers in their order, texts in that of the alphabet."""
        return sorted({value for value in self.values if value is not None})

    @property
    def varies(self) -> bool:
        """Whether two runs differ in it; that one run lacks it is a difference."""
        return len(set(map(str, self.values))) > 1

    @property
    def logarithmic(self) -> bool:
        """Whether an axis is better told in powers: the values are positive, spread over two decades, and crowd at the
        lower end."""
        if not self.number:
            return False
        finite = sorted(value for value in self.values if value is not None and math.isfinite(value))
        if not finite or finite[0] <= 0 or finite[-1] < 100 * finite[0]:
            return False
        return finite[len(finite) // 2] < finite[0] + _CROWDED * (finite[-1] - finite[0])

    def array(self) -> np.ndarray:
        """The values as float64, NaN where there is none; texts as their number in `words`."""
        if self.number:
            return np.array([math.nan if value is None else float(value) for value in self.values])
        at = {word: i for i, word in enumerate(self.words)}
        return np.array([math.nan if value is None else float(at[value]) for value in self.values])


class Table:
    """Runs as rows.

    Args:
        names (Sequence[str]): What each run is called, in its collection.
        columns (Sequence[Column]): All of one length.

    Raises:
        KeyError: From ``table[name]``, if there is no such column; it names those that are there.

    Examples:
        >>> from msnb.insight.runs import Table
        >>> table = Table.of(["a", "b"], [{"lr": 0.1}, {"lr": 0.01}], [{}, {}], [{"loss": 2.0}, {"loss": 1.5}])
        >>> table["lr"].values, table["lr"].varies, table.best("loss")
        ([0.1, 0.01], True, 'b')
    """

    def __init__(self, names: Sequence[str], columns: Sequence[Column]) -> None:
        self.names: list[str] = list(names)
        self.columns: list[Column] = list(columns)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        settings: Sequence[Mapping[str, Any]],
        operations: Sequence[Mapping[str, Any]],
        metrics: Sequence[Mapping[str, Any]],
    ) -> "Table":
        """The table of what is known of each run.

        Args:
            names (Sequence[str]): The runs.
            settings (Sequence[Mapping]): Hyper-parameters of each; what holds others is taken apart.
            operations (Sequence[Mapping]): Dataset operations of each.
            metrics (Sequence[Mapping]): The last value of each metric.

        Returns:
            Table.
        """
        columns = []
        for group, rows in ((SETTING, settings), (OPERATION, operations), (METRIC, metrics)):
            flat = [_flat(row) for row in rows]
            for name in dict.fromkeys(name for row in flat for name in row):
                columns.append(_column(name, group, [row.get(name) for row in flat]))
        return cls(names, columns)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: str) -> bool:
        return any(name in (column.name, column.key) for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        found = [column for column in self.columns if name in (column.key, column.name)]
        if not found:
            raise KeyError(
                f"the runs have no {name!r}; they have {', '.join(c.name for c in self.columns) or 'nothing'}"
            )
        return found[0]

    def of_group(self, *groups: str) -> list[Column]:
        """The columns of some groups."""
        return [column for column in self.columns if column.group in groups]

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each run, as ``pandas.DataFrame`` takes them."""
        return [
            {"run": name, **{column.name: column.values[at] for column in self.columns}}
            for at, name in enumerate(self.names)
        ]

    def target(self) -> str | None:
        """The metric that the runs are most likely to be compared by: one that most of them have, told of the
        validation rather than of the training, and better the larger it is."""
        metrics = [column for column in self.of_group(METRIC) if column.number]

        def merit(column):
            name = column.name.lower()
            there = sum(value is not None for value in column.values)
            return (
                there,
                column.varies,
                any(w in name for w in ("val", "eval", "test")),
                more_is_better(name),
                -len(name),
            )

        return max(metrics, key=merit).name if metrics else None

    def best(self, target: str, goal: str | None = None) -> str | None:
        """The run with the best value of a metric; None where no run has a number there.

        Args:
            target (str): The metric.
            goal (str): "minimize" or "maximize". Default: None, as the metric's name says.
        """
        values = self[target].array()
        if not np.isfinite(values).any():
            return None
        up = more_is_better(target) if goal is None else goal == "maximize"
        values = np.where(np.isfinite(values), values, -math.inf if up else math.inf)
        return self.names[int(np.argmax(values) if up else np.argmin(values))]


def more_is_better(metric: str) -> bool:
    """Whether a metric of this name, as far as one can tell, is better the larger it is."""
    words = metric.lower().replace("-", "_").replace("/", "_").replace(".", "_").split("_")
    return any(word.startswith(_MORE) for word in words) and not any("loss" in word or "err" in word for word in words)


def _flat(values, before="", depth=0):
    """Settings within settings as one level, with dots between the names."""
    found = {}
    for name, value in values.items():
        name = f"{before}{name}"
        if isinstance(value, Mapping) and value and depth < _DEEP:
            found.update(_flat(value, f"{name}.", depth + 1))
        else:
            found[name] = value
    return found


def _column(name, group, values):
    if all(value is None or _is_number(value) for value in values):
        return Column(name, group, [_plain(value) for value in values], any(value is not None for value in values))
    return Column(name, group, [None if value is None else _text(value) for value in values], False)


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _plain(value):
    if value is None or isinstance(value, (int, float)):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _text(value):
    """A value in words; what JSON can say is said as JSON says it, so that equal settings look equal."""
    if isinstance(value, str):
        text = value
    elif _is_number(value):
        text = f"{value:.6g}"
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            text = str(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
