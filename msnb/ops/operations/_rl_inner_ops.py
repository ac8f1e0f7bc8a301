"""A face: kernels of MindSpore Reinforcement. Its library imports them all; who uses one is told what to do instead."""

from typing import Any

from msnb.common.missing import asked

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
