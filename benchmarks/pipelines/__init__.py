"""Pipelines that `benchmarks/dataset.py` measures."""
