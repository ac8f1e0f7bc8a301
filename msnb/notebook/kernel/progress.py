"""Progress line below a cell: a bar while a training or another long task runs, and a curve of the loss."""

from IPython.display import display

from msnb.notebook.display.html import escape, number

_WIDTH, _HEIGHT = 120, 26  # size of the curve in pixels
_BLUE = "#2b8cc4"  # the colour of histograms
_MOST = 20  # sentences above the line that remain visible

# Styles are inline and short, because the line is sent several times a second and stored in the notebook.
_OUTER = "font:13px/1.6 var(--jp-ui-font-family,system-ui,sans-serif);font-variant-numeric:tabular-nums;color:inherit"
_ROW = "display:flex;flex-wrap:wrap;align-items:center;gap:0 14px"


class NotebookLine:
    """One line in the output of the running cell, which each update replaces."""

    def __init__(self):
        self._handle = None
        self._sentences = []
        self._now = ((), None, ())

    def show(self, parts, share=None, curve=()):
        """Draw the line."""
        self._now = tuple(parts), share, curve
        sentences = (
            self._sentences
            if len(self._sentences) <= _MOST
            else [f"({len(self._sentences) - _MOST} more)", *self._sentences[-_MOST:]]
        )
        bundle = {
            "text/plain": "\n".join((*sentences, ", ".join(parts))),
            "text/html": _format_line(sentences, parts, share, curve),
        }
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def say(self, text):
        """Add a sentence above the line."""
        self._sentences.append(text)
        self.show(*self._now)

    def clear(self):
        """Do nothing: other output does not overwrite the line."""

    def end(self, parts, curve=()):
        """Draw the line for the last time."""
        self.show(parts, None, curve)


def _format_line(sentences, parts, share, curve):
    # Items of constant width come first: a narrow window then breaks the line at the same position in each update.
    above = "".join(f'<div style="opacity:.72">{escape(text)}</div>' for text in sentences)
    spans = "".join(f"<span>{escape(part)}</span>" for part in parts)
    return (
        f'<div role="group" aria-label="progress" style="{_OUTER}">{above}'
        f'<div style="{_ROW}">{_draw_bar(share)}{_draw_sparkline(curve)}{spans}</div></div>'
    )


def _draw_bar(share):
    if share is None:
        return ""
    percent = 100 * min(max(share, 0), 1)
    return (
        f'<span role="progressbar" aria-label="done" aria-valuemax="100" aria-valuenow="{percent:.0f}" '
        f'style="width:90px;height:6px;border-radius:3px;background:rgba(128,128,128,.3)"><span '
        f'style="display:block;width:{percent:.1f}%;height:6px;border-radius:3px;background:{_BLUE}"></span></span>'
    )


def _draw_sparkline(curve):
    """Return an SVG polyline of the points, scaled to their range. With fewer than two points it is ""."""
    if len(curve) < 2:
        return ""
    xs, ys = zip(*curve, strict=True)
    left, low = xs[0], min(ys)
    right, up = (_WIDTH - 4) / (xs[-1] - left), (_HEIGHT - 6) / ((max(ys) - low) or 1)
    points = " ".join(f"{2 + (x - left) * right:.1f},{_HEIGHT - 3 - (y - low) * up:.1f}" for x, y in curve)
    label = f"loss from {number(ys[0])} to {number(ys[-1])}"
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}">'
        f'<title>{label}</title><line x1="0" x2="{_WIDTH}" y1="{_HEIGHT - 1}" y2="{_HEIGHT - 1}" '
        f'stroke="currentColor" stroke-opacity=".3"/>'
        f'<polyline points="{points}" fill="none" stroke="{_BLUE}" stroke-width="1.5" stroke-linejoin="round"/></svg>'
    )
