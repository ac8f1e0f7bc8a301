"""Changes of values for `msnb.intervene`; a re-export module of `msnb.insight.interventions.changes`."""

from msnb.insight.interventions.changes import (
    apply,
    attribute,
    clamp,
    freeze,
    from_run,
    mean,
    noise,
    project,
    replace,
    resample,
    scale,
    steer,
    zero,
)

__all__ = [
    "apply",
    "attribute",
    "clamp",
    "freeze",
    "from_run",
    "mean",
    "noise",
    "project",
    "replace",
    "resample",
    "scale",
    "steer",
    "zero",
]
