"""Edits collected by tokens, with the repairs that they need: blanks, a and an, the capital of a sentence."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from nlgauge.perturbations.perturb import Change, Edit, Inapplicable, apply_edits
from nlgauge.text.doc import Doc, Span, Token
from nlgauge.text.lexicon import article_before

_ARTICLE = re.compile(r"(?<![\w'’.-])(?:an|a)(?![\w'’.-])", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[\s\"'“‘«(\[]*([\w$£€][\w.'’-]*)")
_NO_BLANK_BEFORE = frozenset(",.;:!?%)]}…”’»")
_OPENING = frozenset("([{“‘«¿¡")
_CLOSING = {"(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "«": "»", '"': '"', "'": "'", "``": "''"}
_CLOSERS = frozenset(_CLOSING.values())
_ENDS = _CLOSERS - {'"', "'"}  # closing marks before which no pause may stand
_PAUSES = frozenset((*",;:–—-", "--"))
_FINAL = frozenset(".!?…。！？")


class Draft:
    """Changes to one text, made in any order; `finish` turns them into edits.

    Every method takes positions of tokens. A token can be changed once.
    """

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self._edits: list[Edit] = []
        self._deleted: set[int] = set()

    def replace(self, first: int, last: int, new: str, *, cased: bool = True) -> None:
        """Put `new` in the place of tokens `first` to `last`; `cased`: with the capitals of what stood there."""
        old = self.doc.span(first, last)
        self._edits.append(Edit(old.start, old.end, with_case_of(self.doc.between(old), new) if cased else new))

    def delete(self, first: int, last: int, *, pauses: bool = False) -> None:
        """Delete tokens `first` to `last` with one of the blanks around them; `pauses`: also a comma left dangling."""
        tokens = self.doc.tokens
        if pauses:
            before, after = first - 1, last + 1
            comma_before = before >= 0 and tokens[before].text in _PAUSES
            comma_after = after < len(tokens) and tokens[after].text in _PAUSES
            if comma_after and (comma_before or self.doc.starts_sentence(first)):
                last = after
            elif comma_before and (after >= len(tokens) or tokens[after].is_punctuation):
                first = before
        self._deleted.update(range(first, last + 1))

    def insert_before(self, index: int, new: str) -> None:
        """Put words before a token, with a blank between."""
        start = self.doc.tokens[index].start
        self._edits.append(Edit(start, start, f"{new} "))

    def insert_after(self, index: int, new: str, *, blank: bool = True) -> None:
        """Put words, or a mark without a blank, after a token."""
        end = self.doc.tokens[index].end
        self._edits.append(Edit(end, end, f" {new}" if blank else new))

    def append(self, sentence: Span, new: str, *, joint: str = ", ") -> None:
        """Put words at the end of a sentence, before its final mark; a sentence without one gets none."""
        doc, at = self.doc, _before_final_mark(self.doc, sentence)
        follower = doc.tokens[at + 1] if at < sentence.last else None
        if follower is not None and not doc.touches(follower.index) and joint[0] in _NO_BLANK_BEFORE:
            joint = f" {joint}"  # marks of this text stand alone
        stop = "." if follower is None and new[-1:] != "." and _holds_stop(doc.tokens[at]) else ""
        end = doc.tokens[at].end
        self._edits.append(Edit(end, end, f"{joint}{new}{stop}"))

    def tidy(self) -> None:
        """Delete the marks that are left without words after deletions."""
        for sentence in self.doc.sentences:
            places = range(sentence.first, sentence.last + 1)
            if not self._deleted.isdisjoint(places):
                if all(self.doc.word_at[i] is None or i in self._deleted for i in places):
                    self._deleted.update(places)
                else:
                    self._tidy(places)

    def _tidy(self, places: range) -> None:
        tokens, kept = self.doc.tokens, list[int]()
        gap = worded = False  # whether something is gone since the last token kept; whether words have come
        for i in places:
            if i in self._deleted:
                gap = True
                continue
            mark = tokens[i].text if self.doc.word_at[i] is None else ""
            ends_part = gap and worded and mark and (mark in _PAUSES or mark in _ENDS or mark[0] in _FINAL)
            while ends_part and self.doc.word_at[kept[-1]] is None and tokens[kept[-1]].text in _PAUSES:
                self._deleted.add(kept.pop())
            if gap and kept and self._encloses(kept[-1], i):
                self._deleted.update((kept.pop(), i))
            elif gap and mark in _PAUSES and (not worded or self._opens(kept[-1])):
                self._deleted.add(i)
            else:
                kept.append(i)
                gap = False
                worded = worded or not mark

    def _opens(self, index: int) -> bool:
        mark = self.doc.tokens[index].text
        if mark in ('"', "'"):
            return index + 1 < len(self.doc.tokens) and self.doc.touches(index + 1)
        return self.doc.word_at[index] is None and mark in _CLOSING

    def _encloses(self, first: int, last: int) -> bool:
        """Whether two tokens are an opening mark and its own closing one."""
        opening, closing = self.doc.tokens[first].text, self.doc.tokens[last].text
        paired = self._opens(first) and _CLOSING[opening] == closing
        return paired and (opening != closing or self.doc.touches(last))

    def finish(
        self, *, capitals: bool = True, articles: bool = True, stops: bool = True, **meta: Any
    ) -> Change | Inapplicable:
        """All edits, repaired and in order.

        Args:
            capitals: a sentence that began with a capital still does.
            articles: a and an fit the words that now follow them.
            stops: a sentence that loses an abbreviation at its end keeps the full stop.
            meta: what was picked.

        Returns:
            The change, or `Inapplicable("unchanged")` where the text stays as it was.
        """
        edits = _merged(self.doc.text, [*self._edits, *self._deletions(stops)])
        if capitals:
            edits = self._capitals(edits)
        if articles:
            edits = _articles(self.doc.text, edits)
        edits = [e for e in edits if self.doc.text[e.start : e.end] != e.new]
        if not edits or apply_edits(self.doc.text, edits) == self.doc.text:
            return Inapplicable("unchanged")
        return Change(edits, meta)

    def _deletions(self, stops: bool) -> list[Edit]:
        """The runs of deleted tokens as spans, each with a blank before or behind it."""
        firsts = sorted(i for i in self._deleted if i - 1 not in self._deleted)
        lasts = sorted(i for i in self._deleted if i + 1 not in self._deleted)
        return [self._gap(first, last, stops) for first, last in zip(firsts, lasts, strict=True)]

    def _gap(self, first: int, last: int, stops: bool) -> Edit:
        text, tokens = self.doc.text, self.doc.tokens
        start, end = tokens[first].start, tokens[last].end
        blank_before = start > 0 and text[start - 1].isspace()
        blank_after = end < len(text) and text[end].isspace()
        at_start = first == 0 or (blank_before and "\n" in text[tokens[first - 1].end : start])
        behind_opening = first > 0 and (tokens[first - 1].text[-1] in _OPENING or self._opens(first - 1))
        closed = blank_after or end == len(text) or text[end] in _NO_BLANK_BEFORE or tokens[last + 1].is_punctuation
        if at_start or (behind_opening and not blank_before):
            # Of the text or of a line: take the blanks behind, the first of the line stays at its margin.
            while end < len(text) and text[end].isspace() and text[end] != "\n":
                end += 1
        elif blank_before and closed:
            while start > tokens[first - 1].end and text[start - 1].isspace() and text[start - 1] != "\n":
                start -= 1
        sentence = self.doc.sentences[self.doc.sentence_at[last]]
        ends = last == sentence.last and first > sentence.first and _holds_stop(tokens[last])
        if stops and ends and not tokens[first - 1].is_punctuation:
            return Edit(start, end, ".")
        parted = start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum()
        return Edit(start, end, " " if parted else "")  # a dash without blanks had kept two words apart

    def _capitals(self, edits: list[Edit]) -> list[Edit]:
        """A sentence that began with a capital does so still."""
        starts, out, more = [e.start for e in edits], list(edits), []
        for sentence in self.doc.sentences:
            head = next((t for t in self.doc.tokens[sentence.first : sentence.last + 1] if not t.is_punctuation), None)
            if head is not None and head.text[0].isupper():
                at = bisect_right(starts, head.start) - 1
                if at >= 0 and out[at].end >= head.start:
                    more += _raise(self.doc.text, out, starts, sentence)
        return _merged(self.doc.text, out + more)


def with_case_of(old: str, new: str) -> str:
    """`new` with the capitals of `old`: all large, a large first letter, or as it is."""
    if not old or not new:
        return new
    letters = [c for c in old if c.isalpha()]
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return new.upper()
    if letters and old[0].isupper():
        return new[0].upper() + new[1:]
    return new


def _holds_stop(token: Token) -> bool:
    """Whether the full stop of a sentence that ends here is part of a word, as in `U.S.`."""
    return token.text[-1] == "." and not token.is_punctuation


def _before_final_mark(doc: Doc, sentence: Span) -> int:
    """The position of the token after which a sentence can be continued.

    It is before the final marks and the closing quotes and brackets after them.
    """
    at = sentence.last
    while at > sentence.first and doc.tokens[at].text in _CLOSERS:
        at -= 1
    end = at
    while at > sentence.first and doc.word_at[at] is None:
        if doc.tokens[at].text not in _PAUSES and doc.tokens[at].text[0] not in _FINAL:
            break
        at -= 1
    return at if at < end else sentence.last


def _merged(text: str, edits: list[Edit]) -> list[Edit]:
    """Edits in order, those that touch made one."""
    merged: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if merged and edit.start < merged[-1].end:
            raise ValueError(f"edits overlap: {merged[-1]} and {edit} of {text!r}")
        if merged and edit.start == merged[-1].end:
            before = merged.pop()
            edit = Edit(before.start, edit.end, before.new + edit.new)
        merged.append(edit)
    return merged


def _raise(text: str, edits: list[Edit], starts: list[int], sentence: Span) -> list[Edit]:
    """Put a capital at the start of a sentence as it now stands.

    The edit that brings the first letter is changed in place; if the letter is old, a new edit is returned.
    """
    at = sentence.start
    while at < sentence.end:
        place = bisect_right(starts, at) - 1
        if place >= 0 and (edits[place].end > at or edits[place].start == at):
            new = edits[place].new
            for i, char in enumerate(new):
                if char.isalnum():
                    edits[place] = edits[place]._replace(new=new[:i] + char.upper() + new[i + 1 :])
                    return []
            if edits[place].end > at:
                at = edits[place].end
                continue
        if text[at].isalnum():
            return [Edit(at, at + 1, text[at].upper())] if text[at].upper() != text[at] else []
        at += 1
    return []


def _articles(text: str, edits: list[Edit]) -> list[Edit]:
    """The same edits, with a and an fit for the words that now follow them."""
    if not edits:
        return edits
    new = apply_edits(text, edits)
    starts = [e.start for e in edits]
    shift, shifts = 0, []
    for e in edits:
        shift += len(e.new) - (e.end - e.start)
        shifts.append(shift)
    out = list(edits)
    for match in _ARTICLE.finditer(text):
        at = bisect_right(starts, match.start()) - 1
        if any(e.start < match.end() and e.end > match.start() for e in edits[max(at, 0) : at + 2]):
            continue
        moved = shifts[at] if at >= 0 else 0
        old_word, new_word = (_NEXT_WORD.match(t, match.end() + m) for t, m in ((text, 0), (new, moved)))
        if old_word is None or new_word is None or old_word[1] == new_word[1]:
            continue
        article = article_before(new_word[1])
        if article != match[0].lower() and match[0].lower() == article_before(old_word[1]):
            out.append(Edit(match.start(), match.end(), with_case_of(match[0], article)))
    return _merged(text, out)
