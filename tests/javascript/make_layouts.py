"""Writes `layouts.json`: graphs, and where the layered layout puts their boxes.

Python (`msnb/ir/layout/layered.py`) draws the still pictures. JavaScript (`msnb/notebook/graph/src/layered.js`) draws
what a reader opens and closes. A test of each compares it with this file, so that a
graph keeps its shape when its script starts.

    python tests/javascript/make_layouts.py
"""

import json
import math
import random
from pathlib import Path

from msnb.ir.layout.layered import layered

FILE = Path(__file__).with_name("layouts.json")


def graphs(seed=20):
    """200 times sizes, edges and ports: what networks look like, what they rarely do, each regime of the layout."""
    draw = random.Random(seed)
    for number in range(198):
        count = 1 + number % 30
        edges = (_residual, _tree, _dense, _wild)[number % 4](draw, count)
        boxes = [[draw.randrange(40, 161, 4), draw.choice((24, 38, 38, 60))] for _ in range(count)]
        yield _with_ports(draw, boxes, edges) if number % 3 == 2 else (boxes, edges, [0, 0])
    # long edges are broken into boxes of their own: above 600 boxes neighbours are no longer swapped, above 3,000 less
    # is tried
    for count, many in ((50, 30), (90, 50)):
        chain = [[i, i + 1] for i in range(count - 1)]
        long = [[draw.randrange(count // 8), count - 1 - draw.randrange(count // 8)] for _ in range(many)]
        yield [[draw.randrange(40, 161, 4), 38] for _ in range(count)], chain + long, [0, 0]


def _residual(draw, count):
    """Return a chain, and connections that skip some of it."""
    skips = [[i, min(count - 1, i + draw.randrange(2, 6))] for i in range(count) if draw.random() < 0.3]
    return [[i, i + 1] for i in range(count - 1)] + [edge for edge in skips if edge[0] < edge[1]]


def _tree(draw, count):
    """Branches that meet again; some boxes stand alone."""
    return [[draw.randrange(i), i] for i in range(1, count) if draw.random() < 0.9]


def _dense(draw, count):
    pairs = [[i, j] for j in range(count) for i in range(j)]
    return draw.sample(pairs, min(len(pairs), 2 * count))


def _wild(draw, count):
    """Edges that point up, to themselves, or are there twice."""
    edges = [[draw.randrange(count), draw.randrange(count)] for _ in range(count)]
    return edges + edges[: count // 5]


def _with_ports(draw, boxes, edges):
    """Return the same as the inside of a scope: what enters goes to some boxes, what leaves comes from some."""
    above, below, count = draw.randrange(1, 4), draw.randrange(1, 3), len(boxes)
    inner = [[a + above, b + above] for a, b in edges]
    into = [[port, above + draw.randrange(count)] for port in range(above) for _ in range(draw.randrange(1, 3))]
    out = [[above + draw.randrange(count), above + count + port] for port in range(below)]
    return [[10, 0]] * above + boxes + [[10, 0]] * below, into + inner + out, [above, below]


def laid_out(sizes, edges, ports):
    """Return the expected layout: rank of each box, order in each rank, columns, length of each route, total size."""
    centres, routes, size = layered([tuple(s) for s in sizes], [tuple(e) for e in edges], ports)
    heights = sorted({y for _, y in centres})
    ranks = [heights.index(y) for _, y in centres]
    order = [sorted((n for n, r in enumerate(ranks) if r == rank), key=lambda n: centres[n][0]) for rank in set(ranks)]
    return {
        "ranks": ranks,
        "order": order,
        "columns": [round(x, 2) for x, _ in centres],
        "routes": [_length(routes.get(tuple(edge))) for edge in edges],
        "size": [round(side, 2) for side in size],
    }


def _length(points):
    return points and round(sum(math.dist(a, b) for a, b in zip(points, points[1:], strict=False)), 2)


if __name__ == "__main__":
    made = ({"sizes": s, "edges": e, "ports": p, **laid_out(s, e, p)} for s, e, p in graphs())
    rows = [json.dumps(each, separators=(",", ":")) for each in made]
    FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")
    print(f"{len(rows)} graphs, {FILE.stat().st_size:,} bytes")
