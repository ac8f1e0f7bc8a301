"""A picture of a graph as SVG, laid out here: for places where no script runs."""

from html import escape
from typing import TYPE_CHECKING, Any

from .anf import CNode, ParameterNode
from .boxes import CONTROL, CROWD, FOLD, LONE, UNIT, Scope
from .hierarchy import Hierarchy, main_results
from .inside import HEADER, PAD, Box, Inside
from .overlay import LEVELS, Scale, human, over_scopes
from .ports import Ports
from .titles import operator_title, paths
from .titles import title as title_of

if TYPE_CHECKING:  # named in annotations alone
    from msnb.ir.anf import FuncGraph

_MOST_ARGUMENTS = 12
_CHAR, _SMALL, _LINE = 6.4, 5.2, 30.0
_FAMILY = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
# light and dark, in one document: viewers that know the reader's preference apply it
_STYLE = """
.p{fill:#fff}.t{fill:#24303b;font-weight:500}.s{fill:#5f6b76}.h{fill:#4a5662;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:3px}
.o{fill:#7f93ab;fill-opacity:.045;stroke:#b5c0cc}.c{fill:#e3ecf5;stroke:#7f9fbd}.f{fill:#ece6f6;stroke:#9a86c4}
.forward{fill:#e8f1fa;stroke:#5b8fc0}.backward{fill:#fbeae1;stroke:#cd7f52}.update{fill:#e6f3e6;stroke:#5f9f63}
.x{fill:#fde4e1;stroke:#c62f26}.e{fill:none;stroke:#8995a1;stroke-width:1.1}.a{fill:#8995a1}.g{fill:#f3f4f6;stroke:#a3adb8}.i{fill:#fff;stroke:#7b8793}
@media (prefers-color-scheme:dark){.p{fill:#16191d}.t{fill:#e4e9ee}.s{fill:#9aa5b1}.h{fill:#c2ccd6;stroke:#16191d}
.o{stroke:#46515d}.c{fill:#233345;stroke:#54799d}.f{fill:#2d2740;stroke:#7d6bab}
.forward{fill:#1c2e40;stroke:#4f86b8}.backward{fill:#3d281d;stroke:#b9724a}.update{fill:#1f3322;stroke:#568f5a}
.x{fill:#4a1f1d;stroke:#ef6f66}.e{stroke:#6f7b87}.a{fill:#6f7b87}.g{fill:#23282e;stroke:#56616d}.i{fill:#16191d;stroke:#8893a0}}
""".replace("\n", "")


def to_svg(graph: "FuncGraph", boxes: float = 60, column: Any = None, tree: "Hierarchy | None" = None) -> str:
    """An SVG document; scopes are opened from the top as long as about `boxes` boxes fit.

    `column` is an overlay as `msnb.ir.overlay.checked` returns it: boxes are coloured by it, and a legend says how;
    `tree` is the graph's Hierarchy, where one was made already.
    """
    if isinstance(boxes, bool) or not isinstance(boxes, int) or boxes < 1:
        raise ValueError(f"For 'ir.svg', 'boxes' should be a positive int, but got {boxes!r}.")
    tree = tree or Hierarchy(graph)
    drawing = _Drawing(tree, _opened(tree.root, boxes), _Heat(tree, column) if column is not None else None)
    return drawing.document()


class _Heat:
    """The overlay of one picture: its values by box, and its scale once it is known which boxes are drawn."""

    def __init__(self, tree, column):
        self.column, self.values, self.scopes = column, column["values"], over_scopes(tree, column)
        self.scale = None

    def of(self, item):
        if isinstance(item, ParameterNode):
            return None
        return self.scopes.get(item.index) if isinstance(item, Scope) else self.values[item.id]

    def fit(self, items):
        self.scale = Scale(map(self.of, items), self.column["scale"] == "log")

    def style(self, item):
        """(class of the box, class of its text)."""
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


def _opened(root, budget):
    """Scopes to draw open: breadth first, a scope together with its gradients', as long as the budget lasts."""
    opened = {root.index, *(lane.index for lane in root.children)}
    shown = sum(len(lane.children) for lane in root.children)
    forward, backward = root.named.get("forward"), root.named.get("backward")
    waiting = [(forward, backward)] if forward is not None else []
    waiting += [(lane, None) for lane in root.children if lane not in (forward, backward)]
    while waiting:
        later = []
        for scope, twin in waiting:
            for child, mate in _matched(scope, twin):
                both = [one for one in (child, mate) if one is not None and one.kind not in (CROWD, LONE)]
                more = sum(len(_drawn(one)) - 1 for one in both)
                if both and shown + more <= budget:
                    opened.update(one.index for one in both)
                    shown += more
                    later.append((child, mate))
        waiting = later
    return opened


def _matched(scope, twin):
    """(scope, the scope of its gradients or None) of what a box draws; gradients that belong to nothing come last."""
    mates = {child.name: child for child in _drawn(twin) if isinstance(child, Scope)} if twin is not None else {}
    for child in _drawn(scope):
        if isinstance(child, Scope):
            yield child, mates.pop(child.name, None)
    for child in mates.values():
        yield child, None


def _drawn(scope):
    """Children that an open scope shows: of a folded block the first repeat stands for all."""
    return scope.children[:1] if scope.kind == FOLD else scope.children


class _Drawing:
    def __init__(self, tree, opened, heat=None):
        self.opened = opened
        self.heat = heat
        self.lifted = tree.lifted()
        self.given = tree.given()
        self.tree = tree
        self.paths = paths(tree)
        self.parts = []
        self.main = main_results(tree.nodes)
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
        """Ways down to both ends of each edge from an argument or to a result."""
        for lane in lanes:
            top, (arguments, results) = [self.tree.root, lane], ends[lane.index]
            for source, readers in arguments.items():
                for node in readers:
                    yield [*top, source], self.tree.way(node)
            for result, node in results.items():
                yield self.tree.way(node), [*top, result]

    def arguments(self, lane):
        """{argument: nodes of the lane that read it}; weights belong to the operators that read them."""
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
        """{box of a result: node of the lane that makes it}; new values of Parameters are none."""
        graph = self.tree.graph
        given = [
            (place, *pair)
            for place, pair in enumerate(graph.outputs[: len(graph.outputs) - graph.written])
            if isinstance(pair[0], CNode)
        ]
        made = {}
        for place, node, slot in given if len(given) <= _MOST_ARGUMENTS else ():
            if self.tree.way(node)[1] is lane:
                made[ParameterNode(f"result {place}" if len(given) > 1 else "result", node.types[slot:][:1])] = node
        return made

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
        """What a closed scope is called, and what it gives."""
        if scope.kind == LONE:
            (node,) = scope.children
            title = operator_title(scope, self.paths)
            return title or node.name, f"{node.name} {self.shape(node)}".strip() if title else self.shape(node)
        title = title_of(scope, self.paths) if scope.kind != UNIT else f"#{scope.name}"
        count = f"× {len(scope.children)}" if scope.kind in (FOLD, CROWD) else ""
        node = self.given[scope.index] if scope.kind != CROWD else None
        kind = node.types[self.main[node.id]] if node is not None and node.types else None
        given = "" if kind is None else f"{kind.dtype} {'×'.join(map(str, kind.shape))}".strip()
        return title, " · ".join(filter(None, (count, given)))

    def inside(self, scope, arguments=None, results=None):
        arguments, results = arguments or {}, results or {}
        boxes = [self.box(child) for child in (*arguments, *_drawn(scope), *results)]
        edges = [(id(a), id(b)) for a, b in self.lifted.get(scope.index, {})]
        for source, nodes in arguments.items():
            edges += [(id(source), id(self.tree.way(node)[2])) for node in nodes]
        edges += [(id(self.tree.way(node)[2]), id(result)) for result, node in results.items()]
        return Inside(boxes, edges, self.ports.of(scope), self.upwards)

    def closed(self, inner):
        """What the boxes that are drawn closed stand for."""
        for box in inner.boxes:
            if box.inner is None:
                yield box.item
            else:
                yield from self.closed(box.inner)

    def document(self):
        if self.heat is not None:
            self.heat.fit([item for _, inner in self.lanes for item in self.closed(inner)])
        x, height, many = 20.0, 0.0, len(self.lanes) > 1
        top = 44.0 if many else 20.0
        for lane, inner in self.lanes:
            width = max(inner.width, 90.0)
            if many:
                self.text(x + width / 2, 26, lane.name, "h", 13)
            # the arguments stand above the forward lane only: the gradients start as far down
            lower = self.lanes[0][1].height - inner.height if lane.name == "backward" else 0
            self.draw(inner, x + (width - inner.width) / 2, top + (lower if 0 < lower < 80 else 0), lane.name)
            x += width + 56
            height = max(height, inner.height)
        width, height = x - 56 + 20, height + top + 20
        if self.heat is not None:
            width, height = max(width, 240.0), height + 40
            self.legend(20.0, height - 32)
        name = escape(self.tree.graph.name)
        summary = f"Graph of {name}: {len(self.tree.nodes)} nodes"
        style = _STYLE + (self.heat.css() if self.heat is not None else "")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" aria-label="{summary}" font-family="{_FAMILY}" font-size="11">'
            f'<title>{summary}</title><style>{style}</style><defs><marker id="msnb-arrow" viewBox="0 0 8 8" '
            'refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="a" d="M0,1L8,4L0,7z"/>'
            '</marker><marker id="msnb-port" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="6" markerHeight="6" '
            'markerUnits="userSpaceOnUse"><circle class="a" cx="4" cy="4" r="3.4"/></marker></defs>'
            '<rect class="p" width="100%" height="100%"/>' + "".join(self.parts) + "</svg>"
        )

    def draw(self, inner, x, y, lane):
        """Frames first, then the lines, then what stands above them."""
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
        """The scale of the overlay, from its lowest value to its highest."""
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
            middle = (ay + by) / 2  # leave and arrive vertically
            commands.append(
                f"L{bx:.1f},{by:.1f}"
                if abs(ax - bx) < 0.5
                else f"C{ax:.1f},{middle:.1f} {bx:.1f},{middle:.1f} {bx:.1f},{by:.1f}"
            )
        self.parts.append(f'<path class="e" d="{"".join(commands)}" marker-end="url(#msnb-{end})"/>')
