"""Language backends: tokens, tags, inflection, related words, persons. One is built in; spaCy and Stanza are others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

from nlgauge.core.errors import MissingExtra, SpecError, nearest
from nlgauge.text.doc import Doc, Span, Token
from nlgauge.text.lexicon import Pos, Relation, inflect, lemma, related
from nlgauge.text.names import Person, gender_of, gender_of_title, is_first_name, is_title, persons
from nlgauge.text.tokenize import sentence_spans, word_spans

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
        return Spacy(pipeline or "en_core_web_sm")
    if backend == "stanza" and not pipeline:
        return Stanza()
    raise SpecError(f"unknown language backend {name!r}{nearest(backend, BACKENDS)}")


class _Forms:
    """Forms and related words, which all backends take from our rules and our lexicon."""

    def lemma(self, word: str, tag: str) -> str:
        """See `Language.lemma`."""
        return lemma(word, tag)

    def inflect(self, lemma: str, tag: str) -> str | None:
        """See `Language.inflect`."""
        return inflect(lemma, tag)

    def related(self, lemma: str, pos: Pos, relation: Relation) -> list[str]:
        """See `Language.related`."""
        return related(lemma, pos, relation)


class Builtin(_Forms):
    """The shipped backend, with its own tokeniser and tagger, an extract of WordNet, and names from the census."""

    name = "builtin"

    @lru_cache(maxsize=_KEPT)  # noqa: B019 - there is one object of this class
    def analyse(self, text: str) -> Doc:
        """See `Language.analyse`."""
        from nlgauge.text.tagging import tag

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
        return persons(doc.tokens)


# --- spaCy and Stanza: tokens, tags, sentences and names are theirs, forms and related words are ours

_MOST = 100_000  # characters given to a pipeline at once; longer texts are cut at a blank
_UNKNOWN = "XX"  # the treebank's tag for what has none


class MissingPipeline(MissingExtra):
    """The library is installed, but no English pipeline for it. The message has the command that installs one."""

    def __init__(self, what: str, command: str) -> None:
        ImportError.__init__(self, f"{what}; run: {command}")


class Piece(NamedTuple):
    """A token of a pipeline."""

    start: int
    end: int
    tag: str


Read = tuple[Sequence[Sequence[Piece]], Sequence[tuple[int, int]]]  # sentences of tokens, spans of persons' names


class _Piped(_Forms):
    """A pipeline of another library with our interface. Only offsets and tags are taken from it."""

    name = ""

    def __init__(self) -> None:
        self._read = lru_cache(_KEPT)(self._analysed)

    def analyse(self, text: str) -> Doc:
        """See `Language.analyse`."""
        return self._read(text)[0]

    def persons(self, doc: Doc) -> list[Person]:
        """See `Language.persons`.

        The pipeline finds the persons. Our lists give their gender and the parts of their names.
        """
        return people(doc, self._read(doc.text)[1])

    def run(self, text: str) -> Read:
        """The sentences and persons of a text that is not blank and has no lone surrogates."""
        raise NotImplementedError

    def _analysed(self, text: str) -> tuple[Doc, list[tuple[int, int]]]:
        sentences: list[Sequence[Piece]] = []
        named: list[tuple[int, int]] = []
        for start, part in _parts(text):
            read, persons = self.run(part)
            sentences += [[Piece(start + p.start, start + p.end, p.tag) for p in s] for s in read]
            named += [(start + a, start + b) for a, b in persons]
        return assemble(text, sentences), named


class Spacy(_Piped):
    """spaCy with an installed pipeline for English.

    Args:
        pipeline: the name of an installed package, or a folder. Nothing is downloaded.

    Raises:
        MissingExtra: spaCy or the pipeline is not installed, or the pipeline has no tagger.
        SpecError: the pipeline is for another language.
    """

    def __init__(self, pipeline: str = "en_core_web_sm") -> None:
        super().__init__()
        try:
            import spacy
        except ImportError:
            raise MissingExtra("the language backend 'spacy'", "spacy") from None
        fetch = "python -m spacy download en_core_web_sm"
        try:
            self._nlp: Any = spacy.load(pipeline, exclude=["lemmatizer"])
        except OSError:
            raise MissingPipeline(f"spaCy has no pipeline {pipeline!r} on this machine", fetch) from None
        if self._nlp.lang != "en":
            raise SpecError(f"spaCy's pipeline {pipeline!r} is for {self._nlp.lang!r}, expected one for 'en'")
        if "tagger" not in self._nlp.pipe_names:
            raise MissingPipeline(f"spaCy's pipeline {pipeline!r} has no tagger", fetch)
        self.name = f"spacy:{pipeline}"

    def run(self, text: str) -> Read:
        """See `_Piped.run`."""
        doc = self._nlp(text)
        pieces = [Piece(t.idx, t.idx + len(t.text), t.tag_) for t in doc if not t.is_space]
        split = doc.has_annotation("SENT_START")
        ends = [s.end_char for s in doc.sents] if split else [end for _, end in sentence_spans(text)]
        persons = [(e.start_char, e.end_char) for e in doc.ents if e.label_ == "PERSON"]
        return _by_sentence(pieces, ends), persons


class Stanza(_Piped):
    """Stanza with its English models, which must be on this machine. Nothing is downloaded.

    Raises:
        MissingExtra: Stanza or its English models are not installed.
    """

    name = "stanza"

    def __init__(self) -> None:
        super().__init__()
        try:
            import stanza
        except ImportError:
            raise MissingExtra("the language backend 'stanza'", "stanza") from None
        try:
            self._nlp: Any = stanza.Pipeline(
                "en", processors="tokenize,mwt,pos,ner", download_method=None, verbose=False
            )
        except (OSError, ValueError, KeyError):  # no table of resources, no folder of models, no such model in it
            raise MissingPipeline(
                "Stanza has no English models on this machine", "python -c \"import stanza; stanza.download('en')\""
            ) from None

    def run(self, text: str) -> Read:
        """See `_Piped.run`."""
        doc = self._nlp(text)
        sentences = [[piece for token in s.tokens for piece in _words(token)] for s in doc.sentences]
        return sentences, [(e.start_char, e.end_char) for e in doc.ents if e.type == "PERSON"]


def _words(token: Any) -> Iterator[Piece]:
    """The words of a token, which may be several (don't: do, n't).

    If their letters do not match those of the token, the token itself is returned.
    """
    if "".join(w.text for w in token.words) == token.text:
        start = token.start_char
        for word in token.words:
            yield Piece(start, start + len(word.text), word.xpos or _UNKNOWN)
            start += len(word.text)
    else:
        yield Piece(token.start_char, token.end_char, token.words[0].xpos or _UNKNOWN)


def _by_sentence(pieces: Sequence[Piece], ends: Sequence[int]) -> list[list[Piece]]:
    sentences: list[list[Piece]] = [[] for _ in range(len(ends) + 1)]
    place = 0
    for piece in pieces:
        while place < len(ends) and piece.start >= ends[place]:
            place += 1
        sentences[place].append(piece)
    return sentences


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The text in parts that a pipeline can process, with their offsets.

    Each lone surrogate, which no pipeline can read, is replaced.
    """
    readable = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text) if not text.isascii() else text
    start = 0
    while start < len(readable):
        end = start + _MOST
        if end < len(readable):
            end = max(readable.rfind("\n", start, end), readable.rfind(" ", start, end)) + 1 or end
            end = end if end > start else start + _MOST
        part = readable[start:end]
        if part.strip():
            yield start, part
        start = end


def assemble(text: str, sentences: Sequence[Sequence[Piece]]) -> Doc:
    """The document of a text, from the tokens of each sentence.

    Blanks belong to no token. Characters that lie in no token become tokens themselves.
    """
    tokens: list[Token] = []
    spans: list[Span] = []
    at = 0
    for place, pieces in enumerate(sentences):
        first = len(tokens)
        final = place == len(sentences) - 1
        for piece in [*pieces, Piece(len(text), len(text), "")] if final else pieces:
            start = max(piece.start, at)
            for a, b in word_spans(text[at:start]):
                tokens.append(Token(len(tokens), at + a, at + b, text[at + a : at + b], _UNKNOWN))
            word = text[start : piece.end]
            start += len(word) - len(word.lstrip())
            word = word.strip()
            if word:
                tokens.append(Token(len(tokens), start, start + len(word), word, piece.tag or _UNKNOWN))
            at = max(at, piece.end)
        if len(tokens) > first:
            spans.append(Span(first, len(tokens) - 1, tokens[first].start, tokens[-1].end))
    return Doc(text, tuple(tokens), tuple(spans))


def people(doc: Doc, named: Sequence[tuple[int, int]]) -> list[Person]:
    """Mentions of persons, from the spans of their names.

    Mentions that share the last word, or only the first name, are the same person.
    """
    mentions: list[Person] = []
    numbers: dict[str, int] = {}
    for start, end in sorted(named):
        inside = [t for t in doc.tokens if start <= t.start and t.end <= end and t.tag != "POS"]
        title = next((t for t in inside[:1] if is_title(t)), None)
        words = [t for t in inside if t is not title and t.text[0].isalpha()]
        if not words:
            continue
        before = doc.tokens[words[0].index - 1] if words[0].index else None
        title = title or (before if before is not None and is_title(before) else None)
        given = words[0] if len(words) > 1 or (title is None and is_first_name(words[0].text)) else None
        family = words[-1] if len(words) > 1 or given is None else None
        keys = [w.lower for w in (family, given) if w is not None]
        who = next((numbers[k] for k in keys[:1] if k in numbers), len(set(numbers.values())))
        numbers.update({k: who for k in keys if k not in numbers})
        told = gender_of_title(title) if title is not None else None
        gender = told or (gender_of(given.text) if given is not None else None)
        first, last = words[0], words[-1]
        places = [None if token is None else token.index for token in (title, given, family)]
        span = (first.index, last.index, first.start, last.end)
        mentions.append(Person(*span, who, gender, places[0], places[1], places[2]))
    genders = {p.who: p.gender for p in mentions if p.gender is not None}
    return [replace(p, gender=genders.get(p.who)) for p in mentions]
