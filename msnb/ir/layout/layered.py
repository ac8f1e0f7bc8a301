"""Layered layout of a graph (Sugiyama): ranks by longest path, order by barycentres, coordinates by least squares."""

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
    """Compute positions of boxes so that edges point downwards.

    Args:
        sizes (list[tuple[float, float]]): width and height of each box, in the order of execution.
        edges (list[tuple[int, int]]): pairs of box numbers; one from a later to an earlier box is drawn upwards.
        ports (tuple[int, int]): number of leading boxes that form a separate row above all others, and of trailing
            boxes that form a row below. Edges enter and leave the layout at these boxes. Default: (0, 0).
        gap_x (float): distance between neighbours. Default: 18.
        gap_y (float): distance between rows. Default: 18.

    Returns:
        tuple: centres ``[(x, y)]`` of the boxes, ``{edge: [(x, y), ...]}`` and the total size ``(width, height)``.
    """
    count = len(sizes)
    if not count:
        return [], {}, (0.0, 0.0)
    down = sorted({(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]})
    ranks = _assign_ranks(count, down, *ports)
    widths = [size[0] for size in sizes]
    layers = [[] for _ in range(max(ranks) + 1)]
    for number, rank in enumerate(ranks):
        layers[rank].append(number)
    above, below, paths = _split_long_edges(down, ranks, layers, widths)
    _order_layers(layers, above, below, count)
    x = _compute_x_positions(layers, above, below, widths, count, gap_x)
    y, height = _compute_row_positions(layers, sizes, count, gap_y)
    left = min(x[n] - widths[n] / 2 for n in range(len(x)))
    right = max(x[n] + widths[n] / 2 for n in range(len(x)))
    centre = {n: (x[n] - left, y[rank][0]) for rank, layer in enumerate(layers) for n in layer}
    tall = {n: y[rank][1] for rank, layer in enumerate(layers) for n in layer}
    routes = {}
    for edge in edges:
        chain = paths.get((min(edge), max(edge)))
        if chain is None:
            continue
        points = _route_edge(chain, centre, sizes, tall)
        routes[edge] = points if edge[0] < edge[1] else points[::-1]
    return [centre[n] for n in range(count)], routes, (right - left, height)


def _route_edge(chain, centre, sizes, tall):
    """Return the points of an edge that is vertical within every row and moves sideways only between rows."""
    points = []

    def put(x, y):
        if not points or abs(points[-1][1] - y) > 1 or points[-1][0] != x:
            points.append((x, y))

    for step, number in enumerate(chain):
        x, y = centre[number]
        row = tall[number] / 2
        half = sizes[number][1] / 2 if number < len(sizes) else row
        if step:
            put(x, y - row)
            put(x, y - half)
        if step < len(chain) - 1:
            put(x, y + half)
            put(x, y + row)
    return points


def _assign_ranks(count, edges, above, below):
    into = [[] for _ in range(count)]
    out = [[] for _ in range(count)]
    for a, b in edges:
        into[b].append(a)
        out[a].append(b)
    first, inner = int(above > 0), range(above, count - below)
    ranks = [0] * count
    for number in inner:  # edges go from smaller to larger numbers, so this order is topological
        ranks[number] = max((ranks[a] + 1 for a in into[number]), default=first)
    for number in reversed(inner):  # a source is directly above its first reader
        readers = [ranks[b] for b in out[number] if b in inner]
        if not into[number] and readers:
            ranks[number] = max(first, min(readers) - 1)
    last = max((ranks[number] + 1 for number in inner), default=first)
    return ranks[: count - below] + [last] * below


def _split_long_edges(edges, ranks, layers, widths):
    """Split each edge that spans several ranks by a dummy box in each rank between. Return (neighbours above,
    neighbours below, {edge: chain of boxes}).
    """
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


_FEW, _MANY = 600, 3000  # below _FEW boxes neighbours are swapped; above _MANY fewer sweeps are tried


def _order_layers(layers, above, below, count):
    """Order the boxes of each layer so that few edges cross. Each sweep sorts by the barycentre of the neighbours above
    or below, keeps or reverses the order of ties, and swaps neighbours. There are three initial orders: the order of
    execution, a depth-first walk along the edges, and long edges on the left. The result with the fewest crossings is
    used.
    """
    position, total = {}, sum(map(len, layers))
    least, best = None, None

    def put(layer):
        for index, number in enumerate(layer):
            position[number] = index

    def better():
        nonlocal least, best
        crossings = _count_crossings(layers, below, position)
        if least is not None and crossings >= least:
            return False
        least, best = crossings, [list(layer) for layer in layers]
        return True

    beginnings = (
        lambda: position.get,
        lambda: _make_depth_first_sort_key(layers, above, below),
        lambda: lambda number: (number < count, number),
    )
    for layer in layers:
        put(layer)
    for begin in beginnings:
        if least == 0:
            break
        key = begin()  # the depth-first walk starts from the result of the first initial order
        for layer in layers:
            layer.sort(key=key)
            put(layer)
        better()
        sweep = idle = 0
        while least and idle < (2 if total > _MANY else 4) and sweep < 24:
            near, turn = below if sweep % 2 else above, -1 if sweep % 4 > 1 else 1
            for layer in layers[-2::-1] if sweep % 2 else layers[1:]:
                weight = {
                    n: sum(position[m] for m in near[n]) / len(near[n]) if near.get(n) else position[n] for n in layer
                }
                layer.sort(key=lambda n, w=weight, t=turn: (w[n], t * position[n]))
                put(layer)
            if total < _FEW:
                _swap_crossing_neighbours(layers, above, below, position)
            sweep, idle = sweep + 1, 0 if better() else idle + 1
    layers[:] = best


def _make_depth_first_sort_key(layers, above, below):
    """Return a sort key: the number at which a depth-first walk along the edges visits a box."""
    visit_order = {}
    for layer in layers:
        for start in layer:
            stack = [start]
            while stack:
                number = stack.pop()
                if number not in visit_order:
                    visit_order[number] = len(visit_order)
                    for near in (above, below):
                        stack += [other for other in reversed(near.get(number, ())) if other not in visit_order]
    return visit_order.__getitem__


def _count_crossings(layers, below, position):
    count = 0
    for layer in layers[:-1]:
        ends = []  # positions where the edges so far end, sorted
        for number in layer:
            near = [position[other] for other in below.get(number, ())]
            count += sum(len(ends) - bisect.bisect_right(ends, end) for end in near)
            for end in near:
                bisect.insort(ends, end)
    return count


def _swap_crossing_neighbours(layers, above, below, position):
    def gain(first, second, near):
        return sum(
            (position[a] > position[b]) - (position[a] < position[b])
            for a in near.get(first, ())
            for b in near.get(second, ())
        )

    for layer in layers:
        for index in range(len(layer) - 1):
            first, second = layer[index : index + 2]
            if gain(first, second, above) + gain(first, second, below) > 0:
                layer[index : index + 2] = second, first
                position[first], position[second] = index + 1, index


def _compute_x_positions(layers, above, below, widths, count, gap):
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
            targets, weights = [], []
            for number in layer:
                near = first.get(number) or second.get(number)
                targets.append(sum(x[n] for n in near) / len(near) if near else x[number])
                weights.append(4.0 if number >= count else 1.0 if near else 0.1)
            if len(layer) == 1:  # no neighbours to separate
                x[layer[0]] = targets[0]
                continue
            for number, value in zip(
                layer, _fit_positions_with_gaps(targets, weights, [widths[n] for n in layer], gap), strict=False
            ):
                x[number] = value
    return x


def _fit_positions_with_gaps(targets, weights, widths, gap):
    """Return the positions with the least squared distance to `targets` among those that keep the order and the gaps
    (isotonic regression).
    """
    offset, offsets = 0.0, []
    for index, width in enumerate(widths):
        offset += (widths[index - 1] + width) / 2 + gap if index else 0.0
        offsets.append(offset)
    blocks = []
    for value, weight, shift in zip(targets, weights, offsets, strict=False):
        blocks.append([value - shift, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, weight, many = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * weight) / (last[1] + weight)
            last[1] += weight
            last[2] += many
    means = [block[0] for block in blocks for _ in range(block[2])]
    return [mean + shift for mean, shift in zip(means, offsets, strict=False)]


def _compute_row_positions(layers, sizes, count, gap):
    """Return (centre, height) of each row, and the total height."""
    rows, at = [], 0.0
    for layer in layers:
        tall = max((sizes[number][1] for number in layer if number < count), default=0.0)
        rows.append((at + tall / 2, tall))
        at += tall + gap
    return rows, at - gap
