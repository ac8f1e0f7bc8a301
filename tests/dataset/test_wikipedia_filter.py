"""FilterWikipediaXML, compared with results of MindSpore 2.7.1."""

import pytest

from msnb.dataset import text

FILTERED = {
    "row 12 of a": "row one two of a",
    "x12y 3.14": "x one two y three one four",
    "<b>x</b>y": "y",
    "p<br/>q <i>r": "pr",
    "<a\nb>c": "c",
    "x < y > z": "x z",
    "a &amp; b": "a b",
    "&lt;i&gt;t": "i t",
    "&amp;nbsp;z": "nbsp z",
    "a & b; c": "a c",
    "[[Image:x.png|thumb|cap [[l]] d]] e": "image x png thumb cap l d e",
    "{{tmpl|x}} y": "tmpl x y",
    "[http://a.b c d]": "http a b c d",
    "é ü İx ªa": "x a",
    "it's  A-b_c\n": "it s a b c",
    "y #REDIRECT [[x]]\nz": "",
    "": "",
}


@pytest.mark.parametrize("raw", FILTERED)
def test_filtered_words_equal_mindspore(raw):
    assert text.FilterWikipediaXML()(raw).item().decode() == FILTERED[raw]
