"""Plans as a notebook shows them: live widget, self-contained page, still picture, text."""

import functools
import gzip
import json
import pathlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msnb.notebook import page, still
from msnb.notebook.html import size
from msnb.notebook.plan.picture import headline, to_svg

_MODULE = pathlib.Path(__file__).with_name("widget.js")
_HEIGHT = 760
_PLANS = ("msnb.parallel.planning.plan", "Plans")


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


class PlanView:
    """What `plan_view` returns.

    Args:
        plans (Union[Plans, dict]): as `plan_view` takes them.
        height (int): height in pixels of the saved form. Default: 760.

    Attributes:
        told (dict): what is drawn.
    """

    def __init__(self, plans: Any, height: int = _HEIGHT) -> None:
        if isinstance(height, bool) or not isinstance(height, int) or height < 1:
            raise ValueError(f"For 'plan_view', 'height' should be a positive int (pixels), but got {height!r}.")
        if not hasattr(plans, "as_dict") and not (isinstance(plans, Mapping) and "mesh" in plans and "plans" in plans):
            raise TypeError(
                f"For 'plan_view', 'plans' should be what msnb.parallel.plan returns, or its as_dict(), but got "
                f"{type(plans).__name__}."
            )
        self._plans: Any = None if isinstance(plans, Mapping) else plans
        self.told: dict[str, Any] = dict(plans) if isinstance(plans, Mapping) else plans.as_dict()
        if not self.told["plans"]:
            raise ValueError("For 'plan_view', 'plans' should hold at least one plan, but is empty.")
        self.height: int = height
        self._widget: Any = None

    @functools.cached_property
    def payload(self) -> bytes:
        """The bytes that the view is drawn from."""
        told = {**self.told, "mesh": list(self.told["mesh"].items())}  # in this order
        return gzip.compress(json.dumps(told, separators=(",", ":"), allow_nan=False).encode(), 9, mtime=0)

    @property
    def widget(self) -> Any:
        """The live widget (made when first asked for); None where anywidget is not installed."""
        if self._widget is None:
            kind = _widget_class()
            if kind is not None:
                self._widget = kind(payload=self.payload, live=self._plans is not None)
                self._widget.on_msg(self._asked)
        return self._widget

    def _asked(self, widget, message, buffers):
        name, tensor = message["why"]
        widget.send({"answer": message["number"], "rows": self._plans[name].why_not(tensor)})

    def svg(self) -> str:
        """The strategies as a still picture, str."""
        return to_svg(self.told)

    def html(self) -> str:
        """The interactive view as a page that needs no kernel, no network and no other file, str."""
        return self._page().html()

    def save(self, path: str | Path) -> None:
        """Write the view to a file: .html (interactive), .svg, .png, .txt or .json.

        Args:
            path (str): where to.

        Raises:
            ValueError: If the suffix is none of these.
        """
        makers = {
            ".html": self.html,
            ".svg": self.svg,
            ".txt": lambda: f"{self!r}\n",
            ".json": lambda: json.dumps(self.told),
        }
        page.save(path, makers, "PlanView")

    def close(self) -> None:
        """Close the live widget; the saved form stays where it is."""
        widget, self._widget = self._widget, None
        if widget is not None:
            widget.close()

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
        return still.bundle(self, self._page(), f"Plans: {headline(self.told)}", "compare the plans")

    def _page(self):
        parts: dict[str, bytes | Path] = {"data": self.payload}
        style = "html,body{margin:0;background:transparent}"
        return page.Page(headline(self.told), _MODULE, parts, "made.still(view,parts.data)", style)


@functools.cache
def _widget_class():
    try:
        import anywidget
        import traitlets
    except ImportError:  # a plain installation has no widgets; the page and the picture remain
        return None

    class PlanWidget(anywidget.AnyWidget):
        _esm = page.text_of(_MODULE)
        payload = traitlets.Bytes().tag(sync=True)
        live = traitlets.Bool(False).tag(sync=True)

    return PlanWidget


def install(shell: Any) -> Any:
    """Have a shell show what `msnb.parallel.plan` returns; returns what undoes it."""
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name(*_PLANS, lambda plans, include=None, exclude=None: plan_view(plans)._repr_mimebundle_())
    return lambda: formatter.pop(".".join(_PLANS), None)
