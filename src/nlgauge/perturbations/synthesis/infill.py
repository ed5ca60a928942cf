"""Words for the gaps of a text: fillers with and without a model, and the perturbation that masks words."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Annotated, ClassVar

from nlgauge.core.errors import MissingExtra, SpecError
from nlgauge.core.options import Range, checked
from nlgauge.models.infill import Filler, Gap, Infill
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.choice import Part, single_words
from nlgauge.perturbations.words.related import OWN, sites
from nlgauge.text.doc import Token
from nlgauge.text.languages import Language
from nlgauge.text.lexicon import Relation
from nlgauge.text.scripts import WordList
from nlgauge.text.tagging import known_tags

_PARTS: tuple[Part, ...] = ("noun", "verb", "adj", "adverb")
_RELATIONS: tuple[Relation, ...] = ("sibling", "hyponym", "antonym")
_GRAMMAR = WordList("words", "never masked")
_MODEL_PACKAGES = ("torch", "transformers")


@dataclass(frozen=True)
class LexiconInfill:
    """Words of the same kind (`cat` for `dog`) and opposites (`small` for `large`), in the form of the masked word.

    They are not predicted. They come from our own lists alone, so that they can stand where the masked word stood.

    Attributes:
        language: the backend for tags and forms.
        rng: the source of the draws.
    """

    language: Language
    rng: random.Random
    _known: dict[str, Mapping[int, Sequence[str]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """See `Infill.fill`; many gaps get no words. The words of a gap are in an order that is drawn."""
        found = []
        for gap in gaps:
            if gap.text not in self._known:
                self._known[gap.text] = _own_words(self.language, gap.text)
            forms = self._known[gap.text].get(gap.start, ()) if gap.end > gap.start else ()
            drawn = self.rng.sample(forms, min(len(forms), k))
            found.append([Filler(form, -math.log1p(place)) for place, form in enumerate(drawn)])
        return found


@dataclass(frozen=True, kw_only=True)
class MaskAndPredict:
    """Mask a few words that carry meaning and put predicted ones in their place.

    Args:
        count: how many words are masked. With None, `fraction` decides.
        fraction: the share of the nouns, verbs, adjectives and adverbs that are masked; at least one word is.
        infill: what predicts: `lexicon` draws words of the same kind and opposites; `infill` is the small masked
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
        ("Where is the old hotel?", "Where is the old hospital?"),
        needs=("english", "infill"),
    )

    def __post_init__(self) -> None:
        check_infill(self.infill)
        checked(self)

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit for each masked word."""
        words = {t.index: t for part in _PARTS for t in single_words(case.doc, part)}
        maskable = [t for _, t in sorted(words.items()) if case.language.lemma(t.lower, t.tag) not in _GRAMMAR]
        if not maskable:
            return Inapplicable("no content word")
        wanted = self.count or max(1, round(self.fraction * len(maskable)))
        filler, draft = infill(self.infill, case.language, rng), Draft(case.doc)
        changed: list[tuple[int, list[str]]] = []
        order = rng.sample(maskable, len(maskable))
        while order and len(changed) < wanted:  # those that get no word leave their turn to others
            masked = sorted(order[: wanted - len(changed)], key=lambda t: t.index)
            order = order[len(masked) :]
            offered = filler.fill([Gap(case.text, t.start, t.end) for t in masked], self.top + 1)
            for token, fillers in zip(masked, offered, strict=True):
                new = _drawn(case, token, fillers, self.top, rng)
                if new is not None:
                    draft.replace(token.index, token.index, new)
                    changed.append((token.index, [token.text, new]))
        pairs = [pair for _, pair in sorted(changed)]
        return draft.finish(words=pairs) if pairs else Inapplicable("no prediction")


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
    from nlgauge.models.filler import load_infill

    return load_infill(name)


def _own_words(language: Language, text: str) -> Mapping[int, Sequence[str]]:
    """The offset of a word -> what may take its place, of our own words."""
    case = Case(language.analyse(text), language)
    forms: dict[int, list[str]] = {}
    for part in _PARTS:
        for relation in _RELATIONS:
            for site in sites(case, part, relation):
                fit = [s.form for s in site.swaps if s.trust == OWN and not s.graded and " " not in s.form]
                found = forms.setdefault(site.token.start, [])
                found += [form for form in fit if form not in found]
    return forms


def _drawn(case: Case, token: Token, fillers: Sequence[Filler], top: int, rng: random.Random) -> str | None:
    """One of the best so many words; never one that is there already or is not a word."""
    words = [f.word.strip() for f in fillers]
    fit = [w for w in words if w.casefold() != token.text.casefold() and w.isalpha() and known_tags(w.lower())][:top]
    return next((w for w in rng.sample(fit, len(fit)) if _bears(case, token, w)), None)


def _bears(case: Case, token: Token, word: str) -> bool:
    """Whether a word bears the tag of a token in its place."""
    if known_tags(word.lower()) == (token.tag,):
        return True
    tokens = case.language.analyse(case.text[: token.start] + word + case.text[token.end :]).tokens
    at = bisect_right(tokens, token.start, key=lambda t: t.start) - 1
    return tokens[at].text == word and tokens[at].tag == token.tag
