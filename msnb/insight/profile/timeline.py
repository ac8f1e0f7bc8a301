"""Export a recording as trace events, the JSON of Perfetto and chrome://tracing."""

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msnb._util.atomic_file import writing
from msnb.core.jaxpr.op_names import operator_in
from msnb.ir.source import show

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.figures import Figures

_HOST, _DEVICE = 1, 2
_MOST = 200_000  # maximum number of events; a larger file opens slowly


def events(profile: "Figures") -> dict[Any, Any]:
    """Return trace events of a profile.

    Returns:
        dict, ``{"traceEvents": [...]}``; times are microseconds since the recording began.
    """
    recording = profile.recording
    zero = recording.start
    trace_events = [
        _make_name_event("process_name", _HOST, 0, "host"),
        _make_name_event("process_name", _DEVICE, 0, "kernels"),
    ]
    for lane, title in enumerate(("steps", "calls", "dataset", "compiling", "operators (PYNATIVE)")):
        trace_events.append(_make_name_event("thread_name", _HOST, lane, title))

    def add(name, kind, start, end, process, lane, args=None):
        trace_events.append(
            {
                "name": name,
                "cat": kind,
                "ph": "X",
                "ts": (start - zero) / 1e3,
                "dur": (end - start) / 1e3,
                "pid": process,
                "tid": lane,
                **({"args": args} if args else {}),
            }
        )

    for number, (start, end) in enumerate(profile._steps):
        add(f"step {number}", "step", start, end, _HOST, 0)
    for net, start, end in recording.calls:
        add(getattr(net, "__name__", type(net).__name__), "call", start, end, _HOST, 1)
    for start, end in recording.waits:
        add("next row", "dataset", start, end, _HOST, 2)
    for start, end in recording.compiling:
        add("compile", "compile", start, end, _HOST, 3)
    for call in recording.dispatched:
        add(
            operator_in(call.name),
            "operator",
            call.start,
            call.done,
            _HOST,
            4,
            {"cell": call.scope, "line": show(call.source), "dispatch": f"{(call.sent - call.start) / 1e3:.1f} us"},
        )
    lanes = {}
    owners = {key: profile._owners.get(program, {}) for key, program in profile._modules.items()}
    for kernel in recording.kernels[:_MOST]:
        lane = lanes.setdefault(kernel.lane, len(lanes))
        owner = owners.get(kernel.run[:2], {}).get(kernel.op)
        title, args = kernel.op, {"module": kernel.module, "kernel": kernel.op}
        if owner is not None and owner.nodes:
            node = owner.nodes[0]
            title = "+".join(dict.fromkeys(other.name for other in owner.nodes))
            args.update(cell=node.scope, line=show(node.source), how=owner.how, why=owner.note)
        elif owner is not None:
            title, args["how"] = owner.note, owner.how
        add(title, "kernel", kernel.start, kernel.end, _DEVICE, lane, args)
    trace_events += [_make_name_event("thread_name", _DEVICE, number, lane) for lane, number in lanes.items()]
    return {
        "traceEvents": trace_events,
        "displayTimeUnit": "ms",
        "otherData": {"network": profile.name, "mode": profile.mode},
    }


def _make_name_event(kind, process, lane, title):
    return {"name": kind, "ph": "M", "pid": process, "tid": lane, "args": {"name": title}}


def write(profile: "Figures", path: str | Path) -> None:
    """Write the events of a profile to a file, gzipped if its name ends in .gz."""
    text = json.dumps(events(profile), separators=(",", ":")).encode()
    with writing(path) as file:
        file.write(gzip.compress(text) if str(path).endswith(".gz") else text)
