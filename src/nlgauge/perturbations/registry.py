"""Which perturbations there are, and how a specification becomes one."""

from __future__ import annotations

from typing import Any

from nlgauge.core.errors import SpecError
from nlgauge.core.registry import Entry, Registry, named_kind
from nlgauge.core.spec import Spec, parse
from nlgauge.perturbations.base import Perturbation, PerturbationInfo

_HERE = "nlgauge.perturbations"
PERTURBATIONS = Registry(
    kind="perturbation",
    group="nlgauge.perturbations",
    entries={
        # Sai et al. (2021): fluency
        "remove_punctuation": Entry(f"{_HERE}.surface.order:RemovePunctuation"),
        "jumble_words": Entry(f"{_HERE}.surface.order:JumbleWords"),
        "subject_verb_disagreement": Entry(f"{_HERE}.surface.agreement:SubjectVerbDisagreement"),
        "drop_stopwords": Entry(f"{_HERE}.surface.stopwords:DropStopwords"),
        "typos": Entry(f"{_HERE}.surface.typos:Typos"),
        # what should change nothing
        "synonyms": Entry(f"{_HERE}.words.related:Synonyms"),
        "synonyms_attributes": Entry(f"{_HERE}.words.related:SynonymsAttributes"),
        "synonyms_objects": Entry(f"{_HERE}.words.related:SynonymsObjects"),
        "contractions": Entry(f"{_HERE}.surface.contractions:Contractions"),
        "expansions": Entry(f"{_HERE}.surface.contractions:Expansions"),
        "numbers_to_words": Entry(f"{_HERE}.words.numbers:NumbersToWords"),
        "alternative_references": Entry(f"{_HERE}.clauses.borrowed:AlternativeReferences"),
        # adequacy, informativeness, data coverage
        "drop_phrases": Entry(f"{_HERE}.clauses.phrases:DropPhrases"),
        "add_extra_text": Entry(f"{_HERE}.clauses.borrowed:AddExtraText"),
        "negation": Entry(f"{_HERE}.clauses.negation:Negation"),
        "antonyms": Entry(f"{_HERE}.words.related:Antonyms"),
        "repeat_phrases": Entry(f"{_HERE}.clauses.phrases:RepeatPhrases"),
        "change_numbers": Entry(f"{_HERE}.words.numbers:ChangeNumbers"),
        "change_names": Entry(f"{_HERE}.words.names:ChangeNames"),
        "drop_named_entities": Entry(f"{_HERE}.words.names:DropNamedEntities"),
        "keep_only_stopwords": Entry(f"{_HERE}.surface.stopwords:KeepOnlyStopwords"),
        "drop_adjectives": Entry(f"{_HERE}.words.adjectives:DropAdjectives"),
        "hyponyms": Entry(f"{_HERE}.words.related:Hyponyms"),
        # summaries
        "reorder_sentences": Entry(f"{_HERE}.surface.sentences:ReorderSentences"),
        "repeat_sentences": Entry(f"{_HERE}.surface.sentences:RepeatSentences"),
        "nouns_to_pronouns": Entry(f"{_HERE}.words.pronouns:NounsToPronouns"),
        # questions
        "change_question_word": Entry(f"{_HERE}.questions.questions:ChangeQuestionWord"),
        "drop_question_word": Entry(f"{_HERE}.questions.questions:DropQuestionWord"),
        "question_to_assertion": Entry(f"{_HERE}.questions.questions:QuestionToAssertion"),
        "mask_and_predict": Entry(f"{_HERE}.synthesis.infill:MaskAndPredict"),
        "perturb_entities": Entry(f"{_HERE}.words.names:PerturbEntities"),
        # dialogue
        "negate_previous_utterance": Entry(f"{_HERE}.scenes.dialogue:NegatePreviousUtterance"),
        "add_nonsense": Entry(f"{_HERE}.clauses.borrowed:AddNonsense"),
        "repeat_own_utterance": Entry(f"{_HERE}.scenes.dialogue:RepeatOwnUtterance"),
        "repeat_last_speaker": Entry(f"{_HERE}.scenes.dialogue:RepeatLastSpeaker"),
        "sorry_repeat": Entry(f"{_HERE}.scenes.dialogue:SorryRepeat"),
        "generic_response": Entry(f"{_HERE}.scenes.dialogue:GenericResponse"),
        "random_text": Entry(f"{_HERE}.clauses.borrowed:RandomText"),
        # captions
        "change_attributes": Entry(f"{_HERE}.scenes.captions:ChangeAttributes"),
        "change_gender": Entry(f"{_HERE}.scenes.captions:ChangeGender"),
        "swap_objects": Entry(f"{_HERE}.scenes.objects:SwapObjects"),
        "drop_objects": Entry(f"{_HERE}.scenes.objects:DropObjects"),
        "repeat_object": Entry(f"{_HERE}.scenes.objects:RepeatObject"),
        # Chen and Eger (2023)
        "addition": Entry(f"{_HERE}.words.nouns:Addition"),
        "omission": Entry(f"{_HERE}.clauses.phrases:Omission"),
        "mismatch_noun": Entry(f"{_HERE}.words.mismatch:MismatchNoun"),
        "mismatch_verb": Entry(f"{_HERE}.words.mismatch:MismatchVerb"),
        "mismatch_adj": Entry(f"{_HERE}.words.mismatch:MismatchAdj"),
        "number_error": Entry(f"{_HERE}.words.numbers:NumberError"),
        "pronoun_error": Entry(f"{_HERE}.words.pronouns:PronounError"),
        "name_error": Entry(f"{_HERE}.words.names:WrongName"),
        "number_and_negation": Entry(f"{_HERE}.clauses.compose:NumberAndNegation"),
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
        if options:
            raise SpecError("options are given beside a perturbation object; make the object with them")
        if isinstance(spec, type) or not isinstance(spec, Perturbation):
            raise SpecError(f"expected the name of a perturbation or a perturbation object, got {named_kind(spec)}")
        return spec
    parsed = parse(spec)
    if not isinstance(parsed, Spec):
        raise SpecError(f"{spec!r} is a sum, expected one perturbation")
    built: Perturbation = PERTURBATIONS.build(parsed, options)
    return built


def info(name: str) -> PerturbationInfo:
    """What the perturbation with this id declares about itself.

    Raises:
        SpecError: the id is unknown.
    """
    cls, _ = PERTURBATIONS.lookup(name)
    declared: PerturbationInfo = cls.info  # type: ignore[attr-defined]
    return declared
