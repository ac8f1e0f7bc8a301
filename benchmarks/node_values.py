"""Measure values on the graph: a run, and a picture after a click.

    python benchmarks/node_values.py [lenet | resnet50]

The output is in seconds: the first run with compilation, the answers to a first click and to later ones, and the
columns of statistics; then the bytes that the values add to a saved notebook. A paused training step follows: the time
until the first node answers, and the median of the next nodes, each with the data of its panel.
"""

import sys
import threading
import time

import numpy as np

import msnb.alias
from msnb import Tensor, context, nn
from msnb.insight.debugger import Replay, debugger, program_inputs, select_nodes
from msnb.insight.debugger.paused_step import Pause
from msnb.ir.api import of_program
from msnb.notebook.debugger.controls import Stepper
from msnb.notebook.graph import api

msnb.alias.install()

from networks import LeNet, ResNet50  # noqa: E402

CASES = {"lenet": (LeNet, (32, 1, 32, 32)), "resnet50": (ResNet50, (1, 3, 224, 224))}


def measure_clicks(name):
    """Print the times of a run and of clicks."""
    kind, shape = CASES[name]
    net, x = kind(), Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    view = msnb.view(net, x)
    plain = len(view.saved_payload)

    def print_time(label, act):
        start = time.perf_counter()
        result = act()
        print(f"{name}: {label}: {time.perf_counter() - start:.3f} s")
        return result

    nodes = [node for op in ("Conv2D", "ReLU", "MatMul") for node in select_nodes(view.graph, f"op:{op}")[:3]]

    def click(node):
        return view._values.answer({"node": node.id})

    print_time("view.run(x)", lambda: view.run(x))
    print_time("first click", lambda: click(nodes[0]))
    for node in nodes[1:]:
        print_time(f"click on {node.op} {node.shape}", lambda node=node: click(node))
    print_time("the same again", lambda: click(nodes[-1]))
    print_time("column of statistics", lambda: view.values("abs_mean"))
    view._payload = view._saved = None
    print(f"{name}: values in a saved notebook: {(len(view.saved_payload) - plain) / 1024:.0f} KiB")

    measure_steps(name, net, x)


def measure_steps(name, net, x):
    """Print the times of a pause: the first move, which does not wait for values, the first values, later nodes."""
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.SGD(net.trainable_params(), 0.01)).set_train()
    program, arrays = program_inputs(step, x, Tensor(np.arange(len(x), dtype=np.int32) % 10))
    pause = Pause(Replay(program, of_program(program, program.name), arrays), (), 1)
    view = api.of_program(program, program.name)
    stepper = Stepper(debugger, view)
    view.attach_stepper(stepper)
    view.widget  # noqa: B018 -- the page would create it
    start = time.perf_counter()
    stepper.show(pause)
    has_values, last = threading.Event(), pause.cursor.nodes[-1]
    stepper.answer({"word": "n"})
    print(f"{name}: first move of a pause: {time.perf_counter() - start:.3f} s")
    if view._values.delay(has_values.set):
        has_values.wait()
    print(f"{name}: first values of a pause: {time.perf_counter() - start:.3f} s")
    seconds = []
    while pause.cursor.node is not last:
        start = time.perf_counter()
        stepper.answer({"word": "n"})
        view._values.answer({"node": pause.cursor.node.id})
        seconds.append(time.perf_counter() - start)
    median, longest = np.median(seconds), max(seconds)
    print(f"{name}: next node, {len(seconds)} of them: median {median:.4f} s, at most {longest:.4f} s")


if __name__ == "__main__":
    context.set_context(mode=context.GRAPH_MODE)
    for case in sys.argv[1:] or CASES:
        measure_clicks(case)
