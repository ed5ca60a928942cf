"""Which encoder BERTScore takes for a language, as its authors' package does."""

from __future__ import annotations

from pathlib import PurePath

MULTILINGUAL = ("bert-base-multilingual-cased", 9)
OF_ITS_OWN = {
    "en": ("roberta-large", 17),
    "en-sci": ("allenai/scibert_scivocab_uncased", 8),
    "tr": ("dbmdz/bert-base-turkish-cased", 10),
    "zh": ("bert-base-chinese", 8),
}
# The languages of the presets: those above, those with a bundled baseline for the multilingual encoder, and Russian,
# which the paper has too. Every other language takes the multilingual encoder as well.
LANGUAGES = (*OF_ITS_OWN, "cs", "de", "es", "et", "fi", "fr", "it", "lv", "pt", "ru")


def encoder_for(language: str) -> tuple[str, int]:
    """The hub id of the encoder for texts of a language, and the layer that is matched.

    Args:
        language: a code as in bert_score, such as `de`, or `en-sci` for scientific English.

    References:
        bert_score 0.3.13, `lang2model` and `model2layers`.
    """
    return OF_ITS_OWN.get(language, MULTILINGUAL)


def is_encoder_for(model: str, language: str) -> bool:
    """Whether a model, by its hub id or in a folder of that name, is the encoder for a language."""
    name, _ = encoder_for(language)
    return name in (model, PurePath(model).name)
