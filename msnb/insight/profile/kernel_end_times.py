"""When a traced kernel was done.

On a CPU, XLA goes on with the next kernels from within the last part of one that was split over threads, and marks its
end only when it comes back from them: a convolution would seem to last until the end of the step. But what reads its
result cannot have begun before it was there.
"""

import bisect
from typing import TYPE_CHECKING, Any

from msnb.ir.anf import CNode

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.eager.kernel import Kernel


def settle(kernels: "list[Kernel]", graphs: dict[Any, Any]) -> dict[Any, Any]:
    """Move the end of each kernel to where the first reader of its result begins, if that is earlier.

    Args:
        kernels (list[Kernel]): changed in place.
        graphs (dict): optimised programs (FuncGraph) by the first two entries of `Kernel.run`; kernels of others, and
            of devices that tell their own times, are left as they are.

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
            readers[key] = _readers(graphs[key], {kernel.op for kernel in kernels if kernel.run[:2] == key})
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


def _readers(graph, traced):
    """{kernel: those that read its result}, through instructions that are no kernel of their own."""
    found = {}
    for node in graph.all_nodes():
        if node.instruction not in traced:
            continue
        todo, seen = [use[0] for use in node.uses], set()
        while todo:
            source = todo.pop()
            if not isinstance(source, CNode) or source.id in seen:
                continue
            seen.add(source.id)
            if source.instruction in traced:
                found.setdefault(source.instruction, set()).add(node.instruction)
            else:
                todo += [use[0] for use in source.uses]
    return found
