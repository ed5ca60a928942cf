"""The places of errors in MQM annotations: `<v>...</v>` in the source or the target of a row."""

from __future__ import annotations

import os
import re

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults
from nlgauge.io.marked.texts import MarkedText, error
from nlgauge.io.wmt.mqm import Mark, read_mqm

_OPEN, _CLOSE = "<v>", "</v>"
_SIGN = re.compile("</?v>")


def read_mqm_spans(path: str | os.PathLike[str] | InputFile) -> list[MarkedText]:
    """Marked texts of an MQM file, one for each system, item and rater.

    Rows without signs are errors whose place nobody marked: they give no span. Neutral errors are left out.

    Raises:
        InputError: signs do not come in pairs, one text of a rater differs from row to row, or what `read_mqm` raises.
    """
    markings = read_mqm(path)
    texts: dict[tuple[str, str, str], str] = {}
    spans: dict[tuple[str, str, str], list[ErrorSpan]] = {}
    faults = Faults(markings.name)
    for mark in markings.marks:
        where, key = f"{markings.name}:{mark.line}", (mark.system, mark.item, mark.rater)
        with faults.row(where):
            text = _SIGN.sub("", mark.target)
            if texts.setdefault(key, text) != text:
                raise InputError(f"{where}: the target is another text than in an earlier row of this rater")
            spans.setdefault(key, []).extend(_spans(mark, len(text), where))
    faults.check()
    return [
        MarkedText(item, system, tuple(found), texts[system, item, rater], None, rater)
        for (system, item, rater), found in spans.items()
    ]


def _spans(mark: Mark, size: int, where: str) -> list[ErrorSpan]:
    found = []
    for side, text, most in (("hyp", mark.target, size), ("src", mark.source, None)):
        for start, end in marked_places(text, where):
            one = error(start, end, mark.severity, mark.category, side, where, most)
            if one is not None:
                found.append(one)
    return found


def marked_places(text: str, where: str = "text") -> list[tuple[int, int]]:
    """Start and end of what stands between `<v>` and `</v>`, in characters of the text without these signs.

    Raises:
        InputError: signs do not come in pairs.
    """
    found: list[tuple[int, int]] = []
    start, signs = None, 0
    for sign in _SIGN.finditer(text):
        at = sign.start() - signs
        signs += len(sign[0])
        if (sign[0] == _OPEN) is not (start is None):
            raise InputError(f"{where}: {sign[0]} without its partner, expected pairs of {_OPEN} and {_CLOSE}")
        if start is None:
            start = at
        else:
            found.append((start, at))
            start = None
    if start is not None:
        raise InputError(f"{where}: {_OPEN} without its partner, expected pairs of {_OPEN} and {_CLOSE}")
    return found
