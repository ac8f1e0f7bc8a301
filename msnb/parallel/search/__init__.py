"""Search for the shardings of a program in AUTO_PARALLEL mode.

`parallel.graph.flatten_jaxpr` flattens a traced graph into JAX equations. `axis_factors` and `nested_graphs` define the
axes of an equation that are sharded together, and `parallel.cost_model.transfer_cost` the cost of resharding a value.
`choice_problem` builds a graph of choices and costs from them. `isomorphic_nodes` groups nodes that get the same
choice, `graph_reduction` applies exact eliminations, `ilp` solves the remaining problem as an integer linear program,
and `large_neighborhood` improves solutions of large problems locally. `solver` combines these; `recursive` is a faster,
greedy search. `apply_choices` constrains the graph to the solution, and `strategies_of_choices` converts the solution
into strategies.
"""
