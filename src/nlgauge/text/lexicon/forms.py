"""Forms and related words, which all language backends take from our rules and our lexicon."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlgauge.text.lexicon.lexicon import Pos, Relation


class LexiconForms:
    """The part of a `Language` that is the same for all pipelines. Its tables are loaded when they are first needed."""

    def lemma(self, word: str, tag: str) -> str:
        """See `Language.lemma`."""
        from nlgauge.text.lexicon.inflection import lemma

        return lemma(word, tag)

    def inflect(self, lemma: str, tag: str) -> str | None:
        """See `Language.inflect`."""
        from nlgauge.text.lexicon.inflection import inflect

        return inflect(lemma, tag)

    def related(self, lemma: str, pos: Pos, relation: Relation) -> list[str]:
        """See `Language.related`."""
        from nlgauge.text.lexicon.lexicon import related

        return related(lemma, pos, relation)
