"""`JitConfig`: what programs of MindSpore 2 tell its compiler."""

from typing import Annotated, Any

from msnb.common.kinds import OneOf, checked

__all__ = ["JitConfig"]

_XLA = "XLA compiles and runs every program whole"


def _setting(*accepted: str) -> Any:
    return OneOf(accepted[0], otherwise=_XLA, among=OneOf(*accepted))


class JitConfig:
    """
    How MindSpore 2 is to compile a function; kept in `jit_config_dict`, and without effect on XLA, which is said once.

    Args:
        jit_level (str): "", "O0", "O1" or "O2". Default: "".
        exc_mode (str): "auto", "sink" or "no_sink". Default: "auto".
        jit_syntax_level (str): "", "STRICT", "COMPATIBLE" or "LAX". Default: "".
        debug_level (str): "RELEASE" or "DEBUG". Default: "RELEASE".
        infer_boost (str): "on" or "off". Default: "off".
        kwargs: Further settings, which are kept.

    Raises:
        TypeError: If one of the five is no string.
        ValueError: If it is another one.

    Examples:
        >>> JitConfig(jit_level="O1").jit_config_dict["jit_level"]
        'O1'
    """

    @checked
    def __init__(
        self,
        jit_level: Annotated[str, _setting("", "O0", "O1", "O2")] = "",
        exc_mode: Annotated[str, _setting("auto", "sink", "no_sink")] = "auto",
        jit_syntax_level: Annotated[str, _setting("", "STRICT", "COMPATIBLE", "LAX")] = "",
        debug_level: Annotated[str, _setting("RELEASE", "DEBUG")] = "RELEASE",
        infer_boost: Annotated[str, _setting("off", "on")] = "off",
        **kwargs: Any,
    ) -> None:
        self.jit_config_dict: dict[str, Any] = {
            **kwargs,
            "jit_level": jit_level,
            "exc_mode": exc_mode,
            "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level,
            "infer_boost": infer_boost,
        }
