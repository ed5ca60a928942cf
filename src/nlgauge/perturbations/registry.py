"""Which perturbations there are, and how a specification becomes one."""

from __future__ import annotations

from nlgauge.core.errors import SpecError
from nlgauge.core.registry import Entry, Registry
from nlgauge.core.spec import Spec, parse
from nlgauge.perturbations.base import Template, TemplateInfo

_HERE = "nlgauge.perturbations"
PERTURBATIONS = Registry(
    kind="perturbation",
    group="nlgauge.perturbations",
    entries={
        # Sai et al. (2021): fluency
        "remove_punctuation": Entry(f"{_HERE}.surface:RemovePunctuation"),
        "jumble_words": Entry(f"{_HERE}.surface:JumbleWords"),
        "subject_verb_disagreement": Entry(f"{_HERE}.agreement:SubjectVerbDisagreement"),
        "drop_stopwords": Entry(f"{_HERE}.stopwords:DropStopwords"),
        "typos": Entry(f"{_HERE}.typos:Typos"),
        # what should change nothing
        "synonyms": Entry(f"{_HERE}.related:Synonyms"),
        "synonyms_attributes": Entry(f"{_HERE}.related:SynonymsAttributes"),
        "synonyms_objects": Entry(f"{_HERE}.related:SynonymsObjects"),
        "contractions": Entry(f"{_HERE}.contractions:Contractions"),
        "expansions": Entry(f"{_HERE}.contractions:Expansions"),
        "numbers_to_words": Entry(f"{_HERE}.numbers:NumbersToWords"),
        "alternative_references": Entry(f"{_HERE}.others:AlternativeReferences"),
        # adequacy, informativeness, data coverage
        "drop_phrases": Entry(f"{_HERE}.phrases:DropPhrases"),
        "add_extra_text": Entry(f"{_HERE}.others:AddExtraText"),
        "negation": Entry(f"{_HERE}.negation:Negation"),
        "antonyms": Entry(f"{_HERE}.related:Antonyms"),
        "repeat_phrases": Entry(f"{_HERE}.phrases:RepeatPhrases"),
        "change_numbers": Entry(f"{_HERE}.numbers:ChangeNumbers"),
        "change_names": Entry(f"{_HERE}.names:ChangeNames"),
        "drop_named_entities": Entry(f"{_HERE}.names:DropNamedEntities"),
        "keep_only_stopwords": Entry(f"{_HERE}.stopwords:KeepOnlyStopwords"),
        "drop_adjectives": Entry(f"{_HERE}.adjectives:DropAdjectives"),
        "hyponyms": Entry(f"{_HERE}.related:Hyponyms"),
        # summaries
        "reorder_sentences": Entry(f"{_HERE}.sentences:ReorderSentences"),
        "repeat_sentences": Entry(f"{_HERE}.sentences:RepeatSentences"),
        "nouns_to_pronouns": Entry(f"{_HERE}.pronouns:NounsToPronouns"),
        # questions
        "change_question_word": Entry(f"{_HERE}.questions:ChangeQuestionWord"),
        "drop_question_word": Entry(f"{_HERE}.questions:DropQuestionWord"),
        "question_to_assertion": Entry(f"{_HERE}.questions:QuestionToAssertion"),
        "mask_and_predict": Entry(f"{_HERE}.infill:MaskAndPredict"),
        "perturb_entities": Entry(f"{_HERE}.names:PerturbEntities"),
        # dialogue
        "negate_previous_utterance": Entry(f"{_HERE}.dialogue:NegatePreviousUtterance"),
        "add_nonsense": Entry(f"{_HERE}.others:AddNonsense"),
        "repeat_own_utterance": Entry(f"{_HERE}.dialogue:RepeatOwnUtterance"),
        "repeat_last_speaker": Entry(f"{_HERE}.dialogue:RepeatLastSpeaker"),
        "sorry_repeat": Entry(f"{_HERE}.dialogue:SorryRepeat"),
        "generic_response": Entry(f"{_HERE}.dialogue:GenericResponse"),
        "random_text": Entry(f"{_HERE}.others:RandomText"),
        # captions
        "change_attributes": Entry(f"{_HERE}.captions:ChangeAttributes"),
        "change_gender": Entry(f"{_HERE}.captions:ChangeGender"),
        "swap_objects": Entry(f"{_HERE}.objects:SwapObjects"),
        "drop_objects": Entry(f"{_HERE}.objects:DropObjects"),
        "repeat_object": Entry(f"{_HERE}.objects:RepeatObject"),
        # Chen and Eger (2023)
        "addition": Entry(f"{_HERE}.nouns:Addition"),
        "omission": Entry(f"{_HERE}.phrases:Omission"),
        "mismatch_noun": Entry(f"{_HERE}.mismatch:MismatchNoun"),
        "mismatch_verb": Entry(f"{_HERE}.mismatch:MismatchVerb"),
        "mismatch_adj": Entry(f"{_HERE}.mismatch:MismatchAdj"),
        "number_error": Entry(f"{_HERE}.numbers:NumberError"),
        "pronoun_error": Entry(f"{_HERE}.pronouns:PronounError"),
        "name_error": Entry(f"{_HERE}.names:WrongName"),
        "number_and_negation": Entry(f"{_HERE}.compose:NumberAndNegation"),
    },
)


def template(spec: str | Template) -> Template:
    """The template a specification names, as in `negation:mode=add`; a template is returned as it is.

    Raises:
        SpecError: unknown name or option, with the nearest known; a value of the wrong type; a sum.
    """
    if not isinstance(spec, str):
        if isinstance(spec, type) or not isinstance(spec, Template):
            what = f"the class {spec.__name__}" if isinstance(spec, type) else type(spec).__name__
            raise SpecError(f"expected the name of a perturbation or a template object, got {what}")
        return spec
    parsed = parse(spec)
    if not isinstance(parsed, Spec):
        raise SpecError(f"{spec!r} is a sum, expected one perturbation")
    built: Template = PERTURBATIONS.build(parsed)
    return built


def info(name: str) -> TemplateInfo:
    """What a template declares of itself, by its id.

    Raises:
        SpecError: an unknown id.
    """
    cls, _ = PERTURBATIONS.lookup(name)
    declared: TemplateInfo = cls.info  # type: ignore[attr-defined]
    return declared
