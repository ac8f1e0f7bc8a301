"""Wrappers of JAX's private API, which no other module of msnb uses. A comment at each import states the fallback.

This package exports no names. Other modules import `compat.jax_private` or `compat.jax_compilation`: the name of the
module shows that they depend on private API.
"""
