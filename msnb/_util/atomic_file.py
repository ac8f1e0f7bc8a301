"""Atomic writes of files: a crash, a full disk or an interrupt leaves the previous file.

Data is written to a new file in the target's folder, opened exclusively under a short random name. After a sync to the
disk it is renamed to the target in one step. Until then the file is called a draft, and its writer holds a lock on it.
A killed process leaves its draft behind. The next process that writes to the folder removes each draft that is no
longer locked. The draft of a running writer is locked and therefore never removed.
"""

import contextlib
import os
import re
import secrets
import stat

try:
    import fcntl
except ImportError:  # Windows has no `fcntl`: drafts are not locked there, and abandoned drafts are not removed
    fcntl = None

_CREATE_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_DRAFT = re.compile(r"\.msnb-[0-9a-f]{16}\.tmp")
_searched_folders = set()  # folders that this process has already searched for abandoned drafts


class Draft:
    """A temporary file in the folder of its target. It has an unpredictable name and replaces the target on `publish`.

    Args:
        path (Union[str, Path]): Path of the target.
        permissions (int): Permissions of the file, before the umask is applied. Default: 0o666.

    Raises:
        OSError: If the folder is missing or not writable.
    """

    def __init__(self, path, permissions=0o666):
        self.path = os.fsdecode(path)
        self._folder = os.path.dirname(self.path) or os.curdir
        _remove_abandoned_drafts(self._folder)
        self.name, self.descriptor, self._process, self._file = None, None, os.getpid(), None
        with name_errors(self.path):
            self.name, self.descriptor = _create_locked_draft(self._folder, permissions)

    def opened(self, mode, **options):
        """Return a Python file on the descriptor. The caller must close it before `publish`.

        A file that is not closed would later write its buffer to any file that has the same descriptor number by then.
        """
        self._file = open(self.descriptor, mode, closefd=False, **options)  # noqa: SIM115 (closed by the caller)
        return self._file

    def publish(self, durable=True):
        """Rename the draft to its target, after a sync to the disk if `durable`."""
        with name_errors(self.path):
            if durable:
                os.fsync(self.descriptor)
            if fcntl is None:  # Windows cannot rename open files; elsewhere the lock is released after the rename
                self._close_descriptor()
            os.replace(self.name, self.path)
            self.name = None
            self._close_descriptor()
            if durable:
                _sync_folder(self._folder)

    def discard(self):
        """Delete the draft. No effect after `publish`."""
        if self._file is not None:  # drop the unwritten buffer, also in a forked process
            getattr(self._file, "buffer", self._file).raw.close()
        self._close_descriptor()
        if self.name is not None and self._process == os.getpid():  # a forked process has a copy of this object
            with contextlib.suppress(OSError):
                os.remove(self.name)
            self.name = None

    __del__ = discard

    def _close_descriptor(self):
        descriptor, self.descriptor, self._file = self.descriptor, None, None
        if descriptor is not None:
            os.close(descriptor)


@contextlib.contextmanager
def writing(path, mode="wb", permissions=0o666, durable=True, **options):
    """Context manager that opens a file for writing. The file replaces `path` at the end of the block, unless the block
    raises an error.

    A link at `path` is replaced, not followed. A pipe or device (/dev/null) is written to directly.

    Args:
        path (Union[str, Path]): The file.
        mode (str): "wb" or "w". Default: "wb".
        permissions (int): Permissions of a new file, before the umask is applied. Default: 0o666.
        durable (bool): True to wait until the data is on the disk. With False, a power failure may leave an incomplete
            file. Use False for data that can be computed again and whose reader detects incomplete files.
            Default: True.
        options (dict): `encoding`, `newline` and other options of `open`.

    Yields:
        The open file.

    Raises:
        OSError: If the file cannot be written; the error names `path`.
    """
    if _is_device_or_pipe(path):
        with open(path, mode, **options) as file:
            yield file
        return
    draft = Draft(path, permissions)
    try:
        with name_errors(draft.path), draft.opened(mode, **options) as file:
            yield file
        draft.publish(durable)
    except BaseException:
        draft.discard()
        raise


@contextlib.contextmanager
def name_errors(path):
    """Context manager that sets `filename` of an OSError to `path` if the error names no file or names a draft."""
    try:
        yield
    except OSError as error:
        file = error.filename
        if file is None or (isinstance(file, str) and _DRAFT.fullmatch(os.path.basename(file))):
            error.filename, error.filename2 = path, None
        raise


def _create_locked_draft(folder, permissions):
    """Return (name, descriptor) of a new, locked file."""
    while True:
        name = os.path.join(folder, f".msnb-{secrets.token_hex(8)}.tmp")
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(name, _CREATE_FLAGS, permissions)
            _lock_file(descriptor, wait=True)
            if _is_same_file(name, descriptor):
                return name, descriptor
            os.close(descriptor)  # another process removed the draft before it was locked


def _remove_abandoned_drafts(folder):
    """Remove drafts of dead processes in `folder`."""
    key = os.path.abspath(folder)
    if fcntl is None or key in _searched_folders:
        return
    _searched_folders.add(key)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _DRAFT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_abandoned(entry.path)


def _remove_if_abandoned(name):
    with contextlib.suppress(OSError):
        descriptor = os.open(name, _READ_FLAGS)
        try:
            is_owner = os.fstat(descriptor).st_uid == os.geteuid()
            if is_owner and _lock_file(descriptor, wait=False) and _is_same_file(name, descriptor):
                os.remove(name)
        finally:
            os.close(descriptor)


def _lock_file(descriptor, wait):
    """Return True if the file is locked now."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    # Some network file systems have no locks. There every draft counts as in use and is not removed.
    except OSError:
        return False
    return True


def _is_same_file(name, descriptor):
    try:
        return os.path.samestat(os.lstat(name), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _is_device_or_pipe(path):
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(kind) or stat.S_ISFIFO(kind)


def _sync_folder(folder):
    """Sync the folder, so that the new name is on the disk. Some systems cannot sync folders."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
