"""Values over a graph: checked, written, coloured, summed up."""

import json
import math

import ir_programs as programs
import pytest

from msnb import ir
from msnb.ir.layout.hierarchy import Hierarchy
from msnb.ir.layout.layered import layered
from msnb.ir.layout.picture import to_svg
from msnb.ir.overlay import LEVELS, Scale, check_column, fold_over_scopes, human, pack_column, transfer_column


def graph_of(layers=3, kind="step"):
    return ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00042, "s", "420 µs"),
        (2.5, "ms", "2.5 ms"),
        (0, "s", "0 s"),
        (75e-9, "s", "75 ns"),
        (90, "s", "90 s"),
        (1234567, "B", "1.23 MB"),
        (999.7, "", "1 k"),
        (12, "FLOP", "12 FLOP"),
        (0.0004, "", "4.0e-4"),
        (-3.14159, "", "-3.14"),
        (None, "s", "–"),
        (math.nan, "", "NaN"),
        (-math.inf, "s", "-Inf"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, unit, text):
    assert human(value, unit) == text


def test_what_json_does_not_know_crosses_as_text():
    column = check_column("x", {"values": [math.nan, math.inf, None, 1 / 3]}, 4)
    assert json.loads(json.dumps(pack_column(column), allow_nan=False))["values"] == ["nan", "inf", None, 0.3333]


def test_scopes_show_sums_or_the_largest():
    graph = graph_of()
    tree = Hierarchy(graph)
    values = [float(node.id) for node in tree.nodes]
    values[0] = None
    total = fold_over_scopes(tree, check_column("x", {"values": values}, len(graph)))
    assert total[tree.root.index] == sum(values[1:])
    largest = fold_over_scopes(tree, check_column("x", {"values": values, "fold": "max"}, len(graph)))
    negative = check_column("x", {"values": [-3.0, 2.0, *[1.0] * (len(graph) - 2)], "fold": "largest"}, len(graph))
    assert fold_over_scopes(tree, negative)[tree.root.index] == -3
    assert largest[tree.root.index] == len(graph) - 1
    values[1] = math.nan
    assert math.isnan(
        fold_over_scopes(tree, check_column("x", {"values": values, "fold": "max"}, len(graph)))[tree.root.index]
    )


def test_scales_are_linear_logarithmic_or_two_sided():
    linear = Scale([2.0, 4.0, None], log=False)
    assert (linear.low, linear.high, linear.level(4.0), linear.level(2.0)) == (0.0, 4.0, LEVELS - 1, (LEVELS - 1) // 2)
    log = Scale([1e-4, 1e-2, 1.0], log=True)
    assert log.level(1e-2) == (LEVELS - 1) // 2 and log.level(0.0) == 0 and log.level(math.nan) is None
    both = Scale([-1.0, 3.0], log=False)
    assert both.two_sided and both.level(0.0) == (LEVELS - 1) // 2 and both.low == -3.0
    negative = Scale([-2.0, -1.0], False)
    assert negative.level(-2.0) == 0 and negative.colours()[0] == both.colours()[0], "the largest effect is dark"
    for scale in (linear, log, both):
        for dark in (False, True):
            fills = [fill for fill, _ in scale.colours(dark)]
            assert len(set(fills)) == LEVELS


def test_the_picture_is_coloured_and_says_by_what():
    graph = graph_of()
    column = check_column("time", {"label": "time & more", "unit": "s", "values": [1e-3] * len(graph)}, len(graph))
    drawn = to_svg(graph, column=column)
    assert "time &amp; more" in drawn and "1 ms" in drawn and 'class="v8"' in drawn
    assert 'class="v8"' not in to_svg(graph)


def test_values_stay_with_the_nodes_that_compute_the_same():
    old, new = graph_of(3, "forward"), graph_of(4, "forward")
    column = check_column("x", {"values": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "note": list("abcdef")}, 6)
    moved = transfer_column(old, new, column)
    assert moved["values"] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, None, None] and moved["note"][:3] == ["a", "b", "c"]


def test_edges_that_need_not_cross_do_not_cross():
    # a gradient of attention, where the order of execution alone leaves one crossing
    edges = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 6),
        (3, 7),
        (7, 8),
        (6, 9),
        (9, 10),
        (8, 10),
        (6, 11),
        (11, 12),
        (10, 12),
    ]
    _, routes, _ = layered([(60.0, 38.0)] * 13, edges)
    pieces = [(a, b) for route in routes.values() for a, b in zip(route, route[1:], strict=False)]

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    crossed = [
        (p, q)
        for p in pieces
        for q in pieces
        if side(*p, q[0]) * side(*p, q[1]) < -1e-6 and side(*q, p[0]) * side(*q, p[1]) < -1e-6
    ]
    assert crossed == []
