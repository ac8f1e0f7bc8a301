"""Values on the graph: how soon a run is shown, and a picture after a click.

    python benchmarks/node_values.py [lenet | resnet50]

Times are printed in seconds: the first run with compilation, the answer to a first click and to later ones, the columns
of statistics, and the bytes that a saved notebook gains by the values.
"""

import sys
import time

import numpy as np

import msnb.alias
from msnb import Tensor, context
from msnb.insight.debugger import select_nodes

msnb.alias.install()

from networks import LeNet, ResNet50  # noqa: E402

CASES = {"lenet": (LeNet, (32, 1, 32, 32)), "resnet50": (ResNet50, (1, 3, 224, 224))}


def measure(name):
    kind, shape = CASES[name]
    net, x = kind(), Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    view = msnb.view(net, x)
    plain = len(view.saved_payload)

    def timed(label, act):
        start = time.perf_counter()
        result = act()
        print(f"{name}: {label}: {time.perf_counter() - start:.3f} s")
        return result

    nodes = [node for op in ("Conv2D", "ReLU", "MatMul") for node in select_nodes(view.graph, f"op:{op}")[:3]]

    def click(node):
        return view._values.answer({"node": node.id})

    timed("view.run(x)", lambda: view.run(x))
    timed("first click", lambda: click(nodes[0]))
    for node in nodes[1:]:
        timed(f"click on {node.op} {node.shape}", lambda node=node: click(node))
    timed("the same again", lambda: click(nodes[-1]))
    timed("column of statistics", lambda: view.values("abs_mean"))
    view._payload = view._saved = None
    print(f"{name}: values in a saved notebook: {(len(view.saved_payload) - plain) / 1024:.0f} KiB")


if __name__ == "__main__":
    context.set_context(mode=context.GRAPH_MODE)
    for case in sys.argv[1:] or CASES:
        measure(case)
