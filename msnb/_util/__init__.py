"""Helpers that every package of msnb may import. They import no third-party package, and of msnb only `log` and the
version.
"""
