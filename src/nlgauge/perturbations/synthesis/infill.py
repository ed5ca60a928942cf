"""Words for the gaps of a text: fillers with and without a model, and the perturbation that masks words."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice
from typing import Annotated, ClassVar

from nlgauge.core.errors import MissingExtra, SpecError
from nlgauge.core.options import Range, checked
from nlgauge.models.infill.gaps import Filler as Filler
from nlgauge.models.infill.gaps import Gap as Gap
from nlgauge.models.infill.gaps import Infill as Infill
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.choice import POS, TAGS, Part, single_words
from nlgauge.text.doc import Doc, Token
from nlgauge.text.languages import Language
from nlgauge.text.lexicon.lexicon import lemmas, supersense
from nlgauge.text.tagging.brill import known_tags
from nlgauge.text.wordlists import WordList

_PARTS: tuple[Part, ...] = ("noun", "verb", "adj", "adverb")
_BASE = {"noun": "NN", "verb": "VB", "adj": "JJ", "adverb": "RB"}
_FREQUENT: dict[Part, int] = {
    "noun": 1500,
    "verb": 600,
    "adj": 800,
    "adverb": 300,
}  # lemmas that are offered: every reader knows them
_FEWEST = 12  # words that a field of meaning must have to be drawn from alone
_GRAMMAR = WordList("words", "never masked")
_UNCOUNTED = frozenset(
    (
        "information furniture money advice news luggage weather evidence equipment knowledge research music traffic"
    ).split()
)
_MODEL_PACKAGES = ("torch", "transformers")


@dataclass(frozen=True)
class LexiconInfill:
    """Frequent words with the tag of the masked word; they are drawn, not predicted.

    They are from the same field of meaning if that has enough words.

    Attributes:
        language: the backend for tags and forms.
        rng: the source of the draws.
    """

    language: Language
    rng: random.Random

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """See `Infill.fill`; only nouns, verbs, adjectives and adverbs get words.

        The score of a word falls with the logarithm of its rank.
        """
        return [self._fill(gap, k) for gap in gaps]

    def _fill(self, gap: Gap, k: int) -> list[Filler]:
        tokens = self.language.analyse(gap.text).tokens
        at = bisect_right(tokens, gap.start, key=lambda t: t.start) - 1
        if at < 0 or gap.start >= tokens[at].end:
            return []
        token = tokens[at]
        part = next((p for p in _PARTS if token.tag in TAGS[p]), None)
        if part is None:
            return []
        lemma = self.language.lemma(token.lower, token.tag)
        pool = _pool(part, supersense(lemma, POS[part]))
        drawn = self.rng.sample(range(len(pool)), min(len(pool), k + 1))
        forms = ((place, self.language.inflect(pool[place], token.tag) or pool[place]) for place in sorted(drawn))
        fit = [(place, form) for place, form in forms if " " not in form and form not in (token.lower, lemma)]
        return [
            Filler(form, -math.log1p(place))
            for place, form in fit
            if token.tag != "NNS" or pool[place] not in _UNCOUNTED
        ][:k]


@dataclass(frozen=True, kw_only=True)
class MaskAndPredict:
    """Mask a few words that carry meaning and put predicted ones in their place.

    Args:
        count: how many words are masked. With None, `fraction` decides.
        fraction: the share of the nouns, verbs, adjectives and adverbs that are masked; at least one word is.
        infill: what predicts: `lexicon` draws frequent words of the same kind and form; `infill` is the small masked
            language model that comes with the package; a folder or hub id names any other masked language model, BART
            or T5. In Python it can also be an object with `fill`.
        top: one of this many predictions is drawn.
    """

    count: Annotated[int | None, Range(least=1)] = None
    fraction: Annotated[float, Range(above=0, most=1)] = 0.2
    infill: str | Infill = "lexicon"
    top: Annotated[int, Range(least=1)] = 10
    info: ClassVar = worse(
        "mask a few words and replace them by predicted ones",
        ("Where is the old market?", "Where is the old hotel?"),
        needs=("english", "infill"),
    )

    def __post_init__(self) -> None:
        check_infill(self.infill)
        checked(self)

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit for each masked word."""
        words = {t.index: t for part in _PARTS for t in single_words(case.doc, part)}
        sites = [
            t
            for _, t in sorted(words.items())
            if case.language.lemma(t.lower, t.tag) not in _GRAMMAR and not _doubtful(case.doc, t)
        ]
        if not sites:
            return Inapplicable("no content word")
        wanted = self.count or max(1, round(self.fraction * len(sites)))
        masked = sorted(rng.sample(sites, min(wanted, len(sites))), key=lambda t: t.index)
        offered = infill(self.infill, case.language, rng).fill(
            [Gap(case.text, t.start, t.end) for t in masked], self.top + 1
        )
        draft, changed = Draft(case.doc), []
        for token, fillers in zip(masked, offered, strict=True):
            new = _drawn(token, fillers, self.top, rng)
            if new is not None:
                draft.replace(token.index, token.index, new)
                changed.append([token.text, new])
        return draft.finish(words=changed) if changed else Inapplicable("no prediction")


def check_infill(given: str | Infill) -> None:
    """Check that a value can fill gaps; called before any text is looked at.

    Raises:
        MissingExtra: it is a model, and the packages for models are not installed.
        InputError: the name is not that of a model, or the model fills no gaps.
        SpecError: the object has no `fill`.
    """
    if given == "lexicon" or (isinstance(given, Infill) and not isinstance(given, str)):
        return
    if not isinstance(given, str):
        raise SpecError(
            f"infill is {type(given).__name__}, expected 'lexicon', a model's name or an object with fill(gaps, k)"
        )
    if any(find_spec(package) is None for package in _MODEL_PACKAGES):
        raise MissingExtra(f"infill {given!r} is unavailable: a masked language model", "neural")
    _model(given)


def infill(given: str | Infill, language: Language, rng: random.Random) -> Infill:
    """The model that fills gaps, from the value of an option; errors as of `check_infill`."""
    check_infill(given)
    if given == "lexicon":
        return LexiconInfill(language, rng)
    return _model(given) if isinstance(given, str) else given


@cache
def _model(name: str) -> Infill:
    """A model by its name, one copy for all perturbations; its weights are read when it first fills a gap."""
    from nlgauge.models.infill.filler import load_infill

    return load_infill(name)


def _doubtful(doc: Doc, token: Token) -> bool:
    """Whether a noun or adjective behind a name may be the verb of a question: "which films did John Smith direct?"."""
    behind_name = token.tag in ("NN", "JJ") and token.index > 0 and doc.tokens[token.index - 1].tag == "NNP"
    sentence = doc.sentences[doc.sentence_at[token.index]]
    return behind_name and any(t.lower in ("do", "does", "did") for t in doc.tokens[sentence.first : token.index])


def _drawn(token: Token, fillers: Sequence[Filler], top: int, rng: random.Random) -> str | None:
    """One of the best so many words; never one that is there already, is empty, or is not a word."""
    fit = [f.word.strip() for f in fillers]
    fit = [
        w for w in fit if w.casefold() != token.text.casefold() and w[:1].isalnum() and not any(c.isspace() for c in w)
    ]
    return rng.choice(fit[:top]) if fit else None


@cache
def _pool(part: Part, field: str | None) -> tuple[str, ...]:
    """Frequent lemmas of a part of speech, most frequent first; of one field of meaning where it has enough."""
    frequent = _known(part)
    inside = tuple(w for w in frequent if field is not None and supersense(w, POS[part]) == field)
    return inside if len(inside) >= _FEWEST else frequent


@cache
def _known(part: Part) -> tuple[str, ...]:
    """Frequent lemmas that are this part of speech before any other."""
    fit = (
        w
        for w in lemmas(POS[part])
        if len(w) > 2 and w.isalpha() and known_tags(w)[:1] == (_BASE[part],) and w not in _GRAMMAR
    )
    return tuple(islice(fit, _FREQUENT[part]))
