"""A view's still picture as PNG: the elements that msnb's own SVG documents are made of, drawn by matplotlib.

It knows these and no others: rect, circle, line, polyline, path of M, L, C and Z, text with tspan, markers at the end
of a path, and style rules that name one element or one class. A document that uses more raises, so that a picture
cannot miss a part of itself.
"""

import io
import math
import re
import warnings
import xml.etree.ElementTree as ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_SCALE = 2  # pixels of the PNG for one of the SVG
_POINT = 72  # with so many pixels an inch, a pixel is what matplotlib calls a point
_WIDE = 0.93  # letters of matplotlib's own font are wider than those the pictures are laid out for
_FAR = "\u2e80"  # where the letters begin that matplotlib's own font has not
_WIDER = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "Malgun Gothic",
)
_SILENT = ("title", "style", "defs")
_PAINT = {"fill": "#000", "stroke": "none", "stroke-width": "1", "font-size": "12", "text-anchor": "start"}
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_MEDIA = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")


def to_png(svg: str) -> bytes:
    """A PNG of an SVG document of msnb's, in its light colours and twice its size.

    Args:
        svg (str): the document.

    Returns:
        bytes.

    Raises:
        ValueError: If it holds an element or a path that is not known here.
    """
    with warnings.catch_warnings():
        # a letter that no font of this machine has is drawn as a box, and that need not be said of each in red
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return _Drawing(ElementTree.fromstring(svg)).png()


class _Drawing:
    def __init__(self, root):
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second, which only a PNG takes
        from matplotlib.figure import Figure

        self.width, self.height = (float(root.get(side)) for side in ("width", "height"))
        self.figure = Figure(figsize=(self.width / _POINT, self.height / _POINT), dpi=_POINT * _SCALE)
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
        self.axes.axis("off")
        self.order = 0
        self.rules = _rules("".join(style.text or "" for style in root.iter(f"{_SVG}style")))
        self.markers = {marker.get("id"): marker for marker in root.iter(f"{_SVG}marker")}
        size = {"font-size": root.get("font-size")} if root.get("font-size") else {}
        for element in root:
            self.draw(element, {**_PAINT, **size})

    def png(self):
        made = io.BytesIO()
        self.figure.savefig(made, format="png", metadata={"Software": None})  # the same bytes in every version
        return made.getvalue()

    def draw(self, element, inherited):
        kind = element.tag.removeprefix(_SVG)
        if kind in _SILENT:
            return
        maker = getattr(self, f"_{kind}", None)
        if maker is None:
            raise ValueError(f"A picture with the element '{kind}' cannot be drawn as PNG.")
        maker(element, self.style(element, inherited))

    def style(self, element, inherited):
        """What holds for an element: inherited, its attributes, the rules for its kind and classes, its own style."""
        found = dict(inherited)
        found.update({name: value for name, value in element.attrib.items() if name in (*_PAINT, *_FURTHER)})
        for selector in (element.tag.removeprefix(_SVG), *(f".{name}" for name in element.get("class", "").split())):
            found.update(self.rules.get(selector, {}))
        found.update(_declared(element.get("style", "")))
        return found

    def place(self, element, *names):
        whole = {"width": self.width, "height": self.height}
        for name in names:
            value = element.get(name, "0")
            yield whole[name] * float(value[:-1]) / 100 if value.endswith("%") else float(value)

    # ------------------------------------------------------------------ elements
    def _g(self, element, style):
        for inner in element:
            self.draw(inner, style)

    def _rect(self, element, style):
        from matplotlib.patches import FancyBboxPatch, Rectangle

        x, y, width, height, radius = self.place(element, "x", "y", "width", "height", "rx")
        radius = min(radius, width / 2, height / 2)
        if radius <= 0:
            self.patch(Rectangle((x, y), width, height), style)
        else:
            self.patch(FancyBboxPatch((x, y), width, height, boxstyle=f"round,pad=0,rounding_size={radius}"), style)

    def _circle(self, element, style):
        from matplotlib.patches import Circle

        x, y, radius = self.place(element, "cx", "cy", "r")
        self.patch(Circle((x, y), radius), style)

    def _line(self, element, style):
        x1, y1, x2, y2 = self.place(element, "x1", "y1", "x2", "y2")
        self.path([("M", [x1, y1]), ("L", [x2, y2])], style)

    def _polyline(self, element, style):
        numbers = _numbers(element.get("points", ""))
        pairs = [numbers[at : at + 2] for at in range(0, len(numbers), 2)]
        self.path([("L" if at else "M", pair) for at, pair in enumerate(pairs)], style)

    def _path(self, element, style):
        steps = _steps(element.get("d", ""))
        self.path(steps, style)
        marker = self.markers.get(element.get("marker-end", "").removeprefix("url(#").removesuffix(")"))
        if marker is not None:
            self.marker(marker, steps, style)

    def _text(self, element, style):
        x, y = self.place(element, "x", "y")
        x += self.write(x, y, element.text, style)
        for inner in element:
            x += self.write(x, y, inner.text, self.style(inner, style))
            x += self.write(x, y, inner.tail, style)

    # ------------------------------------------------------------------ drawing
    def above(self):
        self.order += 1
        return self.order

    def patch(self, patch, style):
        from matplotlib.colors import to_rgba

        def paint(kind):
            opacity = float(style.get(f"{kind}-opacity", 1)) * float(style.get("opacity", 1))
            return "none" if style[kind] == "none" else to_rgba(_colour(style[kind]), opacity)

        patch.set(facecolor=paint("fill"), edgecolor=paint("stroke"), linewidth=float(style["stroke-width"]))
        dashes = _numbers(style.get("stroke-dasharray", ""))
        if dashes:
            patch.set_linestyle((0, [dash / float(style["stroke-width"]) for dash in dashes]))
        patch.set_zorder(self.above())
        self.axes.add_patch(patch)

    def path(self, steps, style, moved=lambda x, y: (x, y)):
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        codes, points = [], []
        for name, numbers in steps:
            here = [moved(*numbers[at : at + 2]) for at in range(0, len(numbers), 2)] or [points[0]]
            code = {"M": Path.MOVETO, "L": Path.LINETO, "C": Path.CURVE4, "Z": Path.CLOSEPOLY}[name]
            codes += [code] * len(here)
            points += here
        if points:
            self.patch(PathPatch(Path(points, codes)), style)

    def marker(self, marker, steps, style):
        """At the end of a path, in its direction where the marker says so."""
        far = [point for _, numbers in steps for point in zip(numbers[::2], numbers[1::2], strict=True)]
        (ex, ey), before = far[-1], next((point for point in reversed(far) if point != far[-1]), far[-1])
        angle = math.atan2(ey - before[1], ex - before[0]) if marker.get("orient") == "auto" else 0.0
        _, _, wide, _ = _numbers(marker.get("viewBox"))
        unit = 1.0 if marker.get("markerUnits") == "userSpaceOnUse" else float(style["stroke-width"])
        scale = float(marker.get("markerWidth")) / wide * unit
        rx, ry = float(marker.get("refX")), float(marker.get("refY"))

        def moved(x, y):
            x, y = scale * (x - rx), scale * (y - ry)
            return ex + x * math.cos(angle) - y * math.sin(angle), ey + x * math.sin(angle) + y * math.cos(angle)

        for shape in marker:
            own = self.style(shape, _PAINT)
            if shape.tag == f"{_SVG}circle":
                from matplotlib.patches import Circle

                x, y, radius = self.place(shape, "cx", "cy", "r")
                self.patch(Circle(moved(x, y), scale * radius), own)
            else:
                self.path(_steps(shape.get("d")), own, moved)

    def write(self, x, y, text, style):
        """Write on the base line; returns how far that went."""
        if not text:
            return 0.0
        from matplotlib.patheffects import withStroke

        strong = style.get("font-weight", "400")
        made = self.axes.text(
            x,
            y,
            text.replace("$", r"\$"),
            color=_colour(style["fill"]),
            fontsize=_WIDE * _numbers(style["font-size"])[0],
            fontweight="bold" if strong == "bold" or strong.isdigit() and int(strong) > 500 else "normal",
            family=_families("monospace" if "monospace" in style.get("font-family", "") else "sans-serif", text),
            ha={"start": "left", "middle": "center", "end": "right"}[style["text-anchor"]],
            va="baseline",
            zorder=self.above(),
        )
        if style.get("paint-order") == "stroke" and style["stroke"] != "none":
            made.set_path_effects([withStroke(linewidth=float(style["stroke-width"]), foreground=style["stroke"])])
        return made.get_window_extent().width / _SCALE if style["text-anchor"] == "start" else 0.0


def _families(usual, text):
    """The font of a text, and where it has Chinese, Japanese or Korean letters those of this machine that have them."""
    if all(letter < _FAR for letter in text):
        return usual
    from matplotlib.font_manager import fontManager

    there = {font.name for font in fontManager.ttflist}
    return [usual, *(name for name in _WIDER if name in there)]


_FURTHER = (
    "fill-opacity",
    "stroke-opacity",
    "opacity",
    "stroke-dasharray",
    "font-family",
    "font-weight",
    "paint-order",
)


def _rules(text):
    """{selector: declarations} of a style sheet, for light colours: what a medium is asked for first is left out."""
    rules = {}
    for selectors, body in _RULE.findall(_MEDIA.sub("", text)):
        for selector in selectors.split(","):
            rules.setdefault(selector.strip(), {}).update(_declared(body))
    return rules


def _declared(body):
    found = {}
    for declaration in body.split(";"):
        name, _, value = declaration.partition(":")
        name, value = name.strip(), value.strip().removesuffix("px")
        if name == "font":  # size and families at once
            size, _, found["font-family"] = value.partition(" ")
            name, value = "font-size", size.removesuffix("px")
        if name:
            found[name] = value
    return found


def _colour(text):
    """A colour as matplotlib takes it: CSS' `rgb(1,2,3)` as three shares."""
    return tuple(part / 255 for part in _numbers(text)) if text.startswith("rgb(") else text


def _numbers(text):
    return [float(number) for number in _NUMBER.findall(text or "")]


def _steps(text):
    """[(M, L, C or Z, numbers)] of the data of a path."""
    steps = [(name, _numbers(numbers)) for name, numbers in _STEP.findall(text or "")]
    unknown = {name for name, _ in steps} - set("MLCZz")
    if unknown:
        raise ValueError(f"A path with the step '{min(unknown)}' cannot be drawn as PNG.")
    return [(name.upper(), numbers) for name, numbers in steps]
