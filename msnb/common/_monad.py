"""MindSpore's markers of the order of side effects. They are empty, since XLA keeps the order of a program."""

U: tuple[()] = ()
IO: tuple[()] = ()
