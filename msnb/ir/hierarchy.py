"""The scope tree that a graph is drawn as: lanes, scopes, repeated blocks folded into one, and edges between siblings.

Every edge is lifted to the innermost scope that holds both its ends, so a closed scope hides everything inside it, and
the layout of one scope never depends on another.
"""
from .anf import CNode, ValueNode

ROOT, LANE, SCOPE, CONTROL, FOLD, UNIT, CROWD, PAGE = range(8)
LANES = ("forward", "backward", "update")
_LONGEST_PATTERN = 6
_CROWD = 8
_WORTH = 12  # fewer nodes than this are shown as they are
_PAGE, _FULL = 100, 240  # a scope with more children than the second is split into pages of the first


class Scope:
    """A box that holds others. `children` are Scopes and CNodes in the order of execution.

    `kind` is one of ROOT, LANE (forward, backward, update), SCOPE (a Cell), CONTROL (a branch or loop), FOLD (repeats
    of one block), UNIT (one repeat, where a block is several siblings), CROWD (many independent calls of one operator)
    and PAGE (a stretch of a scope that holds too many nodes to be laid out at once).
    """

    __slots__ = ("name", "kind", "parent", "children", "index", "size", "start", "named")

    def __init__(self, name, kind=SCOPE, parent=None):
        self.name = name
        self.kind = kind
        self.parent = parent
        self.children = []
        self.index = -1
        self.size = 0
        self.start = 0
        self.named = {}

    def child(self, name, kind=SCOPE):
        """The child scope of that name, made when it is missing."""
        found = self.named.get(name)
        if found is None:
            found = self.named[name] = Scope(name, kind, self)
            self.children.append(found)
        return found

    def leaves(self):
        """CNodes below, in the order of the tree."""
        for child in self.children:
            if isinstance(child, Scope):
                yield from child.leaves()
            else:
                yield child

    def scopes(self):
        """This scope and all below, parents first."""
        yield self
        for child in self.children:
            if isinstance(child, Scope):
                yield from child.scopes()

    def ancestors(self):
        """Scopes from the root down to this one."""
        chain, scope = [], self
        while scope is not None:
            chain.append(scope)
            scope = scope.parent
        return chain[::-1]

    def __repr__(self):
        return f"Scope({'/'.join(scope.name for scope in self.ancestors()[1:])})"


def signature(node):
    """What makes two calls the same but for their place: operator, types, attributes, constant inputs."""
    constants = tuple(repr(source.value) if isinstance(source, ValueNode) and source.types and source.types[0].size <= 8
                      else None for source in node.inputs)
    taken = tuple(source.types[slot] if source.types else None for source, slot in node.uses)
    return node.op, tuple(node.types), taken, constants, repr(node.attrs) if node.attrs else ""


def representatives(tree):
    """Per node id, the node that stands for it when repeats are left out: itself, or its like in the first repeat."""
    stands = list(range(len(tree.nodes)))

    def visit(scope):
        if scope.kind == FOLD and all(isinstance(child, Scope) for child in scope.children):
            first = [node.id for node in scope.children[0].leaves()]
            for other in scope.children[1:]:
                for place, node in enumerate(other.leaves()):
                    stands[node.id] = first[min(place, len(first) - 1)]
            visit(scope.children[0])
        elif scope.kind in (CROWD, FOLD):
            like = {}  # one of each shape, so that sums over what they stand for stay exact
            for node in scope.children:
                stands[node.id] = like.setdefault(tree.signature_of[node.id], node.id)
        else:
            for child in scope.children:
                if isinstance(child, Scope):
                    visit(child)

    visit(tree.root)
    for number, stand in enumerate(stands):  # the first repeat may itself hold repeats
        while stands[stand] != stand:
            stand = stands[stand]
        stands[number] = stand
    return stands


def main_results(nodes):
    """Per node id, which result is the one its operator is there for: the first that the same lane reads.

    The others are statistics that are written back, or what the gradient will need.
    """
    main = [None] * len(nodes)
    for node in nodes:
        for source, slot in node.uses:
            if isinstance(source, CNode) and source.direction == node.direction and source.id < len(main):
                best = main[source.id]
                main[source.id] = slot if best is None else min(best, slot)
    return [slot or 0 for slot in main]


class Hierarchy:
    """The tree of a FuncGraph.

    Attributes:
        root (Scope): its children are lanes.
        nodes (list[CNode]): every node drawn; a node's `id` is its place here.
        home (list[Scope]): the scope that holds each node.
        edges (list[tuple[int, int]]): data flow between nodes, by id.
    """

    def __init__(self, graph, fold=True):
        self.graph = graph
        self.root = Scope("", ROOT)
        self.nodes = list(graph.all_nodes())
        self.edges = []
        self.feeders = [[] for _ in self.nodes]  # ids each node takes its inputs from
        self.signatures = {}
        self.signature_of = [0] * len(self.nodes)
        for node in self.nodes:
            key = signature(node)
            self.signature_of[node.id] = self.signatures.setdefault(key, len(self.signatures))
        for lane in LANES:
            if any(node.direction == lane for node in self.nodes):
                self.root.child(lane, LANE)
        if not self.root.children:
            self.root.child("forward", LANE)
        self.home = [None] * len(self.nodes)
        # a compiled program runs its kernels in any order, so there calls of one Cell cannot be told apart
        self.calls = {} if any(node.instruction for node in self.nodes) else _calls(graph.nodes)
        self._place(graph, None, "", {})
        for lane in self.root.children:
            _merge_single(lane, self._twin(lane))
        self._measure()
        if fold:
            self._fold_all()
        self._rehome()

    def _place(self, graph, base, skipped, origin):
        """Put each node into its scope and note its edges.

        `base` is the box of the loop or branch that holds `graph` (None at the top), `skipped` the scope it stands in,
        which its nodes repeat; `origin` says which node a sub-graph's parameter stands for.
        """
        for node in graph.nodes:
            scope = base or self.root.named[node.direction]
            path = node.scope
            if base is not None and path.startswith(skipped):
                path = path[len(skipped):]
            for part in self.calls[node.id] if base is None and self.calls else path.split("/"):
                if part:
                    scope = scope.child(part)
            if node.graphs:
                scope = scope.child(f"{node.op}-op{node.id}", CONTROL)
            for inner in node.graphs:
                within = dict(origin)
                for parameter, feed in zip(inner.parameters, inner.feeds, strict=False):
                    within[parameter] = origin.get(node.inputs[feed], node.inputs[feed])
                self._place(inner, scope.child(inner.name, CONTROL), node.scope, within)
                for source, _ in inner.outputs:
                    self._edge(within.get(source, source), node)
            scope.children.append(node)
            for source in node.inputs:
                self._edge(origin.get(source, source), node)

    def _edge(self, source, node):
        if isinstance(source, CNode) and source.id not in self.feeders[node.id]:
            self.edges.append((source.id, node.id))
            self.feeders[node.id].append(source.id)

    def _twin(self, lane):
        """The lane whose scopes must keep the same names: forward and backward are drawn side by side."""
        other = {"forward": "backward", "backward": "forward"}.get(lane.name)
        return self.root.named.get(other)

    def _measure(self):
        """Number of nodes and first node of every scope; children in the order of their first node."""
        def visit(scope):
            scope.size, scope.start = 0, len(self.nodes)
            for child in scope.children:
                if isinstance(child, Scope):
                    visit(child)
                    scope.size += child.size
                    scope.start = min(scope.start, child.start)
                else:
                    scope.size += 1
                    scope.start = min(scope.start, child.id)
            if scope.kind not in (ROOT, CONTROL, FOLD):
                scope.children.sort(key=lambda child: child.start if isinstance(child, Scope) else child.id)
        visit(self.root)

    def _rehome(self):
        for index, scope in enumerate(self.root.scopes()):
            scope.index = index
            for child in scope.children:
                if isinstance(child, Scope):
                    child.parent = scope
                else:
                    self.home[child.id] = scope

    def _fold_all(self):
        forward, backward = (self.root.named.get(name) for name in ("forward", "backward"))
        for lane in self.root.children:
            if lane is not backward:
                self._fold(lane)
        if backward is not None:
            if forward is not None:
                _fold_alike(forward, backward)
            self._fold(backward)
        self._measure()

    def _fold(self, scope):
        for child in scope.children:
            if isinstance(child, Scope):
                self._fold(child)
        if scope.kind in (ROOT, FOLD, UNIT, CROWD, PAGE) or len(scope.children) < 3:
            return
        self._fold_crowds(scope)
        self._fold_repeats(scope)
        self._fold_pages(scope)

    def _token(self, child):
        """Equal for siblings that look the same inside."""
        if not isinstance(child, Scope):
            return self.signature_of[child.id]
        base = [node.id for node in child.leaves()]
        inside = {number: place for place, number in enumerate(base)}
        return (child.kind, tuple(
            (self.signature_of[number], tuple(place - inside[source] for source in self.feeders[number]
                                              if source in inside))
            for place, number in enumerate(base)))

    def _fold_repeats(self, scope):
        children = scope.children
        tokens = self._tokens(children)
        result, at = [], 0
        while at < len(children):
            period, repeats = _best_pattern(tokens, children, at)
            nodes = sum(child.size if isinstance(child, Scope) else 1 for child in children[at:at + period * repeats])
            if not repeats or nodes < _WORTH or not (repeats >= _CROWD
                                                     or self._chained(children[at:at + 2 * period], period)):
                result.append(children[at])
                at += 1
                continue
            members = children[at:at + period * repeats]
            fold = Scope("", FOLD, scope)
            if period == 1:
                fold.children = members
            else:
                for index in range(repeats):
                    unit = Scope(f"{index}", UNIT, fold)
                    unit.children = members[index * period:(index + 1) * period]
                    for child in unit.children:
                        if isinstance(child, Scope):
                            child.parent = unit
                    fold.children.append(unit)
            _adopt(fold)
            fold.name = _fold_name(members, period, repeats)
            result.append(fold)
            at += period * repeats
        if len(result) > 1 or not (result and isinstance(result[0], Scope) and result[0].kind == FOLD
                                   and scope.kind == CONTROL):
            scope.children = result

    def _chained(self, children, period):
        """Whether the second repeat works on what the first one made; heads of an attention do not, and stay apart."""
        first, second = ({node.id for child in children[start:start + period] for node in
                          (child.leaves() if isinstance(child, Scope) else (child,))} for start in (0, period))
        return any(source in first for number in second for source in self.feeders[number])

    def _tokens(self, children):
        # the dear tokens of scopes are only worth it where a sibling has the same number of nodes
        sizes = {}
        for child in children:
            if isinstance(child, Scope):
                sizes[child.size] = sizes.get(child.size, 0) + 1
        return [self._token(child) if not isinstance(child, Scope) or sizes[child.size] > 1 else object()
                for child in children]

    def _fold_crowds(self, scope):
        """Many independent calls of one operator, such as an optimizer's update of each weight, become one box."""
        groups = {}
        for child in scope.children:
            if isinstance(child, CNode):
                groups.setdefault(child.op, []).append(child)
        for op, members in groups.items():
            if len(members) < _CROWD or not self._independent(members, scope):
                continue
            crowd = Scope(op, CROWD, scope)
            crowd.children = members
            at = scope.children.index(members[0])
            held = set(members)
            scope.children[at] = crowd
            scope.children = [child for child in scope.children if isinstance(child, Scope) or child not in held]

    def _fold_pages(self, scope):
        """Keep any one layout small, whatever the program: a flat function of 5,000 calls becomes 50 pages."""
        if len(scope.children) <= _FULL:
            return
        pages = []
        for start in range(0, len(scope.children), _PAGE):
            page = Scope("", PAGE, scope)
            page.children = scope.children[start:start + _PAGE]
            _adopt(page)
            numbers = [node.id for node in page.leaves()]
            page.name = f"%{min(numbers)} … %{max(numbers)}"
            pages.append(page)
        scope.children = pages

    def _independent(self, members, scope):
        """Whether none of `members` is computed from another one by way of nodes in this scope."""
        inside = {node.id for node in scope.leaves()}
        wanted = {node.id for node in members}
        last = max(wanted)
        tainted = set()
        for number in sorted(inside):
            if number > last:
                break
            fed = any(source in tainted or source in wanted for source in self.feeders[number] if source in inside)
            if fed and number in wanted:
                return False
            if fed:
                tainted.add(number)
        return True

    def lifted(self):
        """Per scope index: {(child, child): number of edges}; a child is a Scope or a CNode."""
        chains = {}
        result = {}
        for source, target in self.edges:
            ways = []
            for number in (source, target):
                scope = self.home[number]
                if scope.index not in chains:
                    chains[scope.index] = scope.ancestors()
                ways.append([*chains[scope.index], self.nodes[number]])
            depth = 0
            while ways[0][depth] is ways[1][depth]:
                depth += 1
            within = result.setdefault(ways[0][depth - 1].index, {})
            pair = ways[0][depth], ways[1][depth]
            within[pair] = within.get(pair, 0) + 1
        return result


class _Call:
    """One call of a Cell: a run of nodes that stand next to each other in its scope."""

    __slots__ = ("part", "above", "number", "inside", "title")

    def __init__(self, part, above, number):
        self.part, self.above, self.number = part, above, number
        self.inside, self.title = {}, None


def _calls(nodes):
    """{node id: scope names}, each call of a Cell that is called several times under a name of its own.

    ``self.relu`` called after every layer would otherwise be one box that all the others point to and from.
    """
    tops, last, place = {lane: _Call("", None, 1) for lane in LANES}, {}, {}
    for node in nodes:
        parts = tuple(part for part in node.scope.split("/") if part)
        before, chain = last.get(node.direction, ((), [tops[node.direction]]))
        same = 0
        while same < min(len(parts), len(before)) and parts[same] == before[same]:
            same += 1
        chain = chain[:same + 1]
        for part in parts[same:]:
            runs = chain[-1].inside.setdefault(part, [])
            runs.append(_Call(part, chain[-1], len(runs) + 1))
            chain.append(runs[-1])
        last[node.direction] = parts, chain
        place[node.id] = chain
    for lane in LANES:
        _entitle(tops[lane], tops["forward"] if lane == "backward" else None)
    return {number: tuple(call.title for call in chain[1:]) for number, chain in place.items()}


def _entitle(call, twin):
    """Name the calls inside `call`; gradients come in the opposite order and take the names of the forward calls."""
    for part, runs in call.inside.items():
        mates = twin.inside.get(part) if twin is not None else None
        total = len(mates) if mates is not None else len(runs)
        for run in runs:
            number = run.number if mates is None else total + 1 - run.number
            if number < 1:  # torn apart by something else: one box then
                number = 1
            run.title = part if number == 1 else f"{part} ({number})"
            _entitle(run, next((mate for mate in mates if mate.title == run.title), None) if mates else None)


def _merge_single(scope, twin):
    """Join a scope that holds nothing but one other scope with it: Default/network-LeNet5 is one box."""
    for child in list(scope.children):
        if not isinstance(child, Scope):
            continue
        mate = twin.named.get(child.name) if twin is not None else None
        while child.kind == SCOPE and len(child.children) == 1 and isinstance(child.children[0], Scope) \
                and child.children[0].kind == SCOPE and _agrees(mate, child.children[0].name):
            only = child.children[0]
            mate_only = mate.named.get(only.name) if mate is not None else None
            old = child.name
            child.name = f"{old}/{only.name}"
            child.children, child.named = only.children, only.named
            scope.named[child.name] = scope.named.pop(old, child)
            if mate is not None:  # the twin is renamed in the same breath, so that both still match
                mate.name, mate.children, mate.named = child.name, mate_only.children, mate_only.named
                twin.named[mate.name] = twin.named.pop(old)
        _merge_single(child, mate)


def _agrees(mate, name):
    """Whether the scope in the other lane, if there is one, has that single child too."""
    if mate is None:
        return True
    return len(mate.children) == 1 and isinstance(mate.children[0], Scope) and mate.children[0].name == name


def _best_pattern(tokens, children, at):
    """(period, repeats) of the repetition that covers most from `at` on; (0, 0) when there is none worth folding."""
    best = (0, 0)
    for period in range(1, _LONGEST_PATTERN + 1):
        unit = tokens[at:at + period]
        if len(unit) < period:
            break
        repeats = 1
        while tokens[at + repeats * period:at + (repeats + 1) * period] == unit:
            repeats += 1
        leaves_only = not any(isinstance(child, Scope) for child in children[at:at + period])
        if repeats >= (4 if leaves_only else 3) and repeats * period > best[0] * best[1]:
            best = period, repeats
    return best


def _fold_alike(forward, backward):
    """Fold in the backward lane what was folded in the forward one, so that their rows match."""
    for child in forward.children:
        if not isinstance(child, Scope):
            continue
        if child.kind == FOLD and all(isinstance(member, Scope) and member.kind == SCOPE for member in child.children):
            names = {member.name for member in child.children}
            members = [mate for mate in backward.children if isinstance(mate, Scope) and mate.name in names]
            if len(members) > 1:
                at = backward.children.index(members[0])
                fold = Scope(child.name, FOLD, backward)
                by_name = {mate.name: mate for mate in members}
                fold.children = [by_name[member.name] for member in child.children if member.name in by_name]
                _adopt(fold)
                backward.children[at] = fold
                held = set(map(id, members))
                backward.children = [mate for mate in backward.children if id(mate) not in held]
                for member in child.children:
                    mate = fold.named.get(member.name)
                    if mate is not None:
                        _fold_alike(member, mate)
        else:
            mate = backward.named.get(child.name)
            if mate is not None:
                _fold_alike(child, mate)


def _adopt(fold):
    for child in fold.children:
        if isinstance(child, Scope):
            child.parent = fold
            fold.named[child.name] = child


def _fold_name(members, period, repeats):
    """`0-Block … 20-Block`, or the names of one repeat where a repeat is several siblings."""
    names = [child.name if isinstance(child, Scope) else child.op for child in members]
    if period > 1:
        return " + ".join(names[:period][:3]) + (" + …" if period > 3 else "")
    if not isinstance(members[0], Scope):
        return names[0]
    return f"{names[0]} … {names[-1]}"
