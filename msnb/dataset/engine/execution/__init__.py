"""The plan of a running pipeline: its nodes, the rewrites, workers, memory, samplers and the monitor."""
