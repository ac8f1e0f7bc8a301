"""Read the trace of JAX's profiler: the kernels of each program, with times, by thread or stream."""

import pathlib
from typing import Any

import jax

_END = "end: "
_NEVER = ("$", "ThreadpoolListener::", "ThunkExecutor::", "PjitFunction", "Wait for ", "CommonPjRt")


class Kernel:
    """One run of one instruction of a compiled program.

    Attributes:
        op (str): name of the HLO instruction.
        module (str): name of the HLO module, ``jit_`` and the program's name.
        run (tuple): identifies one execution of a program.
        start (int), end (int): nanoseconds; the end of the work, not of its launch.
        lane (str): thread or stream.
    """

    __slots__ = ("op", "module", "run", "start", "end", "lane", "device")

    def __init__(self, op: str, module: str, run: Any, start: float, end: float, lane: Any, device: Any) -> None:
        self.op: str = op
        self.module: str = module
        self.run: Any = run
        self.start: float = start
        self.end: float = end
        self.lane: Any = lane
        self.device: Any = device

    def __repr__(self) -> str:
        return f"Kernel({self.op} of {self.module}, {(self.end - self.start) / 1e3:.1f} us)"


def read(folder: str) -> tuple[Any, ...]:
    """Read the trace in a folder.

    Args:
        folder (str): the folder passed to `jax.profiler.start_trace`.

    Returns:
        tuple, (list of Kernel by start, list of (name, start, end, lane) of `jax.profiler.TraceAnnotation` marks whose
        names begin with ``msnb:``). Times in nanoseconds.
    """
    kernels, marks = [], []
    for path in sorted(pathlib.Path(folder).rglob("*.xplane.pb")):
        for plane in jax.profiler.ProfileData.from_file(str(path)).planes:
            _read_plane(plane, kernels, marks)
    kernels.sort(key=lambda kernel: kernel.start)
    return kernels, marks


def _read_plane(plane, kernels, marks):
    device = plane.name.startswith("/device:")
    opened, closed = {}, {}
    for number, line in enumerate(plane.lines):
        # on a device the derived lines ("XLA Modules", "Steps") repeat the streams
        if device and line.name and not _is_stream(line.name):
            continue
        lane = f"{plane.name} {line.name}" if device else _format_lane(line.name, number)
        for event in line.events:
            name = event.name
            if name.startswith(_END):
                stats = dict(event.stats)
                if "_c" in stats:
                    closed[stats["_c"]] = int(event.start_ns + event.duration_ns)
                continue
            if name.startswith("msnb:"):
                start = int(event.start_ns)
                marks.append((name, start, start + int(event.duration_ns), lane))
                continue
            if name.startswith(_NEVER):  # most events; reading their fields would take long
                continue
            stats = dict(event.stats)
            op = stats.get("hlo_op")
            if op is None:
                continue
            start = int(event.start_ns)
            kernel = Kernel(
                str(op),
                str(stats.get("hlo_module", "")),
                (stats.get("hlo_module"), stats.get("program_id"), stats.get("run_id")),
                start,
                start + int(event.duration_ns),
                lane,
                device,
            )
            kernels.append(kernel)
            if "_p" in stats:
                opened[stats["_p"]] = kernel
    # a kernel that is split over the thread pool returns at once; a second event marks the end of its last part
    for key, kernel in opened.items():
        if key in closed:
            kernel.end = max(kernel.end, closed[key])


def _is_stream(name):
    return name.startswith("Stream") or name == "XLA Ops"


def _format_lane(name, number):
    return f"{name.partition('/')[0] or 'thread'} {number}"
