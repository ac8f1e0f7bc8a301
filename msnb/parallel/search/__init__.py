"""Search for the shardings of a program in AUTO_PARALLEL mode.

- `axis_factors` defines the axes of an equation that may be sharded together; `nested_graphs` those of loops and
  recomputed Cells.
- `choice_problem` builds a graph of choices and their costs. `isomorphic_nodes` groups nodes that get the same choice.
- `graph_reduction` applies exact eliminations, `ilp` solves the rest as an integer linear program, and
  `large_neighborhood` improves solutions of large problems. `solver` combines these.
- `apply_choices` constrains the graph to the solution. `strategies_of_choices` converts it into MindSpore's strategies.
"""
