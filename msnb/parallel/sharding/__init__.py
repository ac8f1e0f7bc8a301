"""Meshes, and MindSpore's strategies and layouts as JAX shardings."""
