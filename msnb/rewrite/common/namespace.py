"""Which classes MindSpore's rewriting leaves as they are."""

_subtree_black_list: list[type] = []  # programs add classes of theirs; as nothing is rewritten, all are left
