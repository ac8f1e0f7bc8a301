"""Draw a graph as a static SVG picture, for pages without scripts.

A lane is the forward, backward or update part of a graph, drawn as one column.
"""

from html import escape
from typing import TYPE_CHECKING, Any

from msnb.ir.anf import CNode, ParameterNode
from msnb.ir.compare import CHANGED, FUSED, ONLY, SAME
from msnb.ir.layout.hierarchy import Hierarchy
from msnb.ir.layout.labels import operator_title, paths
from msnb.ir.layout.labels import title as title_of
from msnb.ir.layout.ports import Ports
from msnb.ir.layout.scope_layout import HEADER, PAD, Box, ScopeLayout
from msnb.ir.layout.scopes import CONTROL, CROWD, FOLD, LANE, LONE, ROOT, UNIT, Scope
from msnb.ir.overlay import LEVELS, Scale, fold_over_scopes, human
from msnb.ir.result_names import result_name

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph

_MOST_ARGUMENTS = 12
_CHAR, _SMALL, _LINE = 6.4, 5.2, 30.0
_WIDEST, _HIGHEST = 1300, 1300  # Pixels. A larger picture is scaled down to fit a page, and its text is too small.
_MOST_BOXES = 90  # drawn by default
_SHADES = {CHANGED: "m", FUSED: "m", ONLY: "n"}  # CSS classes of nodes that differ
_FAMILY = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
# one style sheet with light and dark colours: the viewer applies the reader's preference
_STYLE = """
.p{fill:#fff}.t{fill:#24303b;font-weight:500}.s{fill:#5f6b76}.h{fill:#4a5662;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:3px}
.o{fill:#7f93ab;fill-opacity:.045;stroke:#b5c0cc}.c{fill:#e3ecf5;stroke:#7f9fbd}.f{fill:#ece6f6;stroke:#9a86c4}
.forward{fill:#e8f1fa;stroke:#5b8fc0}.backward{fill:#fbeae1;stroke:#cd7f52}.update{fill:#e6f3e6;stroke:#5f9f63}
.x{fill:#fde4e1;stroke:#c62f26}.e{fill:none;stroke:#8995a1;stroke-width:1.1}.a{fill:#8995a1}.g{fill:#f3f4f6;stroke:#a3adb8}.i{fill:#fff;stroke:#7b8793}
.m{fill:#fdf0cf;stroke:#b98a1d}.n{fill:#d9f0e3;stroke:#2f8f63}
@media (prefers-color-scheme:dark){.p{fill:#16191d}.t{fill:#e4e9ee}.s{fill:#9aa5b1}.h{fill:#c2ccd6;stroke:#16191d}
.o{stroke:#46515d}.c{fill:#233345;stroke:#54799d}.f{fill:#2d2740;stroke:#7d6bab}
.forward{fill:#1c2e40;stroke:#4f86b8}.backward{fill:#3d281d;stroke:#b9724a}.update{fill:#1f3322;stroke:#568f5a}
.x{fill:#4a1f1d;stroke:#ef6f66}.e{stroke:#6f7b87}.a{fill:#6f7b87}.g{fill:#23282e;stroke:#56616d}.i{fill:#16191d;stroke:#8893a0}
.m{fill:#40351a;stroke:#c79a35}.n{fill:#17382a;stroke:#4fae83}}
""".replace("\n", "")


def to_svg(graph: "FuncGraph", boxes: float = 60, column: Any = None, tree: "Hierarchy | None" = None) -> str:
    """Return an SVG document. Scopes are opened from the top until about `boxes` boxes are drawn.

    `column` is an overlay from `msnb.ir.overlay.check_column`: boxes are coloured by it, with a legend. `tree` is the
    graph's Hierarchy, if it exists already.
    """
    return Pictures([tree or Hierarchy(graph)], column=column).document(boxes)


class Pictures:
    """Draws one or more graphs, side by side, as one SVG document.

    Args:
        trees (Sequence[Hierarchy]): the trees of the graphs; one with states is coloured by them.
        headings (Sequence[str]): the heading of each graph. Default: None.
        column (dict): an overlay of the first graph. Default: None.
    """

    def __init__(self, trees: Any, headings: Any = None, column: Any = None) -> None:
        self.trees, self.headings, self.column = trees, headings, column
        self._paths = [paths(tree) for tree in trees]

    def readable(self) -> str:
        """Return the document with as many scopes open as are readable on a page.

        At each level all scopes are opened if they fit on the page. If they do not, only repeated scopes are opened. If
        these do not fit either, only a scope larger than all others together is opened.
        """
        opened = [{tree.root.index, *(lane.index for lane in tree.root.children)} for tree in self.trees]
        for tree, opened_scopes in zip(self.trees, opened, strict=True):
            opened_scopes.update(_find_scopes_around_difference(tree))
        best = self._draw_document(opened)
        waves = [[box for lane in tree.root.children for box in _list_openable_boxes(lane)] for tree in self.trees]
        while any(waves):
            larger = None
            for choose in (lambda scope, wave: True, lambda scope, _: scope.kind == FOLD, _is_larger_than_rest):
                chosen = [[scope for scope in wave if choose(scope, wave)] for wave in waves]
                tried = [
                    opened_scopes | _collect_indices_to_open(own)
                    for opened_scopes, own in zip(opened, chosen, strict=True)
                ]
                if tried == opened:
                    continue
                alone = all(len(lane.children) == 1 for tree in self.trees for lane in tree.root.children)
                is_first = alone and all(scope.parent.kind == LANE for wave in waves for scope in wave)
                if is_first or self._count_drawn_boxes(tried) <= _MOST_BOXES:
                    larger = self._draw_document(tried)
                    if is_first or larger.fits():
                        break
                    larger = None
            if larger is None:
                break
            best, opened = larger, tried
            waves = [
                [box for scope in wave if scope.index in opened_scopes for box in _list_openable_boxes(scope)]
                for wave, opened_scopes in zip(waves, opened, strict=True)
            ]
        return best.text

    def document(self, boxes: int) -> str:
        """Return the document. Scopes are opened from the top until about `boxes` boxes are drawn."""
        if isinstance(boxes, bool) or not isinstance(boxes, int) or boxes < 1:
            raise ValueError(f"For 'ir.svg', 'boxes' should be a positive int, but got {boxes!r}.")
        share = max(1, boxes // len(self.trees))
        return self._draw_document(
            [_choose_scopes_to_open(tree.root, share) | _find_scopes_around_difference(tree) for tree in self.trees]
        ).text

    def _draw_document(self, opened):
        heat = _Overlay(self.trees[0], self.column) if self.column is not None else None
        drawings = [
            _Drawing(tree, box_paths, opened_scopes, None if at else heat)
            for at, (tree, box_paths, opened_scopes) in enumerate(zip(self.trees, self._paths, opened, strict=True))
        ]
        return _Document(drawings, self.headings)

    def _count_drawn_boxes(self, opened):
        return sum(
            len(_list_shown_children(tree.scopes[index]))
            for tree, opened_scopes in zip(self.trees, opened, strict=True)
            for index in opened_scopes
        )


def _list_openable_boxes(scope):
    """Return the boxes in an open scope that can be opened. A fold and the repeat that it shows count as one."""
    children = [child for child in _list_shown_children(scope) if isinstance(child, Scope)]
    if scope.kind == FOLD and children:
        return _list_openable_boxes(children[0])
    return [child for child in children if child.kind not in (CROWD, LONE)]


def _collect_indices_to_open(chosen):
    """Return the indices of the scopes to open, including the repeat that a fold shows."""
    indices = set()
    for scope in chosen:
        indices.add(scope.index)
        while scope.kind == FOLD and isinstance(scope.children[0], Scope):
            scope = scope.children[0]
            indices.add(scope.index)
    return indices


def _find_lane(scope):
    return scope.ancestors()[1]


def _is_larger_than_rest(scope, wave):
    return scope.size * 2 > sum(other.size for other in wave if _find_lane(other) is _find_lane(scope))


def _find_scopes_around_difference(tree):
    """Return the indices of the scopes around the first node that differs from the other graph. A scope whose nodes
    all differ is excluded, so that it stays closed.
    """
    indices = set()
    differs = next((node for node in tree.nodes if tree.states and tree.states[node.id] != SAME), None)
    for scope in tree.home[differs.id].ancestors() if differs is not None else ():
        if scope.kind not in (ROOT, LANE) and all(tree.states[node.id] != SAME for node in scope.leaves()):
            break
        indices.add(scope.index)
    return indices


class _Overlay:
    """Values and colour scale of an overlay for one picture."""

    def __init__(self, tree, column):
        self.column, self.values, self.scopes = column, column["values"], fold_over_scopes(tree, column)
        self.scale = None

    def of(self, item):
        if isinstance(item, ParameterNode):
            return None
        return self.scopes.get(item.index) if isinstance(item, Scope) else self.values[item.id]

    def fit(self, items):
        self.scale = Scale(map(self.of, items), self.column["scale"] == "log")

    def style(self, item):
        """Return the CSS classes (of the box, of its text)."""
        value = self.of(item)
        if value is None:
            return "i" if isinstance(item, ParameterNode) else "w", ""
        level = self.scale.level(value)
        return ("vx", "kx") if level is None else (f"v{level}", f"k{level}")

    def css(self):
        def rules(dark):
            return "".join(
                f".v{n}{{fill:{fill};stroke:#98a3ae}}.k{n}{{fill:{ink}}}"
                for n, (fill, ink) in enumerate(self.scale.colours(dark))
            )

        return (
            f"{rules(False)}.w{{fill:none;stroke:#98a3ae;stroke-dasharray:3 3}}.vx{{fill:#c81e78;stroke:#98a3ae}}"
            f".kx{{fill:#fff}}@media (prefers-color-scheme:dark){{{rules(True)}}}"
        )


def _choose_scopes_to_open(root, budget):
    """Return the indices of the scopes to open. Scopes are opened breadth first until `budget` boxes are drawn. A scope
    and the scope of its gradients are opened together.
    """
    opened = {root.index, *(lane.index for lane in root.children)}
    count = sum(len(lane.children) for lane in root.children)
    forward, backward = root.named.get("forward"), root.named.get("backward")
    waiting = [(forward, backward)] if forward is not None else []
    waiting += [(lane, None) for lane in root.children if lane not in (forward, backward)]
    while waiting:
        next_level = []
        for scope, twin in waiting:
            for child, mate in _pair_scopes_with_gradients(scope, twin):
                pair = [one for one in (child, mate) if one is not None and one.kind not in (CROWD, LONE)]
                more = sum(len(_list_shown_children(one)) - 1 for one in pair)
                if pair and count + more <= budget:
                    opened.update(one.index for one in pair)
                    count += more
                    next_level.append((child, mate))
        waiting = next_level
    return opened


def _pair_scopes_with_gradients(scope, twin):
    """Yield (child scope, the scope of its gradients or None) for the children of a scope; gradients without a match
    come last.
    """
    mates = (
        {child.name: child for child in _list_shown_children(twin) if isinstance(child, Scope)}
        if twin is not None
        else {}
    )
    for child in _list_shown_children(scope):
        if isinstance(child, Scope):
            yield child, mates.pop(child.name, None)
    for child in mates.values():
        yield child, None


def _list_shown_children(scope):
    """Return the children that are drawn if a scope is open: all of them, or the first repeat of a fold."""
    return scope.children[:1] if scope.kind == FOLD else scope.children


class _Drawing:
    def __init__(self, tree, box_paths, opened, heat=None):
        self.opened = opened
        self.heat = heat
        self.lifted = tree.lifted
        self.result_nodes = tree.result_nodes
        self.tree = tree
        self.paths = box_paths
        self.parts = []
        self.main = tree.main_results
        failed = [node for node in tree.nodes if node.problem is not None]
        self.failing = {*failed, *(scope for node in failed for scope in tree.home[node.id].ancestors())}
        self.upwards = False
        self.lanes = []
        lanes = [lane for lane in tree.root.children if lane.children]
        ends = {lane.index: (self.arguments(lane) if lane is lanes[0] else {}, self.results(lane)) for lane in lanes}
        self.ports = Ports(tree, opened, self.far_ends(lanes, ends))
        for lane in lanes:
            self.upwards = lane.name == "backward"
            self.lanes.append((lane, self.inside(lane, *ends[lane.index])))

    def far_ends(self, lanes, ends):
        """Yield the paths from the root to both ends of each edge from an argument or to a result."""
        for lane in lanes:
            top, (arguments, results) = [self.tree.root, lane], ends[lane.index]
            for source, readers in arguments.items():
                for node in readers:
                    yield [*top, source], self.tree.way(node)
            for result, node in results.items():
                yield self.tree.way(node), [*top, result]

    def arguments(self, lane):
        """Return {argument: nodes of `lane` that read it}, without weights, which are drawn inside their operators.

        It is empty if there are more than `_MOST_ARGUMENTS`.
        """
        readers = {}
        for node in self.tree.nodes:
            for source in node.inputs:
                if (
                    isinstance(source, ParameterNode)
                    and not source.is_weight
                    and source.func_graph is self.tree.graph
                    and self.tree.way(node)[1] is lane
                ):
                    readers.setdefault(source, []).append(node)
        return readers if len(readers) <= _MOST_ARGUMENTS else {}

    def results(self, lane):
        """Return {box of a result: node of the lane that computes it}; new values of Parameters are excluded."""
        graph = self.tree.graph
        count = len(graph.outputs) - graph.written
        outputs = [
            (position, *pair) for position, pair in enumerate(graph.outputs[:count]) if isinstance(pair[0], CNode)
        ]
        result_nodes = {}
        for position, node, slot in outputs if len(outputs) <= _MOST_ARGUMENTS else ():
            if self.tree.way(node)[1] is lane:
                result_nodes[ParameterNode(result_name(graph.result_names, position, count), node.types[slot:][:1])] = (
                    node
                )
        return result_nodes

    def box(self, item):
        if isinstance(item, ParameterNode):
            title, note = item.name, "×".join(map(str, item.shape)) if item.shape else item.dtype or ""
        elif isinstance(item, Scope):
            title, note = self.words(item)
            if item.index in self.opened:
                inner = self.inside(item)
                title = f"{title}  × {len(item.children)}" if item.kind == FOLD else title
                width = max(inner.width, 1.1 * _CHAR * len(title)) + 2 * PAD
                return Box(item, width, inner.height + HEADER + PAD, title, note, inner)
        else:
            title, note = item.name, self.shape(item)
        if self.heat is not None and self.heat.of(item) is not None:
            note = human(self.heat.of(item), self.heat.column["unit"])
        return Box(item, max(64.0, _CHAR * len(title) + 22, _SMALL * len(note) + 16), 2 * _LINE - 20, title, note)

    def shape(self, node):
        kind = node.types[self.main[node.id]] if node.types else None
        return "" if kind is None else "×".join(map(str, kind.shape)) or kind.dtype

    def words(self, scope):
        """Return (title, note) of a closed scope."""
        if scope.kind == LONE:
            (node,) = scope.children
            title = operator_title(scope, self.paths)
            return title or node.name, f"{node.name} {self.shape(node)}".strip() if title else self.shape(node)
        title = title_of(scope, self.paths) if scope.kind != UNIT else f"#{scope.name}"
        count = f"× {len(scope.children)}" if scope.kind in (FOLD, CROWD) else ""
        node = self.result_nodes[scope.index] if scope.kind != CROWD else None
        kind = node.types[self.main[node.id]] if node is not None and node.types else None
        type_text = "" if kind is None else f"{kind.dtype} {'×'.join(map(str, kind.shape))}".strip()
        return title, " · ".join(filter(None, (count, type_text)))

    def inside(self, scope, arguments=None, results=None):
        arguments, results = arguments or {}, results or {}
        boxes = [self.box(child) for child in (*arguments, *_list_shown_children(scope), *results)]
        edges = [(id(a), id(b)) for a, b in self.lifted.get(scope.index, {})]
        for source, nodes in arguments.items():
            edges += [(id(source), id(self.tree.way(node)[2])) for node in nodes]
        edges += [(id(self.tree.way(node)[2]), id(result)) for result, node in results.items()]
        return ScopeLayout(boxes, edges, self.ports.of(scope), self.upwards)

    def closed(self, inner):
        """Yield the items of all boxes in a layout that are drawn closed."""
        for box in inner.boxes:
            if box.inner is None:
                yield box.item
            else:
                yield from self.closed(box.inner)

    def lay(self, x, top):
        """Draw the lanes from `x` on. Return (x of the right edge, y of the lower edge)."""
        if self.heat is not None:
            self.heat.fit([item for _, inner in self.lanes for item in self.closed(inner)])
        height, many = 0.0, len(self.lanes) > 1
        top += 24.0 if many else 0.0
        for lane, inner in self.lanes:
            width = max(inner.width, 90.0)
            if many:
                self.text(x + width / 2, top - 18, lane.name, "h", 13)
            # only the forward lane has arguments above it: lower the backward lane, so that gradients are drawn
            # beside their operators
            lower = self.lanes[0][1].height - inner.height if lane.name == "backward" else 0
            self.draw(inner, x + (width - inner.width) / 2, top + (lower if 0 < lower < 80 else 0), lane.name)
            x += width + 56
            height = max(height, inner.height)
        return x - 56, top + height

    def shade(self, item):
        """Return the CSS class of a box that differs from the other graph; "" if it does not."""
        states = self.tree.states
        if states is None or isinstance(item, ParameterNode):
            return ""
        states_here = {states[node.id] for node in (item.leaves() if isinstance(item, Scope) else (item,))}
        return "" if states_here == {SAME} else "m" if len(states_here) > 1 else _SHADES[states_here.pop()]

    def draw(self, inner, x, y, lane):
        """Draw frames first, then lines, then closed boxes and text above them."""
        for box, left, top in self.placed(inner, x, y):
            if box.inner is not None:
                if box.item.kind == FOLD:
                    self.rect(left + 4, top + 4, box.width, box.height, "o", 8)
                self.rect(left, top, box.width, box.height, "o", 8)
        for points, ends, rim in inner.lines:
            points = [(x + px, y + py) for px, py in points]
            if rim is not None:
                above = (rim == 0) != (lane == "backward")
                points[rim] = points[rim][0], y - HEADER if above else y + inner.height + PAD
            self.path(points, "arrow" if ends else "port")
        for box, left, top in self.placed(inner, x, y):
            if box.inner is not None:
                self.draw(box.inner, left + (box.width - box.inner.width) / 2, top + HEADER, lane)
                self.text(left + 9, top + 16, box.title, "h", 11, "start")
                continue
            style = "i" if isinstance(box.item, ParameterNode) else lane
            scope = isinstance(box.item, Scope) and box.item.kind != LONE
            if scope:
                style = "f" if box.item.kind in (FOLD, CROWD) else "g" if box.item.kind == CONTROL else "c"
                if box.item.kind in (FOLD, CROWD):
                    self.rect(left + 4, top + 4, box.width, box.height, "o" if self.heat is not None else style, 6)
            ink = ""
            if self.heat is not None:
                style, ink = self.heat.style(box.item)
            style = self.shade(box.item) or ("g" if self.tree.states and style != "i" else style)
            if box.item in self.failing:
                style, ink = "x", ""
            radius = 6 if scope else 19 if isinstance(box.item, ParameterNode) else 12
            self.rect(left, top, box.width, box.height, style, radius)
            self.text(left + box.width / 2, top + 17, box.title, ink or "t", 11)
            self.text(left + box.width / 2, top + 31, box.note, ink or "s", 9)

    def placed(self, inner, x, y):
        for box, (cx, cy) in zip(inner.boxes, inner.centres, strict=True):
            yield box, x + cx - box.width / 2, y + cy - box.height / 2

    def legend(self, x, y):
        """Draw the colour scale of the overlay, from its lowest value to its highest."""
        column, scale = self.heat.column, self.heat.scale
        title = column["label"] + (", logarithmic" if scale.log else "")
        self.text(x, y, title, "h", 11, "start")
        for level in range(LEVELS):
            self.rect(x + 22 * level, y + 5, 22, 8, f"v{level}", 0)
        self.text(x, y + 25, human(scale.low, column["unit"]), "s", 9, "start")
        self.text(x + 22 * LEVELS, y + 25, human(scale.high, column["unit"]), "s", 9, "end")

    def rect(self, x, y, width, height, style, radius):
        self.parts.append(
            f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}"/>'
        )

    def text(self, x, y, text, style, size, anchor="middle"):
        self.parts.append(
            f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'font-size="{size}">{escape(text)}</text>'
        )

    def path(self, points, end):
        commands = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
        for (ax, ay), (bx, by) in zip(points, points[1:], strict=False):
            middle = (ay + by) / 2  # the curve leaves and arrives vertically
            commands.append(
                f"L{bx:.1f},{by:.1f}"
                if abs(ax - bx) < 0.5
                else f"C{ax:.1f},{middle:.1f} {bx:.1f},{middle:.1f} {bx:.1f},{by:.1f}"
            )
        self.parts.append(f'<path class="e" d="{"".join(commands)}" marker-end="url(#msnb-{end})"/>')


class _Document:
    """The SVG document of several drawings, side by side. Stages that are too wide for a page are below each other.

    Attributes:
        text (str): the document.
        width (float), height (float): its size in pixels.
    """

    def __init__(self, drawings, headings):
        first = drawings[0]
        width, height = self._arrange_drawings(drawings, headings, False)
        if headings and first.tree.states is None and width > _WIDEST:
            for drawing in drawings:
                drawing.parts.clear()
            width, height = self._arrange_drawings(drawings, headings, True)
        if first.heat is not None:
            width, height = max(width, 240.0), height + 40
            first.legend(20.0, height - 32)
        if headings:
            width = max(width, 360.0)
            if first.tree.states is not None:
                height += 30
                self._draw_comparison_legend(height - 18, drawings)
        name = escape(" and ".join(dict.fromkeys(drawing.tree.graph.name for drawing in drawings)))
        count = " and ".join(str(len(drawing.tree.nodes)) for drawing in drawings)
        summary = f"Graph{'s' * (len(drawings) > 1)} of {name}: {count} nodes"
        style = _STYLE + (first.heat.css() if first.heat is not None else "")
        self.width, self.height = width, height
        self.text = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" aria-label="{summary}" font-family="{_FAMILY}" font-size="11">'
            f'<title>{summary}</title><style>{style}</style><defs><marker id="msnb-arrow" viewBox="0 0 8 8" '
            'refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="a" d="M0,1L8,4L0,7z"/>'
            '</marker><marker id="msnb-port" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="6" markerHeight="6" '
            'markerUnits="userSpaceOnUse"><circle class="a" cx="4" cy="4" r="3.4"/></marker></defs>'
            '<rect class="p" width="100%" height="100%"/>'
            + "".join(part for drawing in drawings for part in drawing.parts)
            + "</svg>"
        )

    @staticmethod
    def _arrange_drawings(drawings, headings, is_column):
        """Draw all drawings and their headings in a row or in a column. Return (width, height)."""
        left, top, right, bottom = 20.0, 20.0, 0.0, 0.0
        for at, drawing in enumerate(drawings):
            if headings:
                drawing.text(left, top + 6, headings[at], "h", 13, "start")
            end, low = drawing.lay(left, top + 24 if headings else top)
            right, bottom = max(right, end), max(bottom, low)
            if is_column:
                top = low + 40
            else:
                left = end + 72
        return right + 20, bottom + 20

    def fits(self):
        """Return whether the letters are readable if the document is scaled to fit a page."""
        return self.width <= _WIDEST and self.height <= _HIGHEST

    def _draw_comparison_legend(self, y, drawings):
        words = ("same", "g"), ("changed", "m"), ("only here", "n")
        drawing, states_of = drawings[0], [drawing.tree.states for drawing in drawings]
        only = sum(state == ONLY for states in states_of for state in states)
        counts = states_of[0].count(SAME), states_of[0].count(CHANGED), only
        entries = [(*pair, count) for pair, count in zip(words, counts, strict=True) if count]
        for at, (word, style, count) in enumerate(entries):
            drawing.rect(20 + 110 * at, y - 9, 12, 12, style, 3)
            drawing.text(38 + 110 * at, y + 1, f"{word} {count}", "s", 11, "start")
