"""The scalars of runs as text that other programs read."""

import csv
import io
import json
import math
from collections.abc import Sequence

import numpy as np

from msnb.insight.runs.run import Run

HEAD = ("run", "tag", "step", "time", "value")


def to_csv(runs: Sequence[Run], tags: Sequence[str] | None = None) -> str:
    """A row for each value: run, tag, step, UNIX seconds, value.

    Args:
        runs (Sequence[Run]): the runs.
        tags (Sequence[str]): which tags. Default: None, all.

    Returns:
        str, with a line of names above.
    """
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(HEAD)
    for run in runs:
        for tag in run.tags["scalar"]:
            if tags is None or tag in tags:
                steps, times, values = run.scalar(tag)
                exact = map(str, values.astype(np.float32))  # as it was recorded: 0.1, not 0.10000000149011612
                writer.writerows(
                    (run.name, tag, step, f"{time:.3f}", value)
                    for step, time, value in zip(steps.tolist(), times.tolist(), exact, strict=True)
                )
    return made.getvalue()


def to_json(runs: Sequence[Run]) -> str:
    """{id of the run: {tag: {"steps", "times", "values"}}}; what is no finite number is a text.

    Args:
        runs (Sequence[Run]): the runs.
    """
    found = {}
    for run in runs:
        series = {tag: run.scalar(tag) for tag in run.tags["scalar"]}
        found[run.id] = {
            tag: {
                "steps": one.steps.tolist(),
                "times": one.times.tolist(),
                "values": [value if math.isfinite(value) else str(value) for value in one.values.tolist()],
            }
            for tag, one in series.items()
        }
    return json.dumps(found)
