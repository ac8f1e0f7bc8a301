"""Diagnose a training from a recording, in words.

Gradients are compared by their root mean square, which does not grow with the number of elements.
"""

import dataclasses
import math
from collections.abc import Collection, Sequence
from typing import Any, Protocol, Self

import numpy as np

from msnb.insight.gradients.records import NonFinite, Step
from msnb.insight.gradients.rows import SATURATES, Row
from msnb.insight.gradients.text_format import listed, num, place_of, times

RECENT = 10  # steps that a diagnosis uses
_DECADES = 3.0  # a fall or rise over the layers by this many powers of ten is reported
_TREND = 0.7  # minimum rank correlation with depth that is reported as a trend
_TINY = 1e-12  # a smaller RMS has no effect in float32
_DEAD, _SATURATED = 0.3, 0.5
_LARGE_UPDATE = 1.0  # change of a Parameter in one step / its norm; a larger one is reported
_JUMP = 1e3  # gradient norm / median of earlier steps; a larger one is reported


@dataclasses.dataclass(frozen=True)
class Finding:
    """One diagnosis.

    Attributes:
        kind (str): "failed" (to record), "nonfinite", "vanishing", "exploding", "dead", "saturated", "missing", "flat",
            "constant" or "update".
        severity (str): "error" or "warning".
        text (str): a sentence or two.
        names (tuple[str]): the affected rows.
        source (Union[tuple, None]): (file, line, function) to look at.
        step (Union[int, None]): the affected step.
    """

    kind: str
    severity: str
    text: str
    names: tuple[Any, ...] = ()
    source: tuple[Any, ...] | None = None
    step: int | None = None

    def __str__(self) -> str:
        return self.text


class Observations(Protocol):
    """Protocol: the members of a `Recording` that diagnoses read. It avoids a cyclic import of `recording`."""

    problem: str
    nonfinite: NonFinite | None
    operators: list[tuple[int, str]]
    untrained: list[str]
    unread: list[str]

    @property
    def steps(self) -> Sequence[Step]: ...

    @property
    def cut_off(self) -> Collection[str] | None: ...

    def settle(self) -> Self: ...

    def rows(self, kind: str | None = None) -> list[Row]: ...

    def values(self, row: Row, step: Step) -> np.ndarray: ...

    def dead_units(self, row: Row, steps: Sequence[Step] | None = None) -> np.ndarray | None: ...


def find(recording: Observations) -> list[Finding]:
    """Return the findings of a recording, the most severe first.

    Args:
        recording (Recording): the recording.

    Returns:
        list[Finding].
    """
    recording.settle()
    findings = []
    if recording.problem:
        missing = "later steps are missing here" if recording.steps else "nothing was recorded"
        findings.append(Finding("failed", "error", f"{recording.problem}. So {missing}."))
    if recording.nonfinite is not None:
        where = recording.nonfinite
        findings.append(Finding("nonfinite", "error", where.describe(), (where.name,), where.source, where.step))
    if recording.steps:
        for judge in (
            _check_trend_over_layers,
            _check_trend_over_steps,
            _find_missing_gradients,
            _find_constant_gradients,
            _find_dead_units,
            _find_saturated_activations,
            _find_large_updates,
        ):
            findings += judge(recording)
    return sorted(findings, key=lambda f: f.severity != "error")


# ---------------------------------------------------------------------- over the layers
def _check_trend_over_layers(recording):
    """Report gradients that fall or rise by orders of magnitude from the output toward the input."""
    rows = [r for r in recording.rows("parameter") if len(r.shape) > 1 and r.order < 10**6]
    steps = _list_finite_steps(recording)[-RECENT:]
    if len(rows) < 3 or not steps:
        return []
    rms = np.array([[_compute_gradient_rms(recording, row, step) for step in steps] for row in rows])
    level = np.array([_compute_finite_median(line) for line in rms])
    if np.isnan(level).any() or (level == 0).all():
        return []
    # An exact zero in one layer is not an effect of depth if deeper layers have a gradient. `_find_missing_gradients`
    # reports such a layer.
    zero = level == 0
    nonzero = np.flatnonzero(~zero)
    if len(nonzero) < 3 and not (zero[0] and len(nonzero)):
        return []
    logs = np.log10(np.maximum(level, 1e-45))
    trend = _rank_correlation(np.arange(len(rows)), logs)
    first, last = _compute_end_quarter_medians(logs)
    fall = last - first
    if trend >= _TREND and fall >= _DECADES:
        a, b = rows[0], rows[-1]
        factor = 10 ** (fall / (len(rows) - 1))
        text = (
            f"The gradients vanish toward the input: an element of {b.name} has {num(level[-1])} (RMS), one of "
            f"{a.name} {num(level[0])}, {times(10 ** min(fall, 300))} less over {len(rows)} layers "
            f"(about {factor:.2g}x per layer). {_describe_vanishing_cause(recording, a, b)}"
        )
        return [Finding("vanishing", "error", text.strip(), tuple(r.name for r in rows), a.source)]
    if trend <= -_TREND and -fall >= _DECADES:
        a, b = rows[0], rows[-1]
        factor = 10 ** (-fall / (len(rows) - 1))
        text = (
            f"The gradients explode toward the input: an element of {b.name} has {num(level[-1])} (RMS), one of "
            f"{a.name} {num(level[0])}, {times(10 ** min(-fall, 300))} more over {len(rows)} layers (about "
            f"{factor:.2g}x per layer). Smaller initial weights, normalisation or clipping "
            f"(ops.clip_by_global_norm) keep them in bounds."
        )
        return [Finding("exploding", "error", text, tuple(r.name for r in rows), a.source)]
    if (level[nonzero] < _TINY).all():
        return [
            Finding(
                "vanishing",
                "error",
                f"All gradients are below {_TINY:g} (RMS): the loss does not react to any Parameter.",
                tuple(r.name for r in rows),
            )
        ]
    return []


def _compute_end_quarter_medians(logs):
    """Return the medians of the first and of the last quarter of a list, which has a value per layer."""
    count = max(1, len(logs) // 4)
    return float(np.median(logs[:count])), float(np.median(logs[-count:]))


def _describe_vanishing_cause(recording, first, last):
    """Return a sentence about the operators between two layers that may shrink gradients, with a remedy."""
    between = [op for place, op in recording.operators if first.order <= place <= last.order]
    count = {op: between.count(op) for op in ("Sigmoid", "Tanh")}
    if count["Sigmoid"] > 1:
        return (
            f"{count['Sigmoid']} Sigmoids stand between them, and each passes on at most a quarter of a gradient: "
            f"ReLU with He initialisation (HeNormal), or BatchNorm before the Sigmoid, keeps it alive."
        )
    if count["Tanh"] > 1:
        return (
            f"{count['Tanh']} Tanh stand between them and pass on little where they are saturated: smaller initial "
            f"weights (XavierUniform), BatchNorm or ReLU help."
        )
    return "Larger initial weights (HeNormal), normalisation or residual connections help."


# ---------------------------------------------------------------------- over the steps
def _check_trend_over_steps(recording):
    """Report a jump or a steady growth of the total gradient norm during the training."""
    steps = _list_finite_steps(recording)
    rows = recording.rows("parameter")
    if len(steps) < 5 or not rows:
        return []
    total = np.array([math.sqrt(np.nansum([recording.values(r, s)[0] ** 2 for r in rows])) for s in steps])
    for at in range(4, len(steps)):
        before = np.median(total[:at])
        if before > 0 and total[at] > _JUMP * before and total[at] > 1:
            return [
                Finding(
                    "exploding",
                    "error",
                    f"Step {steps[at].number}: the norm of all gradients jumps to {num(total[at])}, "
                    f"{times(total[at] / before)} of the median before. A lower learning rate, or clipping "
                    f"(ops.clip_by_global_norm), prevents it.",
                    (),
                    None,
                    steps[at].number,
                )
            ]
    return []


def _find_missing_gradients(recording):
    """Report Parameters without a gradient."""
    findings = []
    if recording.untrained:
        findings.append(
            Finding(
                "missing",
                "warning",
                f"{listed(recording.untrained)}: trainable, but no gradient is taken with respect to "
                f"{'it' if len(recording.untrained) == 1 else 'them'}. Were they given to the optimizer?",
                tuple(recording.untrained),
            )
        )
    zero = []
    for row in recording.rows("parameter"):
        shares = [recording.values(row, s)[5] for s in recording.steps]
        shares = [s for s in shares if not np.isnan(s)]
        if shares and min(shares) == 1:
            zero.append(row)
    if zero and len(zero) == len(recording.rows("parameter")):
        return [*findings, _find_flat_loss(recording, zero)]
    cut = recording.cut_off or ()
    unread = [r for r in zero if r.name in recording.unread]
    without = [r for r in zero if r not in unread and r.name in cut]
    still = [r for r in zero if r not in unread and r not in without]
    for rows, why in (
        (unread, "not used by the forward pass, so no gradient reaches {}."),
        (
            without,
            "the gradient is zero whatever the values are: ops.stop_gradient, argmax or rounding cuts {} off from the "
            "loss.",
        ),
        (
            still,
            "the gradient is exactly zero in every step, and what the loss takes from {} comes to nothing: look for "
            "dead ReLUs, saturated functions or a product with zero after it.",
        ),
    ):
        if rows:
            names = [row.name for row in rows]
            text = f"{listed(names)}: {why.format('it' if len(rows) == 1 else 'them')}"
            source = None if rows is unread else rows[0].source
            findings.append(Finding("missing", "warning", text, tuple(names), source))
    return findings


def _find_flat_loss(recording, rows):
    """Report that every gradient is exactly zero in every step.

    The program shows the reason: a loss with zero derivative, or a loss that does not depend on the Parameters.
    """
    names, cut = tuple(row.name for row in rows), recording.cut_off
    losses = [step.loss for step in recording.steps if step.loss is not None]
    if cut is not None and cut.issuperset(names):
        return Finding(
            "missing",
            "error",
            "Every gradient is exactly zero, whatever the values are: the loss does not depend on the Parameters. Is "
            "it computed from the network's output, without ops.stop_gradient, argmax or rounding?",
            names,
        )
    if losses and not any(losses):
        return Finding(
            "flat",
            "warning",
            "The loss is saturated: it is exactly 0 in every step, and so is every gradient. Nothing is left to learn "
            "from this data: has it one class only, or has the network learned it already?",
            names,
        )
    stands = f", where it stands at {num(losses[-1])}," if losses else ""
    if cut is not None:
        return Finding(
            "flat",
            "error",
            f"Every gradient is exactly zero in every step: the loss depends on the Parameters, but{stands or ' it'} "
            f"is flat. Look for a function that is saturated or clipped, for dead ReLUs, or a product with zero.",
            names,
        )
    return Finding(
        "missing",
        "error",
        f"Every gradient is exactly zero in every step. Either the loss{stands} is saturated, or it does not depend on "
        f"the Parameters: is it computed from the network's output, without ops.stop_gradient, argmax or rounding?",
        names,
    )


def _find_constant_gradients(recording):
    """Report gradients that are the same in every step."""
    steps = _list_finite_steps(recording)
    if len(steps) < 4:
        return []
    names = []
    for row in recording.rows("parameter"):
        statistics = [np.asarray(s.stats[row.key])[1:6] for s in steps if row.key in s.stats]
        if len(statistics) > 3 and statistics[0][4] < 1 and all((s == statistics[0]).all() for s in statistics[1:]):
            names.append(row.name)
    if not names:
        return []
    return [
        Finding(
            "constant",
            "warning",
            f"{listed(names)}: the gradient is the same in every step. Does the loss use "
            f"the data, and are the Parameters updated?",
            tuple(names),
        )
    ]


def _find_large_updates(recording):
    """Report steps that change a Parameter by a large part of its norm."""
    steps = _list_finite_steps(recording)[-RECENT:]
    large = []
    for row in recording.rows("parameter"):
        values = [recording.values(row, s) for s in steps]
        ratios = [v[9] for v in values if np.isfinite(v[9])]
        if len(row.shape) > 1 and ratios and _compute_finite_median(ratios) > _LARGE_UPDATE:
            large.append((row.name, _compute_finite_median(ratios)))
    if not large:
        return []
    worst = max(large, key=lambda item: item[1])
    return [
        Finding(
            "update",
            "warning",
            f"{listed([n for n, _ in large])}: each step changes "
            f"{'it' if len(large) == 1 else 'them'} by more than all it is ({worst[0]}: {worst[1]:.0%} of its "
            f"norm; about 0.1 % is usual). The learning rate is too high.",
            tuple(n for n, _ in large),
        )
    ]


# ---------------------------------------------------------------------- activations
def _find_dead_units(recording):
    """Report ReLUs with units that no example activates."""
    steps = _list_finite_steps(recording)[-RECENT:]
    findings = []
    for row in recording.rows("output"):
        dead = recording.dead_units(row, steps) if steps else None
        if dead is not None and len(dead) and dead.mean() >= _DEAD:
            findings.append((row, dead))
    if not findings:
        return []
    worst, dead = max(findings, key=lambda item: item[1].mean())
    names = [row.name for row, _ in findings]
    which = f"the last {len(steps)} steps" if len(steps) > 1 else "this step"
    text = (
        f"Dead ReLU: {dead.sum()} of {len(dead)} units of {place_of(worst)} ({dead.mean():.0%}) are zero for every "
        f"sample of {which}, and pass no gradient on."
    )
    if len(findings) > 1:
        text += f" {len(findings) - 1} more: {'; '.join(place_of(row) for row, _ in findings if row is not worst)}."
    return [
        Finding(
            "dead",
            "error" if dead.mean() > 0.9 else "warning",
            text + " A lower learning rate, other initial biases, or LeakyReLU helps.",
            tuple(names),
            worst.source,
        )
    ]


def _find_saturated_activations(recording):
    """Report sigmoids and tanhs whose outputs are near the ends of their range."""
    steps = _list_finite_steps(recording)[-RECENT:]
    findings = []
    for row in recording.rows("output"):
        shares = [recording.values(row, s)[8] for s in steps if row.key in s.stats]
        if SATURATES.named(row.op) is not None and shares and _compute_finite_median(shares) >= _SATURATED:
            findings.append((row, _compute_finite_median(shares)))
    if not findings:
        return []
    worst, share = max(findings, key=lambda item: item[1])
    where = place_of(worst)
    text = f"Saturated: {share:.0%} of the outputs of {where} lie at the ends of {worst.op}, where it is flat."
    if len(findings) > 1:
        text += f" {len(findings) - 1} more: {'; '.join(place_of(row) for row, _ in findings if row is not worst)}."
    return [
        Finding(
            "saturated",
            "warning",
            text + " Smaller weights, or normalised inputs, bring it back.",
            tuple(row.name for row, _ in findings),
            worst.source,
        )
    ]


# ---------------------------------------------------------------------- helpers
def _list_finite_steps(recording):
    """Return the steps before the first NaN or infinity."""
    stop = recording.nonfinite.step if recording.nonfinite is not None else math.inf
    return [s for s in recording.steps if s.number < stop]


def _compute_gradient_rms(recording, row, step):
    return recording.values(row, step)[0] / math.sqrt(row.size)


def _compute_finite_median(values):
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values)]
    return float(np.median(values)) if values.size else math.nan


def _rank_correlation(a, b):
    """Return Spearman's rank correlation; equal values have the mean of their ranks."""

    def ranks(values):
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        return (ends - (counts - 1) / 2)[place]

    x, y = ranks(np.asarray(a)), ranks(np.asarray(b))
    if x.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])
