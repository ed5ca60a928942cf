"""Analysis of texts, with offsets: words, sentences, tags, numbers, names and word relations."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.text.doc import Doc, Span, Token
    from nlgauge.text.languages import BACKENDS, Language, language
    from nlgauge.text.lexicon import (
        Neighbour,
        article_before,
        countable,
        gender,
        inflect,
        is_blocked,
        lemma,
        neighbours,
        rank,
        related,
        supersense,
    )
    from nlgauge.text.names import Entity, Person, entities, first_names, last_names, persons, places
    from nlgauge.text.numbers.find import find_numbers
    from nlgauge.text.numbers.words import (
        Number,
        parse_words,
        spell,
        spell_decade,
        spell_fraction,
        spell_ordinal,
        spell_year,
    )
    from nlgauge.text.porter import stem
    from nlgauge.text.tagging import Tagger, is_name_like, known_tags, tag, words_by_tag
    from nlgauge.text.tokenize import (
        letter_spans,
        rouge_words,
        sentence_spans,
        split_sentences,
        unicode_words,
        unit_spans,
        word_spans,
    )
    from nlgauge.text.wordnet import PARTS, SUPERSENSES, Pointer, Synset, WordNet
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "BACKENDS", "PARTS", "SUPERSENSES", "Doc", "Entity", "Language", "Neighbour", "Number", "Person", "Pointer", "Span",
    "Synset", "Tagger", "Token", "WordNet", "article_before", "countable", "entities", "find_numbers", "first_names",
    "gender", "inflect", "is_blocked", "is_name_like", "known_tags", "language", "last_names", "lemma", "letter_spans",
    "neighbours", "parse_words", "persons", "places", "rank", "related", "rouge_words", "sentence_spans", "spell",
    "spell_decade", "spell_fraction", "spell_ordinal", "spell_year", "split_sentences", "stem", "supersense", "tag",
    "unicode_words", "unit_spans", "word_spans", "words_by_tag",
]  # fmt: skip
