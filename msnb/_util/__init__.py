"""Helpers that every package of msnb may import. They import nothing of msnb and no third-party package."""
