"""What `msnb.parallel.plan` foresees beside what XLA makes, on eight virtual devices.

    python benchmarks/planning.py [--nets LeNet VGG] [--strategies 0] [--deep 24]

For each network of `networks_zoo.py`, on a mesh of one axis and of two: bytes that each device sends, foreseen and
counted in what XLA made, for data parallelism, the searched plan, sharded optimizer and full sharding, and for as many
strategies drawn at random as --strategies says, with the rank correlation over all. --deep: seconds of the search for a
Transformer of so many layers on 1,024 devices.
"""

import argparse
import statistics
import time

import numpy as np
from scipy.stats import spearmanr

import msnb.alias
from msnb import context
from msnb.parallel import plan
from msnb.parallel.planning.strategies import followed
from msnb.parallel.search.choosing import cost_of, dynamic_programming

msnb.alias.install()

import networks_zoo  # noqa: E402 - which imports mindspore
from networks import Block, training_step  # noqa: E402

from mindspore import nn  # noqa: E402


def at_random(plans, random):
    """A strategy whose inputs lie as it happens, and the rest as follows from that."""
    nodes = plans.problem.nodes
    count = len(plans.problem.graph.inputs)
    lying = {n: nodes[n][random.integers(len(nodes[n]))].outputs[0] for n in range(count)}
    return followed(plans.problem, lying)


def compared(name, mesh, strategies):
    """Foreseen and counted bytes of each strategy of a network."""
    step, batch = networks_zoo.made(name)
    started = time.perf_counter()
    plans = plan(step, batch, devices=8, mesh=mesh, hardware="a100", check=0, progress=False)
    seconds, random = time.perf_counter() - started, np.random.default_rng(0)
    for number in range(strategies):
        plans.add(f"random {number}", at_random(plans, random))
    pairs = []
    for one in plans:
        pairs.append((one.bytes, plans.check(one).bytes))
        print(f"    {one.name:<18} {pairs[-1][0] / 1e6:10.3f} MB {pairs[-1][1] / 1e6:10.3f} MB", flush=True)
    foreseen, counted = np.array(pairs).T
    ratio = statistics.median(counted / foreseen)
    rank = spearmanr(foreseen, counted).statistic if strategies else float("nan")
    less = plans["searched"].bytes <= plans["data parallel"].bytes
    print(f"{name:<14} {mesh} ratio {ratio:.3f} rank {rank:.3f} planned in {seconds:.1f} s, no more than DP: {less}")
    return counted / foreseen


class Deep(nn.Cell):
    """So many blocks of a Transformer."""

    def __init__(self, layers, width=512):
        super().__init__()
        self.table, self.head = nn.Embedding(8000, width), nn.Dense(width, 10)
        self.blocks = nn.SequentialCell([Block(width, 8) for _ in range(layers)])

    def construct(self, words):
        return self.head(self.blocks(self.table(words))[:, 0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="*", default=list(networks_zoo.ZOO))
    parser.add_argument("--strategies", type=int, default=0)
    parser.add_argument("--deep", type=int, default=24)
    given = parser.parse_args()
    context.set_context(mode=context.GRAPH_MODE)
    ratios = [r for name in given.nets for mesh in ((8,), (2, 4)) for r in compared(name, mesh, given.strategies)]
    if ratios:
        least, most = min(ratios), max(ratios)
        print(f"median of counted to foreseen {statistics.median(ratios):.3f}, from {least:.3f} to {most:.3f}")
    if given.deep:
        step = training_step(Deep(given.deep))
        batch = networks_zoo.numbers(1024, 64), networks_zoo.numbers(1024)
        plans = plan(step, batch, devices=1024, hardware="h100", check=0, progress=False)
        started = time.perf_counter()
        found = dynamic_programming(plans.problem, plans.memory, 60.0, plans.operation)
        seconds, cost = time.perf_counter() - started, cost_of(plans.problem, found)
        print(f"{given.deep} layers on 1,024 devices: {seconds:.1f} s, {cost / 1e6:,.1f} weighted MB\n{plans}")


if __name__ == "__main__":
    main()
