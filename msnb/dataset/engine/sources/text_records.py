"""Texts with annotations: a label, an answer, a tag for each word."""

import os
from typing import Any

import numpy as np

from msnb.dataset.engine.sources.public import (
    Files,
    StreamedSet,
    TextSet,
    UsageSet,
    WorkersLastTextSet,
    listing,
    string,
    texts,
)
from msnb.dataset.engine.sources.samples import read_file
from msnb.formats import text_files


class IMDBDataset(UsageSet):
    """Reviews of films, one file per review: columns ``text`` (string), ``label`` (int32, 1 for positive, 0 for
    negative).

    Args:
        dataset_dir (str): Folder with ``train/pos``, ``train/neg``, ``test/pos`` and ``test/neg``.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a folder is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("text", "label")
    classes: int | None = 2

    def _read_columns(self):
        paths, labels = [], []
        for usage in ("train", "test") if self.usage == "all" else (self.usage,):
            for kind, label in (("pos", 1), ("neg", 0)):
                files = listing(self._join_path(usage, kind), ".txt")
                paths += files
                labels += [label] * len(files)
        return Files(paths, lambda path: np.array(read_file(path).tobytes())), np.array(labels, np.int32)


class SQuADDataset(TextSet):
    """SQuAD 1.1 and 2.0, questions about paragraphs: columns ``context``, ``question`` (strings), ``text`` (strings,
    the answers), ``answer_start`` (uint32, the positions of the answers; 2**32 - 1 if there is no answer).

    Args:
        dataset_dir (str): Folder with ``train-v1.1.json`` and ``dev-v1.1.json``, or those of v2.0.
        usage (str, optional): 'train', 'dev' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing or of another form, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("context", "question", "text", "answer_start")
    usages: tuple[str, ...] = ("train", "dev", "all")
    by_name = False

    def _list_usage_paths(self):
        usages = ("train", "dev") if self.usage == "all" else (self.usage,)
        files = listing(self.dataset_dir, ".json")
        paths = [path for usage in usages for path in files if os.path.basename(path).startswith(f"{usage}-")]
        if not paths:
            raise RuntimeError(f"Invalid data, {self.dataset_dir!r} has no file such as {usages[0]}-v1.1.json.")
        return paths

    def _read_rows(self, path):
        try:
            for article in text_files.json_file(path)["data"]:
                for paragraph in article["paragraphs"]:
                    for question in paragraph["qas"]:
                        yield self._make_row(paragraph["context"], question)
        except (KeyError, TypeError) as error:
            raise text_files.BadFileError(f"Invalid file, {path!r} is not of the form of SQuAD: {error}.") from None

    @staticmethod
    def _make_row(context, question) -> tuple[Any, ...]:
        answers = question["answers"]
        starts = np.array([answer["answer_start"] for answer in answers] or [2**32 - 1], np.uint32)
        return string(context), string(question["question"]), texts([a["text"] for a in answers] or [""]), starts


class SST2Dataset(TextSet):
    """Sentences with a sentiment, 0 or 1: columns ``sentence``, ``label`` (strings).

    With usage 'test', the only column is ``sentence``.

    Args:
        dataset_dir (str): Folder with ``train.tsv``, ``dev.tsv`` and ``test.tsv``.
        usage (str, optional): 'train', 'dev' or 'test'. Default: None, which means 'train'.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing or a line has another number of fields, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "dev", "test")
    usual = "train"
    files: dict[str, tuple[str, ...]] = {usage: (f"{usage}.tsv",) for usage in usages}

    def _get_column_names(self):
        return ["sentence"] if self.usage == "test" else ["sentence", "label"]

    def _read_rows(self, path):
        for number, line in enumerate(text_files.lines(path), 1):
            fields = line.removesuffix("\n").split("\t")
            if len(fields) != 2:
                raise RuntimeError(f"Invalid file, {path!r}: line {number} has {len(fields)} fields, but needs 2.")
            if number > 1:
                yield (string(fields[1]),) if self.usage == "test" else tuple(map(string, fields))


class _Tagged(StreamedSet):
    """Sentences of words with tags: one word per line, and an empty line after a sentence."""

    separator: str

    def _read_rows(self, path):
        sentence = []
        for number, line in enumerate(text_files.lines(path), 1):
            line = line.removesuffix("\n")
            if not line:
                if sentence:
                    yield tuple(map(texts, zip(*sentence, strict=True)))
                sentence = []
                continue
            fields = [field for field in line.split(self.separator) if field]
            if len(fields) != 3:
                raise RuntimeError(f"Invalid file, {path!r}: line {number} has {len(fields)} fields, but needs 3.")
            sentence.append(fields)
        if sentence:
            yield tuple(map(texts, zip(*sentence, strict=True)))


class CoNLL2000Dataset(_Tagged, WorkersLastTextSet):
    """CoNLL-2000, sentences divided into chunks: columns ``word``, ``pos_tag``, ``chunk_tag`` (strings, one per word).

    Args:
        dataset_dir (str): Folder with ``train.txt`` and ``test.txt``.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`TextFileDataset`; `num_parallel_workers` comes after the shards.

    Raises:
        RuntimeError: If a file is missing or a line has another number of fields, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("word", "pos_tag", "chunk_tag")
    files: dict[str, tuple[str, ...]] = {"train": ("train.txt",), "test": ("test.txt",)}
    separator = " "


class UDPOSDataset(_Tagged, WorkersLastTextSet):
    """Universal Dependencies, sentences with parts of speech: columns ``word``, ``universal``, ``stanford`` (strings,
    one per word).

    Args:
        dataset_dir (str): Folder with ``en-ud-tag.v2.train.txt``, ``en-ud-tag.v2.dev.txt`` and
            ``en-ud-tag.v2.test.txt``.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`TextFileDataset`; `num_parallel_workers` comes after the shards.

    Raises:
        RuntimeError: If a file is missing or a line has another number of fields, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("word", "universal", "stanford")
    usages: tuple[str, ...] = ("train", "valid", "test", "all")
    files: dict[str, tuple[str, ...]] = {
        usage: (f"en-ud-tag.v2.{name}.txt",) for usage, name in zip(usages, ("train", "dev", "test"), strict=False)
    }
    separator = "\t"
