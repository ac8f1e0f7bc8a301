"""MindSpore's array operators: shapes, indices, joining, scattering, creation."""

from msnb.ops.array import create, distance, gather, join, scatter, segment, shape, space, values
