import math
import random
import re
import xml.etree.ElementTree as ElementTree

import ir_programs as programs
import jax
import jax.numpy as jnp
import pytest

from msnb import ir
from msnb.ir.layout.hierarchy import Hierarchy
from msnb.ir.layout.layered import layered
from msnb.ir.layout.scopes import CROWD, FOLD, PAGE, Scope


def tree(kind="step", layers=3):
    return Hierarchy(ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers)))


def scopes(hierarchy, kind):
    return [scope for scope in hierarchy.root.scopes() if scope.kind == kind]


def test_a_cell_that_is_called_several_times_is_several_boxes():
    forward = tree().root.named["forward"]
    names = [child.name for child in forward.children[0].children[0].children if isinstance(child, Scope)]
    assert names == ["fc0-Dense", "relu-ReLU", "fc1-Dense", "relu-ReLU (2)", "fc2-Dense", "relu-ReLU (3)"]


def test_gradients_take_the_names_of_the_calls_they_belong_to():
    backward = tree().root.named["backward"]
    names = {scope.name for scope in backward.scopes()}
    assert {"relu-ReLU", "relu-ReLU (2)", "relu-ReLU (3)"} <= names


def test_repeated_blocks_are_folded_in_both_lanes():
    hierarchy = tree("step", 12)
    folds = scopes(hierarchy, FOLD)
    assert any(len(fold.children) >= 11 for fold in folds)


def test_clipped_gradients_are_one_crowd_for_each_step_of_the_clipping():
    """Each gradient is cast and squared, then scaled and cast again; their running sum is a chain."""
    cast = programs.operator("Cast")(lambda x: x * 1.0)
    square = programs.operator("Square")(lambda x: x * x)
    scale = programs.operator("Mul")(lambda x, by: x * by)

    def step(*grads):
        total = square(cast(grads[0]))
        for grad in grads[1:]:
            total = programs.add(total, square(cast(grad)))
        return [cast(scale(grad, total)) for grad in grads]

    hierarchy = Hierarchy(ir.read(jax.make_jaxpr(step)(*[jnp.ones(())] * 14), "Net"))
    crowds = [(crowd.name, len(crowd.children)) for crowd in scopes(hierarchy, CROWD)]
    assert sorted(crowds) == [("Cast", 14), ("Cast", 14), ("Mul", 14), ("Square", 14)]
    (total,) = scopes(hierarchy, FOLD)
    assert total.name == "Add" and len(total.children) == 13 and len(hierarchy.root.children[0].children) == 5


def test_two_graphs_are_folded_alike_up_to_where_they_differ():
    old, new = (ir.read(programs.traced("forward", n), "Net", programs.inputs("forward", n)) for n in (12, 14))
    compared = ir.compare(old, new)
    trees = Hierarchy(old, states=compared.first), Hierarchy(new, states=compared.second)
    first, second = ([fold.name for fold in scopes(hierarchy, FOLD)] for hierarchy in trees)
    assert first and first == second
    for hierarchy, states in zip(trees, (compared.first, compared.second), strict=True):
        for fold in scopes(hierarchy, FOLD):
            assert len({states[node.id] for node in fold.leaves()}) == 1


def test_updates_of_many_weights_are_one_crowd():
    (crowd,) = scopes(tree("step", 12), CROWD)
    assert crowd.name == "ApplyMomentum" and len(crowd.children) == 12


def test_a_scope_with_thousands_of_nodes_is_split_into_pages():
    import jax
    import jax.numpy as jnp

    def flat(x):
        for index in range(700):
            if index * index % 7 < 3:
                x = programs.relu(x)
            else:
                x = programs.add(x, x) if index % 5 else programs.matmul(x, x)
        return x

    hierarchy = Hierarchy(ir.read(jax.make_jaxpr(flat)(jnp.ones((2, 2)))))
    assert max(len(scope.children) for scope in hierarchy.root.scopes() if scope.kind not in (FOLD, CROWD)) <= 240
    assert scopes(hierarchy, PAGE) or scopes(hierarchy, FOLD)


def test_every_node_has_one_home_and_edges_join_siblings():
    hierarchy = tree("step", 12)
    assert sorted(node.id for node in hierarchy.root.leaves()) == list(range(len(hierarchy.nodes)))
    for index, edges in hierarchy.lifted.items():
        children = next(scope for scope in hierarchy.root.scopes() if scope.index == index).children
        assert all(a in children and b in children and a is not b for a, b in edges)


def test_a_loop_is_a_box_around_its_body():
    import jax
    import jax.numpy as jnp

    graph = ir.read(jax.make_jaxpr(lambda x: jax.lax.fori_loop(0, 3, lambda i, v: programs.relu(v), x))(jnp.ones(3)))
    names = {scope.name for scope in Hierarchy(graph).root.scopes()}
    assert "body" in names


@pytest.mark.parametrize("seed", range(5))
def test_boxes_of_a_layout_never_overlap_and_edges_point_down(seed):
    dice = random.Random(seed)
    count = dice.randrange(2, 60)
    sizes = [(dice.uniform(40, 160), dice.uniform(20, 60)) for _ in range(count)]
    edges = [tuple(sorted(dice.sample(range(count), 2))) for _ in range(count * 2)]
    centres, routes, (width, height) = layered(sizes, edges)
    boxes = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(centres, sizes, strict=False)]
    for i, a in enumerate(boxes):
        assert a[0] >= -1e-6 and a[1] >= -1e-6 and a[2] <= width + 1e-6 and a[3] <= height + 1e-6
        for b in boxes[i + 1 :]:
            assert a[2] <= b[0] + 1e-6 or b[2] <= a[0] + 1e-6 or a[3] <= b[1] + 1e-6 or b[3] <= a[1] + 1e-6
    for (a, b), points in routes.items():
        assert points[0][1] < points[-1][1] and centres[a][1] < centres[b][1]


def test_a_layout_of_nothing_and_of_a_cycle():
    assert layered([], []) == ([], {}, (0.0, 0.0))
    centres, routes, _ = layered([(10, 10), (10, 10)], [(0, 1), (1, 0)])
    assert len(centres) == 2 and set(routes) == {(0, 1), (1, 0)}


@pytest.mark.parametrize("kind", ["forward", "step"])
def test_the_picture_is_valid_xml_and_the_same_every_time(kind):
    graph = ir.read(programs.traced(kind), "Net<&>", programs.inputs(kind))
    picture = ir.svg(graph)
    root = ElementTree.fromstring(picture)
    assert root.get("aria-label") == f"Graph of Net<&>: {len(graph)} nodes"
    assert picture == ir.svg(graph)


def test_a_picture_has_about_as_many_boxes_as_asked_for():
    graph = ir.read(programs.traced("step", 40), "Net", programs.inputs("step", 40))
    few, many = ir.svg(graph, boxes=3), ir.svg(graph, boxes=200)
    assert few.count("<rect") < 20 < many.count("<rect") < 200


def lines(picture):
    """Yield (where it starts, where it ends, what ends it) of each line of a picture."""
    for path in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}path"):
        if path.get("class") == "e":
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
            yield tuple(numbers[:2]), tuple(numbers[-2:]), path.get("marker-end")


@pytest.mark.parametrize(("kind", "layers"), [("forward", 3), ("step", 3), ("step", 40)])
def test_an_edge_that_enters_a_scope_goes_on_to_the_box_that_reads_it(kind, layers):
    graph = ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers))
    drawn = list(lines(ir.svg(graph, boxes=200)))
    starts = {start for start, _, _ in drawn}
    ports = [end for _, end, marker in drawn if marker == "url(#msnb-port)"]
    assert len(ports) >= 2 and all(any(math.dist(port, start) < 0.2 for start in starts) for port in ports)


def test_a_cell_of_one_operator_is_one_box_with_both_names():
    picture = ElementTree.fromstring(ir.svg(ir.read(programs.traced("forward"), "Net", programs.inputs())))
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"fc0", "relu (2nd call)"} <= set(texts) and "MatMul 2×4" in texts and "fc0-Dense" not in texts


def test_a_closed_scope_says_what_it_gives():
    assert "Float32 2×4" in ir.svg(
        ir.read(programs.traced("forward", 40), "Net", programs.inputs("forward", 40)), boxes=1
    )


@pytest.mark.parametrize("boxes", [0, -1, 2.5, "all", True])
def test_a_wrong_number_of_boxes_is_refused(boxes):
    with pytest.raises(ValueError, match="positive int"):
        ir.svg(ir.read(programs.traced()), boxes=boxes)


def test_an_empty_graph_is_drawn():
    import jax

    assert ElementTree.fromstring(ir.svg(ir.read(jax.make_jaxpr(lambda x: x)(1.0)))) is not None
