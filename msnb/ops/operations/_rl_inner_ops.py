"""Re-export module: kernels of MindSpore Reinforcement. Its library imports all of them. A call raises and names an
alternative.
"""

from typing import Any

from msnb.common.missing import asked

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
