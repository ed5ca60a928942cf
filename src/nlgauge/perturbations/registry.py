"""Which perturbations there are, and how a specification becomes one."""

from __future__ import annotations

from typing import Any

from nlgauge.core.errors import SpecError
from nlgauge.core.options import Entry, Registry
from nlgauge.core.spec import Spec, parse
from nlgauge.perturbations.base import Perturbation, PerturbationInfo


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
        "remove_punctuation": _at("surface.order:RemovePunctuation"),
        "jumble_words": _at("surface.order:JumbleWords"),
        "subject_verb_disagreement": _at("surface.agreement:SubjectVerbDisagreement"),
        "drop_stopwords": _at("surface.stopwords:DropStopwords"),
        "typos": _at("surface.typos:Typos"),
        # what should change nothing
        "synonyms": _at("words.related:Synonyms"),
        "synonyms_attributes": _at("words.related:SynonymsAttributes"),
        "synonyms_objects": _at("words.related:SynonymsObjects"),
        "contractions": _at("surface.contractions:Contractions"),
        "expansions": _at("surface.contractions:Expansions"),
        "numbers_to_words": _at("words.numbers:NumbersToWords"),
        "alternative_references": _at("clauses.borrowed:AlternativeReferences"),
        # adequacy, informativeness, data coverage
        "drop_phrases": _at("clauses.phrases:DropPhrases"),
        "add_extra_text": _at("clauses.borrowed:AddExtraText"),
        "negation": _at("clauses.negation:Negation"),
        "antonyms": _at("words.related:Antonyms"),
        "repeat_phrases": _at("clauses.phrases:RepeatPhrases"),
        "change_numbers": _at("words.numbers:ChangeNumbers"),
        "change_names": _at("words.names:ChangeNames"),
        "drop_named_entities": _at("words.names:DropNamedEntities"),
        "keep_only_stopwords": _at("surface.stopwords:KeepOnlyStopwords"),
        "drop_adjectives": _at("words.adjectives:DropAdjectives"),
        "hyponyms": _at("words.related:Hyponyms"),
        # summaries
        "reorder_sentences": _at("surface.sentences:ReorderSentences"),
        "repeat_sentences": _at("surface.sentences:RepeatSentences"),
        "nouns_to_pronouns": _at("words.pronouns:NounsToPronouns"),
        # questions
        "change_question_word": _at("questions.questions:ChangeQuestionWord"),
        "drop_question_word": _at("questions.questions:DropQuestionWord"),
        "question_to_assertion": _at("questions.questions:QuestionToAssertion"),
        "mask_and_predict": _at("synthesis.infill:MaskAndPredict"),
        "perturb_entities": _at("words.names:PerturbEntities"),
        # dialogue
        "negate_previous_utterance": _at("scenes.dialogue:NegatePreviousUtterance"),
        "add_nonsense": _at("clauses.borrowed:AddNonsense"),
        "repeat_own_utterance": _at("scenes.dialogue:RepeatOwnUtterance"),
        "repeat_last_speaker": _at("scenes.dialogue:RepeatLastSpeaker"),
        "sorry_repeat": _at("scenes.dialogue:SorryRepeat"),
        "generic_response": _at("scenes.dialogue:GenericResponse"),
        "random_text": _at("clauses.borrowed:RandomText"),
        # captions
        "change_attributes": _at("scenes.captions:ChangeAttributes"),
        "change_gender": _at("scenes.captions:ChangeGender"),
        "swap_objects": _at("scenes.objects:SwapObjects"),
        "drop_objects": _at("scenes.objects:DropObjects"),
        "repeat_object": _at("scenes.objects:RepeatObject"),
        # Chen and Eger (2023)
        "addition": _at("words.nouns:Addition"),
        "omission": _at("clauses.phrases:Omission"),
        "mismatch_noun": _at("words.mismatch:MismatchNoun"),
        "mismatch_verb": _at("words.mismatch:MismatchVerb"),
        "mismatch_adj": _at("words.mismatch:MismatchAdj"),
        "number_error": _at("words.numbers:NumberError"),
        "pronoun_error": _at("words.pronouns:PronounError"),
        "name_error": _at("words.names:WrongName"),
        "number_and_negation": _at("clauses.compose:NumberAndNegation"),
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
