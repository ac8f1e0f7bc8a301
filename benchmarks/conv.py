"""Measure convolutions beside plain lax, shape by shape: the chosen lowering, forward and both gradients.

    python benchmarks/conv.py [lenet resnet64 resnet224 mobilenet grouped odd] [--seconds 0.3] [--ways]

Runs of both sides are interleaved and medians compared, so another process slows both alike. A ratio above 1 means that
the choice is faster than lax. With --ways every lowering is timed; the thresholds of
`msnb/ops/nn/conv/lowering_choice.py` come from such runs.
"""

import argparse
import math
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

import msnb  # noqa: F401 - switches x64 on, as it is in use
from msnb.ops.nn.conv import lowering as ways
from msnb.ops.nn.conv import lowering_choice, primitive
from msnb.ops.nn.conv.lowering import Geometry


def list_bottlenecks(batch, side):
    """Return layers of ResNet-50 whose first stage has `side` pixels: (name, image, kernel, stride, pad, group)."""
    rows = [("7x7/2", (batch, 3, 4 * side, 4 * side), (64, 3, 7, 7), 2, 3, 1)]
    for stage, (outer, inner) in enumerate(((256, 64), (512, 128), (1024, 256), (2048, 512))):
        n = side >> stage
        rows += [
            ("1x1", (batch, outer, n, n), (inner, outer, 1, 1), 1, 0, 1),
            ("3x3", (batch, inner, n, n), (inner, inner, 3, 3), 1, 1, 1),
            ("1x1", (batch, inner, n, n), (outer, inner, 1, 1), 1, 0, 1),
        ]
        if stage:
            rows += [
                ("3x3/2", (batch, inner, 2 * n, 2 * n), (inner, inner, 3, 3), 2, 1, 1),
                ("1x1/2", (batch, outer // 2, 2 * n, 2 * n), (outer, outer // 2, 1, 1), 2, 0, 1),
            ]
    return rows


NETWORKS = {
    "lenet": [
        ("5x5", (32, 1, 32, 32), (6, 1, 5, 5), 1, 0, 1),
        ("5x5", (32, 6, 14, 14), (16, 6, 5, 5), 1, 0, 1),
        ("5x5 same", (32, 1, 28, 28), (6, 1, 5, 5), 1, 2, 1),
        ("5x5 b1", (1, 1, 32, 32), (6, 1, 5, 5), 1, 0, 1),
    ],
    "resnet64": list_bottlenecks(8, 16),
    "resnet224": list_bottlenecks(1, 56),
    "mobilenet": [
        ("dw", (b, c, n, n), (c, 1, 3, 3), s, 1, c)
        for b, m in ((8, 16), (1, 56))
        for c, n in ((32, 2 * m), (96, m), (576, m // 4))
        for s in (1, 2)
    ]
    + [
        ("dw 5x5", (8, 240, 14, 14), (240, 1, 5, 5), 1, 2, 240),
        ("dw 5x5/2", (8, 96, 28, 28), (96, 1, 5, 5), 2, 2, 96),
        ("dw 7x7", (4, 96, 56, 56), (96, 1, 7, 7), 1, 3, 96),
    ],
    "grouped": [
        ("resnext", (8, 128, 16, 16), (128, 4, 3, 3), 1, 1, 32),
        ("alexnet", (8, 96, 8, 8), (256, 48, 5, 5), 1, 2, 2),
        ("shuffle", (8, 240, 8, 8), (60, 80, 1, 1), 1, 0, 3),
    ],
    "odd": [
        ("3x3", (4, 3, 9, 9), (5, 3, 3, 3), 1, 1, 1),
        ("3x3/2", (2, 16, 7, 7), (8, 16, 3, 3), 2, 1, 1),
        ("2x2", (16, 4, 8, 8), (4, 4, 2, 2), 1, 0, 1),
        ("vgg", (8, 64, 32, 32), (64, 64, 3, 3), 1, 1, 1),
        ("vgg 1", (8, 3, 32, 32), (64, 3, 3, 3), 1, 1, 1),
        ("1d", (16, 64, 1, 100), (64, 64, 1, 3), 1, (0, 1), 1),
        ("cifar", (32, 16, 32, 32), (16, 16, 3, 3), 1, 1, 1),
        ("alex 1", (8, 3, 64, 64), (96, 3, 11, 11), 4, 2, 1),
    ],
}


def measure_medians(functions, seconds):
    """Return the median seconds of each call, measured in turns."""
    for fn, args in functions.values():
        jax.block_until_ready(fn(*args))
    times = {name: [] for name in functions}
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 5 or time.perf_counter() < end:
        for name, (fn, args) in functions.items():
            start = time.perf_counter()
            jax.block_until_ready(fn(*args))
            times[name].append(time.perf_counter() - start)
        rounds += 1
    return {name: statistics.median(t) for name, t in times.items()}


def make_passes(way, image, kernel, geometry):
    """Return the three computations with one lowering. None stands for the primitives, which choose."""
    if way is None:
        return {
            "forward": lambda x, w: primitive.conv(x, w, geometry),
            "input": lambda dy, w: primitive.conv_input_grad(dy, w, image, geometry),
            "filter": lambda x, dy: primitive.conv_filter_grad(x, dy, kernel, geometry),
        }
    spec = lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    return {
        "forward": lambda x, w: way(x, w, geometry),
        "input": lambda dy, w: jax.linear_transpose(lambda x: way(x, w, geometry), spec(image))(dy)[0],
        "filter": lambda x, dy: jax.linear_transpose(lambda w: way(x, w, geometry), spec(kernel))(dy)[0],
    }


def list_candidates(kernel, geometry, is_exhaustive):
    sides = {"lax": ways.direct, "chosen": None}
    if is_exhaustive and geometry.group == 1:
        sides.update({f.__name__: f for f in (ways.channels_last, ways.columns, ways.rows)})
        if math.prod(kernel[2:]) <= 49:
            sides["taps"] = ways.taps
    elif is_exhaustive:
        sides["grouped_columns"] = ways.grouped_columns
        if kernel[1] == 1:
            sides["depthwise"] = ways.depthwise
    return sides


def measure_row(row, seconds, is_exhaustive):
    """Print a line for each pass. Return the ratios lax / chosen."""
    name, image, kernel, stride, pad, group = row
    pad = pad if isinstance(pad, tuple) else (pad, pad)
    geometry = Geometry((stride, stride), tuple((p, p) for p in pad), (1, 1), group)
    r = np.random.RandomState(0)
    x, w = (jnp.asarray(r.randn(*s), jnp.float32) for s in (image, kernel))
    dy = jnp.asarray(r.randn(image[0], kernel[0], *geometry.output(image[2:], kernel[2:])), jnp.float32)
    operands = {"forward": (x, w), "input": (dy, w), "filter": (x, dy)}
    choices = {
        "forward": lowering_choice.forward,
        "input": lowering_choice.input_grad,
        "filter": lowering_choice.filter_grad,
    }
    ratios = []
    for direction, args in operands.items():
        sides = {
            side: (jax.jit(make_passes(way, image, kernel, geometry)[direction]), args)
            for side, way in list_candidates(kernel, geometry, is_exhaustive).items()
        }
        times = measure_medians(sides, seconds)
        ratio = times["lax"] / times["chosen"]
        ratios.append(ratio)
        way = choices[direction](image, kernel, geometry).__name__
        if lowering_choice.group_by_group(image, geometry):
            way = "by group"
        others = "  ".join(f"{k} {v * 1e6:.0f}" for k, v in times.items() if k not in ("lax", "chosen"))
        label = f"{name} {image[1]}->{kernel[0]} @{image[2]}x{image[3]} b{image[0]}" if direction == "forward" else ""
        print(
            f"{label:34s} {direction:8s} lax {times['lax'] * 1e6:9.0f} us   {way:16s} {times['chosen'] * 1e6:9.0f} us"
            f"   {ratio:6.2f}x   {others}",
            flush=True,
        )
    return ratios


def main():
    """Measure the named networks and print the geometric mean of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each line")
    parser.add_argument("--ways", action="store_true", help="time every lowering")
    options = parser.parse_args()
    unknown = set(options.networks) - set(NETWORKS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(NETWORKS)}")
    if jax.default_backend() != "cpu":
        print(f"On {jax.default_backend()} plain lax is used for everything: all ratios are about 1.")
    for network in options.networks:
        print(f"-- {network}")
        ratios = [r for row in NETWORKS[network] for r in measure_row(row, options.seconds, options.ways)]
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"   {network}: {mean:.2f}x as fast as lax (geometric mean), least {min(ratios):.2f}x\n")


if __name__ == "__main__":
    main()
