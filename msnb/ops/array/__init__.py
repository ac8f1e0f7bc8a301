"""MindSpore's array operators: shapes, indices, joining, scattering, creation."""
