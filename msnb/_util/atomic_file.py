"""Files that get their name when they are whole: a crash, a full disk or an interrupt leaves what was there before.

What is written goes to a new file beside the target (its name is random and short, it is opened exclusively), to the
disk, and then takes the target's name in one step. A process that is killed leaves such a file behind; the next one
that writes to the folder removes it. It knows by a lock that the writer held: of a living writer nothing is taken,
whatever its process number, container or age.
"""

import contextlib
import os
import re
import secrets
import stat

try:
    import fcntl
except ImportError:  # Windows has neither these locks nor planted links that an ordinary user could make
    fcntl = None

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_LOOK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_DRAFT = re.compile(r"\.msnb-[0-9a-f]{16}\.tmp")
_swept = set()  # folders in which this process has looked for what dead ones left


class Draft:
    """A file in the making: a descriptor, and a name beside the target that nobody can guess.

    Args:
        path (Union[str, Path]): What the file is to be called.
        permissions (int): Of the file; the umask is taken off. Default: 0o666.

    Raises:
        OSError: If the folder is missing or must not be written.
    """

    def __init__(self, path, permissions=0o666):
        self.path = os.fsdecode(path)
        self._folder = os.path.dirname(self.path) or os.curdir
        _sweep(self._folder)
        self.name, self.descriptor, self._process, self._file = None, None, os.getpid(), None
        with naming(self.path):
            self.name, self.descriptor = _create(self._folder, permissions)

    def opened(self, mode, **options):
        """A Python file on it, which ends with it: closing that one before `publish` is left to the caller.

        One that nobody closed would write what it still holds to whatever file has the descriptor's number by then.
        """
        self._file = open(self.descriptor, mode, closefd=False, **options)  # noqa: SIM115 (closed by the caller)
        return self._file

    def publish(self, durable=True):
        """Let the file have its name, once all of it is on the disk; not `durable`, without waiting for the disk."""
        with naming(self.path):
            if durable:
                os.fsync(self.descriptor)
            if fcntl is None:  # what is open cannot be renamed there; elsewhere the lock is held until it has its name
                self._close()
            os.replace(self.name, self.path)
            self.name = None
            self._close()
            if durable:
                _sync_folder(self._folder)

    def discard(self):
        """Leave nothing behind; nothing happens when it has been published."""
        if self._file is not None:  # what it has not written yet is given up, in a forked process, too
            getattr(self._file, "buffer", self._file).raw.close()
        self._close()
        if self.name is not None and self._process == os.getpid():  # a forked process has a copy of this object
            with contextlib.suppress(OSError):
                os.remove(self.name)
            self.name = None

    __del__ = discard

    def _close(self):
        descriptor, self.descriptor, self._file = self.descriptor, None, None
        if descriptor is not None:
            os.close(descriptor)


@contextlib.contextmanager
def writing(path, mode="wb", permissions=0o666, durable=True, **options):
    """Open a file for writing; it replaces `path` at the end of the block, and not at all when that raises.

    A link at `path` is replaced, not followed. What is no file (a pipe, /dev/null) is written to as it is.

    Args:
        path (Union[str, Path]): The file.
        mode (str): "wb" or "w". Default: "wb".
        permissions (int): Of a new file; the umask is taken off. Default: 0o666.
        durable (bool): Whether the disk is waited for. A file that is not, and that the power fails under, may be there
            and not be whole: for what can be made again, and whose reader notices. Default: True.
        options (dict): `encoding`, `newline` and what else `open` takes.

    Yields:
        The open file.

    Raises:
        OSError: If it cannot be written; the error names `path`.
    """
    if _is_device(path):
        with open(path, mode, **options) as file:
            yield file
        return
    draft = Draft(path, permissions)
    try:
        with naming(draft.path), draft.opened(mode, **options) as file:
            yield file
        draft.publish(durable)
    except BaseException:
        draft.discard()
        raise


@contextlib.contextmanager
def naming(path):
    """An OSError that names no file, or one in the making, names `path`."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if named is None or (isinstance(named, str) and _DRAFT.fullmatch(os.path.basename(named))):
            error.filename, error.filename2 = path, None
        raise


def _create(folder, permissions):
    """(name, descriptor) of a new, locked file."""
    while True:
        name = os.path.join(folder, f".msnb-{secrets.token_hex(8)}.tmp")
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(name, _NEW, permissions)
            _lock(descriptor, wait=True)
            if _is_same(name, descriptor):
                return name, descriptor
            os.close(descriptor)  # somebody who swept the folder was faster than the lock


def _sweep(folder):
    """Remove what processes that are no more have left in `folder`."""
    key = os.path.abspath(folder)
    if fcntl is None or key in _swept:
        return
    _swept.add(key)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _DRAFT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_left(entry.path)


def _remove_if_left(name):
    with contextlib.suppress(OSError):
        descriptor = os.open(name, _LOOK)
        try:
            mine = os.fstat(descriptor).st_uid == os.geteuid()
            if mine and _lock(descriptor, wait=False) and _is_same(name, descriptor):
                os.remove(name)
        finally:
            os.close(descriptor)


def _lock(descriptor, wait):
    """Whether the file is locked now. Some network file systems know no locks: there nothing is swept either."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _is_same(name, descriptor):
    try:
        return os.path.samestat(os.lstat(name), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _is_device(path):
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(kind) or stat.S_ISFIFO(kind)


def _sync_folder(folder):
    """Put the new name on the disk; some systems cannot do that for folders."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
