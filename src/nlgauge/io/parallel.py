"""Parallel text files with one segment per line, as sacrebleu reads them or in the SGM or XML of WMT; and raw texts."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment, repeated
from nlgauge.io.fields import guessed, is_known
from nlgauge.io.files import BOM, STDIN, InputFile, Lines, counted, unpacked_name
from nlgauge.io.read import by_name, of_other_tool, open_data, read
from nlgauge.io.rows import first_fields
from nlgauge.io.segments import OPTIONAL, Source, Summary
from nlgauge.io.wmt.submissions import KeyedTexts, Role, read_sgm

_MOST_COMPARED, _SHOWN = 200_000, 60  # lines of files of unequal length; characters of a line in an error
PathLike = str | os.PathLike[str]
_SGM = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE[^>]*>\s*)?<(?:tstset|refset|srcset|mteval|dataset)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_IN_SGM = re.compile(r"<(?:doc|seg)[\s>]", re.IGNORECASE)


def open_parallel(
    hypotheses: Sequence[PathLike], references: Sequence[PathLike] = (), source: PathLike | None = None
) -> ParallelSource:
    """Open parallel text files. Line i of every file belongs to item i.

    Give `--hyp FILE` for each system, `--ref FILE` for each reference, and `--src FILE`. An empty line is an empty
    text; a blank reference beside others is none. A system is named after its file without the ending, and with as
    many folders before it as are needed to tell the files apart.

    Where all lines of all files have an id of their own, before the text as in Kaldi's `text` or behind it in
    parentheses as in sclite's `.trn`, texts are paired by it. A table (JSON lines, TSV, CSV) is refused here: give it
    as data.

    Args:
        hypotheses: one file per system; a file of SGM or XML may hold several systems, with their names.
        references: one file for each reference of the items; in SGM and XML also several.
        source: the file of the inputs.

    Returns:
        The segments item by item, with all systems of an item together. The item is the line number as text, and the id
        is `system:item`.

    Raises:
        InputError: there is no hypothesis file, one file is given for two systems, `-` is given more than once, a file
            is missing, or is a table, which is given as data.
    """
    if isinstance(hypotheses, str | os.PathLike) or isinstance(references, str | os.PathLike):
        raise InputError("hypotheses and references are lists of paths, one path came; write [path]")
    paths = [*hypotheses, *references, *([] if source is None else [source])]
    times = [os.fspath(path) for path in paths].count(STDIN)
    if times > 1:
        raise InputError(
            f"'-' (standard input) is given {times} times, expected once; it can be read for one file only"
        )
    named: list[tuple[str, Texts]] = []
    for name, path in zip(system_names([os.fspath(path) for path in hypotheses]), hypotheses, strict=True):
        found = open_texts(path, "hyp")
        named += [(getattr(one, "who", "") or name, one) if len(found) > 1 else (name, one) for one in found]
    twice = repeated(name for name, _ in named)
    if twice is not None:
        raise InputError(f"two of the hypotheses are those of system {twice!r}; give each system once")
    sources = [] if source is None else open_texts(source, "src")
    if len(sources) > 1:
        raise InputError(f"{sources[0].file.name} holds {len(sources)} sets of sources, expected one")
    of_references = [texts for path in references for texts in open_texts(path, "ref")]
    every = paired_by_id([*(texts for _, texts in named), *of_references, *sources])
    n, last = len(named), len(named) + len(of_references)
    return ParallelSource([name for name, _ in named], every[:n], every[n:last], every[last] if sources else None)


class Texts(Protocol):
    """Numbered texts of a file, such as its lines."""

    file: InputFile
    count: int

    def __iter__(self) -> Iterator[tuple[int, str]]: ...

    def notes(self) -> list[str]:
        """What a reader must know."""
        ...


def open_texts(path: PathLike, role: Role) -> Sequence[Texts]:
    """The texts of a file: its lines, or what SGM or XML of WMT holds of each system or translator in a role.

    A table of rows, XML of another kind and files of other tools are refused. What merely begins like one is read.
    """
    file = InputFile(path)
    if is_sgm(file):
        return read_sgm(file, role)
    other = "" if file.start else of_other_tool(file)
    if other:
        raise InputError(f"{file.name} is {other}")
    what = _table(file)
    if what:
        command = f"nlgauge score {file.path}, in Python nlgauge.read"
        raise InputError(f"{file.name} is {what}, expected one text per line; give it as DATA: {command}")
    return [Lines(file, texts=True)]


def is_sgm(file: InputFile) -> bool:
    """Whether a file begins as SGM or XML of WMT does, with a set of texts and a document or segment of it."""
    head = file.head(4096).removeprefix(BOM).decode("utf-8", "replace")
    return _SGM.match(head) is not None and _IN_SGM.search(head) is not None


def _table(file: InputFile) -> str:
    """What a file is, if it is surely a table of rows; empty for a file with one text on each line."""
    if file.start:
        return ""
    head, name = file.head(1 << 16).removeprefix(BOM), by_name(file.path)
    if head.startswith(b"PAR1"):
        return "Parquet"
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines() if line.strip()]
    first = lines[0] if lines else ""
    if first[:1] in ("{", "["):
        try:
            row = msgspec.json.decode(first)
        except (msgspec.DecodeError, RecursionError):
            row = None
        fields = row if type(row) is dict else dict.fromkeys(first_fields("\n".join(lines)))
        sure = bool(fields) and name == "jsonl"
        return "JSON" if sure or "hyp" in fields or {"hyp", "ref"} <= guessed(fields).keys() else ""
    cells = first.split("\t") if "\t" in first else next(csv.reader([first]), [])
    known = any(is_known(cell) for cell in cells) or guessed(cells)
    if len(cells) > 1 and ((name == "tsv" and "\t" in first) or ("hyp" in cells) or (name == "csv" and known)):
        return "a table (TSV)" if "\t" in first else "a table (CSV)"
    return ""


class ParallelSource(Source):
    """The segments in text files of equal length, or over a part of them that has some lines `before` it."""

    def __init__(
        self,
        systems: Sequence[str],
        hypotheses: Sequence[Texts],
        references: Sequence[Texts],
        source: Texts | None,
        before: int = 0,
    ) -> None:
        self.systems = tuple(systems)
        self._before = before
        self._hypotheses, self._source = list(hypotheses), source
        self._references = list(references)
        self._files = [*hypotheses, *references, *([] if source is None else [source])]
        self._together = len(self.systems)

    def close(self) -> None:
        """Delete the temporary copy of standard input, if there is one."""
        for lines in self._files:
            lines.file.close()

    def _check(self) -> Summary:
        first = self._hypotheses[0]
        for texts in self._files:
            for _ in texts:
                pass
            if not texts.count:
                raise InputError(f"{texts.file.name} is empty, expected one segment per line")
        self._check_order()
        for lines in self._files:
            if lines.count != first.count:
                one, other = (f"{texts.file.name} has {counted(texts.count, 'line')}" for texts in (first, lines))
                raise InputError(
                    f"{one} but {other}; parallel files need one line per segment each{_parting(first, lines)}"
                )
        present = {
            "system",
            "item",
            *(["references"] if self._references else []),
            *(["source"] if self._source else []),
        }
        return Summary(
            n=first.count * len(self.systems),
            systems=dict.fromkeys(self.systems, first.count),
            groups={None: first.count * len(self.systems)},
            criteria=(),
            lacking={name: f"{self.systems[0]}:1" for name in OPTIONAL if name not in present},
            present=frozenset(present),
            inputs=tuple({lines.file.path: lines.file.entry for lines in self._files}.values()),
            notes=tuple(dict.fromkeys(note for lines in self._files for note in lines.notes())),
        )

    @property
    def by_line(self) -> bool:
        """Whether a line of each file is an item, so that parts of the files hold the same items."""
        return all(isinstance(texts, Lines) for texts in self._files)

    def _check_order(self) -> None:
        """Refuse files of SGM or XML in which the same place is another document or segment."""
        marked = [texts for texts in self._files if isinstance(texts, KeyedTexts)]
        for first, other in zip(marked[:1] * len(marked), marked, strict=True):
            for key, own in zip(first.keys, other.keys, strict=False):
                if key != own:
                    raise InputError(
                        f"{other.file.name}: segment {own[1]!r} of document {own[0]!r} stands where {first.file.name}"
                        f" has segment {key[1]!r} of {key[0]!r}; parallel files need one order"
                    )

    def _segments(self) -> Iterator[Segment]:
        sources = [] if self._source is None else [self._source]
        first_reference = len(self._hypotheses)
        first_source = first_reference + len(self._references)
        for row in zip(*self._hypotheses, *self._references, *sources, strict=True):
            item = str(self._before + row[0][0])
            references = tuple(text for _, text in row[first_reference:first_source])
            source = row[first_source][1] if sources else None
            for system, (_, hypothesis) in zip(self.systems, row, strict=False):  # the other files follow in the row
                yield Segment(f"{system}:{item}", hypothesis, references, source, system, item)


# --- Transcripts: an id before each text, as in Kaldi, or behind it in parentheses, as in sclite's `.trn`

_ID = re.compile(r"(?=.*\d)(?=[^\W\d]|.*[-_])[\w./:-]+")  # with a digit, and a letter first or a dash
_SURE = 10  # so many ids may be of any form; fewer are of one form
_RUN = re.compile(r"[^\W\d_]+|\d+")


def paired_by_id(files: Sequence[Texts]) -> Sequence[Texts]:
    """Files whose lines have an id each as texts in the order of the first file; others as they are.

    Ids of some files that are not those of others, or that some files alone have, are refused.
    """
    if len(files) < 2 or not all(isinstance(one, Lines) for one in files):
        return files
    for is_behind, least in ((True, 1), (False, 2)):  # a first word with a digit may be one of a text
        found = [_ids(one, is_behind) for one in files]
        marked = [(one, texts) for one, texts in zip(files, found, strict=True) if texts]
        if len(marked) < least or not any(len(marked[0][1].keys() & texts) > 1 for _, texts in marked[least - 1 :]):
            continue
        first, texts = marked[0]
        for one, own in zip(files, found, strict=True):
            apart = next((name for name in (*texts, *own) if (name in texts) != (name in own)), None)
            if apart is not None:
                other = f"has others ({apart!r} is in one alone)" if own else "has none"
                raise InputError(
                    f"{first.file.name} has an id on each line, as {next(iter(texts))!r}, and {one.file.name} {other};"
                    " expected the same ids in all files, or none"
                )
        note = f"{len(texts)} lines have an id each, which is no text; texts are paired by it"
        return [
            KeyedTexts(one.file, "", {("", name): own[name] for name in texts}, [note])
            for one, own in zip(files, found, strict=True)
        ]
    return files


def _ids(file: Texts, is_behind: bool) -> dict[str, str]:
    """Id -> text, of a file whose lines all have an id of their own; else empty."""
    found, forms = dict[str, str](), set[str]()
    for line in (line for _, line in file if line.strip()):
        if is_behind:
            text, _, name = line.rstrip().rpartition("(")
            name = name[:-1] if name.endswith(")") else ""
        else:
            name, text = (*line.split(None, 1), "")[:2]
        if name in found or not _ID.fullmatch(name):
            return {}
        found[name] = text.strip()
        forms.add(_RUN.sub(lambda run: "0" if run[0].isdecimal() else "a", name))
    return found if len(found) > 1 and (len(forms) == 1 or len(found) >= _SURE) else {}


def system_names(paths: Sequence[str]) -> list[str]:
    """A distinct name for each hypothesis file.

    The name is the file name without folder, `.gz` and extension. If files would share a name, they get the first of
    these that tells them apart: the name with its extension, then with one folder before it, then with two and so on,
    and at last the path as typed.
    """
    if not paths:
        raise InputError("no hypothesis file is given, expected at least one")
    twice = [path for path, times in Counter(map(os.path.normpath, paths)).items() if times > 1]
    if twice:
        raise InputError(f"hypothesis file {twice[0]} is given twice, expected one file per system")
    # A name that is no UTF-8 could not be written into a result; its odd bytes are shown as \\xff.
    paths = [os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths]
    names = [_stem(path) for path in paths]
    depth = max(len(PurePath(path).parts) for path in paths)
    for level in range(depth + 1):
        shared = {name for name, times in Counter(names).items() if times > 1}
        if not shared:
            return names
        again = [path for path, name in zip(paths, names, strict=True) if name in shared]
        longer = {path: _named(path, level) for path in again}
        names = [longer.get(path, name) for path, name in zip(paths, names, strict=True)]
    return names if len(set(names)) == len(names) else list(paths)


def _stem(path: str) -> str:
    if path == STDIN:
        return "stdin"
    return PurePath(unpacked_name(path)).stem


def _named(path: str, folders: int) -> str:
    if path == STDIN:
        return path
    if not folders:
        return PurePath(path).name
    return "/".join([*PurePath(path).parent.parts[-folders:], _stem(path)])


def _parting(one: Texts, other: Texts) -> str:
    """Where the longer file has what the shorter lacks, for the end of an error; empty where nothing tells.

    The lines before that place fit each other, and so do those after it if the longer file is moved up. Two lines fit
    as well as they share words and are of one length.
    """
    longer, shorter = (one, other) if one.count > other.count else (other, one)
    if longer.count > _MOST_COMPARED:
        return ""
    texts, others = ([text for _, text in lines] for lines in (longer, shorter))
    extra, n = len(texts) - len(others), len(others)
    name = longer.file.name
    if not any(text.strip() for text in texts[n:]):
        return f"; {_lines(n + 1, len(texts))} of {name} {'is' if extra == 1 else 'are'} blank, at its end"
    words = [frozenset(text.lower().split()) for text in texts]
    held = [frozenset(text.lower().split()) for text in others]
    # fit[k]: how well all lines fit if the longer file has its extra lines before line k, from 0
    fit = [0.0]
    fit[0] = sum(_alike(texts[i + extra], others[i], words[i + extra], held[i]) for i in range(n))
    for i in range(n):
        before = _alike(texts[i], others[i], words[i], held[i])
        fit.append(fit[-1] + before - _alike(texts[i + extra], others[i], words[i + extra], held[i]))
    best = max(range(n + 1), key=fit.__getitem__)
    told = f"; {_lines(best + 1, best + extra)} of {name} {'has' if extra == 1 else 'have'} no partner"
    shown = texts[best] if len(texts[best]) <= _SHOWN else texts[best][: _SHOWN - 3] + "..."
    what = "is blank" if not texts[best].strip() else f"is {shown!r}"
    return f"{told}, as it seems: line {best + 1} {what}"


def _alike(one: str, other: str, words: frozenset[str], others: frozenset[str]) -> float:
    """How well two lines fit, from 0 to 2: the share of their words that is common, and the ratio of their lengths."""
    if not one or not other:
        return 2.0 * (one == other)
    return len(words & others) / max(len(words | others), 1) + min(len(one), len(other)) / max(len(one), len(other))


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


# --- Raw texts: one per line of a text file, or the references of a data set


@dataclass(frozen=True)
class Raw:
    """Texts with their ids.

    Attributes:
        ids: for a text file, the numbers of the lines from 1. For a data set, the id of the first segment that has the
            text, followed by `.2` for its second reference.
        texts: for a text file, all lines, also empty ones. For a data set, each distinct reference once, or each
            hypothesis if there are no references. As long as `ids`.
        inputs: the files that were read, as `{"path", "sha256"}`.
        notes: what a reader must know.
        others: of paraphrases, the other texts of the same item, as long as `ids`; else empty.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    inputs: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]
    others: tuple[tuple[str, ...], ...] = ()


def read_raw(path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> Raw:
    """The texts of a file.

    Args:
        path: `.jsonl`, `.tsv`, `.csv` or `.parquet` (also `.gz`), or a folder, is a data set. Any other name (also
            `.gz`), and `-`, is a text file with one text per line.
        columns: of a data set: which column holds which field; see `nlgauge.read`.
    """
    name = os.fspath(path)
    if os.path.isdir(name) or by_name(name) is not None:
        return _references(name, columns)
    if columns is not None:
        raise InputError(f"columns are named for a data set; {name} is a text file with one text per line")
    lines = open_texts(name, "src")[0]
    with closing(lines.file):
        numbered, inputs = list(lines), (lines.file.entry,)
    if not numbered:
        raise InputError(f"{lines.file.name} is empty, expected one text per line")
    return Raw(
        tuple(str(number) for number, _ in numbered), tuple(text for _, text in numbered), inputs, tuple(lines.notes())
    )


def read_texts(path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> Dataset:
    """The segments of a data set; of a text file, whose name says nothing else, each line is a hypothesis."""
    name = os.fspath(path)
    if not os.path.isfile(name) or by_name(name) is not None or InputFile(name).head(4) == b"PK\x03\x04":
        return read(name, columns=columns)
    raw = read_raw(name, columns)
    return Dataset(tuple(map(Segment, raw.ids, raw.texts)), name, raw.notes)


def read_paraphrases(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, hypotheses: bool = False
) -> Raw:
    """The references of a data set, each beside the other references of its item.

    An item without two texts that differ is left out, and counted in a note.

    Args:
        path: a data set, in which an item has several references: `refs`, or columns `ref1`, `ref2`.
        columns: which column holds which field; see `nlgauge.read`.
        hypotheses: whether hypotheses are texts of people, too, as post-edits are: then they stand beside references.
    """
    name = os.fspath(path)
    if not (os.path.isdir(name) or by_name(name) is not None):
        raise InputError(
            f"{name} has one text per line, and paraphrases are texts of one item; expected a data set whose items have"
            " two references or more (refs of .jsonl, columns ref1 and ref2 of .tsv), or pairs hyp and ref"
        )
    found: dict[str, dict[str, str]] = {}
    with closing(open_data(name, columns=columns)) as source:
        summary = source.check()
        for block in source.blocks():
            for segment in block:
                own = found.setdefault(segment.id if segment.item is None else segment.item, {})
                texts = ((segment.hypothesis,) if hypotheses else ()) + segment.references
                for place, text in enumerate(texts, start=1):
                    own.setdefault(text, segment.id if place == 1 else f"{segment.id}.{place}")
    several = [own for own in found.values() if len(own) > 1]
    if not several:
        raise InputError(
            f"{name}: none of {len(found)} items has two {'texts' if hypotheses else 'references'} that differ,"
            " expected paraphrases of each other"
        )
    alone = len(found) - len(several)
    notes = [f"{alone} of {len(found)} items have no second text and are left out"] if alone else []
    rows = [(own[text], text, tuple(other for other in own if other != text)) for own in several for text in own]
    ids, texts, others = zip(*rows, strict=True)
    return Raw(ids, texts, summary.inputs, (*summary.notes, *notes), others)


def _references(path: str, columns: Mapping[str, str] | None) -> Raw:
    found: dict[str, str] = {}
    with closing(open_data(path, columns=columns)) as source:
        summary = source.check()
        for block in source.blocks():
            for segment in block:
                for place, text in enumerate(segment.references or (segment.hypothesis,), start=1):
                    found.setdefault(text, segment.id if place == 1 else f"{segment.id}.{place}")
    return Raw(tuple(found.values()), tuple(found), summary.inputs, summary.notes)
