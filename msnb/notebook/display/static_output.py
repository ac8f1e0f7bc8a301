"""The saved output of a view: a still picture for every program that shows notebooks, and the page that replaces it.

Front ends, GitHub and converters keep an `<img>` but remove scripts, frames and styles. If scripts run, the picture's
`onload` (`src/wake.js`) puts a frame with the view's page over the picture. The frame is transparent until the page has
drawn. Files shared by several pages are stored once in a notebook, in the first output that needs them. A view that
can't find them remains a picture.
"""

import base64
import html
import pathlib
import re

from msnb.notebook.display.page import rebuild, text_of
from msnb.notebook.kernel import front_end

_WAKE = pathlib.Path(__file__).with_name("wake.js")
# Most rules require the attribute `data-page`. If a sanitiser removes it, an ordinary picture remains. The height of
# the page is reserved from the first paint on. Printing shows the picture in light colours.
_STYLE = (
    ".msnb-view{position:relative}.msnb-view>p{margin:0 0 4px;opacity:.7;font-size:13px}"
    "[data-jp-theme-light=true] .msnb-view,.vscode-light .msnb-view,[data-theme=light] .msnb-view{color-scheme:light}"
    "[data-jp-theme-light=false] .msnb-view,.vscode-dark .msnb-view,[data-theme=dark] .msnb-view{color-scheme:dark}"
    ".msnb-view>iframe{position:absolute;inset:0;width:100%;height:100%;border:0}"
    "@media screen{@media (scripting:enabled){"
    ".msnb-view[data-page]:not(.still){height:var(--msnb-height);max-height:var(--msnb-content);overflow:hidden}"
    ".msnb-view[data-page]:not(.still)>p{display:none}"
    ".msnb-view[data-page]:not(.still)>img{max-height:100%}}"
    ".msnb-view.live>img{visibility:hidden}}"
    "@media print{.msnb-view>p,.msnb-view>iframe{display:none}"
    ".msnb-view>img{color-scheme:light;max-height:88vh;break-inside:avoid}}"
)
_OPENING = re.compile(
    '<div class="msnb-view" style="--msnb-height:(\\d{1,5})px" data-needs="[^"]*" data-page="([^"]*)">'
)
_PURPOSE = re.compile(r"allow scripts\), to ([^<&]*)\.</p>")
_BASE64 = re.compile("[A-Za-z0-9+/=]*")
_PICTURE = re.compile('<img src="data:image/svg[+]xml;base64,([^"]*)" alt="([^"]*)"')


def standing(page, picture, title, height, purpose, carries):
    """Return the HTML of a view as one line, because converters to Markdown need that.

    Args:
        page (Page): the live form.
        picture (str): the still form, an SVG document.
        title (str): text for screen readers.
        height (int): height of the live form, in pixels.
        purpose (str): purpose of the live form, as in "to explore the graph".
        carries (set[str]): names of the page's shared files to include in this output.

    Returns:
        str, HTML.
    """
    source = base64.b64encode(picture.encode()).decode()
    return _format_output(page, source, title, height, purpose, carries)


def _format_output(page, source, title, height, purpose, carries):
    """Return the HTML of a view whose picture is encoded in base64."""
    shared = page.shared()
    brought = "".join(
        f'<i hidden data-msnb-name="{name}" data-msnb-code="{base64.b64encode(shared[name]).decode()}"></i>'
        for name in shared
        if name in carries
    )
    return (
        f'<div class="msnb-view" style="--msnb-height:{height}px" data-needs="{" ".join(shared)}" '
        f'data-page="{html.escape(page.loose())}"><style>{_STYLE}</style>'
        f"<p>A still picture. Run this cell, or trust the notebook (on a web page: allow scripts), to {purpose}.</p>"
        f'{brought}<img src="data:image/svg+xml;base64,{source}" alt="{html.escape(title)}" style="max-width:100%" '
        f'onload="{html.escape(wake_script())}"></div>'
    )


class Rebuilding:
    """Rebuild the views of a notebook of unknown origin for one page.

    Nothing from such a notebook is code: the picture is an image, the page comes from `page.rebuild`, and the script
    that starts it is this installation's. A view that does not have msnb's form remains a picture.

    Attributes:
        documents (list[str]): The pages of the views as sent to the browser.
        pictures (int): The number of views that remain pictures.
    """

    def __init__(self):
        self._carried = set()
        self.documents: list[str] = []
        self.pictures = 0

    def rebuild(self, text):
        """Return the view in some HTML, rebuilt; None if the HTML is not a view."""
        opening, picture = _OPENING.match(text), _PICTURE.search(text)
        if opening is None or picture is None or not _BASE64.fullmatch(picture[1]):
            return None
        title, purpose = html.unescape(picture[2]), _PURPOSE.search(text)
        view = rebuild(html.unescape(opening[2]))
        if view is None:
            self.pictures += 1
            return (
                f'<div class="msnb-view"><img src="data:image/svg+xml;base64,{picture[1]}" '
                f'alt="{html.escape(title)}" style="max-width:100%"></div>'
            )
        self.documents.append(view.html())
        carries = {*view.shared()} - self._carried
        self._carried |= carries
        purpose_text = purpose[1] if purpose else "explore it"
        return _format_output(view, picture[1], title, int(opening[1]), purpose_text, carries)


def wake_script():
    """Return the JavaScript of the still image's `onload` attribute. It replaces the image by the interactive page."""
    return text_of(_WAKE).strip()


def picture_in(text):
    """Return (SVG document, title) of the view in some HTML, (None, None) if there is none."""
    match = _PICTURE.search(text) if text.startswith('<div class="msnb-view"') else None
    return (base64.b64decode(match[1]).decode(), html.unescape(match[2])) if match else (None, None)


def bundle(view, page, title, purpose, carries=None):
    """Return the output of a view: the widget if there is one, the picture with the page, and a line of text.

    Args:
        view (object): the view, which has `widget`, `svg` and `height`.
        page (Page): the live form of the view without a kernel.
        title (str): text for screen readers.
        purpose (str): purpose of the live form, as in "to explore the graph".
        carries (set[str]): the page's shared files to include. Default: None, those that the notebook lacks.

    Returns:
        tuple, data and metadata by MIME type.
    """
    data = {}
    widget = view.widget if front_end.is_interactive() else None
    if widget is not None:
        live = widget._repr_mimebundle_()
        data.update((live[0] if isinstance(live, tuple) else live) or {})
    if carries is None:
        carries = front_end.files_to_include(page.shared())
    saved = standing(page, view.svg(), title, view.height, purpose, carries)
    data.update({"text/plain": repr(view), "text/html": saved})
    return data, {}
