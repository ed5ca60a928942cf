"""Texts in languages or scripts that a metric does not read: found, counted, noted or refused.

`UnreadScripts` says what reads which language and what becomes of other texts, `LanguageCounts` how a language is told.
"""

from __future__ import annotations

import re
import zlib
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal, get_args

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric
from nlgauge.core.scores import FIRST, MetricInfo, Note, first_few
from nlgauge.core.segment import Segment
from nlgauge.text.scripts import (
    ENGLISH,
    LATIN,
    SCRIPTS_OF,
    Codes,
    Writing,
    known_writings,
    languages,
    leaning,
    names,
    writings,
)
from nlgauge.text.tokenize import ADDRESS

# --- In which languages are the texts of a call? Counted by function words; the model is asked where these say little


FEW, SHARE = 5, 0.1  # texts of a group that look like a language, at least, and their share in it, to be told
_ASKED, _LITTLE = 10, 0.25  # undecided texts that the model is asked about; and the share decided that is enough
_SAMPLES, _EACH = 3, 8  # how often the model is asked, and about how many texts together
_CERTAIN = 0.99
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")  # zh-en, as groups are called


@dataclass(frozen=True)
class LanguageTexts:
    """The texts that look like one language.

    Attributes:
        n: how many there are.
        first: the ids of the first.
        groups: their groups.
    """

    n: int
    first: list[str]
    groups: tuple[str | None, ...] = ()


@dataclass
class _Group:
    n: int = 0
    told: Counter[str] = field(default_factory=Counter)
    first: dict[str | None, list[str]] = field(default_factory=dict)  # None: of those that are not decided
    undecided: int = 0
    sample: list[tuple[int, str]] = field(
        default_factory=list
    )  # of those with the smallest digests, whatever the order


@dataclass
class LanguageCounts:
    """Counts languages by group, whose name may say the language (`en-de`).

    - Function words tell it first, of lists in 49 languages: a text is not English if another language has at least
      twice as many of its words, two or more that differ, and 0.12 of them.
    - The group tells what function words leave open: in `en-de` a name without any is German. If most texts of the
      group look like another language, they are believed.
    - The model of py3langid is asked where function words decide less than a quarter of ten texts or more, as in
      languages without a list. It is believed if it is certain three times.

    A language is noted if five texts of a group and a tenth of them look like it, or one and a tenth where the group
    says it. Near languages may be taken for each other, and of other scripts than Latin the script alone is known. One
    system of many that answers in another language is found by the guard `foreign`.

    Attributes:
        side: 0 for the first language of such a name, 1 for the second.
        few: the least number of texts of a language whose group does not name it.
    """

    side: int = 1
    few: int = FEW
    _groups: dict[str | None, _Group] = field(default_factory=dict)

    def pass_by(self, group: str | None) -> None:
        """Count a segment in another script than Latin, which tells enough."""
        self._groups.setdefault(group, _Group()).n += 1

    def add(self, name: str, group: str | None, texts: Sequence[str]) -> None:
        """Count a segment by its texts: it is in English only if none of them is in another language."""
        plain = [ADDRESS.sub(" ", text) for text in texts]  # their words are of no language
        codes = [leaning(text) for text in plain]
        code = next((c for c in codes if c not in (None, ENGLISH)), ENGLISH if ENGLISH in codes else None)
        one = self._groups.setdefault(group, _Group())
        one.n += 1
        if code is not None:
            one.told[code] += 1
        else:
            one.undecided += 1
            insort(one.sample, (zlib.crc32(plain[0].encode("utf-8", "surrogatepass")), plain[0]))
            del one.sample[_SAMPLES * _EACH :]
        first = one.first.setdefault(code, [])
        if len(first) < FIRST:
            first.append(name)

    def found(self) -> dict[str, LanguageTexts]:
        """Code -> texts that look like that language, in the groups that have enough of them; most first."""
        total: dict[str, LanguageTexts] = {}
        for group, one in self._groups.items():
            for code, n, first in self._of(group, one):
                before = total.get(code, LanguageTexts(0, []))
                total[code] = LanguageTexts(before.n + n, [*before.first, *first][:FIRST], (*before.groups, group))
        return dict(sorted(total.items(), key=lambda entry: -entry[1].n))

    def _of(self, group: str | None, one: _Group) -> Iterator[tuple[str, int, list[str]]]:
        """Code, number and first ids of a group's texts in each language that it has enough of."""
        rest, named = self._rest(group, one)
        told = one.told + Counter({rest: one.undecided} if rest is not None else {})
        for code, n in told.items():
            if n >= max(1 if code == named else self.few, SHARE * one.n):
                yield code, n, [*one.first.get(code, ()), *(one.first.get(None, ()) if code == rest else ())]

    def _rest(self, group: str | None, one: _Group) -> tuple[str | None, str | None]:
        """The language of texts that are not decided, if something else tells it; and that which the group names."""
        named = self._named(group)
        if named is not None:
            return (named if not one.told or one.told.most_common(1)[0][0] == named else None), named
        is_open = one.undecided >= _ASKED and one.undecided > (1 - _LITTLE) * one.n
        return (_asked([text for _, text in one.sample]) if is_open else None), None

    def looks(self, code: str) -> bool:
        """Whether a quarter of all texts look like a language, or the rest does."""
        n = sum(
            one.told[code] + (one.undecided if self._rest(group, one)[0] == code else 0)
            for group, one in self._groups.items()
        )
        return n >= _LITTLE * sum(one.n for one in self._groups.values())

    def _named(self, group: str | None) -> str | None:
        """The language that the name of a group says."""
        pair = language_pair(group)
        return pair[self.side] if pair else None


@cache
def language_pair(group: str | None) -> tuple[str, ...]:
    """The two languages that a group is called after; empty if it is not."""
    pair = _PAIR.fullmatch(group or "")
    return pair.groups() if pair is not None and names().keys() >= {*pair.groups()} else ()


def _asked(sample: Sequence[str]) -> str | None:
    """The language of some texts by the model, where it is certain of it each time it is asked."""
    parts = [" ".join(sample[start::_SAMPLES]) for start in range(_SAMPLES)]
    code, *others = (max(languages(part).items(), key=lambda entry: entry[1]) for part in parts)
    agreed = all(one[0] == code[0] and one[1] >= _CERTAIN for one in (code, *others))
    return code[0] if agreed and code[0] in names() else None


# --- Texts in scripts or languages that a metric does not read: counted and noted, or refused before scoring

LanguageCheck = Literal["note", "strict", "off"]
LANGUAGE_CHECKS: tuple[str, ...] = get_args(LanguageCheck)
_FIRST = 3  # segments named in a note
_LOOKS = 3  # scripts or languages named in a note
_OTHER = "de"  # stands for all languages but English

_Unread = tuple[str, str, int, list[str], list[str], str]  # metric, side, number, first ids, looks, reason


def unread_by_model(languages: Sequence[str], writing: Writing, who: str | None = None) -> str | None:
    """Why a model cannot read a text, and what to do instead; None if it can, or if its languages are not declared.

    Args:
        languages: codes of the languages that the model reads; empty if they are not declared.
        writing: how the text is written.
        who: what an explanation calls the model; None for that of a metric.
    """
    if not languages:
        return None
    if writing.language is not None:
        reads = writing.language in languages
    else:
        reads = any(writing.script in SCRIPTS_OF.get(language, {writing.script}) for language in languages)
    if reads:
        return None
    named = " and ".join(names().get(language, language) for language in languages)
    # All metrics give one reason, since notes with equal reasons become one: it says itself for which of them it holds.
    way = "take --encoder multilingual for nli and where vectors are compared, else " if who is None else ""
    page = "(page 'guides/translation' of the documentation)"
    return f"{who or 'the model'} reads {named}; {way}name a model of that language {page}"


@dataclass
class _Seen:
    count: int = 0
    groups: dict[str | None, None] = field(default_factory=dict)
    first: list[str] = field(default_factory=list)
    looks: dict[str, None] = field(default_factory=dict)


@dataclass
class UnreadScripts:
    """Segments in scripts and languages that metrics do not read, counted block by block.

    What reads which language:

    - every script: `chrf`, `cer`, `character`, `eed`, and `cider` with its tokenizer `unicode`;
    - languages with blanks between words: `bleu` with the tokenizers `13a`, `intl` and `none` (else `tokenize=zh`,
      `ja-mecab`, `char` or `flores200`), `chrf++`, `wordf`, `gleu`, `nist`, `ribes`, `parent`, `wer` and its kin (else
      `tokenizer=unicode`, `zh` or `char`), and `ter` (else `normalized=true,asian_support=true` for Chinese and
      Japanese);
    - letters a to z and digits: `rouge1` to `rougeLsum` (else `tokenizer=unicode`);
    - English: the models that come with the package and all metrics on them, `spice`, `qmetric` and its kin, and the
      stems and synonyms of `meteor` and `meteor15`; name a model of the language instead. Perturbations leave other
      text alone, with the reason `language`;
    - what the model reads, of which nlgauge knows nothing: a folder or a model of the hub, and metrics of other
      packages. A head of yours reads what its encoder reads, unless its metadata has an entry `languages` (`en,de`).

    In every language but English make `chrf` the first metric. `nlgauge doctor` says what the embedded encoder reads.

    A text counts as Chinese, Thai, Cyrillic and so on, by ranges of Unicode and without a model, if fewer than half of
    its letters are Latin. For scripts without blanks BLEU, TER and ROUGE with `tokenizer=blanks` are noted only where
    the text was not split at blanks before.

    `--language` of `score` and `meta`, and `language=` in Python, say what is done: `note`, the default, notes such
    texts and warns in Python; `strict` refuses them before anything is scored; `off` does not look. `select` and
    `sweep` always note. So do `audit` and `perturb` (in Python `scripts=` says what is done), which look at the texts
    that are perturbed and at the pairs that are scored.

    Apart from this check, with more than 10 % of pieces that the vocabulary of a model lacks a segment has the flag
    `unknown` and is scored, noted and counted. If all pieces of a text are unknown the score is NaN, also of two equal
    texts. The flag is no test of language.

    Attributes:
        metrics: specification -> metric, which says by `unread` what it cannot read.
        of: what is counted.
    """

    metrics: Mapping[str, BaseMetric]
    of: str = "segments"
    n: int = 0
    _seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)  # by specification and reason
    _targets: LanguageCounts = field(default_factory=LanguageCounts)
    _sources: LanguageCounts = field(default_factory=lambda: LanguageCounts(side=0))
    _groups: dict[str | None, None] = field(default_factory=dict)

    def add(self, segments: Sequence[Segment]) -> None:
        """Count more segments."""
        self.n += len(segments)
        if not self.metrics:
            return
        self._groups |= dict.fromkeys(s.group for s in segments)
        needs = {"hypothesis"}.union(*(metric.info.needs for metric in self.metrics.values()))
        columns = {need: codes for need in needs if (codes := _codes(segments, need)) is not None and codes.any()}
        if self._particular:
            self._tell(segments, columns)
        if not columns:
            return
        for spec, metric in self.metrics.items():
            read = [column for need, column in columns.items() if need in {"hypothesis", *metric.info.needs}]
            if read:
                self._count(spec, metric, segments, np.maximum.reduce(read))

    @cached_property
    def _particular(self) -> Mapping[str, BaseMetric]:
        """The metrics that read Latin script, and not in all languages."""
        some = [_writing_in(code) for code in (ENGLISH, _OTHER)]
        return {spec: m for spec, m in self.metrics.items() if any(m.unread(writing) for writing in some)}

    def _tell(self, segments: Sequence[Segment], columns: Mapping[str, Codes]) -> None:
        """Count the languages of texts in Latin script; other scripts are told already."""
        needs = set().union(*(metric.info.needs for metric in self._particular.values()))
        nowhere = np.zeros(len(segments), dtype=np.int64)
        other = np.maximum(columns.get("hypothesis", nowhere), columns.get("references", nowhere)).tolist()
        of_source = columns.get("source", nowhere).tolist()
        for place, s in enumerate(segments):
            if other[place]:
                self._targets.pass_by(s.group)
            else:
                texts = (s.hypothesis, *s.references[:1]) if "references" in needs else (s.hypothesis,)
                self._targets.add(s.id, s.group, texts)
            if "source" not in needs or not s.source:
                continue
            if of_source[place]:
                self._sources.pass_by(s.group)
            else:
                self._sources.add(s.id, s.group, (s.source,))

    def _count(self, spec: str, metric: BaseMetric, segments: Sequence[Segment], codes: Codes) -> None:
        for code in np.unique(codes[codes > 0]).tolist():
            writing = known_writings()[code]
            reason = metric.unread(writing)
            if reason is None:
                continue
            places = np.flatnonzero(codes == code)
            seen = self._seen.setdefault((spec, reason), _Seen())
            seen.count += len(places)
            seen.groups |= dict.fromkeys(segments[i].group for i in places.tolist())
            seen.first += [segments[i].id for i in places[: _FIRST - len(seen.first)]]
            seen.looks[writing.looks] = None

    def notes(self) -> list[Note]:
        """One note per metric and reason."""
        return [self._note(*one) for one in (*self._by_script(), *self._by_language())]

    def unread(self) -> dict[str, tuple[int, str]]:
        """Specification -> how many hypotheses or references the metric does not read, and why; without the others."""
        found: dict[str, tuple[int, str]] = {}
        for spec, side, count, _, _, reason in (*self._by_script(), *self._by_language()):
            if not side:
                found[spec] = found.get(spec, (0, reason))[0] + count, reason
        return found

    def refuse(self) -> None:
        """Refuse segments that a metric does not read.

        Raises:
            InputError: there is such a segment.
        """
        notes = self.notes()
        if notes:
            more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
            raise InputError(f"{notes[0]}{more}; note in place of strict takes them all the same")

    def by_system(self, by_group: bool = False) -> Mapping[tuple[str | None, str | None], Counter[str]]:
        """Nothing: rows say of no system how many of its texts are read."""
        return {}

    def _by_script(self) -> Iterator[_Unread]:
        for (spec, reason), seen in self._seen.items():
            yield spec, "", seen.count, seen.first, self._looks(seen.looks, seen.groups), reason

    def _by_language(self) -> Iterator[_Unread]:
        for side, counts in (("", self._targets), ("the sources of ", self._sources)):
            found = counts.found()
            for spec, metric in self._particular.items():
                if side and "source" not in metric.info.needs:
                    continue
                by_reason: dict[str, list[str]] = {}
                for code in found:
                    reason = metric.unread(_writing_in(code))
                    if reason is not None:
                        by_reason.setdefault(reason, []).append(code)
                for reason, codes in by_reason.items():
                    count = sum(found[code].n for code in codes)
                    first = [i for code in codes for i in found[code].first][:_FIRST]
                    groups = [group for code in codes for group in found[code].groups]
                    looks = self._looks([_writing_in(code).looks for code in codes], groups)
                    yield spec, side, count, first, looks, reason

    def _looks(self, looks: Iterable[str], groups: Iterable[str | None]) -> list[str]:
        """What texts look like, and in which groups if these are not all."""
        of = [str(group) for group in dict.fromkeys(groups) if group is not None]
        where = f" (group {first_few(of)})" if of and len(of) < len(self._groups) else ""
        return [_listed(looks) + where]

    def _note(self, spec: str, side: str, count: int, first: list[str], looks: Sequence[str], reason: str) -> Note:
        who = ", ".join([*first, *(["..."] if count > len(first) else [])])
        some, look = f"{side}{count} of {self.n} {self.of}", f"look {_listed(looks)}: {reason}"
        return Note.of(f"{spec}: {some} ({who}) {look}", spec, f"{some} {look}")


@dataclass(frozen=True)
class Reader(BaseMetric):
    """A model as the check of languages sees it.

    Attributes:
        languages, who: as in `unread_by_model`.
        needs: the fields of a segment that it reads, beside the hypothesis.
    """

    languages: Sequence[str]
    who: str | None = None
    needs: frozenset[str] = frozenset()

    @property
    def info(self) -> MetricInfo:
        """What it needs."""
        return MetricInfo("model", needs=self.needs)

    def unread(self, writing: Writing) -> str | None:
        """Why it cannot read a text, and what to do instead; None if it can."""
        return unread_by_model(self.languages, writing, self.who)


def beyond_english(needs: frozenset[str], blocks: Iterable[Sequence[Segment]]) -> tuple[list[str], bool]:
    """The texts that an encoder for English does not read, as in `6 of 6 segments of en-de look German`.

    Told are languages and scripts of a tenth of the texts or more: of each group that is called after two languages,
    and of all others together.

    Args:
        needs: as in `Reader`.
        blocks: all segments.

    Returns:
        What is told, and whether some group looks English.
    """
    reader = {"": Reader((ENGLISH,), needs=needs)}
    groups: dict[str | None, UnreadScripts] = {}
    for block in blocks:
        of_group: dict[str | None, list[Segment]] = {}
        for segment in block:
            of_group.setdefault(segment.group if language_pair(segment.group) else None, []).append(segment)
        for group, segments in of_group.items():
            if group not in groups:
                counts = LanguageCounts(few=1), LanguageCounts(0, few=1)
                groups[group] = UnreadScripts(reader, "segments", 0, {}, *counts)
            groups[group].add(segments)
    told = [
        f"{side}{count} of {seen.n} segments{f' of {group}' if group else ''} look {_listed(looks)}"
        for group, seen in groups.items()
        for _, side, count, _, looks, _ in (*seen._by_script(), *seen._by_language())
        if count >= SHARE * seen.n
    ]
    return told, any(seen._targets.looks(ENGLISH) for seen in groups.values())


@cache
def _writing_in(code: str) -> Writing:
    """How a text in a language in Latin script is written."""
    return Writing(LATIN, names()[code], True, code)


def _codes(segments: Sequence[Segment], need: str) -> Codes | None:
    """The writing of one text of each segment, shape (n,), or of that reference which is not Latin; None for ASCII."""
    of: dict[str, Callable[[Segment], Sequence[str]]] = {
        "hypothesis": lambda s: (s.hypothesis,),
        "source": lambda s: (s.source or "",),
        "references": lambda s: s.references,
        "context": lambda s: (" ".join(turn["text"] for turn in s.context),),
    }
    if need not in of:
        return None
    texts = [text for s in segments for text in of[need](s)]
    if all(map(str.isascii, texts)):
        return None
    codes = writings(texts)
    if need != "references" or not codes.any():
        return codes
    counts = np.fromiter((len(s.references) for s in segments), dtype=np.int64, count=len(segments))
    found = np.zeros(len(segments), dtype=np.int64)
    np.maximum.at(found, np.repeat(np.arange(len(segments)), counts), codes)
    return found


def _listed(looks: Iterable[str]) -> str:
    named = list(looks)
    more = [f"{len(named) - _LOOKS} more"] if len(named) > _LOOKS else []
    return " or ".join([*named[:_LOOKS], *more])
