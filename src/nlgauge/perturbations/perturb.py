"""Perturbations: what one is, a frozen dataclass that turns a case into edits; which there are; and many texts."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from nlgauge.core.errors import InputError, NlgaugeError, SpecError
from nlgauge.core.options import Entry, Registry
from nlgauge.core.scores import say, warning
from nlgauge.core.segment import cells, is_blank, kind_of
from nlgauge.core.segment import frame_texts as texts_of
from nlgauge.core.spec import Spec, parse
from nlgauge.text.doc import Doc
from nlgauge.text.english.verbs import is_english
from nlgauge.text.languages import Language, language

Expect = Literal["lower", "same"]
NEEDS: Mapping[str, str] = {
    "english": "a text in English",
    "context": "the turns of the dialogue before it",
    "pool": "other texts to draw from",
    "references": "a second reference",
    "table": "texts to take from a file",
    "infill": "something that fills gaps; without a model words are drawn from the lexicon",
}
SAI, CHEN = "Sai et al. (2021)", "Chen and Eger (2023)"


class Edit(NamedTuple):
    """One replacement: `new` takes the place of the text from offset `start` up to `end`."""

    start: int
    end: int
    new: str


class Turn(NamedTuple):
    """One turn of a dialogue: who said what."""

    speaker: str
    text: str


@dataclass(frozen=True)
class Case:
    """One text with everything that a perturbation may need.

    Attributes:
        doc: the text with its tokens and sentences.
        language: the backend that analyses and inflects.
        id: the id of its segment; None where it has none.
        context: the turns before it, oldest first.
        speaker: the speaker of the text; None where there is no context.
        pool: texts that a perturbation may draw from.
        references: other texts that say the same.
    """

    doc: Doc
    language: Language
    id: str | None = None
    context: Sequence[Turn] = ()
    speaker: str | None = None
    pool: Sequence[str] = ()
    references: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The text itself."""
        return self.doc.text

    def replaced(self, text: str, /, **meta: Any) -> Change:
        """The change that puts another text in the place of the whole one; `meta` goes with it."""
        return Change([Edit(0, len(self.text), text)], meta)


@dataclass(frozen=True)
class Change:
    """The edits of a perturbation to a text.

    Attributes:
        edits: ascending, not overlapping, in offsets of the text.
        meta: what was picked and from what, in plain values that JSON can hold.
    """

    edits: Sequence[Edit]
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Inapplicable:
    """Why a perturbation leaves a text alone.

    Attributes:
        reason: in a word or two: `no number`, `too short`, `language`.
        note: what the user must be told besides, in a sentence; empty as a rule.
    """

    reason: str
    note: str = ""


@dataclass(frozen=True)
class PerturbationInfo:
    """The declared facts of a perturbation.

    Attributes:
        name: its id in the registry; left empty, it comes from the name of the class: `drop_phrases` of `DropPhrases`.
        summary: what it does, in one line that begins with a verb.
        expect: `lower` if the text becomes worse, `same` if it stays as good.
        needs: keys of `NEEDS`.
        example: a text, and the same text after the perturbation.
        source: the paper that describes it.
    """

    name: str
    summary: str
    expect: Expect
    example: tuple[str, str]
    needs: frozenset[str] = frozenset({"english"})
    source: str = SAI

    def __set_name__(self, owner: type, attribute: str) -> None:
        """Take the name of the class that declares it, unless it has one."""
        if not self.name:
            object.__setattr__(self, "name", re.sub(r"(?<!^)(?=[A-Z])", "_", owner.__name__).lower())


def worse(
    summary: str,
    example: tuple[str, str],
    *,
    needs: Collection[str] = ("english",),
    source: str = SAI,
    name: str = "",
) -> PerturbationInfo:
    """Declare a perturbation after which a text is worse; the arguments are the fields of `PerturbationInfo`."""
    return PerturbationInfo(name, summary, "lower", example, frozenset(needs), source)


attack = partial(worse, source=CHEN)  # one of MENLI's


def as_good(summary: str, example: tuple[str, str], *, needs: Collection[str] = ("english",)) -> PerturbationInfo:
    """Declare a perturbation after which a text is as good as before; the arguments are those of `worse`."""
    return PerturbationInfo("", summary, "same", example, frozenset(needs))


@runtime_checkable
class Perturbation(Protocol):
    """A frozen dataclass whose fields are its options; calling it changes nothing but the state of `rng`."""

    info: ClassVar[PerturbationInfo]

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The edits that make the perturbation, or why there are none."""
        ...


@dataclass(frozen=True)
class Perturbed:
    """A text after a perturbation.

    Attributes:
        text: the text with all edits made.
        edits: the changes, `(start, end, new)` in offsets of `original`.
        original: the text before the perturbation.
        perturbation: the id of the perturbation.
        expect: `lower` or `same`.
        seed: the seed of the draws, which also depend on the id of the perturbation and the id of the segment.
        meta: what was picked.
        id: the id of the segment, where it has one.
    """

    text: str
    edits: list[Edit]
    original: str
    perturbation: str
    expect: Expect
    seed: int
    meta: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made.

    Raises:
        ValueError: edits overlap, are out of order or reach beyond the text; this is a bug of the perturbation.
    """
    parts, at = [], 0
    for start, end, new in edits:
        if not at <= start <= end <= len(text):
            raise ValueError(f"edit ({start}, {end}, {new!r}) after {at} in a text of {len(text)} characters")
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def stream(seed: int, name: str, key: str) -> random.Random:
    """The random numbers of one perturbation on one text; the rest of the batch does not affect them.

    Args:
        seed: the user's seed.
        name: the id of the perturbation.
        key: the id of the segment, or else the text.
    """
    digest = blake2b(digest_size=16)
    for part in (str(seed), name, key):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return random.Random(int.from_bytes(digest.digest(), "big"))


# --- Which perturbations there are, and how a specification becomes one


def _at(target: str) -> Entry:
    """Where a name leads: `module:Class` inside `nlgauge.perturbations`."""
    return Entry(f"nlgauge.perturbations.{target}")


# One line per name. A new perturbation needs a class, which declares itself in its `info`, and a line here.
PERTURBATIONS = Registry(
    kind="perturbation",
    group="nlgauge.perturbations",
    members=("info", "__call__"),
    entries={
        # Sai et al. (2021): fluency
        "remove_punctuation": _at("surface:RemovePunctuation"),
        "jumble_words": _at("surface:JumbleWords"),
        "subject_verb_disagreement": _at("surface:SubjectVerbDisagreement"),
        "drop_stopwords": _at("surface:DropStopwords"),
        "typos": _at("surface:Typos"),
        # what should change nothing
        "synonyms": _at("words:Synonyms"),
        "synonyms_attributes": _at("words:SynonymsAttributes"),
        "synonyms_objects": _at("words:SynonymsObjects"),
        "contractions": _at("surface:Contractions"),
        "expansions": _at("surface:Expansions"),
        "numbers_to_words": _at("names:NumbersToWords"),
        "alternative_references": _at("clauses:AlternativeReferences"),
        # adequacy, informativeness, data coverage
        "drop_phrases": _at("clauses:DropPhrases"),
        "add_extra_text": _at("clauses:AddExtraText"),
        "negation": _at("negation:Negation"),
        "antonyms": _at("words:Antonyms"),
        "repeat_phrases": _at("clauses:RepeatPhrases"),
        "change_numbers": _at("names:ChangeNumbers"),
        "change_names": _at("names:ChangeNames"),
        "drop_named_entities": _at("names:DropNamedEntities"),
        "keep_only_stopwords": _at("surface:KeepOnlyStopwords"),
        "drop_adjectives": _at("clauses:DropAdjectives"),
        "hyponyms": _at("words:Hyponyms"),
        # summaries
        "reorder_sentences": _at("surface:ReorderSentences"),
        "repeat_sentences": _at("surface:RepeatSentences"),
        "nouns_to_pronouns": _at("names:NounsToPronouns"),
        # questions
        "change_question_word": _at("questions:ChangeQuestionWord"),
        "drop_question_word": _at("questions:DropQuestionWord"),
        "question_to_assertion": _at("questions:QuestionToAssertion"),
        "mask_and_predict": _at("severity:MaskAndPredict"),
        "perturb_entities": _at("names:PerturbEntities"),
        # dialogue
        "negate_previous_utterance": _at("scenes:NegatePreviousUtterance"),
        "add_nonsense": _at("clauses:AddNonsense"),
        "repeat_own_utterance": _at("scenes:RepeatOwnUtterance"),
        "repeat_last_speaker": _at("scenes:RepeatLastSpeaker"),
        "sorry_repeat": _at("scenes:SorryRepeat"),
        "generic_response": _at("scenes:GenericResponse"),
        "random_text": _at("clauses:RandomText"),
        # captions
        "change_attributes": _at("scenes:ChangeAttributes"),
        "change_gender": _at("scenes:ChangeGender"),
        "swap_objects": _at("scenes:SwapObjects"),
        "drop_objects": _at("scenes:DropObjects"),
        "repeat_object": _at("scenes:RepeatObject"),
        # Chen and Eger (2023)
        "addition": _at("words:Addition"),
        "omission": _at("clauses:Omission"),
        "mismatch_noun": _at("words:MismatchNoun"),
        "mismatch_verb": _at("words:MismatchVerb"),
        "mismatch_adj": _at("words:MismatchAdj"),
        "number_error": _at("names:NumberError"),
        "pronoun_error": _at("names:PronounError"),
        "name_error": _at("names:WrongName"),
        "number_and_negation": _at("clauses:NumberAndNegation"),
    },
)


def perturbation(spec: str | Perturbation, **options: Any) -> Perturbation:
    """The perturbation that a specification names, as in `negation:mode=add`; an object is returned as it is.

    Args:
        spec: a specification or an object.
        options: options in Python values, beside or in place of those in the specification.

    Raises:
        SpecError: a name or option is unknown (the error gives the nearest known one), a value has the wrong type, or
            the specification is a sum.
    """
    if not isinstance(spec, str):
        PERTURBATIONS.check_object(spec, isinstance(spec, Perturbation), "the name of a perturbation", options)
        return spec
    parsed = parse(spec)
    if not isinstance(parsed, Spec):
        raise SpecError(f"{spec!r} is a sum, expected one perturbation")
    built: Perturbation = PERTURBATIONS.build(parsed, options)
    return built


def info(name: str) -> PerturbationInfo:
    """The declared facts of the perturbation with this id.

    Raises:
        SpecError: the id is unknown.
    """
    cls, _ = PERTURBATIONS.lookup(name)
    declared: PerturbationInfo = cls.info  # type: ignore[attr-defined]
    return declared


# --- Perturb many texts: cases are made from plain lists, and texts that are left alone are counted with the reason

T = TypeVar("T")
BUG = "a bug of the perturbation"  # why a text is left alone, which should never be the reason


class Perturbations(list["Perturbed | None"]):
    """The outcome for each text; None where the perturbation did not apply.

    Attributes:
        reasons: why each text was left alone, None for texts that were perturbed; length n.
    """

    def __init__(self, outcomes: Sequence[Perturbed | Inapplicable]) -> None:
        super().__init__(o if isinstance(o, Perturbed) else None for o in outcomes)
        self.reasons: list[str | None] = [o.reason if isinstance(o, Inapplicable) else None for o in outcomes]

    @property
    def skipped(self) -> Counter[str]:
        """How many texts were left alone, by reason."""
        return Counter(reason for reason in self.reasons if reason is not None)


@warning
def perturb(
    name: str | Perturbation,
    texts: str | Sequence[str],
    *,
    seed: int = 0,
    ids: Sequence[str] | None = None,
    context: Sequence[Sequence[Mapping[str, str]]] | None = None,
    speakers: Sequence[str | None] | None = None,
    pool: Sequence[str] | None = None,
    references: Sequence[Sequence[str]] | None = None,
    language: str | Language = "builtin",
    **options: Any,
) -> Perturbations:
    """Apply one perturbation to each of n texts.

    Args:
        name: an id, with options as in metric specifications (`negation:mode=add`), or a perturbation object.
        texts: the texts to perturb, length n; a single string is one text.
        seed: determines the draws, together with the id of the perturbation and the id of the segment (or else the
            text). The position in the list never matters.
        ids: the ids of the segments, length n.
        context: for each text the turns before it, oldest first, each a mapping with `speaker` and `text`; length n.
        speakers: the speaker of each text; by default the speaker who did not speak last.
        pool: texts to draw from, for perturbations that bring in other text. Their order never matters.
        references: for each text other texts that say the same; length n.
        language: the backend: `builtin`, `spacy`, `spacy:PIPELINE`, `stanza`, or an object.
        options: options of the perturbation, as an alternative to options in `name`.

    Returns:
        A list of length n with None where the perturbation does not apply; its `reasons` say why.

    Raises:
        SpecError: the perturbation or an option is unknown.
        InputError: lists have unequal lengths, or entries are not text.
    """
    built = perturbation(name, **options)
    listed = [texts] if isinstance(texts, str) else texts_of(texts, "texts")
    cases = make_cases(
        listed, ids=ids, context=context, speakers=speakers, pool=pool, references=references, backend=language
    )
    return Perturbations([apply(built, case, seed) for case in cases])


def apply(built: Perturbation, case: Case, seed: int) -> Perturbed | Inapplicable:
    """Apply one perturbation to one case: check its needs, give it a random stream of its own, make its edits."""
    missing = unmet(built, case)
    if missing is not None:
        return Inapplicable(missing)
    name = built.info.name
    key = case.id if case.id is not None else case.text
    try:
        change = built(case, stream(seed, name, key))
        if isinstance(change, Inapplicable):
            return change
        text = apply_edits(case.text, change.edits)
    except (NlgaugeError, MemoryError):
        raise
    except Exception as error:  # one text must not end a run of thousands, nor may the bug be hidden
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        note = f"{name}: a bug ({said:.200}) with the text {key!r:.60}, which is left alone; please report it"
        say(note)
        return Inapplicable(BUG, note)
    if text == case.text:
        return Inapplicable("unchanged")
    if not text.strip():
        return Inapplicable("nothing would be left")
    return Perturbed(text, list(change.edits), case.text, name, built.info.expect, seed, dict(change.meta), case.id)


def unmet(built: Perturbation, case: Case) -> str | None:
    """The first need of a perturbation that a case does not meet, as a reason; None if all are met."""
    needs = built.info.needs
    if is_blank(case.text):
        return "empty"
    if "english" in needs and not is_english(case.doc):
        return "language"
    if "context" in needs and not case.context:
        return "no context"
    if "pool" in needs and not any(text != case.text for text in case.pool):
        return "no pool"
    if "references" in needs and not any(text != case.text for text in case.references):
        return "no other reference"
    return None


def make_cases(
    texts: Sequence[str],
    *,
    ids: Sequence[str] | None = None,
    context: Sequence[Sequence[Mapping[str, str]]] | None = None,
    speakers: Sequence[str | None] | None = None,
    pool: Sequence[str] | None = None,
    references: Sequence[Sequence[str]] | None = None,
    backend: str | Language = "builtin",
) -> list[Case]:
    """Cases from parallel lists; arguments as for `perturb`."""
    n = len(texts)
    if isinstance(pool, str):
        raise InputError("pool is one string, expected a flat list of texts")
    _check_strings("texts", texts)
    pool = () if pool is None else texts_of(pool, "pool")
    ids = ids if ids is None or isinstance(ids, str) else texts_of(ids, "ids")
    analyser = language(backend) if isinstance(backend, str) else backend
    pooled = tuple(sorted(pool))  # draws must not depend on the order of a file
    turns = [_turns(turns_of_text, i) for i, turns_of_text in enumerate(_parallel("context", context, n, ()))]
    cases = []
    named, others_of = _parallel("ids", ids, n, None), _parallel("references", references, n, ())
    columns = zip(texts, named, turns, _parallel("speakers", speakers, n, None), others_of, strict=True)
    for i, (text, id_, spoken, speaker, others) in enumerate(columns):
        if isinstance(others, str):
            raise InputError(f"references[{i}] is one string, expected a list of texts")
        _check_strings(f"references[{i}]", others)
        who = speaker if speaker is not None else _next_speaker(spoken)
        cases.append(Case(analyser.analyse(text), analyser, id_, spoken, who, pooled, tuple(others)))
    return cases


def _check_strings(what: str, values: Sequence[object]) -> None:
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError(f"{what}[{i}] is {kind_of(value)}, expected a string")


def _parallel(what: str, values: Sequence[T] | None, n: int, absent: T) -> Sequence[T]:
    if values is None:
        return [absent] * n
    if isinstance(values, str) or len(values) != n:
        raise InputError(
            f"{n} texts but {'one string' if isinstance(values, str) else len(values)} of {what}; give one entry per"
            " text"
        )
    return cells(values)


def _turns(context: Sequence[Mapping[str, str]], place: int) -> tuple[Turn, ...]:
    turns = []
    for i, turn in enumerate(context):
        if not isinstance(turn, Mapping) or not {"speaker", "text"} <= turn.keys():
            raise InputError(f"context[{place}][{i}] is {turn!r:.60}, expected a mapping with 'speaker' and 'text'")
        turns.append(Turn(str(turn["speaker"]), str(turn["text"])))
    return tuple(turns)


def _next_speaker(turns: Sequence[Turn]) -> str | None:
    """The speaker of the next turn.

    Of two speakers it is the one who did not speak last. Of more than two it is the one who spoke before the last
    speaker. It is None after a monologue.
    """
    if not turns:
        return None
    last = turns[-1].speaker
    others = [t.speaker for t in reversed(turns) if t.speaker != last]
    return others[0] if others else None
