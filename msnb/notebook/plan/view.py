"""Plans as a notebook shows them: live widget, self-contained page, still picture, text."""

import functools
import gzip
import json
import pathlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msnb.notebook.display import page, static_output
from msnb.notebook.display.html import size
from msnb.notebook.plan.picture import headline, to_svg
from msnb.notebook.view import View, checked_height, widget_kind

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 760
_PLANS = ("msnb.parallel.planning.compare_plans", "Plans")


def plan_view(plans: Any, height: int = _HEIGHT) -> "PlanView":
    """Plans for many devices, to look at in a notebook.

    Strategies side by side, with the time of a step, what is sent and what is kept; of the chosen one the memory of a
    device, the communication along the axes of the mesh, and which device holds which part of a tensor.

    Args:
        plans (Union[Plans, dict]): as `msnb.parallel.plan` returns them, or what their `as_dict` gave.
        height (int): height in pixels of the saved form; the live one is as high as what it shows. Default: 760.

    Returns:
        PlanView.

    Raises:
        TypeError: If `plans` is neither.
        ValueError: If there is no plan, or `height` is not a positive int.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return PlanView(plans, height)


_widget_class = widget_kind("PlanWidget", _MODULE, lambda t: {"payload": t.Bytes(), "live": t.Bool()})


class PlanView(View):
    """What `plan_view` returns; saved as .html, .svg, .png, .txt or .json.

    Args:
        plans (Union[Plans, dict]): as `plan_view` takes them.
        height (int): height in pixels of the saved form. Default: 760.

    Attributes:
        told (dict): what is drawn.
    """

    def __init__(self, plans: Any, height: int = _HEIGHT) -> None:
        self.height: int = checked_height("plan_view", height)
        if not hasattr(plans, "as_dict") and not (isinstance(plans, Mapping) and "mesh" in plans and "plans" in plans):
            raise TypeError(
                f"For 'plan_view', 'plans' should be what msnb.parallel.plan returns, or its as_dict(), but got "
                f"{type(plans).__name__}."
            )
        self._plans: Any = None if isinstance(plans, Mapping) else plans
        self.told: dict[str, Any] = dict(plans) if isinstance(plans, Mapping) else plans.as_dict()
        if not self.told["plans"]:
            raise ValueError("For 'plan_view', 'plans' should hold at least one plan, but is empty.")

    @functools.cached_property
    def payload(self) -> bytes:
        """The bytes that the view is drawn from."""
        ordered = [{**one, "mesh": list(one.get("mesh", self.told["mesh"]).items())} for one in self.told["plans"]]
        told = {**self.told, "mesh": list(self.told["mesh"].items()), "plans": ordered}  # axes in this order
        return gzip.compress(json.dumps(told, separators=(",", ":"), allow_nan=False).encode(), 9, mtime=0)

    _widget_class = staticmethod(_widget_class)

    def _initial_state(self):
        return {"payload": self.payload, "live": self._plans is not None}

    def _start_widget(self, widget):
        widget.on_msg(self._asked)

    def _asked(self, widget, message, buffers):
        name, tensor = message["why"]
        try:
            told = {"rows": self._plans[name].why_not(tensor)}
        except Exception as error:  # whatever it is, somebody waits for an answer
            told = {"problem": f"{type(error).__name__}: {error}"}
        widget.send({"answer": message["number"], **told})

    def svg(self) -> str:
        """The strategies as a still picture, str."""
        return to_svg(self.told)

    def _file_formats(self):
        return {**super()._file_formats(), ".txt": lambda: f"{self!r}\n", ".json": lambda: json.dumps(self.told)}

    def __repr__(self) -> str:
        if self._plans is not None:
            return repr(self._plans)
        lines = [
            f"{one['name']}: {1e3 * one['seconds']:,.2f} ms, {size(round(one['bytes']))} sent, "
            f"{size(round(one['memory']))} kept{'' if one['fits'] else ', too much'}"
            for one in self.told["plans"]
        ]
        return "\n".join([headline(self.told), *lines])

    def _repr_mimebundle_(self, include=None, exclude=None):
        return static_output.bundle(self, self._build_page(), f"Plans: {headline(self.told)}", "compare the plans")

    def _build_page(self):
        parts: dict[str, bytes | Path] = {"data": self.payload}
        style = "html,body{margin:0;background:transparent}"
        return page.Page(headline(self.told), _MODULE, parts, "made.still(view,parts.data)", style)


def install(shell: Any) -> Any:
    """Have a shell show what `msnb.parallel.plan` returns; returns what undoes it."""
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name(*_PLANS, lambda plans, include=None, exclude=None: plan_view(plans)._repr_mimebundle_())
    return lambda: formatter.pop(".".join(_PLANS), None)
