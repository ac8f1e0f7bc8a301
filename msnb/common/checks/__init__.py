"""r1.1's argument checks; `msnb._checkparam` is their public module."""
