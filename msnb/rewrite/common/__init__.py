"""What MindSpore's rewriting shares; see `msnb.rewrite`."""

from msnb.rewrite.common import namespace as namespace
