"""Texts: tokenizers and vocabularies."""

import numpy as np
import pytest

import msnb
import msnb.dataset as ds
from msnb.dataset import text


def run(op, value, columns=None):
    d = ds.NumpySlicesDataset([value], ["text"], shuffle=False)
    d = d.map(op, ["text"], columns or ["text"], column_order=columns)
    row = next(d.create_tuple_iterator(output_numpy=True))
    return [np.char.decode(a).tolist() if a.dtype.kind == "S" else a.tolist() for a in row]


@pytest.mark.parametrize(
    "op, line, wanted",
    [
        (text.WhitespaceTokenizer(), "Welcome to  Beijing!", ["Welcome", "to", "Beijing!"]),
        (text.UnicodeCharTokenizer(), "ab é", ["a", "b", " ", "é"]),
        (text.UnicodeScriptTokenizer(), "Hello 北京 12", ["Hello", "北京", "12"]),
        (text.RegexTokenizer(r"\s+"), "a b  c", ["a", "b", "c"]),
        (text.RegexTokenizer(r"\p{Han}", r"\p{Han}"), "a北b", ["a", "北", "b"]),
        (text.BasicTokenizer(lower_case=True), "Welcome, Bäckerei 北京", ["welcome", ",", "backerei", "北", "京"]),
        (
            text.WordpieceTokenizer(text.Vocab.from_list(["my", "favor", "##ite", "[UNK]"])),
            "favorite",
            ["favor", "##ite"],
        ),
        (text.CaseFold(), "WELcome", "welcome"),
        (text.RegexReplace(r"\s+", "_"), "a b  c", "a_b_c"),
        (text.Ngram(2, separator="-"), ["a", "b", "c"], ["a-b", "b-c"]),
        (text.SlidingWindow(2, 0), [1, 2, 3], [[1, 2], [2, 3]]),
        (text.ToNumber(msnb.int32), ["1", "-2"], [1, -2]),
        (text.Lookup(text.Vocab.from_list(["a", "b"]), "a"), ["b", "z"], [1, 0]),
    ],
    ids=lambda v: type(v).__name__ if hasattr(v, "_row") else "",
)
def test_what_becomes_of_a_line(op, line, wanted):
    assert run(op, line)[0] == wanted


def test_offsets_name_the_bytes_of_each_token():
    tokens, start, end = run(text.WhitespaceTokenizer(with_offsets=True), "ab é", ["t", "s", "e"])
    assert (tokens, start, end) == (["ab", "é"], [0, 3], [2, 5])


def test_a_vocabulary_counts_words():
    d = ds.NumpySlicesDataset([["b", "a"], ["b", "c"], ["b", "a"]], ["w"], shuffle=False)
    vocab = text.Vocab.from_dataset(d, "w", top_k=2, special_tokens=["<pad>"], special_first=True)
    ids = [run(text.Lookup(vocab), word)[0] for word in ("<pad>", "b", "a")]
    assert ids == [0, 1, 2]
    with pytest.raises(RuntimeError, match="c"):
        run(text.Lookup(vocab), "c")


def test_pairs_are_cut_to_a_length():
    d = ds.NumpySlicesDataset({"a": [[1, 2, 3]], "b": [[4, 5]]}, shuffle=False).map(
        text.TruncateSequencePair(4), ["a", "b"]
    )
    row = next(d.create_dict_iterator(output_numpy=True))
    assert (row["a"].tolist(), row["b"].tolist()) == ([1, 2], [4, 5])
