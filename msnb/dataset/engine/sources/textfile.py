"""`TextFileDataset`: the lines of text files."""

from itertools import islice

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Int, NumSamples, Workers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.chunk import group_rows
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.streamed import Files, RowStream, StreamDataset, StreamShuffled
from msnb.formats import text_files


def _read_lines(path):
    with open(path, "rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                line = line[:-1]
            if line:
                yield line


def _read_lines_as_utf8(path, encoding):
    """Yield the lines of a file in another encoding as UTF-8."""
    for line in text_files.lines(path, encoding, newline="\n", choosable=True):
        line = line.removesuffix("\n")
        if line:
            yield line.encode("utf-8")


class _TextStream(RowStream):
    """Stream of lines. It makes an array per chunk instead of one per line."""

    def stream(self, hint):
        """Yield (columns, number of rows)."""
        for lines in group_rows(islice(self.rows(), self.num_samples or None), hint):
            yield [_make_text_column(lines)], len(lines)


def _make_text_column(lines):
    widest = max(map(len, lines))
    if widest > 4096 and widest * len(lines) > 4 * sum(map(len, lines)):
        return [np.array(line) for line in lines]
    return np.array(lines)


class TextFileDataset(StreamDataset):
    """Data set of the non-empty lines of text files: one column, ``text`` (string scalar).

    Args:
        dataset_files (Union[str, list[str]]): Files, or patterns of file names.
        num_samples (int, optional): Maximal number of lines. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (Union[bool, Shuffle], optional): False for the order of the files, ``Shuffle.FILES`` for the files in
            random order, True or ``Shuffle.GLOBAL`` for lines in random order too. Default: ``Shuffle.GLOBAL``.
        num_shards (int, optional): Number of shards that the lines are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the lines. Default: None.
        encoding (str, optional): Encoding of the files, such as 'gbk'. Rows are converted to UTF-8. With 'utf-8' the
            lines are the unchanged bytes of the file, which need not be valid. Default: 'utf-8'.

    Raises:
        ValueError: If no file matches or an argument is out of range.
        RuntimeError: If arguments exclude each other, there is no line, or a file is not in the given `encoding`. For
            'utf-8' the encoding is not checked.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.TextFileDataset(["1.txt", "2.txt"], shuffle=False)
    """

    columns: tuple[str, ...] = ("text",)

    @checked
    def __init__(
        self,
        dataset_files: Files,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
        *,
        encoding: str = "utf-8",
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self.encoding: str = text_files.check_encoding(encoding)

    def _make_stream(self):
        read = (
            _read_lines
            if self.encoding.lower() in ("utf-8", "utf8")
            else lambda path: _read_lines_as_utf8(path, self.encoding)
        )

        def count(path):
            try:
                return sum(1 for _ in read(path))
            except OSError as error:
                raise RuntimeError(f"Invalid file, failed to open file: {path} ({error.strerror}).") from None

        return _TextStream(
            "TextFileDataset",
            self.dataset_files,
            read,
            count,
            self.shuffle_files,
            self.num_shards,
            self.shard_id,
            self.num_samples,
        )
