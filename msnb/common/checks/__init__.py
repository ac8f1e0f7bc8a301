"""Checks of arguments as r1.1 has them: `msnb._checkparam` is their public place."""
