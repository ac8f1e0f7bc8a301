"""Texts that are read line by line: one column, or two with a translation from a second file."""

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Worded, check, checked
from msnb.dataset.core.kinds import Folder, Int, NumSamples, Text, Workers, of_type, one_of
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.public import StreamedSet, TextSet, string
from msnb.dataset.engine.sources.streamed import StreamShuffled
from msnb.formats import text_files

_USAGES = ("train", "valid", "test", "all")


class _Lines(StreamedSet):
    """Data set of the non-empty lines of files."""

    columns: tuple[str, ...] = ("text",)
    usages: tuple[str, ...] = _USAGES

    def _read_rows(self, path):
        with open(path, "rb") as file:
            for line in file:
                if line := line.removesuffix(b"\n"):
                    yield (np.array(line),)


class WikiTextDataset(_Lines, TextSet):
    """WikiText-2 and WikiText-103: the lines of articles, one column ``text`` (string).

    Args:
        dataset_dir (str): Folder with ``wiki.train.tokens``, ``wiki.valid.tokens`` and ``wiki.test.tokens``.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    files: dict[str, tuple[str, ...]] = {usage: (f"wiki.{usage}.tokens",) for usage in ("train", "valid", "test")}


class PennTreebankDataset(_Lines, TextSet):
    """The Penn Treebank of words: its lines, one column ``text`` (string).

    Args:
        dataset_dir (str): Folder with ``ptb.train.txt``, ``ptb.valid.txt`` and ``ptb.test.txt``.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    files: dict[str, tuple[str, ...]] = {usage: (f"ptb.{usage}.txt",) for usage in ("train", "valid", "test")}


class EnWik9Dataset(StreamedSet):
    """The first 10^9 bytes of an English Wikipedia: its lines, one column ``text`` (string).

    Args:
        dataset_dir (str): Folder with the file ``enwik9``.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If the file is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("text",)
    files: dict[str, tuple[str, ...]] = {"all": ("enwik9",)}

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = True,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        self._init_stream_dataset(
            dataset_dir, None, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )

    def _read_rows(self, path):
        with open(path, "rb") as file:
            for line in file:
                yield (np.array(line.removesuffix(b"\n")),)


def _check_language_pair(pair, name):
    if len(of_type(list, tuple)(pair, name)) != 2:
        raise ValueError(f"{name} should be two languages, but got {pair}.")
    for language in pair:
        of_type(str)(language, name)
    return tuple(pair)


Pair = Annotated[Sequence[str], Worded("two languages", _check_language_pair)]


class _Translations(StreamedSet):
    """Lines of one file and their translations, the lines of another file. A "file" of the stream is a pair of
    paths."""

    columns: tuple[str, ...] = ("text", "translation")
    usages: tuple[str, ...] = _USAGES

    def _read_sentences(self, path) -> Any:
        """Yield the sentences of a file."""
        return (line.removesuffix("\n") for line in text_files.lines(path, newline="\n"))

    def _read_rows(self, path):
        first, second = path
        translations = iter(self._read_sentences(second))
        for sentence in self._read_sentences(first):
            translation = next(translations, None)
            if translation is None:
                raise RuntimeError(f"Invalid data, {second!r} has fewer sentences than {first!r}.")
            yield string(sentence), string(translation)


class Multi30kDataset(_Translations):
    """Multi30k, descriptions of images in English and German: columns ``text``, ``translation`` (strings).

    Args:
        dataset_dir (str): Folder with ``training``, ``validation`` and ``mmt16_task1_test``.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.
        language_pair (Sequence[str], optional): ['en', 'de'] or ['de', 'en']. Default: None, ['en', 'de'].

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing or is not UTF-8, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "test", "valid", "all")
    _file_stems = {"train": ("training", "train"), "valid": ("validation", "val"), "test": ("mmt16_task1_test", "test")}

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        language_pair: Pair | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        pair = tuple(language_pair or ("en", "de"))
        if pair not in (("en", "de"), ("de", "en")):
            raise ValueError(f"language_pair should be ['en', 'de'] or ['de', 'en'], but got {list(pair)}.")
        self.language_pair: tuple[str, ...] = pair
        shuffle = Shuffle.GLOBAL if shuffle is None else shuffle
        self._init_stream_dataset(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )

    def _list_usage_paths(self):
        usages = ("train", "test", "valid") if self.usage == "all" else (self.usage,)
        file_stems = [self._file_stems[usage] for usage in usages]
        return [
            tuple(os.path.join(self.dataset_dir, folder, f"{stem}.{tongue}") for tongue in self.language_pair)
            for folder, stem in file_stems
        ]


class _Iwslt(_Translations):
    """Base of the IWSLT data sets: talks with translations. The training text has lines with tags; the other files are
    XML."""

    language_pair: tuple[str, ...]
    by_name = False
    year = 16

    def _get_language_folder(self) -> str:
        raise NotImplementedError

    def _get_held_out_set_names(self) -> dict[str, tuple[str, ...]]:
        """Return {usage: names of the validation or test sets}, such as "tst2013"."""
        raise NotImplementedError

    def _list_usage_paths(self):
        pair, folder = "-".join(self.language_pair), self._get_language_folder()
        stems = [f"train.tags.{pair}"] if self.usage in ("train", "all") else []
        ends = [""] * len(stems)
        for usage, names in self._get_held_out_set_names().items():
            if self.usage in (usage, "all"):
                stems += [f"IWSLT{self.year}.TED.{name}.{pair}" for name in names]
                ends += [".xml"] * len(names)
        return [
            tuple(os.path.join(folder, f"{stem}.{tongue}{end}") for tongue in self.language_pair)
            for stem, end in zip(stems, ends, strict=True)
        ]

    def _read_sentences(self, path):
        if not path.endswith(".xml"):
            lines = (line.strip() for line in text_files.lines(path))
            return (line for line in lines if line and not _TAG.match(line))
        try:
            segments = ElementTree.fromstring(text_files.text(path)).iter("seg")
        except ElementTree.ParseError:  # the talks contain unescaped ampersands
            return [segment.strip() for segment in _SEGMENT.findall(text_files.text(path))]
        return ["".join(segment.itertext()).strip() for segment in segments]


_TAG = re.compile("<(url|keywords|talkid|speaker|reviewer|translator|title|description|doc|/doc)")
_SEGMENT = re.compile(r"<seg[^>]*>(.*?)</seg>", re.DOTALL)
_SETS_2016 = ("dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014")
_WITH_ENGLISH = ("ar", "cs", "de", "fr")
_LANGUAGES_2017 = ("en", "nl", "de", "it", "ro")


class IWSLT2016Dataset(_Iwslt):
    """Talks of IWSLT 2016 with translations: columns ``text``, ``translation`` (strings).

    Args:
        dataset_dir (str): Folder with ``texts/de/en/de-en`` and the like.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.
        language_pair (Sequence[str], optional): 'en' and one of 'ar', 'cs', 'de', 'fr', in either order. Default:
            None, ('de', 'en').
        valid_set, test_set (str, optional): 'dev2010' or one of 'tst2010' to 'tst2014'. Default: None, 'tst2013' and
            'tst2014'.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing or is not UTF-8, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        language_pair: Pair | None = None,
        valid_set: Annotated[str, one_of(*_SETS_2016)] | None = None,
        test_set: Annotated[str, one_of(*_SETS_2016)] | None = None,
        num_samples: NumSamples | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        num_parallel_workers: Workers | None = None,
        cache: Cache | None = None,
    ) -> None:
        self.language_pair = tuple(language_pair or ("de", "en"))
        if "en" not in self.language_pair or not set(self.language_pair) & set(_WITH_ENGLISH):
            raise ValueError(f"language_pair should be 'en' and one of {_WITH_ENGLISH}, but got {language_pair}.")
        self.valid_set: str = valid_set or "tst2013"
        self.test_set: str = test_set or "tst2014"
        self._init_stream_dataset(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )

    def _get_language_folder(self):
        return os.path.join(self.dataset_dir, "texts", *self.language_pair, "-".join(self.language_pair))

    def _get_held_out_set_names(self):
        return {"valid": (self.valid_set,), "test": (self.test_set,)}


class IWSLT2017Dataset(_Iwslt):
    """Talks of IWSLT 2017 with translations: columns ``text``, ``translation`` (strings).

    Args:
        dataset_dir (str): Folder with ``texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo``.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.
        language_pair (Sequence[str], optional): Two of 'en', 'nl', 'de', 'it', 'ro'. Default: None, ('de', 'en').

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing or is not UTF-8, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    year = 17

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        language_pair: Pair | None = None,
        num_samples: NumSamples | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        num_parallel_workers: Workers | None = None,
        cache: Cache | None = None,
    ) -> None:
        self.language_pair = tuple(language_pair or ("de", "en"))
        for language in self.language_pair:
            check(one_of(*_LANGUAGES_2017), language, "language_pair", "IWSLT2017Dataset")
        self._init_stream_dataset(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )

    def _get_language_folder(self):
        return os.path.join(self.dataset_dir, "texts", "DeEnItNlRo", "DeEnItNlRo", "DeEnItNlRo-DeEnItNlRo")

    def _get_held_out_set_names(self):
        return {"valid": ("dev2010",), "test": ("tst2010",)}
