"""Empty classes for MindSpore's monads, which mark the order of side effects. XLA keeps the order of a program without
them."""

U: tuple[()] = ()
IO: tuple[()] = ()
