"""What models say of edits: words for the gaps of a text, and how bad an edit is by what entails what."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, MissingExtra, SpecError
from nlgauge.core.options import Range, checked
from nlgauge.models.entailment import Entailment, NliModel, load_nli
from nlgauge.models.infill import Filler, Gap, Infill
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.perturb import Case, Change, Inapplicable, worse
from nlgauge.perturbations.words import OWN, Part, single_words, sites
from nlgauge.runtime.runtime import Runtime, margin
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
    """Refuse what cannot fill gaps, before any text is looked at.

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


# --- How bad an edit is, by what entails what: -1 where a text before and after still entail each other, else -5

Kind = Literal["binary", "graded", "none"]
MINOR, MAJOR = -1.0, -5.0
THRESHOLD = 0.9  # Xu et al. (2022), section 3.3; for large models
JUDGE = "nli-robust"  # of the shipped ones the one that tells minor from major best, see CALIBRATED
# Small models are less sure of what is right: with 0.9 `nli-robust` finds 0.048 of the minor changes, at 0.29 0.850.
# Head -> its SHA-256, the threshold found by `sh recipes/sescore/severities.sh DATA OUT`, and its balanced accuracy.
CALIBRATED: Mapping[str, tuple[str, float, float]] = {
    "nli": ("578bee3d29eee162", 0.53, 0.732),
    "nli-robust": ("adbb6bfb0a8771f2", 0.29, 0.848),
}


@runtime_checkable
class EntailmentJudge(Protocol):
    """Tells how far texts entail each other, as NLI models do."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> Entailment:
        """Probabilities of entailment, neutrality and contradiction of (premise, hypothesis) pairs."""
        ...


@dataclass(frozen=True)
class Severity:
    """A judge, and how its probabilities become severities.

    An error that the judge does not notice costs -1, too.

    Attributes:
        kind: `binary` is -1 or -5; `graded` is -5 without entailment, -3 at the threshold and -1 at full entailment, on
            straight lines between them, of the weaker direction; `none` is -1 for every edit.
        judge: the judge; None where none is needed.
        name: the name of the judge.
        threshold: an edit is minor from this probability of entailment in both directions; with `graded`, the
            probability that gets -3.
        facts: what identifies the judge, for signatures.
        dtype: the precision of the judge. The lower it is, the wider the range around the threshold in which a pair is
            asked once more, alone.
    """

    kind: Kind
    judge: EntailmentJudge | None = None
    name: str | None = None
    threshold: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"

    def rate(self, pairs: Sequence[tuple[str, str]], backward_first: Sequence[bool] | None = None) -> list[float]:
        """The severity of each edit.

        Args:
            pairs: (text before, text after) of n edits.
            backward_first: whether to ask first if the text after entails the one before, length n. A pair that fails
                one direction is not asked in the other, so this only affects the running time.

        References:
            Xu et al. (2022), section 3.3. The released code asks for more than the threshold, the paper for at least
            the threshold.
        """
        if self.judge is None or self.threshold is None:
            return [MINOR] * len(pairs)
        if self.kind == "graded":
            return [graded(p, self.threshold) for p in mutual(self.judge, pairs).tolist()]
        turned = backward_first or [False] * len(pairs)
        first = self._entailed([pair[::-1] if back else pair for pair, back in zip(pairs, turned, strict=True)])
        left = [i for i, entailed in enumerate(first) if entailed]
        second = self._entailed([pairs[i] if turned[i] else pairs[i][::-1] for i in left])
        minor = {i for i, entailed in zip(left, second, strict=True) if entailed}
        return [MINOR if i in minor else MAJOR for i in range(len(pairs))]

    def _entailed(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        assert self.judge is not None
        assert self.threshold is not None
        if not pairs:
            return []
        found = _entailment(self.judge, pairs).copy()
        # So close to the threshold the company of other pairs could turn a model's answer.
        close = np.flatnonzero(np.abs(found - self.threshold) < margin(self.dtype)).tolist()
        if close:
            found[close] = _alone(self.judge, [pairs[i] for i in close])
        minor: list[bool] = (found >= self.threshold).tolist()
        return minor


def severity(judge: str | EntailmentJudge | None, kind: Kind, threshold: float | None, runtime: Runtime) -> Severity:
    """The severity rating for the values of options; a model is loaded only when it is asked.

    Args:
        judge: `nli`, `nli-robust`, a head, folder or hub id of an NLI model, an object with `judge(pairs)`, or None
            for severity none.
        threshold: None takes the one calibrated for the judge; for unknown judges it takes the paper's 0.9.

    Raises:
        SpecError: the kind is unknown or needs a judge, or the threshold is outside (0, 1].
        InputError: the model cannot be found.
    """
    if kind not in get_args(Kind):
        raise SpecError(f"severity is {kind!r}, expected one of {', '.join(get_args(Kind))}")
    if kind == "none":
        return Severity("none")
    if judge is None:
        raise SpecError(f"severity is {kind!r} and there is no judge; name an NLI model, or take severity none")
    if threshold is not None and not 0 < threshold <= 1:
        raise SpecError(f"threshold is {threshold}, expected above 0 and at most 1")
    if isinstance(judge, str):
        model = load_nli(judge, None, None, runtime.dtype, runtime)
        facts = {"dtype": runtime.dtype, "max_tokens": model.found.max_tokens(None), **model.found.facts()}
        own = (CALIBRATED[judge][1] if judge in CALIBRATED else THRESHOLD) if threshold is None else threshold
        return Severity(kind, model, judge, own, facts, runtime.dtype)
    if not isinstance(judge, EntailmentJudge):
        raise SpecError(
            f"judge is {type(judge).__name__}, expected the name of an NLI model or an object with judge(pairs)"
        )
    name = getattr(judge, "name", type(judge).__name__)
    return Severity(kind, judge, name, THRESHOLD if threshold is None else threshold)


def mutual(judge: EntailmentJudge, pairs: Sequence[tuple[str, str]]) -> Array:
    """The smaller of the probabilities that each text of a pair entails the other, shape (n,)."""
    if not pairs:
        return np.zeros(0)
    both = _entailment(judge, [*pairs, *((after, before) for before, after in pairs)])
    return np.minimum(both[: len(pairs)], both[len(pairs) :])


def _entailment(judge: EntailmentJudge, pairs: Sequence[tuple[str, str]]) -> Array:
    """Probabilities that the first text of each pair entails the second, shape (n,).

    NaN, to which models overflow in half precision, raises an error.
    """
    probabilities = judge.judge(pairs).probabilities[:, 0]
    if np.isnan(probabilities).any():
        raise InputError(
            f"the judge has no answer (NaN) for {np.isnan(probabilities).sum()} of {len(pairs)} pairs; try dtype"
            " float32, or another model"
        )
    return probabilities


def _alone(judge: EntailmentJudge, pairs: Sequence[tuple[str, str]]) -> Array:
    """The same as `_entailment`, but with each pair in a call of its own, so that other pairs do not affect it."""
    if isinstance(judge, NliModel):
        return judge.judge(pairs, alone=True).probabilities[:, 0]
    return np.concatenate([_entailment(judge, [pair]) for pair in pairs])


def graded(probability: float, threshold: float) -> float:
    """From -5 where nothing entails over -3 at the threshold to -1 where all does, straight on both sides."""
    middle = (MINOR + MAJOR) / 2
    if probability < threshold:
        return MAJOR + (middle - MAJOR) * probability / threshold
    return middle + (MINOR - middle) * (probability - threshold) / (1 - threshold) if threshold < 1 else MINOR


@dataclass(frozen=True)
class Calibration:
    """How well a threshold tells minor from major edits.

    Attributes:
        threshold: the best threshold.
        balanced_accuracy: the mean of `minor` and `major`.
        minor, major: the share of the minor (major) pairs that are recognised as such, in [0, 1].
        n_minor, n_major: the number of minor (major) pairs.
    """

    threshold: float
    balanced_accuracy: float
    minor: float
    major: float
    n_minor: int
    n_major: int


def calibrate(
    judge: str | EntailmentJudge, pairs: Sequence[tuple[str, str, bool]], runtime: Runtime | None = None
) -> Calibration:
    """The threshold of a judge that best tells minor from major edits, by balanced accuracy.

    Args:
        judge: as for `severity`.
        pairs: (text before, text after, whether the edit is minor).
        runtime: device, precision and models; None is the default runtime.

    Raises:
        InputError: there is no minor or no major pair.
    """
    asked = severity(judge, "graded", None, runtime or Runtime()).judge
    assert asked is not None
    sure = mutual(asked, [(before, after) for before, after, _ in pairs])
    return fit(sure, np.array([minor for _, _, minor in pairs], dtype=bool))


def fit(probabilities: Array, minor: Any) -> Calibration:
    """The threshold that best tells minor from major edits, halfway between two probabilities; of equals the lowest.

    Raises:
        InputError: there is no minor or no major edit.
    """
    minor = np.asarray(minor, dtype=bool)
    n_minor, n_major = int(minor.sum()), int((~minor).sum())
    if not n_minor or not n_major:
        raise InputError(
            f"{n_minor} minor and {n_major} major pairs, expected some of both; a threshold has to tell them apart"
        )
    order = np.argsort(probabilities, kind="stable")
    values, labels = probabilities[order], minor[order]
    cuts = np.flatnonzero(np.append(np.diff(values) > 0, False)) + 1  # with the first i called major
    cuts = np.concatenate([[0], cuts])
    found_major = np.concatenate([[0], np.cumsum(~labels)])[cuts] / n_major
    found_minor = 1 - np.concatenate([[0], np.cumsum(labels)])[cuts] / n_minor
    best = int(np.argmax(found_major + found_minor))
    cut = int(cuts[best])
    threshold = float((values[cut - 1] + values[cut]) / 2) if cut else float(values[0])
    if cut and threshold <= values[cut - 1]:  # two neighbours in floating point
        threshold = float(values[cut])
    share = (float(found_minor[best]), float(found_major[best]))
    return Calibration(threshold, sum(share) / 2, *share, n_minor, n_major)
