"""`JitConfig`: compiler settings of MindSpore 2."""

from typing import Annotated, Any

from msnb.common.kinds import OneOf, checked

__all__ = ["JitConfig"]

_XLA = "XLA compiles and runs every program whole"


def _declare_ineffective_setting(*accepted: str) -> Any:
    return OneOf(accepted[0], otherwise=_XLA, among=OneOf(*accepted))


class JitConfig:
    """
    Compiler settings of a function in MindSpore 2. They are stored in `jit_config_dict` and have no effect on XLA. A
    value other than the default is logged once.

    Args:
        jit_level (str): "", "O0", "O1" or "O2". Default: "".
        exc_mode (str): "auto", "sink" or "no_sink". Default: "auto".
        jit_syntax_level (str): "", "STRICT", "COMPATIBLE" or "LAX". Default: "".
        debug_level (str): "RELEASE" or "DEBUG". Default: "RELEASE".
        infer_boost (str): "on" or "off". Default: "off".
        kwargs: Further settings, which are stored.

    Raises:
        TypeError: If one of the first five arguments is not a string.
        ValueError: If one of them is not one of the values above.

    Examples:
        >>> JitConfig(jit_level="O1").jit_config_dict["jit_level"]
        'O1'
    """

    @checked
    def __init__(
        self,
        jit_level: Annotated[str, _declare_ineffective_setting("", "O0", "O1", "O2")] = "",
        exc_mode: Annotated[str, _declare_ineffective_setting("auto", "sink", "no_sink")] = "auto",
        jit_syntax_level: Annotated[str, _declare_ineffective_setting("", "STRICT", "COMPATIBLE", "LAX")] = "",
        debug_level: Annotated[str, _declare_ineffective_setting("RELEASE", "DEBUG")] = "RELEASE",
        infer_boost: Annotated[str, _declare_ineffective_setting("off", "on")] = "off",
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
