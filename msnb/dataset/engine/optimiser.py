"""Rewrites a running plan so that it gives the same rows sooner.

1. Neighbouring ``map`` nodes become one.
2. Over numbered samples, ``shuffle``, ``take`` and ``skip`` act on the numbers instead of on the rows, when everything
below them
   is deterministic: what is skipped is never computed.
3. The deterministic beginning of such a pipeline is kept in memory, up to its last costly transform, under a budget;
   samples that are costly to decode likewise.
4. Pointwise transforms of uint8 images become one table look-up.
"""

from itertools import pairwise
from typing import Any, Protocol

from msnb.dataset.core.config import get_cache_budget
from msnb.dataset.engine import nodes, shuffle_repeat
from msnb.dataset.engine.lut import fuse_pointwise
from msnb.dataset.engine.memory import keep_freed_memory
from msnb.dataset.engine.program import LibraryStep
from msnb.dataset.engine.store import Store


class Pipeline(Protocol):
    """The method of `Dataset` that `explain` calls."""

    def make_plan(self, optimise: bool = True) -> Any: ...


def optimised(plan: Any) -> Any:
    """The rewritten plan."""
    keep_freed_memory()
    plan = _rewrite(plan, _merge_maps)
    plan = _rewrite(plan, _number_order)
    plan = _rewrite(plan, _keep_prefix)
    plan = _rewrite(plan, _keep_rows)
    return _rewrite(plan, _fuse)


def by_number(plan: Any) -> Any:
    """The plan with rule 2 alone, which keeps nothing in memory."""
    return _rewrite(plan, _number_order)


def _rewrite(node, rule):
    node.children = [_rewrite(child, rule) for child in node.children]
    return rule(node)


def _is_map(node):
    return type(node) is nodes.Map and node.callbacks is None


def _merge_maps(node):
    if _is_map(node) and _is_map(node.children[0]):
        below = node.children[0]
        return nodes.Map(below.children[0], below.steps + node.steps, node.columns)
    return node


def _number_order(node):
    if not isinstance(node, shuffle_repeat.Shuffle | shuffle_repeat.Take | shuffle_repeat.Skip):
        return node
    below = node.children[0]
    while (
        _is_map(below)
        and all(isinstance(s, LibraryStep) and s.deterministic for s in below.steps)
        or type(below) in (nodes.Project, nodes.Rename)
    ):
        below = below.children[0]
    if type(below) is nodes.IndexSource and below.source.random_access:
        below.order.append(node)
        return node.children[0]
    return node


def _keep_prefix(node):
    if not _is_map(node) or type(node.children[0]) is not nodes.IndexSource:
        return node
    source = node.children[0]
    if not source.source.keepable:
        return node
    prefix, rest = _deterministic_prefix(node.steps, len(source.columns))
    if not prefix:
        return node
    kept = _cached(source, prefix)
    return nodes.Map(kept, rest, node.columns) if rest else _renamed(kept, node.columns)


def _keep_rows(node):
    """Samples that are costly to fetch and are not kept as part of a prefix."""
    for number, child in enumerate(node.children):
        wanted = type(child) is nodes.IndexSource and type(node) is not nodes.CachedMap
        if wanted and child.source.keepable and child.source.costly:
            node.children[number] = _cached(child, [])
    return node


def _cached(source, prefix):
    budget = get_cache_budget()
    key = tuple(id(step.op) for step in prefix) + tuple(i for step in prefix for i in step.inputs)
    store = source.source.stores.get(key)
    if store is None:
        store = Store(source.source.rows, budget)
        # The transforms are held along with the store: their ids are its key.
        source.source.stores[key] = store
        store.owners = [step.op for step in prefix]
    return nodes.CachedMap(source, prefix, source.columns, store, budget)


def _renamed(node, columns):
    node.columns = columns
    return node


def _deterministic_prefix(steps, width):
    """(steps to keep, the others): up to the last costly one among those that nothing random comes before."""
    tainted, candidates = set(), []
    for number, step in enumerate(steps):
        if step.results != len(step.inputs):
            break
        if isinstance(step, LibraryStep) and step.deterministic and not tainted & set(step.inputs):
            candidates.append(number)
        else:
            tainted |= set(step.inputs)
    costly = [n for n in candidates if steps[n].costly]
    costly += [n for n in candidates if costly and getattr(steps[n].op, "settles", False)]
    if not costly:
        return [], steps
    columns = {i for n in costly for i in steps[n].inputs}
    last = {i: max(n for n in costly if i in steps[n].inputs) for i in columns}
    chosen = {n for n in candidates if any(i in last and n <= last[i] for i in steps[n].inputs)}
    return [steps[n] for n in sorted(chosen)], [s for n, s in enumerate(steps) if n not in chosen]


def _fuse(node):
    if isinstance(node, nodes.Map | nodes.CachedMap):
        node.steps = fuse_pointwise(node.steps)
        _work_in_place(node.steps)
    return node


def _work_in_place(steps):
    """Let a step use the memory of the step before it, where nobody else holds that."""
    for before, step in pairwise(steps):
        if not (isinstance(before, LibraryStep) and isinstance(step, LibraryStep)):
            continue
        if before.op.makes_new and step.op._apply_in_place is not None and before.inputs == step.inputs:
            step.act_on_stack = step.op._apply_in_place


def tree(node: Any, depth: int = 0) -> list[str]:
    """The plan as indented lines, consumer first."""
    lines = ["  " * depth + node.describe()]
    for child in node.children:
        lines += tree(child, depth + 1)
    return lines


def explain(dataset: Pipeline) -> str:
    """The plan of a pipeline as written and as it runs, as text."""
    written = dataset.make_plan(optimise=False)
    runs = dataset.make_plan()
    text = "as written:\n" + "\n".join("  " + line for line in tree(written))
    text += "\nas it runs:\n" + "\n".join("  " + line for line in tree(runs))
    written.close()
    runs.close()
    return text


__all__ = ["by_number", "optimised", "explain", "tree"]
