"""Wrappers of JAX's private API, which no other module of msnb uses. Each use names its fallback.

Nothing is exported here: a use of private JAX shows in the name of the imported module.
"""
