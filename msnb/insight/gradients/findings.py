"""What is wrong with a training, in words, judged from a recording.

Magnitudes are compared per element (root mean square), so that a large layer is not taken for a large gradient.
"""

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.insight.gradients.rows import SATURATES
from msnb.insight.gradients.text_format import listed, num, place_of, times
from msnb.ir.source import show

if TYPE_CHECKING:  # named in annotations alone
    from msnb.insight.gradients.recording import NonFinite, Recording

RECENT = 10  # steps that a judgement looks at
_DECADES = 3.0  # a fall or rise over the layers by this many powers of ten is worth a word
_TREND = 0.7  # rank correlation with depth from which it is one
_TINY = 1e-12  # an RMS below it does nothing in float32
_DEAD, _SATURATED = 0.3, 0.5
_LARGE_UPDATE = 1.0  # of a Parameter's norm, in one step
_JUMP = 1e3  # of the norm, against the median before


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing worth knowing.

    Attributes:
        kind (str): "failed" (to record), "nonfinite", "vanishing", "exploding", "dead", "saturated", "missing", "flat",
            "constant" or "update".
        severity (str): "error" or "warning".
        text (str): a sentence or two.
        names (tuple[str]): rows that it is about.
        source (Union[tuple, None]): (file, line, function) to look at.
        step (Union[int, None]): the step it is about.
    """

    kind: str
    severity: str
    text: str
    names: tuple[Any, ...] = ()
    source: tuple[Any, ...] | None = None
    step: int | None = None

    def __str__(self) -> str:
        return self.text


def find(recording: "Recording") -> list[Finding]:
    """Findings of a recording, the gravest first.

    Args:
        recording (Recording): what was recorded.

    Returns:
        list[Finding].
    """
    recording.settle()
    found = []
    if recording.problem:
        missing = "later steps are missing here" if recording.steps else "nothing was recorded"
        found.append(Finding("failed", "error", f"{recording.problem}. So {missing}."))
    if recording.nonfinite is not None:
        where = recording.nonfinite
        found.append(Finding("nonfinite", "error", describe_nonfinite(where), (where.name,), where.source, where.step))
    if recording.steps:
        for judge in (_over_layers, _over_steps, _missing, _constant, _dead, _saturated, _updates):
            found += judge(recording)
    return sorted(found, key=lambda f: f.severity != "error")


def describe_nonfinite(where: "NonFinite") -> str:
    """A NonFinite as a sentence."""
    place = f" at {show(where.source)}" if where.source else ""
    if where.direction == "input":
        return f"Step {where.step}: {where.name} holds {where.what} before anything is computed."
    pass_ = {
        "forward": "in the forward pass",
        "backward": "in the backward pass",
        "update": "in the update of the Parameters",
    }[where.direction]
    return f"Step {where.step}: the first {where.what} comes from {where.name}{place}, {pass_}."


# ---------------------------------------------------------------------- over the layers
def _over_layers(recording):
    """Whether gradients fall or rise by orders of magnitude from the output toward the input."""
    rows = [r for r in recording.rows("parameter") if len(r.shape) > 1 and r.order < 10**6]
    steps = _finite_steps(recording)[-RECENT:]
    if len(rows) < 3 or not steps:
        return []
    rms = np.array([[_rms(recording, row, step) for step in steps] for row in rows])
    level = np.array([_median(line) for line in rms])
    if np.isnan(level).any() or (level == 0).all():
        return []
    # a gradient of exactly zero that others past it do not share is no matter of depth: see _missing
    zero = level == 0
    seen = np.flatnonzero(~zero)
    if len(seen) < 3 and not (zero[0] and len(seen)):
        return []
    logs = np.log10(np.maximum(level, 1e-45))
    trend = _rank_correlation(np.arange(len(rows)), logs)
    first, last = _ends(logs)
    fall = last - first
    if trend >= _TREND and fall >= _DECADES:
        a, b = rows[0], rows[-1]
        factor = 10 ** (fall / (len(rows) - 1))
        text = (
            f"The gradients vanish toward the input: an element of {b.name} has {num(level[-1])} (RMS), one of "
            f"{a.name} {num(level[0])}, {times(10 ** min(fall, 300))} less over {len(rows)} layers "
            f"(about {factor:.2g}x per layer). {_cause(recording, a, b)}"
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
    if (level[seen] < _TINY).all():
        return [
            Finding(
                "vanishing",
                "error",
                f"All gradients are below {_TINY:g} (RMS): the loss does not react to any Parameter.",
                tuple(r.name for r in rows),
            )
        ]
    return []


def _ends(logs):
    """Typical values of the first and the last quarter of the layers."""
    count = max(1, len(logs) // 4)
    return float(np.median(logs[:count])), float(np.median(logs[-count:]))


def _cause(recording, first, last):
    """What lies between two layers that may shrink gradients."""
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
def _over_steps(recording):
    """Whether the norm of all gradients jumped or ran away during the training."""
    steps = _finite_steps(recording)
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


def _missing(recording):
    """Parameters without a gradient."""
    found = []
    if recording.untrained:
        found.append(
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
        return [*found, _flat(recording, zero)]
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
            found.append(Finding("missing", "warning", text, tuple(names), source))
    return found


def _flat(recording, rows):
    """Why every gradient is exactly zero in every step: the program tells a loss that is flat from one that is apart
    from the Parameters."""
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


def _constant(recording):
    """Gradients that are the same in every step."""
    steps = _finite_steps(recording)
    if len(steps) < 4:
        return []
    names = []
    for row in recording.rows("parameter"):
        seen = [np.asarray(s.stats[row.key])[1:6] for s in steps if row.key in s.stats]
        if len(seen) > 3 and seen[0][4] < 1 and all((s == seen[0]).all() for s in seen[1:]):
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


def _updates(recording):
    """Steps that move a Parameter by a large part of what it is."""
    steps = _finite_steps(recording)[-RECENT:]
    large = []
    for row in recording.rows("parameter"):
        values = [recording.values(row, s) for s in steps]
        ratios = [v[9] for v in values if np.isfinite(v[9])]
        if len(row.shape) > 1 and ratios and _median(ratios) > _LARGE_UPDATE:
            large.append((row.name, _median(ratios)))
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
def _dead(recording):
    """ReLUs with units that no sample switches on."""
    steps = _finite_steps(recording)[-RECENT:]
    found = []
    for row in recording.rows("output"):
        dead = recording.dead_units(row, steps) if steps else None
        if dead is not None and len(dead) and dead.mean() >= _DEAD:
            found.append((row, dead))
    if not found:
        return []
    worst, dead = max(found, key=lambda item: item[1].mean())
    names = [row.name for row, _ in found]
    which = f"the last {len(steps)} steps" if len(steps) > 1 else "this step"
    text = (
        f"Dead ReLU: {dead.sum()} of {len(dead)} units of {place_of(worst)} ({dead.mean():.0%}) are zero for every "
        f"sample of {which}, and pass no gradient on."
    )
    if len(found) > 1:
        text += f" {len(found) - 1} more: {'; '.join(place_of(row) for row, _ in found if row is not worst)}."
    return [
        Finding(
            "dead",
            "error" if dead.mean() > 0.9 else "warning",
            text + " A lower learning rate, other initial biases, or LeakyReLU helps.",
            tuple(names),
            worst.source,
        )
    ]


def _saturated(recording):
    """Sigmoids and tanhs whose outputs lie at the ends."""
    steps = _finite_steps(recording)[-RECENT:]
    found = []
    for row in recording.rows("output"):
        shares = [recording.values(row, s)[8] for s in steps if row.key in s.stats]
        if SATURATES.named(row.op) is not None and shares and _median(shares) >= _SATURATED:
            found.append((row, _median(shares)))
    if not found:
        return []
    worst, share = max(found, key=lambda item: item[1])
    where = place_of(worst)
    text = f"Saturated: {share:.0%} of the outputs of {where} lie at the ends of {worst.op}, where it is flat."
    if len(found) > 1:
        text += f" {len(found) - 1} more: {'; '.join(place_of(row) for row, _ in found if row is not worst)}."
    return [
        Finding(
            "saturated",
            "warning",
            text + " Smaller weights, or normalised inputs, bring it back.",
            tuple(row.name for row, _ in found),
            worst.source,
        )
    ]


# ---------------------------------------------------------------------- helpers
def _finite_steps(recording):
    """Steps before the first NaN or infinity."""
    stop = recording.nonfinite.step if recording.nonfinite is not None else math.inf
    return [s for s in recording.steps if s.number < stop]


def _rms(recording, row, step):
    return recording.values(row, step)[0] / math.sqrt(row.size)


def _median(values):
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values)]
    return float(np.median(values)) if values.size else math.nan


def _rank_correlation(a, b):
    """Spearman's: the correlation of ranks; equal values share the mean of theirs."""

    def ranks(values):
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        return (ends - (counts - 1) / 2)[place]

    x, y = ranks(np.asarray(a)), ranks(np.asarray(b))
    if x.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])
