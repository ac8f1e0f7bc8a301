"""The search for how a program is spread: AUTO_PARALLEL.

`flat` opens a traced graph into equations of JAX, `factors` says which of their axes may be cut together, `costs` what
moving a value between devices costs, `problem` makes nodes with choices and edges with costs of it, `equal` says which
are chosen alike, `reducing` decides what can be decided exactly, `program` has the rest, `windows` makes large problems
better part by part, `choosing` finds the cheapest choice with these, `pinned` writes it into the graph, and `told` says
it in the words of strategies.
"""
