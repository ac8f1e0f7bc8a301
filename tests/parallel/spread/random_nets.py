"""Small random nets with random shardings: loss and gradients are those of one device.

Run as all checks of this folder, see `eight_devices`.
"""

import statistics
import sys

import numpy as np

from msnb import Parameter, ParameterTuple, Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ops import operations as P
from msnb.parallel.cost_model.transfer_cost import MeshCostModel
from msnb.parallel.graph.collective_stats import collectives
from msnb.parallel.graph.flatten_jaxpr import flatten_jaxpr
from msnb.parallel.modes import auto
from msnb.parallel.planning.strategies import propagate_layouts
from msnb.parallel.rules import Call, Rule, rule_of
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.solver import cost_of

SIZES = (8, 16, 24, 32)


def random_strategy(random: np.random.Generator, rule: Rule, shapes: list[tuple[int, ...]], devices: int = 8):
    """Return a random strategy that a rule allows and that shards something."""
    axes_of_strategy = [
        rule.strategy_axes.get(i, (letters, shape)) for i, (letters, shape) in enumerate(zip(rule.inputs, shapes))
    ]
    axes_of_strategy = axes_of_strategy[: rule.num_inputs]
    sizes = {
        c: n for letters, shape in axes_of_strategy for c, n in zip(letters, shape) if c not in "." + rule.unsharded
    }
    while True:
        parts, left = {}, devices
        for letter in random.permutation(sorted(sizes)):
            cut = int(random.choice([n for n in (1, 2, 4, 8) if left % n == 0 and sizes[letter] % n == 0]))
            parts[str(letter)], left = cut, left // cut
        if not rule.find_error(parts, devices):
            return tuple(tuple(parts.get(c, 1) for c in letters) for letters, _ in axes_of_strategy)


KINDS = "MatMul", "Mul", "Add", "Tanh", "Softmax", "Transpose", "ReduceSum", "Gelu"
REQUIRED = "Conv2D", "Gather"  # each net has both


class RandomNet(nn.Cell):
    """Up to eight operators in sequence, with Parameters as second operands, and the mean of squares."""

    def __init__(self, random, shape, kind):
        super().__init__()
        self.layers, self.params = [], []
        names = [str(name) for name in random.choice(KINDS, random.integers(3, 7))]
        for name in REQUIRED:
            names.insert(random.integers(len(names) + 1), name)
        for number, name in enumerate(names):
            after, weight = self.layer(random, name, shape)
            if weight is not None:
                value = random.standard_normal(weight).astype(kind) / 4
                self.params.append(Parameter(Tensor(value), name=f"w{number}"))
            shape = after
        self.weights = ParameterTuple(self.params)
        self.square, self.mean = P.Square(), P.ReduceMean()

    def layer(self, random, name, shape):
        """Add an operator. Return (shape of its result, shape of its weight)."""
        weight = None
        if name == "MatMul":
            weight = shape[1], int(random.choice(SIZES))
            after = shape[0], weight[1]
            self.add(P.MatMul(), (), {}, [shape, weight])
        elif name in ("Mul", "Add"):
            weight, after = shape if random.random() < 0.5 else shape[1:], shape
            self.add(getattr(P, name)(), (), {}, [shape, weight])
        elif name == "Transpose":
            after = shape[::-1]
            self.add(P.Transpose(), ((1, 0),), {"perm": (1, 0)}, [shape])
        elif name == "ReduceSum":
            after = shape
            self.add(P.ReduceSum(keep_dims=True), (0,), {"axis": 0, "keep_dims": True}, [shape])
            self.add(P.Tile(), ((shape[0], 1),))
        elif name == "Conv2D":  # the second axis as channels of four pixels
            image, outputs = (shape[0], shape[1] // 4, 2, 2), int(random.choice(SIZES)) // 4
            weight, after = (outputs, image[1], 3, 3), (shape[0], 4 * outputs)
            self.add(P.Reshape(), (image,))
            self.add(P.Conv2D(outputs, 3, pad_mode="same"), (), {}, [image, weight])
            self.add(P.Reshape(), (after,))
        elif name == "Gather":  # rows, some of them more than once
            indices = random.integers(shape[0], size=int(random.choice(SIZES))).astype(np.int32)
            after = len(indices), shape[1]
            self.add(P.Gather(), (Tensor(indices), 0), {"axis": 0}, [shape, indices.shape])
        else:
            after = shape
            self.add(getattr(P, name)(), (), {}, [shape])
        return after, weight

    def add(self, operator, static, settings=None, shapes=()):
        """Store an operator, its arguments after the Tensors, and the shapes of its operands."""
        weighted = len(shapes) == 2 and not static
        self.layers.append((type(operator).__name__, operator, static, settings, weighted, shapes))

    def strategies(self, random):
        """Give each operator a random strategy that its rule allows. Repeated operators get the same."""
        for name, operator, _, settings, _, shapes in self.layers:
            if settings is not None:
                settings = {**operator._attributes, **settings}
                operator.shard(random_strategy(random, rule_of(Call(name, settings, shapes)), shapes))

    def construct(self, x):
        weights = list(self.weights)
        for _, operator, static, _, weighted, _ in self.layers:
            x = operator(x, weights.pop(0)) if weighted else operator(x, *static)
        return self.mean(self.square(x))


class Step(nn.Cell):
    """(loss, gradients)."""

    def __init__(self, net):
        super().__init__()
        self.net, self.grad = net, ops.GradOperation(get_by_list=True)

    def construct(self, x):
        return self.net(x), self.grad(self.net, self.net.weights)(x)


def run_step(step, x):
    loss, gradients = step(x)
    return [loss.asnumpy(), *(g.asnumpy() for g in gradients)]


def create_random_net(seed, kind):
    """Return (random generator, net, its argument)."""
    random = np.random.default_rng(seed)
    shape = tuple(int(n) for n in random.choice(SIZES, 2))
    net = RandomNet(random, shape, kind)
    return random, net, Tensor(random.standard_normal(shape).astype(kind))


def run_seed(seed):
    """Return (errors, ratio of measured to predicted bytes) of one net in both modes."""
    kind = (np.float64, np.float32)[seed % 2]
    random, net, x = create_random_net(seed, kind)
    step = Step(net)
    wrong, ratios = [], []

    def compare(alone, how):
        for number, (a, b) in enumerate(zip(alone, run_step(step, x), strict=True)):
            allowed = (1e-9 if kind is np.float64 else 1e-5) * max(
                np.abs(a).max(), 1e-2
            )  # a gradient may be nothing but what rounds
            if np.abs(a - b).max() <= allowed:
                continue
            if kind is np.float32:  # a sum of large numbers that is small, no further off than one device's is well
                exact = in_full[number]
                if np.abs(b - exact).max() <= 2 * np.abs(a - exact).max():
                    continue
            wrong.append((seed, how, [layer[0] for layer in net.layers], np.abs(a - b).max(), np.abs(a).max()))

    context.reset_auto_parallel_context()
    context.set_context(mode=context.GRAPH_MODE)
    alone = run_step(step, x)
    _, net_in_full, x_in_full = create_random_net(seed, np.float64)
    in_full = run_step(Step(net_in_full), x_in_full) if kind is np.float32 else None
    problem = Problem(
        flatten_jaxpr(program_of(step, x).jaxpr), MeshCostModel({"a": 2, "b": 4}, {"a": 1.0, "b": 1.0}), {}
    )
    nodes = problem.nodes
    layouts = {n: nodes[n][random.integers(len(nodes[n]))].outputs[0] for n in range(len(problem.graph.inputs))}
    strategy = propagate_layouts(problem, layouts)
    auto.apply_plan(*strategy)
    context.set_auto_parallel_context(parallel_mode="auto_parallel", device_num=8)
    compare(alone, "AUTO_PARALLEL")
    counted = sum(c.bytes for c in collectives(program_of(step, x).compiled().as_text(), 8))
    if cost_of(*strategy):
        ratios.append(counted / cost_of(*strategy))
    context.reset_auto_parallel_context()
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8, full_batch=True)
    net.strategies(random)
    compare(alone, "SEMI_AUTO_PARALLEL")
    return wrong, ratios


def check_random_nets_compute_the_same():
    """Two nets, or sixty with --all."""
    wrong, ratios = [], []
    for seed in range(60 if "--all" in sys.argv else 2):
        result = run_seed(seed)
        wrong += result[0]
        ratios += result[1]
    assert not wrong, wrong
    assert 0.95 < statistics.median(ratios) and max(ratios) < 1.05, ratios
    print(f"bytes counted to foreseen: {min(ratios):.3f} to {max(ratios):.3f}", flush=True)
