"""What `msnb.parallel.plan` foresees beside what XLA makes, on eight virtual devices.

    python benchmarks/planning.py [--nets LeNet VGG] [--strategies 0] [--meshes 8 2x4] [--deep 24]

For each network of `networks_zoo.py`, on each mesh: bytes that each device sends, foreseen and
counted in what XLA made, for data parallelism, the searched plan, sharded optimizer and full sharding, and for as many
strategies drawn at random as --strategies says, with the rank correlation over all; memory in the same way; and what
XLA's own propagation sends that is told how the inputs lie, as in data parallelism and as the search has found.
--deep: seconds of the search for a Transformer of so many layers on 1,024 devices.
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

import networks_zoo  # noqa: E402 - which imports mindspore
from networks import Block, training_step  # noqa: E402

from mindspore import nn  # noqa: E402


def at_random(plans, random):
    """A strategy whose inputs lie as it happens, and the rest as follows from that."""
    nodes = plans.problem.nodes
    count = len(plans.problem.graph.inputs)
    lying = {n: nodes[n][random.integers(len(nodes[n]))].outputs[0] for n in range(count)}
    return propagate_layouts(plans.problem, lying)


def compared(name, mesh, strategies):
    """Foreseen and counted bytes of each strategy of a network."""
    step, batch = networks_zoo.made(name)
    started = time.perf_counter()
    plans = plan(step, batch, devices=8, mesh=mesh, hardware="a100", check=0, progress=False)
    seconds, random = time.perf_counter() - started, np.random.default_rng(0)
    for number in range(strategies):
        plans.add(f"random {number}", at_random(plans, random))
    pairs, kept = [], []
    for one in plans:
        pairs.append((one.bytes, plans.check(one).bytes))
        if not one.name.startswith("random"):
            kept.append(one.compiled.memory / one.memory)
        row = (*pairs[-1], one.memory, one.compiled.memory)
        print(f"    {one.name:<18}" + "".join(f"{size / 1e6:10.3f} MB" for size in row), flush=True)
    for way in ("data parallel", "searched"):
        own = compile_strategy(plans[way]._problem, plans[way]._chosen, plans.returned, is_constrained=False).bytes
        print(f"    XLA's own propagation from the inputs of {way}: {own / 1e6:.3f} MB", flush=True)
    foreseen, counted = np.array(pairs).T
    ratio = statistics.median(counted / foreseen)
    rank = spearmanr(foreseen, counted).statistic if strategies else float("nan")
    less = plans["searched"].bytes <= plans["data parallel"].bytes
    print(f"{name:<14} {mesh} ratio {ratio:.3f} rank {rank:.3f} planned in {seconds:.1f} s, no more than DP: {less}")
    return counted / foreseen, kept


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
    parser.add_argument("--nets", nargs="*", default=[*networks_zoo.EVIDENCE, *networks_zoo.ZOO])
    parser.add_argument("--strategies", type=int, default=0)
    parser.add_argument("--meshes", nargs="*", default=["8", "2x4"])
    parser.add_argument("--deep", type=int, default=24)
    given = parser.parse_args()
    context.set_context(mode=context.GRAPH_MODE)
    meshes = [tuple(map(int, one.split("x"))) for one in given.meshes]
    found = [compared(name, mesh, given.strategies) for name in given.nets for mesh in meshes]
    for what, several in zip(("bytes sent", "memory"), zip(*found, strict=True), strict=bool(found)):
        ratios = [ratio for one in several for ratio in one]
        middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
        print(f"{what}: counted to foreseen {middle:.3f} in the median, from {least:.3f} to {most:.3f}")
    if given.deep:
        step = training_step(Deep(given.deep))
        batch = networks_zoo.numbers(1024, 64), networks_zoo.numbers(1024)
        plans = plan(step, batch, devices=1024, hardware="h100", check=0, progress=False)
        started = time.perf_counter()
        found = plans.search(plans.problem, plans.memory)
        seconds, cost = time.perf_counter() - started, cost_of(plans.problem, found)
        print(f"{given.deep} layers on 1,024 devices: {seconds:.1f} s, {cost / 1e6:,.1f} weighted MB\n{plans}")


if __name__ == "__main__":
    main()
