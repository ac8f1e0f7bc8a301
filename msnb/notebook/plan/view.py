"""The view of plans: live widget, standalone page, still picture, text."""

import functools
import gzip
import json
import pathlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msnb._util.byte_size import format_bytes
from msnb.notebook.display import page, static_output
from msnb.notebook.plan.picture import headline, to_svg
from msnb.notebook.view import View, checked_height, widget_kind

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 760
_PLANS = ("msnb.parallel.planning.compare_plans", "Plans")


def plan_view(plans: Any, height: int = _HEIGHT) -> "PlanView":
    """Return a view of plans for many devices.

    It compares strategies by step time, bytes sent and memory. For the selected one it shows the memory of a
    device, the communication along the axes of the mesh, and the device of each part of a tensor.

    Args:
        plans (Union[Plans, dict]): the result of `msnb.parallel.plan`, or of its `as_dict`.
        height (int): height in pixels of the saved form; the live form is as high as its content. Default: 760.

    Returns:
        PlanView.

    Raises:
        TypeError: If `plans` has another type.
        ValueError: If there is no plan, or `height` is not a positive int.
    """
    return PlanView(plans, height)


_widget_class = widget_kind("PlanWidget", _MODULE, lambda t: {"payload": t.Bytes(), "live": t.Bool()})


class PlanView(View):
    """The result of `plan_view`; it can be saved as .html, .svg, .png, .txt or .json.

    Args:
        plans (Union[Plans, dict]): as for `plan_view`.
        height (int): height in pixels of the saved form. Default: 760.

    Attributes:
        data (dict): the plans as a dict.
    """

    def __init__(self, plans: Any, height: int = _HEIGHT) -> None:
        self.height: int = checked_height("plan_view", height)
        if not hasattr(plans, "as_dict") and not (isinstance(plans, Mapping) and "mesh" in plans and "plans" in plans):
            raise TypeError(
                f"For 'plan_view', 'plans' should be what msnb.parallel.plan returns, or its as_dict(), but got "
                f"{type(plans).__name__}."
            )
        self._plans: Any = None if isinstance(plans, Mapping) else plans
        self.data: dict[str, Any] = dict(plans) if isinstance(plans, Mapping) else plans.as_dict()
        if not self.data["plans"]:
            raise ValueError("For 'plan_view', 'plans' should hold at least one plan, but is empty.")

    @functools.cached_property
    def payload(self) -> bytes:
        """The serialized plans."""
        ordered = [{**one, "mesh": list(one.get("mesh", self.data["mesh"]).items())} for one in self.data["plans"]]
        # `mesh` is a list of pairs, because JavaScript may reorder the keys of an object
        content = {**self.data, "mesh": list(self.data["mesh"].items()), "plans": ordered}
        return gzip.compress(json.dumps(content, separators=(",", ":"), allow_nan=False).encode(), 9, mtime=0)

    _widget_class = staticmethod(_widget_class)

    def _build_widget_state(self):
        return {"payload": self.payload, "live": self._plans is not None}

    def _connect_widget(self, widget):
        widget.on_msg(self._on_message)

    def _on_message(self, widget, message, buffers):
        name, tensor = message["why"]
        try:
            answer = {"rows": self._plans[name].why_not(tensor)}
        except Exception as error:  # send every error as the answer, because the page waits for one
            answer = {"problem": f"{type(error).__name__}: {error}"}
        widget.send({"answer": message["number"], **answer})

    def svg(self) -> str:
        """Return the strategies as a still picture, str."""
        return to_svg(self.data)

    def _list_file_formats(self):
        return {**super()._list_file_formats(), ".txt": lambda: f"{self!r}\n", ".json": lambda: json.dumps(self.data)}

    def __repr__(self) -> str:
        if self._plans is not None:
            return repr(self._plans)
        lines = [
            f"{one['name']}: {1e3 * one['seconds']:,.2f} ms, {format_bytes(round(one['bytes']))} sent, "
            f"{format_bytes(round(one['memory']))} kept{'' if one['fits'] else ', too much'}"
            for one in self.data["plans"]
        ]
        return "\n".join([headline(self.data), *lines])

    def _repr_mimebundle_(self, include=None, exclude=None):
        return static_output.bundle(self, self._build_page(), f"Plans: {headline(self.data)}", "compare the plans")

    def _build_page(self):
        parts: dict[str, bytes | Path] = {"data": self.payload}
        style = "html,body{margin:0;background:transparent}"
        return page.Page(headline(self.data), _MODULE, parts, "made.still(view,parts.data)", style)


def install(shell: Any) -> Any:
    """Register the display of the result of `msnb.parallel.plan` with a shell. Return the undo function."""
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name(*_PLANS, lambda plans, include=None, exclude=None: plan_view(plans)._repr_mimebundle_())
    return lambda: formatter.pop(".".join(_PLANS), None)
