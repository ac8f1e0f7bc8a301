"""Render a view's still picture as PNG with matplotlib.

It supports the SVG elements that msnb writes: rect, circle, line, polyline, path with M, L, C and Z, text with tspan,
image with its data in base64, markers at the end of a path, and style rules that name one element or one class. Other
elements raise an error, because the picture would be incomplete without them.
"""

import base64
import io
import math
import re
import warnings
import xml.etree.ElementTree as ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_SCALE = 2  # pixels of the PNG per pixel of the SVG
_POINT = 72  # pixels per inch: at this value, one pixel is one point of matplotlib
_WIDE = 0.93  # factor of font sizes, because matplotlib's default font is wider than the layout assumes
_FAR = "\u2e80"  # from this character on (Chinese, Japanese, Korean), matplotlib's default font has no glyphs
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
    """Return a PNG of an SVG document of msnb, in light colours and twice its size.

    Args:
        svg (str): the document.

    Returns:
        bytes.

    Raises:
        ValueError: If it has an element or a path command that is not supported.
    """
    with warnings.catch_warnings():
        # matplotlib draws a box for a letter that no installed font has. Its warning is suppressed.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return _Drawing(ElementTree.fromstring(svg)).png()


class _Drawing:
    def __init__(self, root):
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # lazy, because the import takes half a second
        from matplotlib.figure import Figure

        self.width, self.height = (float(root.get(side)) for side in ("width", "height"))
        self.figure = Figure(figsize=(self.width / _POINT, self.height / _POINT), dpi=_POINT * _SCALE)
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
        self.axes.axis("off")
        self.order = 0
        self.rules = _parse_style_sheet("".join(style.text or "" for style in root.iter(f"{_SVG}style")))
        self.markers = {marker.get("id"): marker for marker in root.iter(f"{_SVG}marker")}
        size = {"font-size": root.get("font-size")} if root.get("font-size") else {}
        for element in root:
            self.draw(element, {**_PAINT, **size})

    def png(self):
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", metadata={"Software": None})  # omit matplotlib's version
        return buffer.getvalue()

    def draw(self, element, inherited):
        kind = element.tag.removeprefix(_SVG)
        if kind in _SILENT:
            return
        maker = getattr(self, f"_{kind}", None)
        if maker is None:
            raise ValueError(f"A picture with the element '{kind}' cannot be drawn as PNG.")
        maker(element, self.style(element, inherited))

    def style(self, element, inherited):
        """Return the styles of an element: inherited ones, attributes, rules of its kind and classes, and its own
        style.
        """
        styles = dict(inherited)
        styles.update({name: value for name, value in element.attrib.items() if name in (*_PAINT, *_FURTHER)})
        for selector in (element.tag.removeprefix(_SVG), *(f".{name}" for name in element.get("class", "").split())):
            styles.update(self.rules.get(selector, {}))
        styles.update(_parse_declarations(element.get("style", "")))
        return styles

    def place(self, element, *names):
        lengths = {"width": self.width, "height": self.height}
        for name in names:
            value = element.get(name, "0")
            yield lengths[name] * float(value[:-1]) / 100 if value.endswith("%") else float(value)

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
        numbers = _parse_numbers(element.get("points", ""))
        pairs = [numbers[at : at + 2] for at in range(0, len(numbers), 2)]
        self.path([("L" if at else "M", pair) for at, pair in enumerate(pairs)], style)

    def _path(self, element, style):
        steps = _parse_path(element.get("d", ""))
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

    def _image(self, element, style):
        """Draw a picture in the middle of its box, in its own proportions."""
        from PIL import Image

        x, y, width, height = self.place(element, "x", "y", "width", "height")
        with Image.open(io.BytesIO(base64.b64decode(element.get("href").partition(",")[2]))) as picture:
            pixels = picture.convert("RGBA")
        scale = min(width / pixels.width, height / pixels.height)
        left, top = x + (width - scale * pixels.width) / 2, y + (height - scale * pixels.height) / 2
        extent = (left, left + scale * pixels.width, top + scale * pixels.height, top)
        self.axes.imshow(pixels, extent=extent, aspect="auto", zorder=self.above())
        self.axes.set(xlim=(0, self.width), ylim=(self.height, 0))  # `imshow` changes them

    # ------------------------------------------------------------------ drawing
    def above(self):
        self.order += 1
        return self.order

    def patch(self, patch, style):
        from matplotlib.colors import to_rgba

        def paint(kind):
            opacity = float(style.get(f"{kind}-opacity", 1)) * float(style.get("opacity", 1))
            return "none" if style[kind] == "none" else to_rgba(_parse_colour(style[kind]), opacity)

        patch.set(facecolor=paint("fill"), edgecolor=paint("stroke"), linewidth=float(style["stroke-width"]))
        dashes = _parse_numbers(style.get("stroke-dasharray", ""))
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
        """Draw the marker at the end of a path, rotated to its direction if the marker asks for it."""
        far = [point for _, numbers in steps for point in zip(numbers[::2], numbers[1::2], strict=True)]
        (ex, ey), before = far[-1], next((point for point in reversed(far) if point != far[-1]), far[-1])
        angle = math.atan2(ey - before[1], ex - before[0]) if marker.get("orient") == "auto" else 0.0
        _, _, wide, _ = _parse_numbers(marker.get("viewBox"))
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
                self.path(_parse_path(shape.get("d")), own, moved)

    def write(self, x, y, text, style):
        """Write text on the base line and return its width."""
        if not text:
            return 0.0
        from matplotlib.patheffects import withStroke

        strong = style.get("font-weight", "400")
        artist = self.axes.text(
            x,
            y,
            text.replace("$", r"\$"),
            color=_parse_colour(style["fill"]),
            fontsize=_WIDE * _parse_numbers(style["font-size"])[0],
            fontweight="bold" if strong == "bold" or strong.isdigit() and int(strong) > 500 else "normal",
            family=_select_fonts("monospace" if "monospace" in style.get("font-family", "") else "sans-serif", text),
            ha={"start": "left", "middle": "center", "end": "right"}[style["text-anchor"]],
            va="baseline",
            zorder=self.above(),
        )
        if style.get("paint-order") == "stroke" and style["stroke"] != "none":
            artist.set_path_effects([withStroke(linewidth=float(style["stroke-width"]), foreground=style["stroke"])])
        return artist.get_window_extent().width / _SCALE if style["text-anchor"] == "start" else 0.0


def _select_fonts(usual, text):
    """Return the fonts of a text: `usual`, and for Chinese, Japanese or Korean text also installed fonts for it."""
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


def _parse_style_sheet(text):
    """Return {selector: declarations} of a style sheet for light colours. Media rules are omitted."""
    rules = {}
    for selectors, body in _RULE.findall(_MEDIA.sub("", text)):
        for selector in selectors.split(","):
            rules.setdefault(selector.strip(), {}).update(_parse_declarations(body))
    return rules


def _parse_declarations(body):
    declarations = {}
    for declaration in body.split(";"):
        name, _, value = declaration.partition(":")
        name, value = name.strip(), value.strip().removesuffix("px")
        if name == "font":  # the shorthand property for size and families
            size, _, declarations["font-family"] = value.partition(" ")
            name, value = "font-size", size.removesuffix("px")
        if name:
            declarations[name] = value
    return declarations


def _parse_colour(text):
    """Return a CSS colour in matplotlib's form; `rgb(1,2,3)` becomes three fractions."""
    return tuple(part / 255 for part in _parse_numbers(text)) if text.startswith("rgb(") else text


def _parse_numbers(text):
    return [float(number) for number in _NUMBER.findall(text or "")]


def _parse_path(text):
    """Return [(M, L, C or Z, numbers)] of a path's data."""
    steps = [(name, _parse_numbers(numbers)) for name, numbers in _STEP.findall(text or "")]
    unknown = {name for name, _ in steps} - set("MLCZz")
    if unknown:
        raise ValueError(f"A path with the step '{min(unknown)}' cannot be drawn as PNG.")
    return [(name.upper(), numbers) for name, numbers in steps]
