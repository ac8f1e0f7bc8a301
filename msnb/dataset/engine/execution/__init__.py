"""Execution of pipelines by plans: nodes, plan rewrites, workers, memory, samplers and the monitor."""
