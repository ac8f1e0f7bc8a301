"""JAX's private API. No other module of msnb touches it; each use names its fallback.

Nothing is exported here: a use of private JAX shows in the name of the imported module.
"""
