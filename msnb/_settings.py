"""A table of settings: which keys there are, what each may hold, what has no effect and why, what each holds now."""

import difflib
import os
import re
from types import SimpleNamespace

from msnb import log

# --- checks: (key, value) -> value as it is kept ------------------------------------------------------------------


def instance_of(*types):
    names = " or ".join(t.__name__ for t in types)

    def check(key, value):
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise TypeError(f"'{key}' should be {names}, but got {value!r} ({type(value).__name__}).")
        return value

    return check


flag, text, integer = instance_of(bool), instance_of(str), instance_of(int)
mapping, sequence = instance_of(dict), instance_of(list)


def integer_in(low, high):
    def check(key, value):
        if not low <= integer(key, value) <= high:
            raise ValueError(f"'{key}' should be in [{low}, {high}], but got {value}.")
        return value

    return check


def one_of(*names):
    def check(key, value):
        if text(key, value) not in names:
            raise ValueError(f"'{key}' should be one of {', '.join(map(repr, names))}, but got {value!r}.")
        return value

    return check


def flag_or_level(key, value):
    if isinstance(value, bool) or (isinstance(value, int) and 0 <= value <= 3):
        return value
    raise (ValueError if isinstance(value, int) else TypeError)(
        f"'{key}' should be a bool, or 0 to 3, but got {value!r}."
    )


def directory(key, value):
    """Absolute path of a folder, made when it is not there."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"'{key}' should be the path of a folder, but got {value!r}.")
    path = os.path.realpath(value)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"'{key}' should be a folder that can be written, but {path} cannot be made: {error.strerror}."
        ) from error
    return path


def file(key, value):
    path = os.path.realpath(text(key, value))
    if os.path.isdir(path):
        raise OSError(f"'{key}' should be the path of a file, but {value!r} is a folder.")
    return path


def file_in_new_folder(key, value):
    folder = os.path.dirname(text(key, value))
    if folder:
        os.makedirs(folder, exist_ok=True)
    return value


def gigabytes(limit):
    def check(key, value):
        if not re.fullmatch(r"([1-9][0-9]*\.?[0-9]*|0\.[0-9]*)GB", text(key, value)) or not float(value[:-2]):
            raise ValueError(f"'{key}' should be a size such as \"3.5GB\", but got {value!r}.")
        if float(value[:-2]) > limit:
            raise ValueError(f"'{key}' should not be more than {limit}GB, but got {value!r}.")
        return value

    return check


def ascending_indices(key, value):
    if not sequence(key, value):
        raise ValueError(f"'{key}' should name at least one parameter index, but is empty.")
    if not all(isinstance(i, int) and not isinstance(i, bool) for i in value):
        raise TypeError(f"'{key}' should be a list of int, but got {value!r}.")
    if sorted(set(value)) != value:
        raise ValueError(f"'{key}' should be in ascending order without duplicates, but got {value!r}.")
    return list(value)


def only(accepted, check, instead):
    """`accepted` and no other value that `check` lets through: NotImplementedError says what to do `instead`."""

    def checked(key, value):
        if check(key, value) != accepted:
            raise NotImplementedError(f"{key}={value!r} is not available in msnb yet; {instead}.")
        return value

    return checked


# --- tables of settings ---------------------------------------------------------------------------------------------


class Settings:
    """A table of settings; `values` has one attribute per key.

    `table` maps each key to (default, check), or to (default, check, why it has no effect), which is said once when
    another value than the default is assigned.
    """

    def __init__(self, what, table, aliases=()):
        self.what = what
        self.rows = {key: row[:2] for key, row in table.items()}
        self.no_effect = {key: row[2] for key, row in table.items() if len(row) > 2}
        self.aliases = dict(aliases)
        self.values = SimpleNamespace(**{key: default for key, (default, _) in self.rows.items()})
        self.assigned = set()

    def find(self, key):
        key = self.aliases.get(key, key)
        if key not in self.rows:
            near = difflib.get_close_matches(str(key), self.rows, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"help(mindspore.context.{self.what}) lists them."
            raise ValueError(f"'{key}' is not a setting of {self.what}; {hint}")
        return key

    def check(self, settings):
        """What `settings` will be, everything checked before anything is changed."""
        found = {self.find(key): value for key, value in settings.items()}
        return {key: self.rows[key][1](key, value) for key, value in found.items()}

    def assign(self, checked):
        for key in checked.keys() & self.no_effect.keys():
            log.unused(self.what, self.no_effect[key], **{key: checked[key] != self.rows[key][0]})
        vars(self.values).update(checked)
        self.assigned.update(checked)

    def reset(self):
        vars(self.values).update({key: default for key, (default, _) in self.rows.items()})
        self.assigned.clear()
