"""What the views of a notebook have in common: a live widget, a page of its own, a still picture, a text."""

import functools
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msnb.notebook.display import page, static_output
from msnb.notebook.kernel import cell_views, front_end


def checked_height(who: str, height: int) -> int:
    """`height`, if it is one in pixels; `who` was given it.

    Raises:
        ValueError: If it is not a positive int.
    """
    if isinstance(height, bool) or not isinstance(height, int) or height < 1:
        raise ValueError(f"For '{who}', 'height' should be a positive int (pixels), but got {height!r}.")
    return height


def widget_kind(
    name: str, module: Path, traits: Callable[[Any], dict[str, Any]], sheet: Path | None = None
) -> Callable[[], Any]:
    """A function that returns the class of a widget, and None where anywidget is not installed.

    Args:
        name (str): of the class.
        module (Path): its ES module.
        traits (Callable): from the module `traitlets` to {name: trait} of all that kernel and page both hold.
        sheet (Path): its style sheet. Default: None.
    """

    @functools.cache
    def kind():
        try:
            import anywidget
            import traitlets
        except ImportError:  # a plain installation has no widgets; the page and the picture remain
            return None
        held = {key: trait.tag(sync=True) for key, trait in traits(traitlets).items()}
        style = {"_css": page.text_of(sheet)} if sheet else {}
        return type(name, (anywidget.AnyWidget,), {"_esm": page.text_of(module), **style, **held})

    return kind


class View:
    """Something to look at. Each kind of view says the class of its widget (`_kind`), what that is told at first
    (`_told`) and what else begins with it (`_begin`), its page (`_page`), the files that it can be written to
    (`_forms`), and has `svg` and a text."""

    height: int
    _widget: Any = None

    @staticmethod
    def _kind() -> Any:
        raise NotImplementedError

    def _told(self) -> dict[str, Any]:
        raise NotImplementedError

    def _begin(self, widget: Any) -> None:
        pass

    def _page(self) -> page.Page:
        raise NotImplementedError

    def _forms(self) -> dict[str, Callable[[], str | bytes]]:
        return {".html": self.html, ".svg": self.svg, ".txt": self.__repr__}

    def svg(self) -> str:
        """The view as a still picture, str."""
        raise NotImplementedError

    @property
    def widget(self) -> Any:
        """The live widget (made when first asked for); None where anywidget is not installed."""
        if self._widget is None:
            kind = self._kind()
            if kind is not None:
                self._widget = kind(**self._told())
                self._begin(self._widget)
        return self._widget

    def html(self) -> str:
        """The interactive view as a page that needs no kernel, no network and no other file, str."""
        return self._page().html()

    def save(self, path: str | Path) -> None:
        """Write the view to a file, by its suffix: .html (interactive), .svg, .png, or what else the class names.

        Args:
            path (Union[str, Path]): where to.

        Raises:
            ValueError: If the suffix is none of these.
        """
        page.save(path, self._forms(), type(self).__name__)

    def close(self) -> None:
        """Take the view away and free what it holds; its saved form stays."""
        cell_views.forget(self)
        widget, self._widget = self._widget, None
        if widget is not None:
            widget.close()


class Renewed(View):
    """A view whose output in the notebook is brought up to date, because it changes while it is on screen. It says
    what the reader hears of it (`_name`) and what the live form is for (`_purpose`)."""

    _purpose: str

    def __init__(self) -> None:
        self._display, self._displayed = f"msnb-{uuid.uuid4().hex}", False
        self._carries = set()  # which files of the page an output of this view brings along

    def _name(self) -> str:
        raise NotImplementedError

    def _ipython_display_(self):
        """Shown under an id, so that the saved form can be brought up to date."""
        from IPython.display import publish_display_data

        cell_views.remember(self)
        self._carries |= front_end.carrying(self._page().shared())
        publish_display_data(*self._bundle(self._carries), transient={"display_id": self._display})
        self._displayed = True

    def show_again(self) -> None:
        """Replace the output that the notebook has of this view; on screen everything stays as it is."""
        if self._displayed:
            from IPython.display import publish_display_data

            publish_display_data(*self._bundle(self._carries), transient={"display_id": self._display}, update=True)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self._bundle(None)

    def _bundle(self, carries):
        return static_output.bundle(self, self._page(), self._name(), self._purpose, carries)
