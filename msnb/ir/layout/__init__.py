"""Drawing of a graph: its tree of scopes, folded repeats, titles, and a layered layout with ports."""
