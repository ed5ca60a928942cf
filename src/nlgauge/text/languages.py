"""Language backends for perturbations: tokens, inflection, related words, persons. One backend is built in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from nlgauge.core.errors import SpecError, nearest
from nlgauge.text.doc import Doc, Span, Token
from nlgauge.text.lexicon import LexiconForms

if TYPE_CHECKING:
    from nlgauge.text.lexicon import Pos, Relation
    from nlgauge.text.names import Person

_KEPT = 4096  # analyses remembered: many perturbations look at one text


@runtime_checkable
class Language(Protocol):
    """The analysis of English by one backend."""

    name: str

    def analyse(self, text: str) -> Doc:
        """Tokens with Penn Treebank tags, and sentences."""
        ...

    def lemma(self, word: str, tag: str) -> str:
        """The dictionary form of a word with a tag."""
        ...

    def inflect(self, lemma: str, tag: str) -> str | None:
        """The form of a lemma for a tag; None if there is none."""
        ...

    def related(self, lemma: str, pos: Pos, relation: Relation) -> list[str]:
        """Synonyms, antonyms, hyponyms, hypernyms or siblings, best first."""
        ...

    def persons(self, doc: Doc) -> list[Person]:
        """People named in the text, in order."""
        ...


class Builtin(LexiconForms):
    """The shipped backend, with its own tokeniser and tagger, an extract of WordNet, and names from the census."""

    name = "builtin"

    @lru_cache(maxsize=_KEPT)  # noqa: B019 - there is one object of this class
    def analyse(self, text: str) -> Doc:
        """See `Language.analyse`."""
        from nlgauge.text.tagging import tag
        from nlgauge.text.tokenize import sentence_spans, word_spans

        tokens: list[Token] = []
        sentences: list[Span] = []
        for start, end in sentence_spans(text):
            spans = [(start + a, start + b) for a, b in word_spans(text[start:end])]
            if not spans:
                continue
            words = [text[a:b] for a, b in spans]
            first = len(tokens)
            tokens += [
                Token(first + i, a, b, w, t)
                for i, ((a, b), w, t) in enumerate(zip(spans, words, tag(words), strict=True))
            ]
            sentences.append(Span(first, len(tokens) - 1, spans[0][0], spans[-1][1]))
        return Doc(text, tuple(tokens), tuple(sentences))

    def persons(self, doc: Doc) -> list[Person]:
        """See `Language.persons`."""
        from nlgauge.text.names import persons

        return persons(doc.tokens)


BACKENDS: Sequence[str] = ("builtin", "spacy", "stanza")


def language(name: str = "builtin") -> Language:
    """The backend with a name: `builtin`, `spacy`, `spacy:PIPELINE` or `stanza`. It is the same object each time.

    Raises:
        SpecError: the backend is unknown.
        MissingExtra: spaCy or Stanza is not installed, or has no English pipeline on this machine.
    """
    return _backend(name)


@cache
def _backend(name: str) -> Language:
    backend, _, pipeline = name.partition(":")
    if backend == "builtin" and not pipeline:
        return Builtin()
    if backend == "spacy":
        from nlgauge.text.backends import Spacy

        return Spacy(pipeline or "en_core_web_sm")
    if backend == "stanza" and not pipeline:
        from nlgauge.text.backends import Stanza

        return Stanza()
    raise SpecError(f"unknown language backend {name!r}{nearest(backend, BACKENDS)}")
