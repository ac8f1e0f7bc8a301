"""`msnb.attribute`: the contribution of each pixel, token or value of a node to a score, drawn in a notebook."""

from typing import Any

import numpy as np

from msnb.insight.attribution import Attribution, compute_attribution
from msnb.insight.debugger.table import html_table
from msnb.notebook.display.html import escape, framed, number
from msnb.notebook.display.tensor_html import png

_EXAMPLES = 8  # maximum number of drawn examples
_SIDE = 160  # width of a drawn picture in pixels, at least
_MOST = 512  # maximum width and height of a drawn picture
_TOKENS = 512  # maximum number of drawn tokens of an example
_POSITIVE, _NEGATIVE = (213, 94, 0), (0, 114, 178)  # of the palette of Okabe and Ito
_STRONGEST = 0.85  # opacity of the largest value over a picture
_TOKEN_STRONGEST = 0.5  # over a token, whose text has to stay readable
_STYLE = (
    "<style>.msnb .maps{display:flex;flex-wrap:wrap;gap:8px 16px;margin:4px 0}.msnb .maps figure{margin:0}"
    ".msnb .maps .pair{display:flex;gap:4px}.msnb .maps figcaption{font-size:12px}"
    ".msnb .tokens{line-height:2;margin:2px 0 6px;max-width:96ch}"
    ".msnb .tokens span{padding:2px 3px;border-radius:3px;white-space:pre-wrap}"
    ".msnb .key{display:inline-block;width:1em;height:1em;vertical-align:-.15em;border-radius:2px;margin:0 3px 0 8px}"
    "</style>"
)


class ViewedAttribution(Attribution):
    """An attribution that a notebook draws: a map over the picture, coloured tokens, or a table."""

    def _repr_html_(self) -> str:
        count = min(len(self.values), _EXAMPLES)
        if self.tokens is not None:
            body = "".join(self._draw_tokens(index) for index in range(count)) + self._draw_key()
        elif self._has_pictures():
            body = f'<div class="maps">{"".join(self._draw_picture(index) for index in range(count))}</div>'
            body += self._draw_key()
        else:
            body = self._draw_table(count)
        more = "" if count == len(self.values) else f'<div class="dim">The first {count} are shown.</div>'
        head = f'<div class="head"><b>{escape(self.method)}</b><span>{escape(self._describe_source())}</span></div>'
        return framed(_STYLE + head + body + more, self.describe_title())

    def _describe_source(self):
        shape = " x ".join(map(str, self.values.shape))
        return f"{'input' if self.node is None else self.node}, {shape}"

    def _describe_example(self, index):
        return f"target {self.describe_target(index)}, score {number(self.scores[index])}"

    def _has_pictures(self):
        return self.inputs.ndim == 4 and self.inputs.shape[1] in (1, 3) and self.values.ndim == 4

    def _draw_picture(self, index):
        picture = _convert_to_picture(self.inputs[index])
        height, width = picture.shape[:2]
        scale = max(1, round(_SIDE / width))
        # lighter than the picture, so that the colours are visible
        grey = picture.mean(axis=2, keepdims=True).repeat(3, axis=2) * 0.45 + 0.55 * 255
        overlay = _blend(grey, _resize(self.map[index], (height, width)))
        caption = self._describe_example(index)
        images = png(picture, scale, index, _MOST, f"input {index}")
        images += png(overlay, scale, index, _MOST, f"map of example {index}: {caption}")
        return f'<figure><div class="pair">{images}</div><figcaption>{escape(caption)}</figcaption></figure>'

    def _draw_tokens(self, index):
        numbers = self.map[index]
        largest = _find_largest(numbers)
        spans = []
        for token, value in list(zip(self.tokens[index], numbers.tolist(), strict=False))[:_TOKENS]:
            red, green, blue = _POSITIVE if value > 0 else _NEGATIVE
            strength = _TOKEN_STRONGEST * min(abs(value) / largest, 1)
            colour = f"rgba({red},{green},{blue},{strength:.3f})"
            spans.append(f'<span style="background:{colour}" title="{value:+.4g}">{escape(token)}</span>')
        left = len(self.tokens[index]) - _TOKENS
        more = f' <span class="dim">and {left} more</span>' if left > 0 else ""
        return (
            f'<div class="dim">{escape(self._describe_example(index))}</div>'
            f'<div class="tokens">{" ".join(spans)}{more}</div>'
        )

    def _draw_table(self, count):
        rows = []
        for index in range(count):
            rows.append(
                [str(index), self.describe_target(index), number(self.scores[index]), self._describe_values(index)]
            )
        return html_table(["example", "target", "score", "largest values"], rows)

    def _draw_key(self):
        words = ("raises the score", "lowers it") if self.is_sum_of_score else ("positive", "negative")
        swatches = [
            f'<span class="key" style="background:rgb({red},{green},{blue})"></span>{word}'
            for (red, green, blue), word in zip((_POSITIVE, _NEGATIVE), words, strict=True)
        ]
        return f'<div class="dim">{"".join(swatches if (self.values < 0).any() else swatches[:1])}</div>'


def attribute(
    net: Any,
    *inputs: Any,
    target: Any = None,
    method: str = "gradient",
    node: Any = None,
    input_index: int = 0,
    tokens: Any = None,
    **options: Any,
) -> ViewedAttribution:
    """Explain a score of a network: the contribution of each pixel, token or value of a node to it.

    The graph of the network is evaluated, so functional operators and Cells have the same attributions, in GRAPH and in
    PYNATIVE mode. The network is not changed. Each method is compiled once per shape of the inputs.

    Args:
        net (Union[Cell, Callable]): the network. It returns scores of shape (N, classes), best before Softmax.
        inputs (Tensor): its inputs, with a row per example.
        target (Union[int, Sequence[int], Tensor, tuple]): class of each example, or one class for all. For an output of
            more axes, a tuple with an index per axis. Default: None, the class with the largest score.
        method (str): ``"gradient"``; ``"guided_backprop"`` and ``"deconvolution"``, which let only positive gradients
            pass ReLU and ReLU6; ``"grad_cam"`` and ``"grad_cam_plus_plus"``, a map of the activations of `node`;
            ``"integrated_gradients"``; ``"smooth_grad"``; ``"lrp"``. Default: "gradient".
        node (Any): path of a Cell, or query of a node as in the search of the graph view, whose value is explained in
            place of the input. Of several matches the last one is used, which is the output of a Cell. Default: None,
            the input; for integers, such as tokens, the output of their embedding.
        input_index (int): index of the input that is explained. Default: 0.
        tokens (Sequence): tokens of a text: str, or a list of str for each example. They are shown. Default: None.
        options: of ``integrated_gradients``: `baseline` (a number or an array, 0), `steps` (50) and `quadrature`
            (``"gausslegendre"`` or ``"trapezoid"``). Of ``smooth_grad``: `samples` (25), `noise` (standard deviation as
            a share of the range of an example, 0.15) and `seed` (0). Of ``lrp``: `rule` (``"epsilon"``, ``"z-plus"``
            or ``"composite"``: z-plus at convolutions, epsilon elsewhere), `epsilon` (1e-6) and `softmax`
            (``"taylor"``, or ``"constant"``: attention weights count as constants).

    Returns:
        ViewedAttribution. ``values`` is an array of the shape of the input or of the node's value.

    Raises:
        ValueError: If no node matches, a target is outside of the scores, or LRP has no rule for an operator.
        TypeError: If an option belongs to another method.

    Examples:
        >>> import msnb
        >>> from msnb import Tensor, nn
        >>> net = nn.SequentialCell(nn.Dense(3, 2, weight_init="ones"), nn.ReLU())
        >>> result = msnb.attribute(net, Tensor([[1.0, 2.0, -1.0]]), target=0, method="integrated_gradients")
        >>> result.values.round(3)
        array([[ 1.,  2., -1.]], dtype=float32)
    """
    result = compute_attribution(net, inputs, target, method, node, input_index, tokens, options)
    return ViewedAttribution(**vars(result))


def _convert_to_picture(image):
    """Return an image of shape (C, H, W) as uint8 of shape (H, W, 3), scaled to its range."""
    image = np.nan_to_num(np.moveaxis(image.astype(np.float32), 0, -1))
    low, high = image.min(), image.max()
    scaled = (image - low) / (high - low) * 255 if high > low else np.zeros_like(image)
    return np.broadcast_to(scaled, (*scaled.shape[:2], 3)).astype(np.uint8)


def _resize(grid, size):
    from PIL import Image

    if grid.shape == size:
        return grid
    return np.asarray(Image.fromarray(grid.astype(np.float32)).resize(size[::-1], Image.Resampling.BILINEAR))


def _find_largest(numbers):
    """Return the magnitude that is drawn in the strongest colour, the 99.5th percentile."""
    magnitudes = np.abs(np.nan_to_num(numbers))
    return float(np.percentile(magnitudes, 99.5)) or float(magnitudes.max()) or 1.0


def _blend(picture, numbers):
    """Return a picture with positive numbers in orange and negative ones in blue."""
    strength = np.clip(np.abs(np.nan_to_num(numbers)) / _find_largest(numbers), 0, 1)[..., None] * _STRONGEST
    colour = np.where(numbers[..., None] > 0, np.array(_POSITIVE), np.array(_NEGATIVE))
    return np.round(picture * (1 - strength) + colour * strength).astype(np.uint8)
