"""Correct the end times of traced kernels.

On a CPU, XLA splits a kernel over several threads. The last thread runs the next kernels before it records the end of
the first one, so a convolution can seem to last until the end of the step. But a kernel that reads its result begins
only when the result is complete.
"""

import bisect
from typing import TYPE_CHECKING, Any

from msnb.ir.anf import CNode

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.eager.kernel import Kernel


def settle(kernels: "list[Kernel]", graphs: dict[Any, Any]) -> dict[Any, Any]:
    """Move the end of each kernel to the start of the first reader of its result, if that is earlier.

    Args:
        kernels (list[Kernel]): the traced kernels, which are modified in place.
        graphs (dict): {first two entries of `Kernel.run`: optimised program (FuncGraph)}. Kernels of other programs,
            and of devices with correct end times, are not changed.

    Returns:
        dict, `Kernel.run` -> its kernels.
    """
    runs, readers = {}, {}
    for kernel in kernels:
        runs.setdefault(kernel.run, []).append(kernel)
    for run, mine in runs.items():
        key = run[:2]
        if key not in graphs or mine[0].device:
            continue
        if key not in readers:
            traced = {kernel.op for kernel in kernels if kernel.run[:2] == key}
            readers[key] = _find_reading_kernels(graphs[key], traced)
        starts = {}
        for kernel in mine:
            starts.setdefault(kernel.op, []).append(kernel.start)
        for kernel in mine:
            for reader in readers[key].get(kernel.op, ()):
                times = starts.get(reader, ())
                at = bisect.bisect_right(times, kernel.start)
                if at < len(times):
                    kernel.end = min(kernel.end, times[at])
    return runs


def _find_reading_kernels(graph, kernels):
    """Return {kernel: kernels that read its result}, also through instructions that are not kernels."""
    readers = {}
    for node in graph.all_nodes():
        if node.instruction not in kernels:
            continue
        todo, visited = [use[0] for use in node.uses], set()
        while todo:
            source = todo.pop()
            if not isinstance(source, CNode) or source.id in visited:
                continue
            visited.add(source.id)
            if source.instruction in kernels:
                readers.setdefault(source.instruction, set()).add(node.instruction)
            else:
                todo += [use[0] for use in source.uses]
    return readers
