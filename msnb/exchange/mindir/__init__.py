"""MINDIR, MindSpore's own format: `write` exports a network to a file, `read` loads a file as a graph."""
