"""A table of many runs: a row for each run, a column for each setting, dataset operation and metric."""

import json
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

SETTING, OPERATION, METRIC = "setting", "data", "metric"
_MAX_TEXT = 200  # characters of one value; a path or a list of layers may be of any length
_CROWDED_FRACTION = 0.25  # an axis is logarithmic if the lower half of the values is within this fraction of the range
_MAX_DEPTH = 4  # nested settings are flattened to this depth
# metrics that are maximized; all others are minimized
_HIGHER_IS_BETTER = (
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
        name (str): The recorded name; nested settings are joined by dots, `optimizer.lr`.
        group (str): "setting", "data" or "metric".
        values (list): One value per run, None if the run has none. The values are numbers if `number` is True,
            otherwise text.
        number (bool): True if all values are numbers.
    """

    name: str
    group: str
    values: list[Any]
    number: bool

    @property
    def key(self) -> str:
        """A key that is unique across groups."""
        return f"{self.group}:{self.name}"

    @property
    def words(self) -> list[Any]:
        """The different values, sorted."""
        return sorted({value for value in self.values if value is not None})

    @property
    def varies(self) -> bool:
        """True if two runs differ in it. A missing value is a difference."""
        return len(set(map(str, self.values))) > 1

    @property
    def logarithmic(self) -> bool:
        """True if a logarithmic axis is suitable: the values are positive, cover two decades, and most are near the
        lower end.
        """
        if not self.number:
            return False
        finite = sorted(value for value in self.values if value is not None and math.isfinite(value))
        if not finite or finite[0] <= 0 or finite[-1] < 100 * finite[0]:
            return False
        return finite[len(finite) // 2] < finite[0] + _CROWDED_FRACTION * (finite[-1] - finite[0])

    def array(self) -> np.ndarray:
        """Return the values as float64, NaN where there is none. Texts are represented by their index in `words`."""
        if self.number:
            return np.array([math.nan if value is None else float(value) for value in self.values])
        index_of = {word: i for i, word in enumerate(self.words)}
        return np.array([math.nan if value is None else float(index_of[value]) for value in self.values])


class Table:
    """A table of runs.

    Args:
        names (Sequence[str]): Name of each run in its collection.
        columns (Sequence[Column]): Columns of equal length.

    Raises:
        KeyError: Raised by ``table[name]`` if there is no such column. The message lists the existing ones.

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
        """Build a table from dicts.

        Args:
            names (Sequence[str]): The runs.
            settings (Sequence[Mapping]): Hyper-parameters of each run; nested ones are flattened.
            operations (Sequence[Mapping]): Dataset operations of each run.
            metrics (Sequence[Mapping]): The last value of each metric, for each run.

        Returns:
            Table.
        """
        columns = []
        for group, rows in ((SETTING, settings), (OPERATION, operations), (METRIC, metrics)):
            flat = [_flatten_settings(row) for row in rows]
            for name in dict.fromkeys(name for row in flat for name in row):
                columns.append(_build_column(name, group, [row.get(name) for row in flat]))
        return cls(names, columns)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: str) -> bool:
        return any(name in (column.name, column.key) for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        matches = [column for column in self.columns if name in (column.key, column.name)]
        if not matches:
            raise KeyError(
                f"the runs have no {name!r}; they have {', '.join(c.name for c in self.columns) or 'nothing'}"
            )
        return matches[0]

    def of_group(self, *groups: str) -> list[Column]:
        """Return the columns of some groups."""
        return [column for column in self.columns if column.group in groups]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for each run, as accepted by ``pandas.DataFrame``."""
        return [
            {"run": name, **{column.name: column.values[index] for column in self.columns}}
            for index, name in enumerate(self.names)
        ]

    def target(self) -> str | None:
        """Return the metric for comparing the runs. The preferred metric is present in most runs, is of the validation,
        and is better if it is higher.
        """
        metrics = [column for column in self.of_group(METRIC) if column.number]

        def sort_key(column):
            name = column.name.lower()
            count = sum(value is not None for value in column.values)
            return (
                count,
                column.varies,
                any(w in name for w in ("val", "eval", "test")),
                more_is_better(name),
                -len(name),
            )

        return max(metrics, key=sort_key).name if metrics else None

    def best(self, target: str, goal: str | None = None) -> str | None:
        """Return the run with the best value of a metric; None if no run has a finite value.

        Args:
            target (str): The metric.
            goal (str): "minimize" or "maximize". Default: None, derived from the metric's name.
        """
        values = self[target].array()
        if not np.isfinite(values).any():
            return None
        is_maximized = more_is_better(target) if goal is None else goal == "maximize"
        values = np.where(np.isfinite(values), values, -math.inf if is_maximized else math.inf)
        return self.names[int(np.argmax(values) if is_maximized else np.argmin(values))]


def more_is_better(metric: str) -> bool:
    """Return True if the name of a metric indicates that higher is better."""
    words = metric.lower().replace("-", "_").replace("/", "_").replace(".", "_").split("_")
    return any(word.startswith(_HIGHER_IS_BETTER) for word in words) and not any(
        "loss" in word or "err" in word for word in words
    )


def _flatten_settings(values, prefix="", depth=0):
    """Flatten nested settings, with dots between the names."""
    flat = {}
    for name, value in values.items():
        name = f"{prefix}{name}"
        if isinstance(value, Mapping) and value and depth < _MAX_DEPTH:
            flat.update(_flatten_settings(value, f"{name}.", depth + 1))
        else:
            flat[name] = value
    return flat


def _build_column(name, group, values):
    if all(value is None or _is_number(value) for value in values):
        return Column(
            name, group, [_to_python_number(value) for value in values], any(value is not None for value in values)
        )
    return Column(name, group, [None if value is None else _format_value(value) for value in values], False)


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _to_python_number(value):
    if value is None or isinstance(value, (int, float)):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _format_value(value):
    """Format a value as text. Lists and dicts are formatted as JSON, so equal settings have equal texts."""
    if isinstance(value, str):
        text = value
    elif _is_number(value):
        text = f"{value:.6g}"
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            text = str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
