"""Subcommands of `python -m msnb` that run scripts, start processes or write type stubs."""
