"""Classes that MindSpore's rewriting does not change."""

_subtree_black_list: list[type] = []  # programs append their classes; it has no effect, because nothing is rewritten
