"""MINDIR, MindSpore's own format: `write` makes a file of a network, `read` a graph of a file."""
