"""r1.1's functions that check arguments. `msnb._checkparam` is their public module."""
