"""Export the scalars of runs as CSV and JSON."""

import csv
import io
import json
import math
from collections.abc import Sequence

import numpy as np

from msnb.insight.runs.run import Run

HEAD = ("run", "tag", "step", "time", "value")


def to_csv(runs: Sequence[Run], tags: Sequence[str] | None = None) -> str:
    """Return a CSV row for each value: run, tag, step, UNIX seconds, value.

    Args:
        runs (Sequence[Run]): the runs.
        tags (Sequence[str]): the tags to export. Default: None, all.

    Returns:
        str, whose first line has the names of the columns.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEAD)
    for run in runs:
        for tag in run.tags["scalar"]:
            if tags is None or tag in tags:
                steps, times, values = run.scalar(tag)
                exact = map(str, values.astype(np.float32))  # the recorded float32 value: 0.1, not 0.10000000149011612
                writer.writerows(
                    (run.name, tag, step, f"{time:.3f}", value)
                    for step, time, value in zip(steps.tolist(), times.tolist(), exact, strict=True)
                )
    return buffer.getvalue()


def to_json(runs: Sequence[Run]) -> str:
    """Return {id of the run: {tag: {"steps", "times", "values"}}} as JSON. NaN and infinity are strings.

    Args:
        runs (Sequence[Run]): the runs.
    """
    by_run = {}
    for run in runs:
        series = {tag: run.scalar(tag) for tag in run.tags["scalar"]}
        by_run[run.id] = {
            tag: {
                "steps": scalars.steps.tolist(),
                "times": scalars.times.tolist(),
                "values": [value if math.isfinite(value) else str(value) for value in scalars.values.tolist()],
            }
            for tag, scalars in series.items()
        }
    return json.dumps(by_run)
