"""Rewrites of a plan that make it faster and do not change its rows.

1. Neighbouring ``map`` nodes are merged.
2. If samples are fetched by index and all nodes before ``shuffle``, ``take`` and ``skip`` are deterministic, these
   three act on the sample indices instead of the rows. Skipped samples are then never computed.
3. The results of the first, deterministic transforms of such a pipeline, up to the last costly one, are cached in
   memory within a budget. Samples that are costly to decode are cached, too.
4. Pointwise transforms of uint8 images become one table look-up.
"""

from itertools import pairwise
from typing import Any, Protocol

from msnb.dataset.core.config import get_cache_budget
from msnb.dataset.engine.execution import nodes, shuffle_repeat
from msnb.dataset.engine.execution.lut import fuse_pointwise
from msnb.dataset.engine.execution.memory import keep_freed_memory
from msnb.dataset.engine.execution.program import LibraryStep
from msnb.dataset.engine.execution.store import Store


class Pipeline(Protocol):
    """Protocol of the argument of `explain`: an object with the method ``make_plan``."""

    def make_plan(self, optimise: bool = True) -> Any: ...


def optimise_plan(plan: Any) -> Any:
    """Return the plan with all four rewrites."""
    keep_freed_memory()
    plan = _rewrite_plan(plan, _merge_maps)
    plan = _rewrite_plan(plan, _move_selection_to_indices)
    plan = _rewrite_plan(plan, _cache_deterministic_prefix)
    plan = _rewrite_plan(plan, _cache_costly_sources)
    return _rewrite_plan(plan, _fuse_pointwise_steps)


def reorder_by_number(plan: Any) -> Any:
    """Apply only rewrite 2: move shuffle, take and skip from rows to sample indices."""
    return _rewrite_plan(plan, _move_selection_to_indices)


def _rewrite_plan(node, rule):
    node.children = [_rewrite_plan(child, rule) for child in node.children]
    return rule(node)


def _is_map_without_callbacks(node):
    return type(node) is nodes.Map and node.callbacks is None


def _merge_maps(node):
    if _is_map_without_callbacks(node) and _is_map_without_callbacks(node.children[0]):
        child = node.children[0]
        return nodes.Map(child.children[0], child.steps + node.steps, node.columns)
    return node


def _move_selection_to_indices(node):
    if not isinstance(node, shuffle_repeat.Shuffle | shuffle_repeat.Take | shuffle_repeat.Skip):
        return node
    descendant = node.children[0]
    while (
        _is_map_without_callbacks(descendant)
        and all(isinstance(s, LibraryStep) and s.deterministic for s in descendant.steps)
        or type(descendant) in (nodes.Project, nodes.Rename)
    ):
        descendant = descendant.children[0]
    if type(descendant) is nodes.IndexSource and descendant.source.random_access:
        descendant.order.append(node)
        return node.children[0]
    return node


def _cache_deterministic_prefix(node):
    if not _is_map_without_callbacks(node) or type(node.children[0]) is not nodes.IndexSource:
        return node
    source = node.children[0]
    if not source.source.is_cacheable:
        return node
    prefix, rest = _split_deterministic_prefix(node.steps, len(source.columns))
    if not prefix:
        return node
    cached = _make_cached_map(source, prefix)
    return nodes.Map(cached, rest, node.columns) if rest else _set_columns(cached, node.columns)


def _cache_costly_sources(node):
    """Cache samples that are costly to fetch and are not cached as part of a prefix."""
    for number, child in enumerate(node.children):
        is_uncached_source = type(child) is nodes.IndexSource and type(node) is not nodes.CachedMap
        if is_uncached_source and child.source.is_cacheable and child.source.costly:
            node.children[number] = _make_cached_map(child, [])
    return node


def _make_cached_map(source, prefix):
    budget = get_cache_budget()
    key = tuple(id(step.op) for step in prefix) + tuple(i for step in prefix for i in step.inputs)
    store = source.source.stores.get(key)
    if store is None:
        store = Store(source.source.rows, budget)
        # The store must keep the transforms alive: their ids are its key.
        source.source.stores[key] = store
        store.owners = [step.op for step in prefix]
    return nodes.CachedMap(source, prefix, source.columns, store, budget)


def _set_columns(node, columns):
    node.columns = columns
    return node


def _split_deterministic_prefix(steps, width):
    """Split the steps of a ``map`` into (steps whose results are cached, other steps).

    The prefix ends with the last costly step that does not depend on a random step.
    """
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


def _fuse_pointwise_steps(node):
    if isinstance(node, nodes.Map | nodes.CachedMap):
        node.steps = fuse_pointwise(node.steps)
        _enable_in_place_transforms(node.steps)
    return node


def _enable_in_place_transforms(steps):
    """Let a step reuse the memory of the step before it, if nothing else refers to that memory."""
    for before, step in pairwise(steps):
        if not (isinstance(before, LibraryStep) and isinstance(step, LibraryStep)):
            continue
        if before.op.makes_new and step.op._apply_stack_in_place is not None and before.inputs == step.inputs:
            step.stack_override = step.op._apply_stack_in_place


def format_plan(node: Any, depth: int = 0) -> list[str]:
    """Return the plan as indented lines, consumer first."""
    lines = ["  " * depth + node.describe()]
    for child in node.children:
        lines += format_plan(child, depth + 1)
    return lines


def explain(dataset: Pipeline) -> str:
    """Return the plan of a pipeline, as written and as it runs, as text."""
    written = dataset.make_plan(optimise=False)
    optimised = dataset.make_plan()
    text = "as written:\n" + "\n".join("  " + line for line in format_plan(written))
    text += "\nas it runs:\n" + "\n".join("  " + line for line in format_plan(optimised))
    written.close()
    optimised.close()
    return text


__all__ = ["reorder_by_number", "optimise_plan", "explain", "format_plan"]
