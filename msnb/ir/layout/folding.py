"""Reduce a drawing: fold repeats, group many calls of one operator, and split very large scopes into pages.

A lane is the forward, backward or update part of a graph.
"""

from collections.abc import Sequence

from msnb.ir.anf import CNode
from msnb.ir.layout.scopes import CONTROL, CROWD, FOLD, PAGE, ROOT, SCOPE, UNIT, Scope

_LONGEST_PATTERN = 6
_CROWD = 8
_MIN_FOLDED = 12  # smaller repeats are not folded
_PAGE, _FULL = 100, 240  # scopes with more than _FULL children are split into pages of _PAGE


class Folding:
    """Folds repeated parts of a Hierarchy in place.

    Args:
        root (Scope): Root of the tree. Its children are the lanes: forward, backward and update.
        signature_of (list[int]): Per node a number that is equal for equal calls.
        feeders (list[list[int]]): Per node the ids of the producers of its inputs.
        states (Sequence[str]): Per node its state in a comparison, or None.
    """

    def __init__(
        self, root: Scope, signature_of: list[int], feeders: list[list[int]], states: Sequence[str] | None
    ) -> None:
        self.root = root
        self.signature_of = signature_of
        self.feeders = feeders
        self.states = states

    def run(self) -> None:
        """Fold every lane. The backward lane gets the folds of the forward lane first, so that both look alike."""
        forward, backward = (self.root.named.get(name) for name in ("forward", "backward"))
        for lane in self.root.children:
            if lane is not backward:
                self._fold_scope(lane)
        if backward is not None:
            if forward is not None:
                _copy_folds_to_backward(forward, backward)
            self._fold_scope(backward)

    def _fold_scope(self, scope):
        for child in scope.children:
            if isinstance(child, Scope):
                self._fold_scope(child)
        if scope.kind in (ROOT, FOLD, UNIT, CROWD, PAGE) or len(scope.children) < 3:
            return
        self._group_independent_calls(scope)
        self._fold_repeats(scope)
        self._split_into_pages(scope)

    def _compute_content_token(self, child):
        """Return a token that is equal for two children of a scope if their contents are equal."""
        if not isinstance(child, Scope):
            return self.signature_of[child.id]
        base = [node.id for node in child.leaves()]
        positions = {number: position for position, number in enumerate(base)}
        return (
            child.kind,
            tuple(
                (
                    self.signature_of[number],
                    tuple(position - positions[source] for source in self.feeders[number] if source in positions),
                )
                for position, number in enumerate(base)
            ),
        )

    def _fold_repeats(self, scope):
        children = scope.children
        tokens = self._compute_content_tokens(children)
        result, at = [], 0
        while at < len(children):
            period, repeats = _find_longest_repetition(tokens, children, at)
            nodes = sum(child.size if isinstance(child, Scope) else 1 for child in children[at : at + period * repeats])
            if (
                not repeats
                or nodes < _MIN_FOLDED
                or not (repeats >= _CROWD or self._reads_previous_repeat(children[at : at + 2 * period], period))
            ):
                result.append(children[at])
                at += 1
                continue
            members = children[at : at + period * repeats]
            fold = Scope("", FOLD, scope)
            if period == 1:
                fold.children = members
            else:
                for index in range(repeats):
                    unit = Scope(f"{index}", UNIT, fold)
                    unit.children = members[index * period : (index + 1) * period]
                    for child in unit.children:
                        if isinstance(child, Scope):
                            child.parent = unit
                    fold.children.append(unit)
            _set_parent_of_children(fold)
            fold.name = _format_fold_name(members, period, repeats)
            result.append(fold)
            at += period * repeats
        if len(result) > 1 or not (
            result and isinstance(result[0], Scope) and result[0].kind == FOLD and scope.kind == CONTROL
        ):
            scope.children = result

    def _reads_previous_repeat(self, children, period):
        """Return whether the second repeat uses a result of the first. Repeats that do not, such as the heads of an
        attention, are not folded.
        """
        first, second = (
            {
                node.id
                for child in children[start : start + period]
                for node in (child.leaves() if isinstance(child, Scope) else (child,))
            }
            for start in (0, period)
        )
        return any(source in first for number in second for source in self.feeders[number])

    def _compute_content_tokens(self, children):
        # tokens of scopes are expensive, and useful only if a sibling has the same number of nodes
        sizes = {}
        for child in children:
            if isinstance(child, Scope):
                sizes[child.size] = sizes.get(child.size, 0) + 1
        return [
            self._compute_content_token(child) if not isinstance(child, Scope) or sizes[child.size] > 1 else object()
            for child in children
        ]

    def _group_independent_calls(self, scope):
        """Group many independent calls of one operator, such as an optimizer's update of each weight, in one box."""
        groups = {}
        for child in scope.children:
            if isinstance(child, CNode):
                state = self.states and self.states[child.id]
                groups.setdefault((child.op, state), []).append(child)
        for (op, _), calls in groups.items():
            if len(calls) < _CROWD:
                continue
            for members in self._group_by_dependency_depth(calls, scope):
                if len(members) >= _CROWD:
                    _replace_with_group_box(scope, op, members)

    def _split_into_pages(self, scope):
        """Split a large scope into pages: a flat function of 5,000 calls becomes 50 pages."""
        if len(scope.children) <= _FULL:
            return
        pages = []
        for start in range(0, len(scope.children), _PAGE):
            page = Scope("", PAGE, scope)
            page.children = scope.children[start : start + _PAGE]
            _set_parent_of_children(page)
            numbers = [node.id for node in page.leaves()]
            page.name = f"%{min(numbers)} … %{max(numbers)}"
            pages.append(page)
        scope.children = pages

    def _group_by_dependency_depth(self, members, scope):
        """Divide `members` into lists whose nodes do not depend on each other within this scope.

        The rank of a call is the number of members on the longest path to it. Members of equal rank form a list. For
        example, clipping by norm casts each gradient twice: the first casts form one list, the second casts another.
        """
        scope_ids = {node.id for node in scope.leaves()}
        calls = {node.id: node for node in members}
        rank_of, groups = {}, {}  # rank_of: number of members on the longest path to a node
        for number in sorted(scope_ids):
            rank = max((rank_of[source] for source in self.feeders[number] if source in rank_of), default=0)
            if number in calls:
                groups.setdefault(rank, []).append(calls[number])
                rank += 1
            if rank:
                rank_of[number] = rank
        return groups.values()


def _replace_with_group_box(scope, op, members):
    crowd = Scope(op, CROWD, scope)
    crowd.children = members
    at = scope.children.index(members[0])
    members_set = set(members)
    scope.children[at] = crowd
    scope.children = [child for child in scope.children if isinstance(child, Scope) or child not in members_set]


def _find_longest_repetition(tokens, children, at):
    """Find the repetition that covers most children from index `at` on. Return (children in one repeat, number of
    repeats); (0, 0) if none is worth folding.
    """
    best = (0, 0)
    for period in range(1, _LONGEST_PATTERN + 1):
        unit = tokens[at : at + period]
        if len(unit) < period:
            break
        repeats = 1
        while tokens[at + repeats * period : at + (repeats + 1) * period] == unit:
            repeats += 1
        leaves_only = not any(isinstance(child, Scope) for child in children[at : at + period])
        if repeats >= (4 if leaves_only else 3) and repeats * period > best[0] * best[1]:
            best = period, repeats
    return best


def _copy_folds_to_backward(forward, backward):
    """Fold in the backward lane the scopes that are folded in the forward lane, so that their rows match."""
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
                _set_parent_of_children(fold)
                backward.children[at] = fold
                member_ids = set(map(id, members))
                backward.children = [mate for mate in backward.children if id(mate) not in member_ids]
                for member in child.children:
                    mate = fold.named.get(member.name)
                    if mate is not None:
                        _copy_folds_to_backward(member, mate)
        else:
            mate = backward.named.get(child.name)
            if mate is not None:
                _copy_folds_to_backward(child, mate)


def _set_parent_of_children(fold):
    for child in fold.children:
        if isinstance(child, Scope):
            child.parent = fold
            fold.named[child.name] = child


def _format_fold_name(members, period, repeats):
    """Return the name of a folded box: `0-Block … 20-Block`, or the names in one repeat if it has several children."""
    names = [child.name if isinstance(child, Scope) else child.op for child in members]
    if period > 1:
        return " + ".join(names[:period][:3]) + (" + …" if period > 3 else "")
    if not isinstance(members[0], Scope):
        return names[0]
    return f"{names[0]} … {names[-1]}"
