"""What `benchmarks/dataset.py` measures."""
