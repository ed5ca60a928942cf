"""Text files that are not one text per line: those of other tools, which are refused, and lines with an id each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from nlgauge.core.errors import InputError
from nlgauge.io.files import BOM, InputFile, Lines
from nlgauge.io.wmt.submissions import KeyedTexts

_HEAD = 1 << 16  # bytes of a file that are looked at
_DENSE = 8  # subtitles have times in one of so many lines or more
_BEGINNINGS = {  # in lower case -> what it is
    "<!doctype html": "a page of HTML, perhaps an error of a server in place of the file",
    "<html": "a page of HTML, perhaps an error of a server in place of the file",
    "%pdf-": "a PDF",
    "{\\rtf": "RTF of a word processor",
    "webvtt": "subtitles (WebVTT)",
    "[script info]": "subtitles (SubStation)",
}
_TIMES = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{3}"
_SUBTITLES = re.compile(rf"\s*(?:{_TIMES}[ \t]+-->[ \t]+{_TIMES}(?:[ \t].*)?|{_TIMES},{_TIMES})\s*")
_MESSAGE = re.compile(r'(?:msgctxt|msgid)[ \t]+"')
_BETWEEN_BARS = re.compile(r".* \|\|\| .*")
_TIMED_WORDS = re.compile(r"\S+ [A-Z0-9] \d+(\.\d+)? \d+(\.\d+)? \S+( \S+)?")  # of recognisers: file, channel, times


def of_other_tool(file: InputFile, *, by_lines: bool = True) -> str:
    """What a file is, if it surely holds no texts or rows, and what to do; empty if it may.

    Args:
        file: the file.
        by_lines: whether the lines are looked at, too, and not only how the file begins.
    """
    text = file.head(_HEAD).removeprefix(BOM).decode("utf-8", "replace")
    first, _, rest = text.lstrip().partition("\n")
    begins = next((what for start, what in _BEGINNINGS.items() if first.lower().startswith(start)), "")
    if begins and not (first.rstrip().lower().endswith("</html>") and rest.strip()):  # else a page on each line
        return f"{begins}; expected texts, one per line, or rows"
    lines = [line for line in text.split("\n") if line.strip()] if by_lines else []
    if len(lines) > 1 and len(text) >= _HEAD // 4:
        lines.pop()  # which may be cut
    told = [line for line in lines if not line.startswith("#")]
    if told and _MESSAGE.match(told[0]) and any(line.startswith("msgstr") for line in told):
        return "a catalogue of gettext (msgid, msgstr); write its msgstr alone, one text per line"
    if _DENSE * sum(map(bool, map(_SUBTITLES.fullmatch, lines))) >= max(1, len(lines)):
        return "subtitles with times; write their texts alone, one per line"
    if len(lines) > 1 and all(map(_BETWEEN_BARS.fullmatch, lines)):
        return "a list of fields between '|||', as n-best lists of Moses; write one text per line and no other field"
    if len(lines) > 1 and all(map(_TIMED_WORDS.fullmatch, lines)):
        return "a list of words with times (CTM); write one text per line"
    return ""


# --- Transcripts: an id before each text, as in Kaldi, or behind it in parentheses, as in sclite's `.trn`


class Texts(Protocol):
    """Numbered texts of a file, such as its lines."""

    file: InputFile
    count: int

    def __iter__(self) -> Iterator[tuple[int, str]]: ...

    def notes(self) -> list[str]:
        """What a reader must know."""
        ...


_BEFORE = re.compile(r"(?P<id>\S+)(?:[ \t]+(?P<text>.*))?")
_BEHIND = re.compile(r"(?P<text>.*?)[ \t]*\((?P<id>[^()\s]+)\)[ \t]*")
_ID = re.compile(r"(?=.*\d)(?=[^\W\d]|.*[-_])[\w./:-]+")  # with a digit, and a letter first or a dash
_SURE = 10  # so many ids may be of any form; fewer are of one form
_RUN = re.compile(r"[^\W\d_]+|\d+")


def paired_by_id(files: Sequence[Texts]) -> Sequence[Texts]:
    """Files whose lines have an id each as texts in the order of the first file; others as they are.

    Raises:
        InputError: the ids of some files are not those of others, or stand in parentheses in some files alone.
    """
    if len(files) < 2 or not all(isinstance(one, Lines) for one in files):
        return files
    for form, least in ((_BEHIND, 1), (_BEFORE, 2)):  # a first word with a digit alone may be one of a text
        found = [_ids(form, one) for one in files]
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


def _ids(form: re.Pattern[str], file: Texts) -> dict[str, str]:
    """Id -> text, of a file whose lines all have an id of their own; else empty."""
    found, forms = dict[str, str](), set[str]()
    for line in (line for _, line in file if line.strip()):
        match = form.fullmatch(line)
        if match is None or match["id"] in found or not _ID.fullmatch(match["id"]):
            return {}
        found[match["id"]] = match["text"] or ""
        forms.add(_RUN.sub(lambda run: "0" if run[0].isdecimal() else "a", match["id"]))
    return found if len(found) > 1 and (len(forms) == 1 or len(found) >= _SURE) else {}
