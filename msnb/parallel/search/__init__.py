"""Search for the shardings of a program in AUTO_PARALLEL mode.

`flat` flattens a traced graph into JAX equations. `factors` defines the axes of an equation that may be sharded
together, and `costs` the cost of resharding a value. `problem` builds a graph of choices and costs from them. `equal`
groups nodes that get the same choice, `reducing` applies exact eliminations, `program` solves the rest as an integer
linear program, and `windows` improves solutions of large problems locally. `choosing` combines these into a solver.
`pinned` constrains the graph to the solution. The module `told` converts the solution into strategies.
"""
