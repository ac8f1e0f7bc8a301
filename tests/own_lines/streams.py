"""Split a file into streams: its tokens of code, with those that are interface by structure, and its words of prose."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

SKIPPED = {"node_modules", ".git", ".venv", "__pycache__", ".ipynb_checkpoints", "labextension"}
FOLDED = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.COMMENT,
}
FSTRING_START, FSTRING_END = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)
WORDS = 8  # words hashed together; a run of 12 is five hits in a row
TABLE = 6  # elements from which a literal of nothing but names and constants is a table


@dataclass
class Stream:
    """The code of one file: one entry per token in each list."""

    texts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    local: list[bool] = field(default_factory=list)
    interface: list[bool] = field(default_factory=list)


@dataclass
class Prose:
    """One piece of prose (a docstring, a block of comments, a message, a cell): words, lines, what they are."""

    words: list[str]
    lines: list[int]
    kinds: list[str]


def _string(text: str) -> str:
    """Return a string literal without prefix letters and with one kind of quote, so that a change of quotes hides
    nothing; an f-string's holes are empty."""
    body = text.lstrip("rRbBuUfF")
    quote = body[:3] if body[:3] in ('"""', "'''") else body[:1]
    inside = body[len(quote) : -len(quote)]
    if "f" in text[: len(text) - len(body)].lower():
        inside, before = inside.replace("{{", "").replace("}}", ""), None
        while inside != before:  # from the inside outwards, since a hole may hold a format of its own
            inside, before = _FILLED.sub("\0", inside), inside
    return "'" + inside + "'"


def _tokens(source: str):
    """Tokens as Python 3.11 has them: an f-string is one token, whatever the interpreter that runs this."""
    rows = source.splitlines(keepends=True)
    depth, start = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == FSTRING_START:
            if not depth:
                start = token.start
            depth += 1
        elif token.type == FSTRING_END:
            depth -= 1
            if not depth:
                (top, left), (bottom, right) = start, token.end
                text = (
                    rows[top - 1][left:right]
                    if top == bottom
                    else rows[top - 1][left:] + "".join(rows[top : bottom - 1]) + rows[bottom - 1][:right]
                )
                yield tokenize.TokenInfo(tokenize.STRING, text, start, token.end, token.line)
        elif not depth:
            yield token


def _own_names(function) -> set[str]:
    """Return the local names of a function: its parameters and what it assigns, not what it says is global."""
    names, outside = set(), set()
    arguments = function.args
    for group in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs, [arguments.vararg, arguments.kwarg]):
        names.update(a.arg for a in group if a)
    todo = list(function.body) if isinstance(function.body, list) else [function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outside.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue  # its inside has names of its own
        elif isinstance(node, ast.Lambda):
            continue
        todo.extend(ast.iter_child_nodes(node))
    return names - outside


def _is_table(node) -> bool:
    """Check that a node is a literal of names, attributes and constants only."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(_is_leaf(e) or _is_table(e) for e in node.elts)
    if isinstance(node, ast.Dict):
        return all(k is not None and (_is_leaf(k) or _is_table(k)) for k in node.keys) and all(
            _is_leaf(v) or _is_table(v) for v in node.values
        )
    return False


def _is_leaf(node) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))


def _is_passing_on(node: ast.Call) -> bool:
    """Check that a call has four or more plain names as arguments: it passes its argument list on."""
    passed = list(node.args) + [k.value for k in node.keywords]
    return len(passed) >= 4 and all(isinstance(a.value if isinstance(a, ast.Starred) else a, ast.Name) for a in passed)


def _is_constant_entry(node) -> bool:
    """Check for `NAME = constant` or `NAME = other.name`: a row of an enumeration or of a table of names."""
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and _is_leaf(node.value)
    )


def _is_kept_argument(node) -> bool:
    """Check for `self.name = name` (or `self._name = name`): an argument stored under its own name."""
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Name)):
        return False
    target = node.targets[0]
    return (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
        and target.attr.lstrip("_") == node.value.id
    )


def _structure(source: str):
    """Return the positions of local names, and the spans that are interface by structure. Both are empty if Python 3
    cannot parse the file."""
    places, stretches = set(), []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return places, stretches
    rows = source.splitlines()

    def column(line: int, offset: int) -> int:  # ast counts bytes, tokenize counts characters
        row = rows[line - 1]
        return offset if row.isascii() else len(row.encode()[:offset].decode(errors="ignore"))

    def stretch(first, last):
        stretches.append(
            (
                (first.lineno, column(first.lineno, first.col_offset)),
                (last.end_lineno, column(last.end_lineno, last.end_col_offset)),
            )
        )

    def visit(node, names: frozenset):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inner = names | _own_names(node)
            if not isinstance(node, ast.Lambda):
                body = node.body[0]
                at = body.decorator_list[0] if getattr(body, "decorator_list", None) else body
                stretches.append(
                    ((node.lineno, column(node.lineno, node.col_offset)), (at.lineno, column(at.lineno, at.col_offset)))
                )
            for child in ast.iter_child_nodes(node):
                visit(child, inner)
            return
        if isinstance(node, ast.Name) and node.id in names or isinstance(node, ast.arg):
            places.add((node.lineno, column(node.lineno, node.col_offset)))
        if (
            isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict))
            and len(getattr(node, "elts", None) or getattr(node, "keys", ())) >= TABLE
            and _is_table(node)
        ):
            stretch(node, node)
        if isinstance(node, ast.Call) and _is_passing_on(node):
            stretch(node, node)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            stretch(node, node)
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for child in filter(_is_constant_entry, node.body):
                stretch(child, child)
        if _is_kept_argument(node):
            stretch(node, node)
        for child in ast.iter_child_nodes(node):
            visit(child, names)

    try:
        visit(tree, frozenset())
    except RecursionError:
        pass
    return places, sorted(stretches)


_FILLED = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[A-Za-z0-9_]+")
_HEADING = re.compile(
    r"(Args|Inputs|Outputs|Returns|Raises|Examples|Supported Platforms|Note|Returns|Tutorial Examples|Symbols)\s*:"
)
_HOLE = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[a-zA-Z]")


def _prose(text: str, line: int, kind: str) -> Prose:
    """Return the words of a text. Lines of a doctest are an example; what stands under `Raises:` is apart, since facts
    leave no choice of words."""
    piece = Prose([], [], [])
    raises = False
    for number, row in enumerate(text.split("\n")):
        start = row.lstrip()
        if kind == "docstring" and _HEADING.match(start):
            raises = start.startswith("Raises")
        sort = (
            kind
            if kind != "docstring"
            else "example"
            if start.startswith((">>>", "..."))
            else "raises"
            if raises
            else kind
        )
        for word in _WORD.findall(_HOLE.sub(" ", row) if kind == "message" else row):
            piece.words.append(word.lower())
            piece.lines.append(line + number)
            piece.kinds.append(sort)
    return piece


def read_python(source: str) -> tuple[Stream, list[Prose]]:
    stream, pieces = Stream(), []
    comments: list[tuple[int, str]] = []

    def close_comments():
        if comments:
            piece = Prose([], [], [])
            for line, text in comments:
                part = _prose(text, line, "comment")
                piece.words += part.words
                piece.lines += part.lines
                piece.kinds += part.kinds
            if "apache" not in piece.words or "license" not in piece.words:  # a licence's own words belong to nobody
                pieces.append(piece)
            comments.clear()

    places, stretches = _structure(source)
    at_stretch, reach = 0, (0, 0)
    try:
        tokens = list(_tokens(source))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return stream, pieces
    statement: list = []
    for token in tokens:
        if token.type == tokenize.COMMENT:
            if comments and token.start[0] > comments[-1][0] + 1:
                close_comments()
            comments.append((token.start[0], token.string.lstrip("#! ")))
            continue
        if token.type not in FOLDED:
            statement.append(token)
            if token.string not in (";",):
                continue
        if token.type not in (tokenize.NEWLINE, tokenize.ENDMARKER) and token.string != ";":
            continue
        line, statement = statement, []
        if not line:
            continue
        if line[0].string in ("import", "from") and line[0].type == tokenize.NAME:
            continue
        if all(t.type == tokenize.STRING for t in line):  # a docstring, or a string that stands for a comment
            for t in line:
                pieces.append(_prose(_string(t.string)[1:-1], t.start[0], "docstring"))
            continue
        message: list[Prose] = []
        for place, t in enumerate(line):
            text = t.string
            if t.type == tokenize.STRING:
                text = _string(text)
                part = _prose(text[1:-1], t.start[0], "message")
                if message and place and line[place - 1].type == tokenize.STRING:  # adjacent literals are one sentence
                    message[-1].words += part.words
                    message[-1].lines += part.lines
                    message[-1].kinds += part.kinds
                else:
                    message.append(part)
            while at_stretch < len(stretches) and stretches[at_stretch][0] <= t.start:
                reach = max(reach, stretches[at_stretch][1])
                at_stretch += 1
            stream.texts.append(text)
            stream.lines.append(t.start[0])
            stream.local.append(t.start in places)
            stream.interface.append(t.start < reach)
        pieces += [m for m in message if len(m.words) >= WORDS]
    close_comments()
    return stream, pieces


def read_file(path: Path) -> tuple[Stream, list[Prose]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py":
        return read_python(text)
    if path.suffix == ".ipynb":
        stream, pieces, number = Stream(), [], 0
        try:
            cells = json.loads(text)["cells"]
        except (ValueError, KeyError, TypeError):
            return stream, pieces
        for number, cell in enumerate(cells, 1):  # the "line" of a notebook is the number of its cell
            source = cell.get("source", "")
            source = source if isinstance(source, str) else "".join(source)
            if cell.get("cell_type") == "code":
                code, prose = read_python(
                    "\n".join("" if row.lstrip().startswith(("%", "!")) else row for row in source.split("\n"))
                )
                stream.texts += code.texts
                stream.lines += [number] * len(code.texts)
                stream.local += code.local
                stream.interface += code.interface
            else:
                prose = [_prose(source, number, "markdown")]
            for piece in prose:
                piece.lines = [number] * len(piece.words)
            pieces += prose
        return stream, pieces
    if path.suffix in (".md", ".rst", ".txt"):
        stream, prose, fence = Stream(), [], None
        block: list[str] = []
        for row in text.split("\n"):  # fenced Python is code, the rest is prose
            if row.lstrip().startswith("```"):
                if fence is not None:
                    code, _ = read_python("\n".join(block))
                    for name in ("texts", "lines", "local", "interface"):
                        getattr(stream, name).extend(getattr(code, name))
                    fence, block = None, []
                elif "python" in row:
                    fence = row
            elif fence is not None:
                block.append(row)
                prose.append("")
                continue
            prose.append(row)
        return stream, [_prose("\n".join(prose), 1, "markdown")]
    return Stream(), []


def files_below(root: Path, suffixes=(".py", ".ipynb", ".md", ".rst")) -> list[Path]:
    if root.is_file():
        return [root]
    return sorted(
        p
        for p in root.rglob("*")
        if p.suffix in suffixes and p.is_file() and not SKIPPED & set(p.relative_to(root).parts)
    )
