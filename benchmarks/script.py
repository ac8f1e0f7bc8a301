"""Measure the source transformation: milliseconds per function, and trace time by nesting depth, linear at best.

python benchmarks/script.py
"""

import builtins
import linecache
import statistics
import time

import numpy as np

import msnb as ms
from msnb import Tensor, context
from msnb.core.program import program_cache
from msnb.core.script import convert_function


def make_nested_function(kind, depth):
    """Return a function with `depth` nested dynamic ifs or whiles."""
    lines, indent = ["def f(x, n):"], "    "
    for level in range(depth):
        if kind == "if":
            lines.append(f"{indent}if x.sum() > {level}:")
        else:
            lines += [f"{indent}i{level} = 0", f"{indent}while i{level} < n:"]
        indent += "    "
        if kind == "while":
            lines.append(f"{indent}i{level} = i{level} + 1")
        lines.append(f"{indent}x = x * 1.5 + 1")
    lines.append("    return x")
    source, name = "\n".join(lines) + "\n", f"<{kind} {depth} {time.perf_counter()}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"__name__": "user"}
    exec(builtins.compile(source, name, "exec"), space)
    return space["f"]


def main():
    """Print both tables."""
    context.set_context(mode=context.GRAPH_MODE)
    x, n = Tensor(np.float32([1, 2])), Tensor(np.int32(2))
    for kind in ("if", "while"):
        for depth in (1, 2, 4, 8) if kind == "if" else (1, 2, 4):
            times, transforms = [], []
            for _ in range(7):
                f = make_nested_function(kind, depth)
                start = time.perf_counter()
                convert_function.convert(f)
                transforms.append(time.perf_counter() - start)
                times.append(program_cache.program_of(ms.ms_function(f), x, n).seconds["trace"])
            transform, trace = statistics.median(transforms) * 1e3, statistics.median(times) * 1e3
            print(
                f"{kind:5} nested {depth}: transform {transform:5.2f} ms, trace {trace:6.1f} ms, "
                f"{trace / depth:5.1f} a level"
            )


if __name__ == "__main__":
    main()
