"""Texts with errors made on purpose, and how bad each error is: training data where nobody has rated anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import show
from nlgauge.core.segment import frame_texts as texts_of
from nlgauge.core.segment import is_blank
from nlgauge.core.spec import Signature, version
from nlgauge.models.infill import Filler, Gap, Infill
from nlgauge.perturbations.base import Edit, stream
from nlgauge.perturbations.draft import with_case_of
from nlgauge.perturbations.spacing import is_mark
from nlgauge.perturbations.synthesis.draws import OPERATIONS, Draws, Operation
from nlgauge.perturbations.synthesis.infill import LexiconInfill
from nlgauge.perturbations.synthesis.severity import JUDGE, Judge, Kind
from nlgauge.perturbations.synthesis.severity import severity as rated_by
from nlgauge.perturbations.synthesis.walk import AppliedEdit, Walk
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.languages import language
from nlgauge.text.tokenize import unit_spans

MAX_WORDS = 80  # two texts of so many are some 220 pieces; NLI models were trained with 256
_LONGEST_WORD = 40  # characters; what has more for each word allowed is too long unseen


@dataclass(frozen=True)
class Step:
    """One edit.

    Attributes:
        text: the text after it.
        operation: insert, delete, replace or swap.
        edit: `(start, end, new)` in offsets of the text before it.
        span: tokens that came in (insert) or went away (delete, replace); how far the two are apart (swap).
        model: what the words came from; None where none were needed.
        severity: -1 to -5.
    """

    text: str
    operation: Operation
    edit: Edit
    span: int
    model: str | None
    severity: float


@dataclass(frozen=True)
class Synthesis:
    """A text after all edits.

    Attributes:
        text: the last stratum.
        score: the sum of the severities, -25 to -1 with the usual options.
        steps: from the first edit to the last.
        original: the text as it came.
        wanted: how many edits were drawn; `steps` are fewer where no room was left for more.
        variant: which of the variants of its original, from 0 on.
        id: as it came.
    """

    text: str
    score: float
    steps: tuple[Step, ...]
    original: str
    wanted: int
    variant: int = 0
    id: str | None = None

    @property
    def strata(self) -> tuple[str, ...]:
        """The text before the first edit, after it, after the second, ..."""
        return (self.original, *(step.text for step in self.steps))

    def as_row(self, id: str | None = None, others: Sequence[str] = ()) -> dict[str, Any]:  # noqa: A002
        """As it stands in a file of triples; `score` is what `hyp` is worth beside `refs`.

        Args:
            id: the id of the row; None takes the id of the synthesis.
            others: paraphrases of the original, which stand in `refs` in its place; the original is then `original`.
        """
        steps = [
            {
                "operation": s.operation,
                "start": s.edit.start,
                "end": s.edit.end,
                "new": s.edit.new,
                "span": s.span,
                "model": s.model,
                "severity": round(s.severity, 4),
                "text": s.text,
            }
            for s in self.steps
        ]
        row = {"hyp": self.text, "refs": list(others) or [self.original], "score": round(self.score, 4)}
        row |= ({"original": self.original} if others else {}) | {"steps": steps}
        named = id if id is not None else self.id
        return row if named is None else {"id": named, **row}


class Syntheses(list["Synthesis | None"]):
    """The result for each text, all variants of one beside each other; None where it was left alone.

    Attributes:
        reasons: why it was, None where it was not; as long as the list.
        signature: what made them.
    """

    def __init__(self, outcomes: Sequence[Synthesis | str], signature: Signature) -> None:
        super().__init__(None if isinstance(o, str) else o for o in outcomes)
        self.reasons: list[str | None] = [o if isinstance(o, str) else None for o in outcomes]
        self.signature = signature

    @property
    def skipped(self) -> Counter[str]:
        """How many were left alone, by reason."""
        return Counter(reason for reason in self.reasons if reason is not None)


def synthesize(
    texts: str | Sequence[str],
    *,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    variants: int = 1,
    operations: Operation | Sequence[Operation] = OPERATIONS,
    edits: float = 5.0,
    max_edits: int = 5,
    span: float = 1.5,
    swap_window: int = 4,
    top_k: int = 4,
    infill: str | Infill | Sequence[str | Infill] = "infill",
    infill_language: str | None = None,
    judge: str | Judge | None = JUDGE,
    threshold: float | None = None,
    severity: Kind = "binary",
    max_words: int = MAX_WORDS,
    runtime: Runtime | None = None,
) -> Syntheses:
    """Put one to five errors into each of n texts, and say how bad each error is.

    Args:
        texts, ids: what errors are put into, and its ids, length n; a single string is one text.
        seed: it makes the draws of a text together with the id of the text, or else the text itself.
        operations: which edits there are; a single string is one.
        edits, max_edits, span, swap_window, top_k: the distributions, see `Draws`.
        infill: gives words: `infill` (shipped head), `lexicon` (no model), a masked or denoising model, or an object
            with `fill(gaps, k)` and perhaps `phrases` (`span` applies). Of several, one is drawn for each edit.
        infill_language: code of the language of the texts, for models of many languages: `de_DE` for mBART.
        judge: the NLI model that tells minor from major errors; None goes with severity `none`.
        threshold: an error is minor from this probability on; None takes the threshold calibrated for the judge.
        severity: `binary`: -1 or -5; `graded`: between them; `none`: -1 for each error.
        variants, max_words, runtime: how often each text is taken; longer ones are left alone; device and models.

    Returns:
        n * variants outcomes. One is None if the text has no letters, fewer than two words or too many; see `reasons`.

    Raises:
        SpecError: an option is out of range.
        InputError: something is not a text, or a model cannot be found.
        MissingExtra: the packages for models are not installed.

    References:
        Xu et al. (2022), "Not All Errors are Equal" (SEScore), sections 3.2 and 3.3.
    """
    listed = [texts] if isinstance(texts, str) else texts_of(texts, "texts")
    chosen = (operations,) if isinstance(operations, str) else tuple(operations)
    return Synthesizer(
        Draws(operations=chosen, edits=edits, max_edits=max_edits, span=span, swap_window=swap_window, top_k=top_k),
        infill=infill,
        infill_language=infill_language,
        judge=judge,
        threshold=threshold,
        severity=severity,
        seed=seed,
        variants=variants,
        max_words=max_words,
        runtime=runtime,
    )(listed, ids)


class Synthesizer:
    """`synthesize` with its models loaded once, for texts that come in portions.

    On one machine texts, edits and severities do not depend on the portions, with the two exceptions that rounding
    makes: graded severities agree up to it, and a denoiser that finds two phrases as likely up to it may prefer the
    other one.

    Raises:
        SpecError: an option out of range.
        InputError: a model that cannot be found.
    """

    def __init__(
        self,
        draws: Draws | None = None,
        *,
        infill: str | Infill | Sequence[str | Infill] = "infill",
        infill_language: str | None = None,
        judge: str | Judge | None = JUDGE,
        threshold: float | None = None,
        severity: Kind = "binary",
        seed: int = 0,
        variants: int = 1,
        max_words: int = MAX_WORDS,
        runtime: Runtime | None = None,
    ) -> None:
        for name, value in (("variants", variants), ("max_words", max_words)):
            if value < 1:
                raise SpecError(f"{name} is {value}, expected 1 or more")
        self.draws, self.seed, self.variants, self.max_words = draws or Draws(), seed, variants, max_words
        self.runtime = runtime or Runtime()
        self.severity = rated_by(judge, severity, threshold, self.runtime)
        given = [infill] if isinstance(infill, str) or not isinstance(infill, Sequence) else infill
        self.fillers = [_Filler(one, self.runtime, infill_language) for one in given]
        names = [filler.name for filler in self.fillers]
        if not names or len(set(names)) < len(names):
            raise SpecError(f"infill is {names}, expected one model or several, each named once")
        if infill_language is not None and not any("language" in filler.facts for filler in self.fillers):
            raise SpecError(
                f"infill_language is {infill_language!r}, but {', '.join(names)} marks no languages; leave it out"
            )

    @property
    def signature(self) -> Signature:
        """Everything that could change what comes out."""
        draws = self.draws
        entries: dict[str, Any] = {
            "synthesis": "stratified",
            "operations": ",".join(draws.operations),
            "edits": draws.edits,
            "max_edits": draws.max_edits,
            "span": draws.span,
            "swap_window": draws.swap_window,
            "top_k": draws.top_k,
            "infill": "+".join(filler.name for filler in self.fillers),
            **{
                key: value
                for place, filler in enumerate(self.fillers)
                for key, value in _facts(f"infill{place + 1}" if place else "infill", filler.facts).items()
            },
            "severity": self.severity.kind,
            "judge": self.severity.name,
            "threshold": self.severity.threshold,
            **_facts("judge", self.severity.facts),
            "max_words": self.max_words,
            "seed": self.seed,
            "variants": self.variants,
            "nlgauge": version("nlgauge"),
        }
        return Signature("synthesize", tuple((key, show(value)) for key, value in entries.items() if value is not None))

    def __call__(self, texts: Sequence[str], ids: Sequence[str] | None = None) -> Syntheses:
        """As `synthesize`."""
        for what, strings in (("texts", texts), ("ids", ids or ())):
            for i, value in enumerate(strings):
                if not isinstance(value, str):
                    raise InputError(f"{what}[{i}] is {type(value).__name__}, expected a string")
        if isinstance(ids, str):
            raise InputError("ids is one string, expected an id for each text")
        if ids is not None and len(ids) != len(texts):
            raise InputError(f"{len(texts)} texts but {len(ids)} ids; give one id per text")
        outcomes: list[str | tuple[Walk, int, int]] = []
        walks: list[tuple[Walk, str]] = []
        phrases = [filler.phrases for filler in self.fillers]
        for i, text in enumerate(texts):
            reason = unfit(text, self.max_words)
            for variant in range(self.variants):
                if reason is not None:
                    outcomes.append(reason)
                    continue
                key = ids[i] if ids is not None else text
                walk = Walk(text, self.draws, phrases, stream(self.seed, f"synthesize/{variant}", key))
                walks.append((walk, f"{variant}/{key}"))
                outcomes.append((walk, i, variant))
        self._edit(walks)
        return Syntheses(self._rated(outcomes, texts, ids), self.signature)

    def _edit(self, walks: Sequence[tuple[Walk, str]]) -> None:
        """All edits of all texts; each round fills one gap of every text that needs words."""
        with self.runtime.progress(len(walks), "edits") as advance:
            going = list(walks)
            while going:
                asked = [(walk, key, walk.ask()) for walk, key in going]
                advance(sum(gap is None for _, _, gap in asked))
                open_ = [(walk, key, gap) for walk, key, gap in asked if gap is not None]
                for place, filler in enumerate(self.fillers):
                    own = [each for each in open_ if each[0].filler == place]
                    keys = [f"{self.seed}/{len(walk.made)}/{key}" for walk, key, _ in own]
                    found = filler.fill([gap for _, _, gap in own], walks[0][0].asked_for, keys)
                    for (walk, _, _), words in zip(own, found, strict=True):
                        walk.answer(words)
                going = [(walk, key) for walk, key, _ in open_]

    def _rated(
        self, outcomes: Sequence[str | tuple[Walk, int, int]], texts: Sequence[str], ids: Sequence[str] | None
    ) -> list[Synthesis | str]:
        pairs: list[tuple[str, str]] = []
        made: list[AppliedEdit] = []
        for outcome in outcomes:
            if not isinstance(outcome, str):
                strata = [texts[outcome[1]], *(m.text for m in outcome[0].made)]
                pairs += pairwise(strata)
                made += outcome[0].made
        # What lost words can hardly entail what it was; what gained some can hardly be entailed.
        rated = iter(self.severity.rate(pairs, [m.operation == "delete" for m in made]))
        found: list[Synthesis | str] = []
        for outcome in outcomes:
            if isinstance(outcome, str):
                found.append(outcome)
                continue
            walk, i, variant = outcome
            steps = tuple(
                Step(m.text, m.operation, m.edit, m.span, self._name(m.filler), worth)
                for m, worth in zip(walk.made, rated, strict=False)
            )
            if not steps:
                found.append("no edit fits")
                continue
            score = sum(step.severity for step in steps)
            found.append(
                Synthesis(steps[-1].text, score, steps, texts[i], walk.wanted, variant, None if ids is None else ids[i])
            )
        return found

    def _name(self, filler: int | None) -> str | None:
        """The name of a filler by its number."""
        return None if filler is None else self.fillers[filler].name


def _facts(role: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that identify a model, for a signature; its name stands there already, under its role."""
    return {f"{role}_{key}": value for key, value in facts.items() if key != "model"}


def unfit(text: str, max_words: int = MAX_WORDS) -> str | None:
    """Why a text cannot be edited with sense, None if it can: `empty`, `no letters`, `one word`, `too long`."""
    if is_blank(text):
        return "empty"
    if len(text) > max_words * _LONGEST_WORD:
        return "too long"
    if not any(c.isalpha() for c in text):
        return "no letters"
    words = sum(not is_mark(text[start:end]) for start, end in unit_spans(text))
    return "one word" if words < 2 else "too long" if words > max_words else None


class _Filler:
    """The source of words, and its name for records."""

    def __init__(self, given: str | Infill, runtime: Runtime, language: str | None) -> None:
        self._given: Infill | None = None
        self.facts: Mapping[str, Any] = {}
        if isinstance(given, str) and given != "lexicon":
            from nlgauge.models.filler import load_infill
            from nlgauge.models.infill import locate_infill

            spoken = language if locate_infill(given).phrases else None
            given = load_infill(given, dtype=runtime.dtype, runtime=runtime, language=spoken)
        if isinstance(given, str):
            self.name, self.phrases = given, False
            return
        if not isinstance(given, Infill):
            raise SpecError(
                f"infill is {type(given).__name__}, expected the name of a model, 'lexicon' or an object with"
                " fill(gaps, k)"
            )
        self._given = given
        self.name = str(getattr(given, "name", type(given).__name__))
        self.phrases = bool(getattr(given, "phrases", False))
        facts = getattr(given, "facts", None)
        self.facts = facts() if callable(facts) else {}

    def fill(self, gaps: Sequence[Gap], k: int, keys: Sequence[str]) -> list[list[Filler]]:
        """Words for each gap; where they are drawn and not predicted, the key of each makes the draws."""
        if not gaps:
            return []
        if self._given is not None:
            given = self._given.fill(gaps, k)
            if len(given) != len(gaps):
                raise InputError(
                    f"infill {self.name} filled {len(given)} of {len(gaps)} gaps, expected a list of words for each"
                )
            return given
        known, found = language(), []
        for gap, key in zip(gaps, keys, strict=True):
            (fillers,) = LexiconInfill(known, stream(0, "lexicon", key)).fill([gap], k)
            old = gap.text[gap.start : gap.end]
            found.append([Filler(with_case_of(old, f.word) if old else f.word, f.score) for f in fillers])
        return found
