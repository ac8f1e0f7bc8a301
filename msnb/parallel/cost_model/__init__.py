"""Costs of communication: hosts and links of a machine, bytes moved by a change of sharding."""
