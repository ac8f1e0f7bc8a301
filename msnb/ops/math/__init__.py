"""MindSpore's math operators: arithmetic, comparison, reductions, products."""
