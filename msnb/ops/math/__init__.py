"""MindSpore's math operators: arithmetic, comparison, reductions, products."""

from msnb.ops.math import binary, compare, gamma, inplace, linalg, reduce, special, unary
