"""JAX's private API. No other module of msnb touches it; each use names its fallback."""
