"""Tells whether a tree's lines are its own: runs of code and prose that MindSpore's Python and documentation have too.

    python tests/own_lines/ownlines.py msnb [--min 40] [--share 25] [--words 12] [--list] [--strict] [--json FILE]
    python tests/own_lines/ownlines.py --build OUT SOURCE...        (how fingerprints.bin was made)

A filter answers "yes" wrongly now and then, but a run of N tokens is N - GRAM + 1 yeses in a row, and that does not
happen by chance. The exit status is 1 when a run of code of `--min` tokens or more, or of prose of `--words` words or
more, is not allowed. An allowance is a line of `allowed.txt`: path::symbol, and the reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from fingerprints import GRAM, Fingerprints, build, grams
from streams import WORDS, Prose, Stream, files_below, read_file

APART = ("message", "example", "raises", "figures")  # kinds of prose that are listed and not counted


@dataclass
class Run:
    path: str
    line: int
    last: int
    length: int  # tokens or words
    own_form: int  # of these, outside what is interface by structure
    kind: str
    text: str

    @property
    def symbol(self) -> str:
        """Return the symbol that an allowance names."""
        return symbol_at(self.path, self.line)


def stretches_of(hits: list[bool], size: int, least: int) -> list[tuple[int, int]]:
    """Runs [first, last) of at least `least` entries all of whose grams are hits."""
    results, start = [], None
    for place, hit in enumerate([*hits, False]):
        if hit and start is None:
            start = place
        elif not hit and start is not None:
            if place - start + size - 1 >= least:
                results.append((start, place + size - 1))
            start = None
    return results


def judge_code(stream: Stream, path: str, prints: Fingerprints, share: int, least: int):
    """Return (tokens in runs of `share` or more: as they are, with locals replaced, of these outside interface; runs of
    `least` or more)."""
    views = {}
    for view, local in (("same", None), ("renamed", stream.local)):
        views[view] = [prints.has(value, view) for value in grams(stream.texts, local, GRAM)]
    count = len(stream.texts)
    covered = {}
    for view, hits in views.items():
        marks = bytearray(count)
        for first, last in stretches_of(hits, GRAM, share):
            marks[first:last] = b"\1" * (last - first)
        covered[view] = marks
    figures = {
        "tokens": count,
        "same": sum(covered["same"]),
        "renamed": sum(covered["renamed"]),
        "code": sum(1 for s, r, i in zip(covered["same"], covered["renamed"], stream.interface) if (s or r) and not i),
    }
    spans = sorted(stretches_of(views["same"], GRAM, least) + stretches_of(views["renamed"], GRAM, least))
    merged: list[list[int]] = []
    for first, last in spans:
        if merged and first < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    runs = []
    for first, last in merged:
        outside = sum(1 for place in range(first, last) if not stream.interface[place])
        exact = max((b - a for a, b in stretches_of(views["same"][first : last - GRAM + 1], GRAM, GRAM)), default=0)
        kind = "interface" if outside < least else "same" if exact >= least else "renamed"
        texts = stream.texts[first:last]
        runs.append(
            Run(path, stream.lines[first], stream.lines[last - 1], last - first, outside, kind, " ".join(texts))
        )
    return figures, runs


def judge_prose(pieces: list[Prose], path: str, prints: Fingerprints, least: int) -> tuple[int, list[Run]]:
    runs, words = [], 0
    for piece in pieces:
        words += len(piece.words)
        hits = [prints.has(value, "prose") for value in grams(piece.words, None, WORDS)]
        for first, last in stretches_of(hits, WORDS, least):
            kinds = piece.kinds[first:last]
            kind = max(sorted(set(kinds)), key=kinds.count)
            texts = piece.words[first:last]
            if 2 * sum(len(t) < 3 or any(c.isdigit() for c in t) for t in texts) > len(texts):
                kind = "figures"  # a formula, a table or a printed result
            runs.append(
                Run(path, piece.lines[first], piece.lines[last - 1], last - first, last - first, kind, " ".join(texts))
            )
    return words, runs


def allowances(path: Path) -> dict[str, str]:
    """Return the allowed runs and their reasons. A line is ``path::symbol reason``; # begins a remark."""
    results = {}
    for row in path.read_text().splitlines():
        if row.strip() and not row.startswith("#"):
            where, _, reason = row.strip().partition(" ")
            if "::" not in where or not reason.strip():
                raise SystemExit(f"{path}: an allowance is 'path::symbol reason', but got {row!r}")
            results[where] = reason.strip()
    return results


def symbol_at(path: str, line: int) -> str:
    """``path::Class.function`` of the innermost definition around a line."""
    names, body = [], ast.parse(Path(path).read_text()).body if path.endswith(".py") else []
    while body:
        inner = [
            n
            for n in body
            if isinstance(n, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and min([n.lineno, *(d.lineno for d in n.decorator_list)]) <= line <= (n.end_lineno or n.lineno)
        ]
        body = inner[0].body if inner else []
        names += [n.name for n in inner[:1]]
    return f"{Path(path).as_posix()}::{'.'.join(names) or '<module>'}"


def judge(tree: Path, prints: Fingerprints, least=40, share=25, words=12, strict=False):
    base = tree if tree.is_dir() else tree.parent
    folders: dict[str, dict] = {}
    runs: list[Run] = []
    prose: list[Run] = []
    for path in files_below(tree):
        relative = path.relative_to(base)
        folder = relative.parts[0] if len(relative.parts) > 1 else "(top)"
        stream, pieces = read_file(path)
        if strict:
            stream.interface = [False] * len(stream.interface)
        figures, result = judge_code(stream, str(tree / relative) if tree.is_dir() else str(tree), prints, share, least)
        count, said = judge_prose(pieces, str(tree / relative) if tree.is_dir() else str(tree), prints, words)
        row = folders.setdefault(
            folder,
            dict.fromkeys(
                ("files", "tokens", "same", "renamed", "code", "runs", "interface", "words", "prose", "message"), 0
            ),
        )
        row["files"] += 1
        for name, value in figures.items():
            row[name] += value
        row["runs"] += sum(r.kind != "interface" for r in result)
        row["interface"] += sum(r.kind == "interface" for r in result)
        row["words"] += count
        row["prose"] += sum(r.kind not in APART for r in said)
        row["message"] += sum(r.kind == "message" for r in said)
        runs += result
        prose += said
    return folders, runs, prose


def _table(folders: dict[str, dict], share: int, least: int, words: int) -> None:
    total = (
        {name: sum(row[name] for row in folders.values()) for name in next(iter(folders.values()))} if folders else {}
    )
    print(
        f"code: share of tokens in runs of {share} or more; runs of {least} or more.  "
        f"prose: runs of {words} words or more"
    )
    print(
        f"{'folder':<16}{'files':>6}{'tokens':>9}{'same':>8}{'renamed':>9}{'code':>8}{'runs':>6}{'interf.':>8}{'words':>9}{'prose':>7}{'message':>8}"
    )
    for name, row in [*sorted(folders.items()), ("all", total)]:
        part = lambda key: f"{100 * row[key] / row['tokens']:.1f}%" if row["tokens"] else "-"  # noqa: B023, E731
        print(
            f"{name:<16}{row['files']:>6}{row['tokens']:>9}{part('same'):>8}{part('renamed'):>9}{part('code'):>8}{row['runs']:>6}{row['interface']:>8}"
            f"{row['words']:>9}{row['prose']:>7}{row['message']:>8}"
        )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="*", type=Path)
    parser.add_argument("--min", type=int, default=40, dest="least", help="tokens from which a run is listed ")
    parser.add_argument("--share", type=int, default=25, help="tokens from which a run counts in the share")
    parser.add_argument("--words", type=int, default=12, help="words from which a run of prose is listed")
    parser.add_argument("--list", action="store_true", help="every run, not only the twenty longest")
    parser.add_argument("--strict", action="store_true", help="count interface as code")
    parser.add_argument("--allow", type=Path, default=Path(__file__).with_name("allowed.txt"), help="allowances")
    parser.add_argument("--json", type=Path, help="write everything there too")
    parser.add_argument("--fingerprints", type=Path, default=Path(__file__).with_name("fingerprints.bin"))
    parser.add_argument(
        "--build", type=Path, metavar="OUT", help="read the trees as sources and write their fingerprints"
    )
    options = parser.parse_args(arguments)
    if options.build:
        build(options.build, options.tree)
        return 0
    if min(options.least, options.share) < GRAM or options.words < WORDS:
        parser.error(f"--min and --share are at least {GRAM}, --words at least {WORDS}")
    if len(options.tree) != 1 or not options.tree[0].exists():
        parser.error("name one tree or file that exists")
    prints = Fingerprints.load(options.fingerprints)
    folders, runs, prose = judge(options.tree[0], prints, options.least, options.share, options.words, options.strict)
    allow = allowances(options.allow)
    _table(folders, options.share, options.least, options.words)
    code = sorted((r for r in runs if r.kind != "interface" and r.symbol not in allow), key=lambda r: -r.own_form)
    said = sorted((r for r in prose if r.kind not in APART and r.symbol not in allow), key=lambda r: -r.length)
    apart = sorted((r for r in runs if r.kind == "interface"), key=lambda r: -r.length)
    other = sorted((r for r in prose if r.kind in APART and r.symbol not in allow), key=lambda r: (r.kind, -r.length))
    for title, rows in (
        ("code", code),
        ("prose", said),
        ("interface (signatures, tables, argument lists; not counted)", apart),
        ("messages, raises, examples, figures (not counted)", other),
    ):
        print(f"\n{title}: {len(rows)}")
        for run in rows if options.list else rows[:20]:
            where = f"{run.path}:{run.line}" + (f"-{run.last}" if run.last != run.line else "")
            print(f"  {run.length:>4} {'(' + str(run.own_form) + ')':>6} {run.kind:<9} {where}")
    unused = set(allow) - {r.symbol for r in runs + prose}
    if unused:
        print(f"\nallowed and not found any more: {', '.join(sorted(unused))}")
    print(
        f"\nallowed: {len(set(allow) - unused)}; {len(code)} runs of code and {len(said)} of prose are not "
        f"this tree's own, or must be allowed with a reason"
    )
    if options.json:
        options.json.write_text(
            json.dumps(
                {
                    "folders": folders,
                    "code": [vars(r) for r in code],
                    "prose": [vars(r) for r in said],
                    "interface": [vars(r) for r in apart],
                    "other": [vars(r) for r in other],
                },
                indent=1,
            )
        )
    return 1 if code or said else 0


if __name__ == "__main__":
    sys.exit(main())
