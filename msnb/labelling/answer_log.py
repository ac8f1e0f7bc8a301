"""The file of answers: a CSV file to which each answer is appended and synced to the disk at once."""

import contextlib
import csv
import dataclasses
import io
import os
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no `fcntl`: only sessions of the same process are detected there
    fcntl = None

from msnb import log

_COLUMNS = ["name", "action", "label", "drawn", "digest"]
_ACTIONS = ("answer", "skip", "undo")
_open_paths: set[str] = set()  # files of the sessions of this process


@dataclasses.dataclass(frozen=True)
class Record:
    """One line of the file.

    Attributes:
        name (str): name of the item.
        action (str): "answer", "skip" or "undo"; "undo" takes back the last action on the item.
        label (str): the label as text, "" without an answer.
        drawn (str): "held-out", "random", or the strategy that chose the item; "user" for an item that was not asked.
        digest (str): digest of the item's content.
    """

    name: str
    action: str
    label: str = ""
    drawn: str = ""
    digest: str = ""


class AnswerLog:
    """A file of answers, open for one session. A line that a crash has torn is dropped.

    Args:
        path (Union[str, Path]): the file; it is created if it is missing.

    Attributes:
        records (list[Record]): the lines at the time of opening.

    Raises:
        RuntimeError: If another session has the file open.
        ValueError: If the file is not a file of answers.
        OSError: If the file can't be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._key = os.path.realpath(self.path)
        if self._key in _open_paths:
            raise RuntimeError(self._describe_conflict("this process"))
        self._file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 (closed by `close`)
        try:
            self._lock()
            self.records = self._read()
        except BaseException:
            self._file.close()
            raise
        _open_paths.add(self._key)

    def _describe_conflict(self, owner):
        return (
            f"For 'label', '{self.path}' is open in another session of {owner}. Close that session with "
            "session.close(), or pass another file as 'keep'."
        )

    def _lock(self):
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError(self._describe_conflict("another process")) from None
        except OSError:  # some network file systems have no locks
            log.warning(f"'{self.path}' can't be locked, so a second session on it would not be detected.")

    def _read(self):
        self._file.seek(0)
        content = self._file.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            log.warning(f"The last line of '{self.path}' is incomplete and is dropped: {content[end:][:80]!r}")
            self._file.truncate(end)
        if not end:
            self._write(",".join(_COLUMNS) + "\r\n")
            return []
        try:
            text = content[:end].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"For 'label', '{self.path}' is not a file of answers: {error}.") from None
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        if header != _COLUMNS:
            raise ValueError(
                f"For 'label', '{self.path}' is not a file of answers: its first line should be "
                f"'{','.join(_COLUMNS)}', but is '{','.join(header)[:80]}'."
            )
        return [self._parse(number, row) for number, row in enumerate(rows, 2) if row]

    def _parse(self, number, row):
        if len(row) != len(_COLUMNS) or row[1] not in _ACTIONS:
            raise ValueError(
                f"For 'label', row {number} of '{self.path}' should have {len(_COLUMNS)} columns and the action "
                f"{', '.join(_ACTIONS)}, but is {row!r}."
            )
        return Record(*row)

    def append(self, record: Record) -> None:
        """Append a line; it is on the disk when this returns.

        Raises:
            ValueError: If the log is closed.
        """
        if self._file.closed:
            raise ValueError(f"The session on '{self.path}' is closed. Call msnb.label again to go on.")
        text = io.StringIO(newline="")
        csv.writer(text).writerow(dataclasses.astuple(record))
        self._write(text.getvalue())

    def _write(self, text: str) -> None:
        data = memoryview(text.encode())
        while data:
            data = data[self._file.write(data) :]
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, so that another session can open it. A second call has no effect."""
        if not self._file.closed:
            self._file.close()  # this releases the lock, too
            _open_paths.discard(self._key)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # the constructor has failed
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError("A file of answers is open in one process and can't be pickled.")
