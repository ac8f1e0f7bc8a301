"""A small layered layout (Sugiyama's scheme): ranks by longest path, order by barycentres, places by least squares."""

import bisect
from typing import Any

GAP_X, GAP_Y = 18.0, 18.0


def layered(
    sizes: list[tuple[float, float]],
    edges: list[tuple[int, int]],
    ports: tuple[int, int] = (0, 0),
    gap_x: float = GAP_X,
    gap_y: float = GAP_Y,
) -> tuple[Any, ...]:
    """Place boxes so that edges point downwards.

    Args:
        sizes (list[tuple[float, float]]): width and height of each box, in the order of execution.
        edges (list[tuple[int, int]]): pairs of box numbers; one that points up in that order is drawn upwards.
        ports (tuple[int, int]): how many boxes, from the first on, stand in a row of their own above all others, and
            how many, up to the last, in one below: where edges enter and leave. Default: (0, 0).
        gap_x (float): room between neighbours. Default: 18.
        gap_y (float): room between rows. Default: 18.

    Returns:
        tuple: centres ``[(x, y)]`` of the boxes, ``{edge: [(x, y), ...]}`` and the size ``(width, height)`` of it all.
    """
    count = len(sizes)
    if not count:
        return [], {}, (0.0, 0.0)
    down = sorted({(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]})
    ranks = _ranks(count, down, *ports)
    widths = [size[0] for size in sizes]
    layers = [[] for _ in range(max(ranks) + 1)]
    for number, rank in enumerate(ranks):
        layers[rank].append(number)
    above, below, paths = _dummies(down, ranks, layers, widths)
    _order(layers, above, below, count)
    x = _columns(layers, above, below, widths, count, gap_x)
    y, height = _rows(layers, sizes, count, gap_y)
    left = min(x[n] - widths[n] / 2 for n in range(len(x)))
    right = max(x[n] + widths[n] / 2 for n in range(len(x)))
    centre = {n: (x[n] - left, y[rank][0]) for rank, layer in enumerate(layers) for n in layer}
    tall = {n: y[rank][1] for rank, layer in enumerate(layers) for n in layer}
    routes = {}
    for edge in edges:
        chain = paths.get((min(edge), max(edge)))
        if chain is None:
            continue
        points = _route(chain, centre, sizes, tall)
        routes[edge] = points if edge[0] < edge[1] else points[::-1]
    return [centre[n] for n in range(count)], routes, (right - left, height)


def _route(chain, centre, sizes, tall):
    """Straight down through every row it passes, however tall, and across only between rows."""
    points = []

    def put(x, y):
        if not points or abs(points[-1][1] - y) > 1 or points[-1][0] != x:
            points.append((x, y))

    for place, number in enumerate(chain):
        x, y = centre[number]
        row = tall[number] / 2
        half = sizes[number][1] / 2 if number < len(sizes) else row
        if place:
            put(x, y - row)
            put(x, y - half)
        if place < len(chain) - 1:
            put(x, y + half)
            put(x, y + row)
    return points


def _ranks(count, edges, above, below):
    into = [[] for _ in range(count)]
    out = [[] for _ in range(count)]
    for a, b in edges:
        into[b].append(a)
        out[a].append(b)
    first, inner = int(above > 0), range(above, count - below)
    ranks = [0] * count
    for number in inner:  # edges go from smaller to larger numbers, so this order is topological
        ranks[number] = max((ranks[a] + 1 for a in into[number]), default=first)
    for number in reversed(inner):  # a source stands right above its first reader
        readers = [ranks[b] for b in out[number] if b in inner]
        if not into[number] and readers:
            ranks[number] = max(first, min(readers) - 1)
    last = max((ranks[number] + 1 for number in inner), default=first)
    return ranks[: count - below] + [last] * below


def _dummies(edges, ranks, layers, widths):
    """Break long edges into steps of one rank; returns neighbours above, below and the chain of each edge."""
    above, below, paths = {}, {}, {}
    for a, b in edges:
        chain = [a]
        for rank in range(ranks[a] + 1, ranks[b]):
            dummy = len(widths)
            widths.append(2.0)
            layers[rank].append(dummy)
            chain.append(dummy)
        chain.append(b)
        paths[(a, b)] = chain
        for upper, lower in zip(chain, chain[1:], strict=False):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    return above, below, paths


_FEW, _MANY = 600, 3000  # boxes below which neighbours are swapped, above which less is tried


def _order(layers, above, below, count):
    """Barycentres from above and below in turn, equal ones kept in order or turned round, and neighbours swapped where
    that helps; from three beginnings: the order of execution, that of a walk along the edges, and with long edges on
    the left. The best order that was seen."""
    place, total = {}, sum(map(len, layers))
    least, best = None, None

    def put(layer):
        for index, number in enumerate(layer):
            place[number] = index

    def better():
        nonlocal least, best
        found = _crossings(layers, below, place)
        if least is not None and found >= least:
            return False
        least, best = found, [list(layer) for layer in layers]
        return True

    beginnings = (
        lambda: place.get,
        lambda: _walk(layers, above, below),
        lambda: lambda number: (number < count, number),
    )
    for layer in layers:
        put(layer)
    for begin in beginnings:
        if least == 0:
            break
        key = begin()  # the walk starts from the order that the first beginning has led to
        for layer in layers:
            layer.sort(key=key)
            put(layer)
        better()
        sweep = idle = 0
        while least and idle < (2 if total > _MANY else 4) and sweep < 24:
            near, turn = below if sweep % 2 else above, -1 if sweep % 4 > 1 else 1
            for layer in layers[-2::-1] if sweep % 2 else layers[1:]:
                weight = {n: sum(place[m] for m in near[n]) / len(near[n]) if near.get(n) else place[n] for n in layer}
                layer.sort(key=lambda n, w=weight, t=turn: (w[n], t * place[n]))
                put(layer)
            if total < _FEW:
                _swap(layers, above, below, place)
            sweep, idle = sweep + 1, 0 if better() else idle + 1
    layers[:] = best


def _walk(layers, above, below):
    """A key that sorts a layer in the order in which a walk in depth comes to its boxes."""
    seen = {}
    for layer in layers:
        for start in layer:
            stack = [start]
            while stack:
                number = stack.pop()
                if number not in seen:
                    seen[number] = len(seen)
                    for near in (above, below):
                        stack += [other for other in reversed(near.get(number, ())) if other not in seen]
    return seen.__getitem__


def _crossings(layers, below, place):
    count = 0
    for layer in layers[:-1]:
        ends = []  # places where the edges seen so far end, sorted
        for number in layer:
            near = [place[other] for other in below.get(number, ())]
            count += sum(len(ends) - bisect.bisect_right(ends, end) for end in near)
            for end in near:
                bisect.insort(ends, end)
    return count


def _swap(layers, above, below, place):
    def gain(first, second, near):
        return sum(
            (place[a] > place[b]) - (place[a] < place[b]) for a in near.get(first, ()) for b in near.get(second, ())
        )

    for layer in layers:
        for index in range(len(layer) - 1):
            first, second = layer[index : index + 2]
            if gain(first, second, above) + gain(first, second, below) > 0:
                layer[index : index + 2] = second, first
                place[first], place[second] = index + 1, index


def _columns(layers, above, below, widths, count, gap):
    x = {}
    for layer in layers:
        at = 0.0
        for number in layer:
            x[number] = at + widths[number] / 2
            at += widths[number] + gap
        for number in layer:
            x[number] -= at / 2
    for sweep in range(3 if len(widths) > _MANY else 8):
        first, second = (above, below) if sweep % 2 == 0 else (below, above)
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted, weights = [], []
            for number in layer:
                near = first.get(number) or second.get(number)
                wanted.append(sum(x[n] for n in near) / len(near) if near else x[number])
                weights.append(4.0 if number >= count else 1.0 if near else 0.1)
            if len(layer) == 1:  # nothing to keep apart
                x[layer[0]] = wanted[0]
                continue
            for number, value in zip(layer, _apart(wanted, weights, [widths[n] for n in layer], gap), strict=False):
                x[number] = value
    return x


def _apart(wanted, weights, widths, gap):
    """Places closest to `wanted` in the least-squares sense that keep the order and the gaps (isotonic regression)."""
    offset, offsets = 0.0, []
    for index, width in enumerate(widths):
        offset += (widths[index - 1] + width) / 2 + gap if index else 0.0
        offsets.append(offset)
    blocks = []
    for value, weight, shift in zip(wanted, weights, offsets, strict=False):
        blocks.append([value - shift, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, weight, many = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * weight) / (last[1] + weight)
            last[1] += weight
            last[2] += many
    means = [block[0] for block in blocks for _ in range(block[2])]
    return [mean + shift for mean, shift in zip(means, offsets, strict=False)]


def _rows(layers, sizes, count, gap):
    """(centre, height) of each row, and the height of all."""
    rows, at = [], 0.0
    for layer in layers:
        tall = max((sizes[number][1] for number in layer if number < count), default=0.0)
        rows.append((at + tall / 2, tall))
        at += tall + gap
    return rows, at - gap
