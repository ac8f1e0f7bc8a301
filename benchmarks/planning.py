"""Compare predictions of `msnb.parallel.plan` with the programs that XLA compiles, on eight virtual devices.

    python benchmarks/planning.py [--nets LeNet VGG] [--strategies 0] [--meshes 8 2x4] [--deep 24]

For each network of `networks_zoo.py`, on each mesh: the bytes that each device sends, predicted and counted in the
compiled program, for data parallelism, the searched plan, sharded optimizer, full sharding, and --strategies random
strategies, with the rank correlation over all; memory in the same way; and the bytes that XLA's own propagation sends
with the shardings of the inputs of data parallelism and of the searched plan.
--deep: seconds of the search for a Transformer with this number of layers on 1,024 devices.
"""

import argparse
import statistics
import time

import numpy as np
from scipy.stats import spearmanr

import msnb.alias
from msnb import context
from msnb.parallel import plan
from msnb.parallel.planning.strategies import propagate_layouts
from msnb.parallel.planning.verify import compile_strategy
from msnb.parallel.search.solver import cost_of

msnb.alias.install()

import networks_zoo  # noqa: E402 - imports mindspore
from networks import Block, training_step  # noqa: E402

from mindspore import nn  # noqa: E402


def draw_strategy(plans, random):
    """Return a strategy with random layouts of the inputs, propagated to the other nodes."""
    nodes = plans.problem.nodes
    count = len(plans.problem.graph.inputs)
    layouts = {n: nodes[n][random.integers(len(nodes[n]))].outputs[0] for n in range(count)}
    return propagate_layouts(plans.problem, layouts)


def compare_strategies(name, mesh, strategies):
    """Print the predicted and counted bytes of each strategy of a network. Return the ratios of bytes and memory."""
    step, batch = networks_zoo.make_step_and_batch(name)
    start = time.perf_counter()
    plans = plan(step, batch, devices=8, mesh=mesh, hardware="a100", check=0, progress=False)
    seconds, random = time.perf_counter() - start, np.random.default_rng(0)
    for number in range(strategies):
        plans.add(f"random {number}", draw_strategy(plans, random))
    pairs, memory_ratios = [], []
    for strategy in plans:
        pairs.append((strategy.bytes, plans.check(strategy).bytes))
        if not strategy.name.startswith("random"):
            memory_ratios.append(strategy.compiled.memory / strategy.memory)
        row = (*pairs[-1], strategy.memory, strategy.compiled.memory)
        print(f"    {strategy.name:<18}" + "".join(f"{size / 1e6:10.3f} MB" for size in row), flush=True)
    for source in ("data parallel", "searched"):
        own = compile_strategy(
            plans[source]._problem, plans[source]._chosen, plans.returned, is_constrained=False
        ).bytes
        print(f"    XLA's own propagation from the inputs of {source}: {own / 1e6:.3f} MB", flush=True)
    predicted, counted = np.array(pairs).T
    ratio = statistics.median(counted / predicted)
    rank = spearmanr(predicted, counted).statistic if strategies else float("nan")
    is_no_more = plans["searched"].bytes <= plans["data parallel"].bytes
    print(f"{name:<14} {mesh} ratio {ratio:.3f} rank {rank:.3f} planned in {seconds:.1f} s, at most DP: {is_no_more}")
    return counted / predicted, memory_ratios


class Deep(nn.Cell):
    """A stack of Transformer blocks."""

    def __init__(self, layers, width=512):
        super().__init__()
        self.table, self.head = nn.Embedding(8000, width), nn.Dense(width, 10)
        self.blocks = nn.SequentialCell([Block(width, 8) for _ in range(layers)])

    def construct(self, words):
        return self.head(self.blocks(self.table(words))[:, 0])


def main():
    """Print the comparisons, their medians, and the time of a deep search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="*", default=[*networks_zoo.EVIDENCE, *networks_zoo.ZOO])
    parser.add_argument("--strategies", type=int, default=0)
    parser.add_argument("--meshes", nargs="*", default=["8", "2x4"])
    parser.add_argument("--deep", type=int, default=24)
    options = parser.parse_args()
    context.set_context(mode=context.GRAPH_MODE)
    meshes = [tuple(map(int, one.split("x"))) for one in options.meshes]
    results = [compare_strategies(name, mesh, options.strategies) for name in options.nets for mesh in meshes]
    for title, groups in zip(("bytes sent", "memory"), zip(*results, strict=True), strict=bool(results)):
        ratios = [ratio for group in groups for ratio in group]
        median, least, most = statistics.median(ratios), min(ratios), max(ratios)
        print(f"{title}: counted / predicted, median {median:.3f}, from {least:.3f} to {most:.3f}")
    if options.deep:
        step = training_step(Deep(options.deep))
        batch = networks_zoo.make_integers(1024, 64), networks_zoo.make_integers(1024)
        plans = plan(step, batch, devices=1024, hardware="h100", check=0, progress=False)
        start = time.perf_counter()
        strategy = plans.search(plans.problem, plans.memory)
        seconds, cost = time.perf_counter() - start, cost_of(plans.problem, strategy)
        print(f"{options.deep} layers on 1,024 devices: {seconds:.1f} s, {cost / 1e6:,.1f} weighted MB\n{plans}")


if __name__ == "__main__":
    main()
