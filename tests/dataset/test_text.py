"""Tokenizers, vocabularies and other text transforms."""

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
    "op, line, expected",
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
    ids=lambda v: type(v).__name__ if hasattr(v, "_transform_row") else "",
)
def test_result_of_each_transform(op, line, expected):
    assert run(op, line)[0] == expected


def test_offsets_are_the_bytes_of_each_token():
    tokens, start, end = run(text.WhitespaceTokenizer(with_offsets=True), "ab é", ["t", "s", "e"])
    assert (tokens, start, end) == (["ab", "é"], [0, 3], [2, 5])


def test_vocab_from_dataset_counts_words():
    d = ds.NumpySlicesDataset([["b", "a"], ["b", "c"], ["b", "a"]], ["w"], shuffle=False)
    vocab = text.Vocab.from_dataset(d, "w", top_k=2, special_tokens=["<pad>"], special_first=True)
    ids = [run(text.Lookup(vocab), word)[0] for word in ("<pad>", "b", "a")]
    assert ids == [0, 1, 2]
    with pytest.raises(RuntimeError, match="c"):
        run(text.Lookup(vocab), "c")


def test_to_vectors_reads_the_vectors_of_a_file(tmp_path):
    """Values of MindSpore 2.7.1."""
    words, runs = tmp_path / "words.txt", tmp_path / "runs.txt"
    words.write_text("3 2\nthe 1.0 2.0\nof 3.0 4.5\nthe 7 7\n")
    runs.write_text("2gram-ab 1 2\n3gram-#BEGIN#ab 3 4\n2gram-b#END# 5 9\n")
    vectors, of_runs = text.Vectors.from_file(str(words)), text.CharNGram.from_file(str(runs))
    assert text.ToVectors(vectors)(np.array(["the", "of", "no"])).tolist() == [[1.0, 2.0], [3.0, 4.5], [0.0, 0.0]]
    assert text.ToVectors(vectors, [9.0, 9.0], lower_case_backup=True)("OF").tolist() == [3.0, 4.5]
    assert text.ToVectors(text.Vectors.from_file(str(words), 1), [9, 9])("of").tolist() == [9.0, 9.0]
    assert [text.ToVectors(of_runs)(word).tolist() for word in ("ab", "xy")] == [[3.0, 5.0], [0.0, 0.0]]
    for refused in (
        lambda: text.GloVe.from_file(str(words)),
        lambda: text.FastText.from_file(str(words)),
        lambda: text.Vectors.from_file(str(tmp_path / "none.txt")),
        lambda: text.ToVectors(vectors, [1.0])("the"),
    ):
        with pytest.raises(RuntimeError, match="GloVe|FastText|Vectors"):
            refused()


def test_truncate_sequence_pair():
    d = ds.NumpySlicesDataset({"a": [[1, 2, 3]], "b": [[4, 5]]}, shuffle=False).map(
        text.TruncateSequencePair(4), ["a", "b"]
    )
    row = next(d.create_dict_iterator(output_numpy=True))
    assert (row["a"].tolist(), row["b"].tolist()) == ([1, 2], [4, 5])


def test_a_vocab_without_words_says_how_to_build_it():
    vocab = text.Vocab()
    for call in (lambda: vocab.ids_to_tokens(2), lambda: vocab.tokens_to_ids(["w"]), vocab.vocab):
        with pytest.raises(RuntimeError, match="Vocab.from_list"):
            call()
