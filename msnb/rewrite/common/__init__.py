"""Shared parts of MindSpore's rewriting; see `msnb.rewrite`."""

from msnb.rewrite.common import namespace as namespace
