"""Write the pages of the API reference, docs/api/*.rst: each public name on the page of its module and letter.

A name that is another name's object refers to it.
"""

import functools
import inspect
import re
from collections import defaultdict
from importlib import import_module

from msnb.common.unsupported import ABSENT, USED_BY_FEW_LINES
from msnb.notebook.help_page import own_functions

MODULES = {
    "msnb.nn": "Layers, losses, optimizers",
    "msnb.ops": "Operators",
    "msnb.Tensor": "Tensor",
    "msnb.dataset": "Data sets",
    "msnb.dataset.vision": "Image transforms",
    "msnb.dataset.vision.c_transforms": "Image transforms of r1.1",
    "msnb.dataset.text": "Text transforms",
    "msnb.dataset.audio": "Audio transforms",
    "msnb.train": "Training and callbacks",
    "msnb.explainer": "Explanations of image classifiers",
    "msnb.explainer.explanation": "Explainers",
    "msnb.explainer.benchmark": "Benchmarks of explainers",
    "msnb.mint": "mint",
    "msnb.mint.nn": "Layers of mint",
    "msnb.mint.nn.functional": "Functions of mint.nn",
    "msnb.mint.optim": "Optimizers of mint",
    "msnb": "MindSpore's top level",
}
TOCTREE = ".. toctree::\n   :hidden:\n\n"
NO_CONTENTS = ":html_theme.sidebar_secondary.remove:\n\n"
INTRODUCTION = """\
Names of ``mindspore`` are those of ``msnb``: ``import msnb as ms`` and ``import mindspore as ms`` under
``%%mindspore`` give the same. Signatures are those of r1.1; :doc:`../which_mindspore` lists the names that
mean something else with ``--api 2``, and :doc:`missing` those that msnb does not have.

"""
MISSING = """\
These names of MindSpore raise an error that says what to do instead, or do not exist. ``msnb check train.py`` lists
those that a program uses. :doc:`../operators` and :doc:`index` list the names that exist.

"""
ROWS_OF_A_PAGE = 90  # a module with more names is divided by first letter


def load(path):
    """Return the module or class of a dotted path."""
    try:
        return import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(import_module(module), name)


def list_names(path):
    """Return the public names of a module or class that are functions or classes, in alphabetical order."""
    owner = load(path)
    names = dir(owner) if inspect.isclass(owner) else getattr(owner, "__all__", dir(owner))
    kept = [name for name in names if not name.startswith("_") and is_documented(getattr(owner, name, None))]
    return sorted({*kept}, key=lambda name: (name.lower(), name))


def is_documented(value):
    is_shown = callable(value) or isinstance(value, property)
    return is_shown and not isinstance(value, functools.partial) and bool(inspect.getdoc(value))


def list_own_names():
    """Return the names that msnb adds to MindSpore's: views, recordings, gradients, operators."""
    msnb = import_module("msnb")
    later = {*dir(msnb)} & {*msnb._VIEWS, *msnb._LATER} - {*msnb.__all__}
    return sorted(name for name in {*later, *own_functions()} if is_documented(getattr(msnb, name)))


def directive_of(owner, name):
    value = getattr(owner, name)
    if inspect.isclass(owner):
        return "autoproperty" if isinstance(value, property) else "automethod"
    return "autoclass" if inspect.isclass(value) else "autofunction"


def full_name(value):
    """Return the path at which a class or function is defined, None for a property."""
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else None


def describe(path, owner, name, homes):
    """Return the entry of a name. `homes` maps the paths of definitions to names that have an entry."""
    value, title = getattr(owner, name), f"{path}.{name}"
    home = homes.setdefault(full_name(value) or title, title)
    if home == title or inspect.isclass(owner):
        return f".. {directive_of(owner, name)}:: {title}\n\n"
    return f".. py:data:: {title}\n\n   The same as :any:`{home}`.\n\n"


MARKUP = re.compile(r"``.*?``|:\w+:`[^`]*`|`[^`]*`|[*|]|(?<=\w)_(?![\w`])")


def escape_docstring(app, what, name, obj, options, lines):
    """Escape ``*``, ``|`` and a last ``_`` in a docstring: msnb's docstrings have no emphasis, but shapes and names."""
    is_example = is_literal = False
    for number, line in enumerate(lines):
        if line.strip():
            is_example = is_example or line.lstrip().startswith(">>>")
            is_literal = is_literal and line.startswith(" ")
            if not is_example and not is_literal:
                lines[number] = MARKUP.sub(lambda match: match[0] if "`" in match[0] else "\\" + match[0], line)
                is_literal = line.endswith("::")
        else:
            is_example = False


def divide(names):
    """Return {first letter: names}, or one page without a letter."""
    if len(names) <= ROWS_OF_A_PAGE:
        return {"": names}
    pages = defaultdict(list)
    for name in names:
        pages[name[0].lower()].append(name)
    return pages


def heading(text, line):
    return f"{text}\n{line * len(text)}\n\n"


def write_page(path, text):
    """Write a page if its text is new, so that Sphinx reads only what has changed."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def link_names(module, names):
    """Return the links to the entries of names, as one line."""
    return " · ".join(f":py:obj:`{name} <{module}.{name}>`" for name in names) + "\n\n"


def write_module(folder, module, about, names, homes):
    """Write the page of a module, and a page for each letter if it has many names. Returns the row of the index."""
    owner, stem, pages = load(module), module.removeprefix("msnb."), divide(names)
    title = module if module == "msnb" else module.replace("msnb", "mindspore", 1)
    text = heading(title, "=") + f"{about}.\n\n"
    for letter, entries in pages.items():
        described = "".join(describe(module, owner, name, homes) for name in entries)
        if letter:
            write_page(folder / f"{stem}-{letter}.rst", NO_CONTENTS + heading(f"{title}: {letter}", "=") + described)
            text += f"**{letter.upper()}** \u2002" + link_names(module, entries)
        else:
            text += described
    if "" not in pages:
        text += TOCTREE + "".join(f"   {letter} <{stem}-{letter}>\n" for letter in pages)
    write_page(folder / f"{stem}.rst", NO_CONTENTS + text)
    return f"   * - :doc:`{title} <{stem}>`\n     - {about}\n     - {len(names)}\n"


def describe_missing():
    """Return the page of the names that msnb does not have: a row for each reason."""
    rows = defaultdict(list)
    for reason, modules in [*ABSENT.items(), *USED_BY_FEW_LINES.items()]:
        sentence = reason.replace("{name} ", "it ", 1).replace("{name}", "NAME")
        for module, names in modules.items():
            path = ".".join(filter(None, ("mindspore", module)))
            rows[sentence].append(f"``{path}``: " + ", ".join(names.split()))
    text = NO_CONTENTS + heading("Missing names and operators", "=") + MISSING
    text += ".. list-table::\n   :header-rows: 1\n   :widths: 50 50\n\n   * - names\n     - reason, and what to do\n"
    for sentence, names in rows.items():
        listed = "\n\n       ".join(re.sub(r"_(?!\w)", r"\\_", name) for name in names)
        beginning = sentence[0] if "." in sentence.split()[0] else sentence[0].upper()  # a name of code is as it is
        text += f"   * - {listed}\n     - {beginning}{sentence[1:]}.\n"
    return text


def write_pages(folder):
    """Write all pages into `folder`."""
    folder.mkdir(exist_ok=True)
    homes, own_names = {}, list_own_names()
    own = "".join(describe("msnb", load("msnb"), name, homes) for name in own_names)
    about = "What msnb adds to MindSpore"
    write_page(folder / "own.rst", heading(about, "=") + link_names("msnb", own_names) + own)
    rows = f"   * - :doc:`msnb <own>`\n     - {about}: views, recordings, gradients\n     - {len(own_names)}\n"
    for module, about in MODULES.items():
        names = [name for name in list_names(module) if module != "msnb" or name not in own_names]
        rows += write_module(folder, module, about, names, homes)
    write_page(folder / "missing.rst", describe_missing())
    index = heading("API reference", "=") + INTRODUCTION
    index += ".. list-table::\n   :header-rows: 1\n\n   * - module\n     - content\n     - names\n" + rows + "\n"
    pages = ["own", *(module.removeprefix("msnb.") for module in MODULES), "missing"]
    index += TOCTREE + "".join(f"   {page}\n" for page in pages)
    write_page(folder / "index.rst", index)
