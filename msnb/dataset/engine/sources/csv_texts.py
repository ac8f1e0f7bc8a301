"""Texts of several columns in ``train.csv`` and ``test.csv``: news, reviews, questions with answers."""

from msnb.dataset.engine.sources.csvfile import rows_of_text
from msnb.dataset.engine.sources.public import StreamedSet, TextSet, WorkersLastTextSet, string
from msnb.formats import text_files


class _CsvTexts(StreamedSet):
    """Base of data sets in CSV files, whose fields are all strings, one for each column."""

    files: dict[str, tuple[str, ...]] = {"train": ("train.csv",), "test": ("test.csv",)}

    def _read_rows(self, path):
        for line, fields in enumerate(rows_of_text(text_files.text(path, newline=""), ","), 1):
            if len(fields) != len(self.columns):
                raise RuntimeError(
                    f"Invalid file, {path!r}: row {line} has {len(fields)} fields, but {type(self).__name__} has the "
                    f"columns {', '.join(self.columns)}."
                )
            yield tuple(map(string, fields))


class AGNewsDataset(_CsvTexts, TextSet):
    """AG News, articles of four classes: columns ``index``, ``title``, ``description`` (strings).

    Args:
        dataset_dir (str): Folder with ``train.csv`` and ``test.csv``.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("index", "title", "description")


class AmazonReviewDataset(_CsvTexts, TextSet):
    """Reviews of Amazon, the data set "polarity" or "full": columns ``label``, ``title``, ``content`` (strings).

    The arguments are those of :class:`AGNewsDataset`.
    """

    columns: tuple[str, ...] = ("label", "title", "content")


class DBpediaDataset(_CsvTexts, TextSet):
    """Articles of DBpedia in 14 classes: columns ``class``, ``title``, ``content`` (strings).

    The arguments are those of :class:`AGNewsDataset`.
    """

    columns: tuple[str, ...] = ("class", "title", "content")


class YahooAnswersDataset(_CsvTexts, TextSet):
    """Yahoo's answers in ten classes: columns ``class``, ``title``, ``content``, ``answer`` (strings).

    The arguments are those of :class:`AGNewsDataset`.
    """

    columns: tuple[str, ...] = ("class", "title", "content", "answer")


class SogouNewsDataset(_CsvTexts, WorkersLastTextSet):
    """News of Sogou in five classes: columns ``index``, ``title``, ``content`` (strings).

    The arguments are those of :class:`AGNewsDataset`; `num_parallel_workers` comes after the shards.
    """

    columns: tuple[str, ...] = ("index", "title", "content")
    by_name = False


class YelpReviewDataset(_CsvTexts, WorkersLastTextSet):
    """Reviews of Yelp, the data set "polarity" or "full": columns ``label``, ``text`` (strings).

    The arguments are those of :class:`AGNewsDataset`; `num_parallel_workers` comes after the shards.
    """

    columns: tuple[str, ...] = ("label", "text")
    by_name = False
