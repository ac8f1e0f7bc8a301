"""Errors in a text, JSON or gzip file name the file, the line and the byte."""

import gzip

import pytest

from msnb.formats import text_files


@pytest.mark.parametrize(
    ("data", "encoding", "where"),
    [
        (b"abc\nd\xc3(x\n", "utf-8", "line 2, byte 5 "),
        ("中文\n".encode("gbk"), "utf-8", "line 1, byte 0 "),
        (b"one\ntw\xe4\xb8", "utf-8", "line 2, byte 6 "),
        (b"one\n\x81", "gbk", "line 2, byte 4 "),
        (b"x" * ((1 << 20) - 1) + b"\xc3(", "utf-8", f"line 1, byte {(1 << 20) - 1} "),
        (b"a" * (1 << 20) + b"\n\xff", "utf-8", f"line 2, byte {(1 << 20) + 1} "),
        (b"abc", "utf-16", "line 1, byte 0 "),
    ],
)
def test_text_in_another_encoding_is_named_with_file_line_and_byte(tmp_path, data, encoding, where):
    path = tmp_path / "some.txt"
    path.write_bytes(data)
    for read in (
        lambda: text_files.text(path, encoding),
        lambda: list(text_files.lines(path, encoding)),
        lambda: text_files.decoded(data, path, encoding),
    ):
        with pytest.raises(text_files.BadFileError, match=where) as caught:
            read()
        assert "some.txt" in str(caught.value)


def test_users_learn_of_the_encoding_argument_where_there_is_one(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes("中文".encode("gbk"))
    with pytest.raises(text_files.BadFileError, match="encoding='gbk'"):
        text_files.text(path, choosable=True)
    assert text_files.text(path, "gbk") == "中文"
    with pytest.raises(ValueError, match="'gbq'"):
        text_files.check_encoding("gbq")
    with pytest.raises(ValueError, match="text encoding"):
        text_files.check_encoding("hex")
    with pytest.raises(TypeError, match="encoding should be of type str"):
        text_files.check_encoding(None)


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6: Expecting ':'"),
        ("[" * 100_000, "line 1: lists or objects are nested too deeply"),
        ("1" * 5000, "line 1: a number has too many digits"),
    ],
)
def test_json_that_cannot_be_read_is_named_with_file_and_line(tmp_path, source, where):
    path = tmp_path / "some.json"
    path.write_text(source)
    with pytest.raises(text_files.BadFileError, match=where) as caught:
        text_files.json_file(path)
    assert "some.json" in str(caught.value)
    with pytest.raises(text_files.BadFileError, match="line 7"):
        text_files.parse_json(source, path, line=7)


def test_every_damaged_byte_of_a_gzip_file_gives_the_data_or_an_error_with_its_name(tmp_path):
    path = tmp_path / "some.gz"
    compressed = gzip.compress(bytes(range(200)) * 3)
    assert path.write_bytes(compressed) and text_files.gunzip(path) == bytes(range(200)) * 3
    assert text_files.gunzip(path, 5) == bytes(range(5))
    for at in range(len(compressed)):
        for damaged in (compressed[:at], compressed[:at] + bytes([compressed[at] ^ 0x5A]) + compressed[at + 1 :]):
            path.write_bytes(damaged)
            try:
                text_files.gunzip(path)
            except text_files.BadFileError as error:
                assert "some.gz" in str(error)
