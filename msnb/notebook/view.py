"""Base classes of notebook views: live widget, standalone page, still picture and text of one view."""

import functools
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msnb.notebook.display import page, static_output
from msnb.notebook.kernel import cell_views, front_end


def checked_height(who: str, height: int) -> int:
    """Return `height` in pixels, or raise an error that names the function `who`.

    Raises:
        ValueError: If it is not a positive int.
    """
    if isinstance(height, bool) or not isinstance(height, int) or height < 1:
        raise ValueError(f"For '{who}', 'height' should be a positive int (pixels), but got {height!r}.")
    return height


def widget_kind(
    name: str, module: Path, traits: Callable[[Any], dict[str, Any]], sheet: Path | None = None
) -> Callable[[], Any]:
    """Return a function without arguments. It returns a widget class, or None if anywidget is not installed.

    Args:
        name (str): name of the class.
        module (Path): the ES module of the view.
        traits (Callable): function from the module `traitlets` to {name: trait}, the state shared by kernel and page.
        sheet (Path): the style sheet of the view. Default: None.
    """

    @functools.cache
    def kind():
        try:
            import anywidget
            import traitlets
        except ImportError:  # anywidget is optional; views are pages and pictures without it
            return None
        members = {key: trait.tag(sync=True) for key, trait in traits(traitlets).items()}
        style = {"_css": page.text_of(sheet)} if sheet else {}
        return type(name, (anywidget.AnyWidget,), {"_esm": page.text_of(module), **style, **members})

    return kind


class View:
    """Base class of views. A subclass provides `svg`, `__repr__` and these methods:

    - `_widget_class`: class of the widget, None without anywidget;
    - `_build_widget_state`: initial values of the widget's traits;
    - `_connect_widget`: further actions after the widget is created;
    - `_build_page`: the standalone page;
    - `_list_file_formats`: the formats of `save`, {suffix: function that returns the content}.
    """

    height: int
    _widget: Any = None

    @staticmethod
    def _widget_class() -> Any:
        raise NotImplementedError

    def _build_widget_state(self) -> dict[str, Any]:
        raise NotImplementedError

    def _connect_widget(self, widget: Any) -> None:
        pass

    def _build_page(self) -> page.Page:
        raise NotImplementedError

    def _list_file_formats(self) -> dict[str, Callable[[], str | bytes]]:
        return {".html": self.html, ".svg": self.svg, ".txt": self.__repr__}

    def svg(self) -> str:
        """Return the view as a still picture, str."""
        raise NotImplementedError

    @property
    def widget(self) -> Any:
        """The live widget, created at the first access; None if anywidget is not installed."""
        if self._widget is None:
            kind = self._widget_class()
            if kind is not None:
                self._widget = kind(**self._build_widget_state())
                self._connect_widget(self._widget)
        return self._widget

    def html(self) -> str:
        """Return the interactive view as a page that needs no kernel, no network and no other file, str."""
        return self._build_page().html()

    def save(self, path: str | Path) -> None:
        """Write the view to a file.

        The suffix selects the format: .html (interactive), .svg, .png, or others of the class.

        Args:
            path (Union[str, Path]): path of the file.

        Raises:
            ValueError: If the class does not support the suffix.
        """
        page.save(path, self._list_file_formats(), type(self).__name__)

    def close(self) -> None:
        """Close the widget and free its data; the saved form of the view remains."""
        cell_views.forget(self)
        widget, self._widget = self._widget, None
        if widget is not None:
            widget.close()
            widget.layout.close()  # a widget of its own


class Renewed(View):
    """A view that can change while it is displayed. A change updates its output in the notebook.

    Subclasses provide `_name` (text for screen readers) and `_purpose` (purpose of the live form). Those that show
    files set `_follows_files`: `refresh` is then called at the end of each cell, which may have written to them.
    """

    _purpose: str
    _follows_files = False

    def __init__(self) -> None:
        self._display, self._displayed = f"msnb-{uuid.uuid4().hex}", False
        self._carries = set()  # names of shared page files that an output of this view includes

    def _name(self) -> str:
        raise NotImplementedError

    def _ipython_display_(self):
        """Display the view under an id, so that the saved form can be updated later."""
        from IPython.display import publish_display_data

        cell_views.install()
        cell_views.remember(self)
        self._carries |= front_end.files_to_include(self._build_page().shared())
        publish_display_data(*self._build_mime_bundle(self._carries), transient={"display_id": self._display})
        self._displayed = True
        if self._follows_files:
            cell_views.follow(self)

    def show_again(self) -> None:
        """Replace the saved output of this view. The live widget on screen does not change."""
        if self._displayed:
            from IPython.display import publish_display_data

            publish_display_data(
                *self._build_mime_bundle(self._carries), transient={"display_id": self._display}, update=True
            )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self._build_mime_bundle(None)

    def _build_mime_bundle(self, carries):
        return static_output.bundle(self, self._build_page(), self._name(), self._purpose, carries)
