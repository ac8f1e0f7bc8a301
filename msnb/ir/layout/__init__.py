"""The drawing of a graph: its scope tree, folded repeats, titles, and a layered layout with ports."""
