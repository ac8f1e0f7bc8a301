"""The colours of runs can be distinguished, also by simulated eyes without one of the three kinds of cones."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import msnb.notebook
from msnb.notebook.dashboard import picture

SOURCE = (Path(msnb.notebook.__file__).parent / "src" / "palette.js").read_text(encoding="utf-8")
PAPER = {"LIGHT": "#ffffff", "DARK": "#16191d"}
# Machado, Oliveira and Fernandes 2009: what linear sRGB becomes
SEEN = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
WHITE = (0.95047, 1, 1.08883)


def colours(theme):
    part = SOURCE[SOURCE.index(f"{theme} = [") :]
    return re.findall(r"#[0-9a-f]{6}", part[: part.index("]")])


def linear(colour):
    v = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = np.asarray(XYZ) @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, other):
    low, high = sorted(float(linear(colour) @ XYZ[1]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", PAPER)
@pytest.mark.parametrize("eyes", SEEN)
def test_any_two_colours_of_runs_differ_for_all_eyes(theme, eyes):
    seen = {colour: lab(np.asarray(SEEN[eyes]) @ linear(colour)) for colour in colours(theme)}
    least = min((np.linalg.norm(seen[a] - seen[b]), a, b) for a, b in itertools.combinations(seen, 2))
    assert len(seen) == 10 and least[0] > 12, least  # 2.3 is what is just noticed side by side


@pytest.mark.parametrize("theme", PAPER)
def test_a_line_stands_out_from_its_paper(theme):
    assert min(contrast(colour, PAPER[theme]) for colour in colours(theme)) > 3


def test_the_picture_has_the_colours_of_the_live_curves():
    assert tuple(colours("LIGHT")) == picture.COLOURS
