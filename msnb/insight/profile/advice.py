"""Advice from a profile: share of the time, operator, line and remedy in words."""

from typing import TYPE_CHECKING

from msnb.core.operator.rule_table import RuleTable
from msnb.ir.source import show as place_of
from msnb.ops import operations as P

from .finding import Finding, format_percent
from .text import format_seconds

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.figures import Figures

_WORTH = 0.15  # operators that take a smaller share of a step are not reported
_LINES = 3  # lines of an operator that are listed
_CONVOLUTION, _PRODUCT = "convolution", "product"
WORK = RuleTable("a kind of work", "Say which in msnb/insight/profile/advice.py: WORK.register(ops.{name}).")
WORK.register(P.Conv2D, P.Conv2DBackpropInput, P.Conv2DBackpropFilter, P.DepthwiseConv2dNative, P.Conv3D)(_CONVOLUTION)
WORK.register(P.MatMul, P.BatchMatMul)(_PRODUCT)


def advice(profile: "Figures") -> list[Finding]:
    """Return findings about a profile, the most valuable first."""
    findings = [
        *_find_idle_time(profile),
        *_find_slow_operators(profile),
        *_find_recompilation(profile),
        *_find_step_variation(profile),
    ]
    findings.sort(key=lambda finding: -finding.share)
    if not findings:
        findings.append(
            Finding(0.0, "Nothing stands out: no operator, wait or gap takes more than its part.", kind="fine")
        )
    return findings


def _find_idle_time(profile):
    parts = profile.parts
    total = sum(parts.values())
    if not total:
        return
    data, host, gaps = (parts[name] / total for name in ("data", "host", "gaps"))
    if gaps > 0.15:
        yield Finding(
            gaps,
            f"{format_percent(gaps)} of the step lies between kernels of a running program: they are so "
            f"short that handing them out takes longer, or other processes use the cores. Next: a larger batch, which "
            f"makes each kernel longer.",
            kind="host",
        )
    if data > 0.1:
        yield Finding(
            data,
            f"{format_percent(data)} of the step the device waits for the dataset. Next: dataset.monitor(), or "
            f"%ms_pipeline in a notebook, which names the operator of the pipeline that is slow.",
            kind="data",
        )
    if host > 0.2 and profile.mode == "GRAPH":
        why = (
            "Each step was waited for here: in a loop that does not read results (asnumpy, print) in every step "
            "much of it overlaps."
            if profile.recording.steps
            else "Do not read the loss (asnumpy, print) in every step."
        )
        yield Finding(
            host,
            f"{format_percent(host)} of the step no program runs: Python prepares the next call. {why} A "
            f"larger batch makes it a smaller part.",
            kind="host",
        )
    elif host > 0.3:
        yield Finding(
            host,
            f"{format_percent(host)} of the step is Python and dispatch, as PYNATIVE mode has it. "
            f"set_context(mode=GRAPH_MODE), or ms_function on the inner loop, compiles it into one "
            f"call.",
            kind="host",
        )


def _find_slow_operators(profile):
    total = sum(profile.parts.values())
    if not total:
        return
    merged = {}
    for row in profile.rows:
        if row.source is not None and row.how != "xla":
            merged.setdefault(row.op, []).append(row)
    for op, rows in merged.items():
        seconds = sum(row.seconds - row.dispatch for row in rows)
        share = seconds / total
        if share < _WORTH:
            continue
        lines = {}
        for row in rows:
            lines[row.source[:2]] = lines.get(row.source[:2], 0.0) + row.seconds - row.dispatch
        first = max(lines, key=lines.get)
        row = next(row for row in rows if row.source[:2] == first)
        flops, nbytes = sum(row.flops for row in rows), sum(row.nbytes for row in rows)
        worked = sum(profile.at_work(row) for row in rows)
        at_best = min(profile.machine.at_best(flops, nbytes) / worked, 1.0) if worked and flops else None
        compute = profile.machine.bound(flops, nbytes) == "compute"
        back = sum(row.seconds - row.dispatch for row in rows if row.direction == "backward") / seconds
        words = [f"{format_percent(share)} of the step is {op} at {_format_lines(lines, seconds)}"]
        if back > 0.3:
            words.append(f"{format_percent(back)} of that is its gradient")
        if at_best is not None:
            limit = "FLOP/s" if compute else "memory bandwidth"
            words.append(f"it runs at {format_percent(at_best)} of this machine's peak {limit}")
        mark = sum(row.inferred for row in rows) / seconds
        if mark > 0.5:
            words.append("which operator these kernels belong to is inferred")
        fused = [row for row in rows if row.how == "fused"]
        again = sum(row.kernels for row in fused) / max(sum(row.calls for row in fused), 1)
        if again >= 4 and sum(row.seconds for row in fused) > 0.5 * seconds:
            words.append(f"XLA has fused it into {again:.0f} kernels and computes it in each of them again")
        yield Finding(share, "; ".join(words) + ". " + _choose_remedy(op, compute, at_best, rows), row.source, row=row)
    copies = sum(row.seconds for row in profile.rows if row.how == "xla") / total
    if copies > 0.1:
        yield Finding(
            copies,
            f"{format_percent(copies)} of the step XLA copies Parameters and inputs before they are "
            f"overwritten. A larger batch makes that a smaller part.",
            kind="copies",
        )


def _format_lines(lines, seconds):
    """Return the lines that take most of an operator's time, with their shares if there are several."""
    ordered = sorted(lines, key=lambda line: -lines[line])
    if len(ordered) == 1:
        return place_of((*ordered[0], ""))
    line_texts = [f"{place_of((*line, ''))} ({format_percent(lines[line] / seconds)})" for line in ordered[:_LINES]]
    more = len(ordered) - len(line_texts)
    return ", ".join(line_texts) + (f" and {more} more line{'s' * (more > 1)}" if more else "")


def _choose_remedy(op, compute, at_best, rows):
    """Return the most useful remedy."""
    calls = max(row.calls for row in rows)  # calls in one Cell; many of them are a loop and not a deep network
    if calls >= 16:
        return (
            f"{calls} calls of it run one after the other. Next: put the values together and call it once on a whole "
            f"batch or sequence."
        )
    if at_best is not None and at_best > 0.6:
        return (
            "That is close to what this machine can do, so that only less work is faster. Next: see whether it is "
            "needed at this size in every step."
        )
    if WORK.named(op) == _CONVOLUTION:
        return (
            "Few channels or small images leave the machine idle. Next: profile a batch twice as large; if the step "
            "takes less than twice as long, stay with it."
        )
    if WORK.named(op) == _PRODUCT and compute:
        return (
            "Small or thin matrices do not fill the machine. Next: profile a batch twice as large; if the step takes "
            "less than twice as long, stay with it."
        )
    if not compute:
        return (
            "It moves memory and computes little. Next: look in the graph at what reads its result, and whether a "
            "smaller value, or one computed once, would do."
        )
    return "Next: look at it in the graph, whether it is needed at this size, and once for a batch."


def _find_recompilation(profile):
    total = sum(profile.steps) + sum(profile.first)
    share = profile.compile_seconds / (total + profile.compile_seconds) if total else 0
    if len(profile.first) > 3:
        yield Finding(
            share,
            f"{len(profile.first)} steps compiled something. Inputs of ever new shapes, or Python "
            f"numbers that change from call to call, cause this: pad to a fixed shape, pass changing "
            f"numbers as Tensors.",
            kind="compile",
        )


def _find_step_variation(profile):
    if len(profile.steps) < 8:
        return
    low, high = profile.spread
    usual = profile.step_seconds
    if high > 1.6 * low and high - low > 2e-4:
        yield Finding(
            1 - usual / high,
            f"Steps differ: nine in ten take between {format_seconds(low)} and {format_seconds(high)}, where "
            f"{format_seconds(usual)} is usual. Next: see whether other programs run on this machine, whether the "
            "dataset stalls, or inputs differ in size.",
            kind="spread",
            label=f"{high / usual:.1f} ×",
        )
