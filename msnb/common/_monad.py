"""MindSpore's marks of the order of side effects: XLA keeps the order of a program, so they hold nothing."""

U: tuple[()] = ()
IO: tuple[()] = ()
