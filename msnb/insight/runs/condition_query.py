"""The first step of a recorded run in which a condition of `msnb.watch` is met."""

import fnmatch
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.insight.runs.run import Run
from msnb.insight.runs.values import Histogram
from msnb.insight.watchpoints.conditions import Verdict, Watchpoint, check, is_met

_KINDS = ("tensor", "scalar", "histogram")
_OF_HISTOGRAM = {"max": "most", "min": "least", "mean": "mean"}  # statistic -> attribute of a Histogram


class Match(NamedTuple):
    """The first step of a run in which a condition is met.

    Attributes:
        run (str): Name of the run.
        step (int): The step.
        tag (str): Name of the recorded value.
        parameter (str): The parameter of the condition that is met; "" if it has none.
        preset (Union[float, None]): The value of the parameter.
        actual (float): The number that was compared; for overflow the number of NaN and infinities.
    """

    run: str
    step: int
    tag: str
    parameter: str
    preset: float | None
    actual: float


def find_first_match(name: str, run: Run, watchpoint: Watchpoint, nodes: str | Sequence[str]) -> Match | None:
    """Return the first match of a run, or None. `nodes` are patterns of recorded names, as in `fnmatch`."""
    matches = []
    for kind, tag in list_tags(run, nodes):
        for step, verdict in _iterate_verdicts(run, kind, tag, watchpoint):
            if verdict.met:
                matches.append(Match(name, step, tag, *verdict.met[0]))
                break
    return min(matches, key=lambda match: match.step, default=None)


def list_tags(run: Run, nodes: str | Sequence[str]) -> list[tuple[str, str]]:
    """Return (kind, name) of the recorded numbers, tensors and histograms whose names match `nodes`."""
    patterns = [nodes] if isinstance(nodes, str) else nodes
    tags = run.tags
    return [(kind, tag) for kind in _KINDS for tag in tags[kind] if any(fnmatch.fnmatchcase(tag, p) for p in patterns)]


def _iterate_verdicts(run: Run, kind: str, tag: str, watchpoint: Watchpoint) -> Iterator[tuple[int, Verdict]]:
    if kind == "histogram":
        for histogram in run.histograms(tag):
            yield histogram.step, _check_histogram(watchpoint, histogram, tag)
        return
    if kind == "scalar":
        series = run.scalar(tag)
        steps_and_values: Any = zip(series.steps.tolist(), series.values, strict=True)
    else:
        steps_and_values = ((value.step, value.array) for value in run.tensors(tag))
    previous = None
    for step, value in steps_and_values:
        array = np.asarray(value)
        if watchpoint.function is None:
            yield step, check(watchpoint, array, previous)
        else:
            is_true = bool(np.asarray(watchpoint.call_function(array)).any())
            yield step, Verdict([("", None, float(is_true))] if is_true else [])
        previous = array


def _check_histogram(watchpoint: Watchpoint, histogram: Histogram, tag: str) -> Verdict:
    n_bad = histogram.nan + histogram.above + histogram.below
    if watchpoint.condition.is_overflow:
        return Verdict([("", None, n_bad)] if n_bad else [])
    statistics = {name: name.rpartition("_")[0] for name in watchpoint.tests}
    missing = [name for name, statistic in statistics.items() if statistic not in _OF_HISTOGRAM]
    if missing or watchpoint.function is not None or watchpoint.is_per_channel:
        raise ValueError(
            f"'{tag}' is recorded as a histogram, which has the minimum, maximum and mean of the values, but "
            f"{watchpoint.title} needs the values. Record them with TensorSummary, or select other names with 'nodes'."
        )
    if n_bad:  # as for a watchpoint: a tensor with NaN or infinities is not compared
        return Verdict([])
    met = []
    for name, preset in watchpoint.tests.items():
        actual = getattr(histogram, _OF_HISTOGRAM[statistics[name]])
        if is_met(name, preset, actual):
            met.append((name, preset, actual))
    return Verdict(met)
