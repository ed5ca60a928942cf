"""The segments of WMT's SGM and XML: texts of a source, of references and of systems, between `seg` marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines

Role = Literal["hyp", "ref", "src"]
_WORDS = {"hyp": "hypotheses", "ref": "references", "src": "sources"}
_SETS: dict[str, Role] = {"tstset": "hyp", "refset": "ref", "srcset": "src", "hyp": "hyp", "ref": "ref", "src": "src"}
_START = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE[^>]*>\s*)?<(?:tstset|refset|srcset|mteval|dataset)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_INSIDE = re.compile(r"<(?:doc|seg)[\s>]", re.IGNORECASE)
_MARK = re.compile(r"<(/?)(tstset|refset|srcset|doc|hyp|ref|src|seg)\b([^>]*)>", re.IGNORECASE)
_SEG_END = re.compile(r"</seg\s*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def is_sgm(file: InputFile) -> bool:
    """Whether a file begins as SGM or XML of WMT does, with a set of texts and a document or segment of it."""
    head = file.head(4096).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return _START.match(head) is not None and _INSIDE.search(head) is not None


class SgmTexts:
    """The texts of one translator or system of a file, as numbered lines are; see `Lines`.

    Attributes:
        file: the file.
        who: the system or translator; empty if the file does not say.
        keys: document and number of each segment.
        count: the number of segments.
    """

    def __init__(self, file: InputFile, who: str, texts: dict[tuple[str, str], str]) -> None:
        self.file, self.who, self.keys, self._texts = file, who, tuple(texts), tuple(texts.values())
        self.count = len(texts)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(enumerate(self._texts, start=1))

    def notes(self) -> list[str]:
        """That the file was read as what it is."""
        return [f"{self.file.name}: {self.count} segments read from between the marks of SGM or XML"]


def read_sgm(file: InputFile, role: Role) -> list[SgmTexts]:
    """The texts that a file holds in a role, one entry for each system or translator, in the order of the file.

    A file of SGM that holds one set is read whatever the set is called. White space in a text is one blank, and the
    five entities of XML and numbers of characters are replaced. Nothing else is expanded.

    Raises:
        InputError: the file defines entities, has no text in this role, or a mark is never closed.
    """
    lines = Lines(file)
    whole = "\n".join(line for _, line in lines)
    if "<!ENTITY" in whole or "<![" in whole:
        raise InputError(f"{file.name} defines entities or holds CDATA, expected plain SGM or XML of WMT")
    found: dict[Role, dict[str, dict[tuple[str, str], str]]] = {}
    kind, who, document, place, in_set = "", "", "", 0, ""
    number = 0
    while mark := _MARK.search(whole, place):
        place, name = mark.end(), mark[2].lower()
        told = {key.lower(): a or b or c for key, a, b, c in _ATTRIBUTE.findall(mark[3])}
        if mark[1]:
            kind = "" if name in _SETS else kind
        elif name == "doc":
            document, number = told.get("docid", told.get("id", document)), 0
            who = told.get("sysid", "") if in_set else ""
        elif name == "seg":
            end = _SEG_END.search(whole, place)
            if end is None:
                at = lines.at(whole.count("\n", 0, place) + 1)
                raise InputError(f"{at}: a seg that is never closed, expected </seg>")
            number += 1
            place = end.end()
            if not kind:  # of a part that is none of the three
                continue
            own = found.setdefault(_SETS[kind], {}).setdefault(who, {})
            key = (document, told.get("id", str(number)))
            if key in own:
                at = lines.at(whole.count("\n", 0, place) + 1)
                raise InputError(
                    f"{at}: segment {key[1]!r} of document {document!r} for the second time, expected once"
                )
            own[key] = _text(whole[mark.end() : end.start()], file, lines)
        elif name in ("tstset", "refset", "srcset"):
            kind = in_set = name
            who = told.get("sysid", "")
        else:  # a part of a document in XML
            kind, number = name, 0
            who = told.get("system", told.get("translator", ""))
    chosen = found.get(role) or (next(iter(found.values())) if in_set and len(found) == 1 else None)
    if not chosen:
        there = ", ".join(_WORDS[one] for one in found) or "no seg"
        raise InputError(f"{file.name} holds {there}, expected {_WORDS[role]}")
    return [SgmTexts(file, one, texts) for one, texts in chosen.items()]


def _text(raw: str, file: InputFile, lines: Lines) -> str:
    text = _REFERENCE.sub(_character, re.sub(r"[ \t\r\n]+", " ", raw).strip(" "))
    file.limits.check("segment", len(text), file.name)
    return text


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _CHARACTERS[match[1]]
    code = int(match[2]) if match[2] else int(match[3], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]
