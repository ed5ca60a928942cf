"""The backend that is built in: offsets, sentences, what it remembers; how backends are named."""

import re
import sys
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import MissingExtra, SpecError
from nlgauge.perturbations.perturb import perturb
from nlgauge.text import languages
from nlgauge.text.languages import Builtin, Language, MissingPipeline, Piece, Spacy, Stanza, assemble, language, people
from nlgauge.text.lexicon import inflect


def test_a_text_is_taken_apart_into_tagged_tokens_and_sentences():
    doc = language().analyse("He doesn't swim.  We do!")
    assert [(t.text, t.tag) for t in doc.tokens[:5]] == [
        ("He", "PRP"),
        ("does", "VBZ"),
        ("n't", "RB"),
        ("swim", "VB"),
        (".", "."),
    ]
    assert [doc.between(s) for s in doc.sentences] == ["He doesn't swim.", "We do!"]
    assert [t.index for t in doc.tokens] == list(range(8))


@pytest.mark.parametrize("text", ["", " \n\t\u00a0"])
def test_a_blank_text_has_nothing_in_it(text):
    doc = language().analyse(text)
    assert (doc.text, doc.tokens, doc.sentences, doc.words) == (text, (), (), ())


@given(text=st.text(st.sampled_from("aAb .!?,'’-\"\n\u00a0\t5猫\ud800")) | st.text())
def test_tokens_lie_where_they_say_and_sentences_are_all_of_them(text):
    doc = language().analyse(text)
    assert all(text[t.start : t.end] == t.text for t in doc.tokens)
    assert "".join(t.text for t in doc.tokens) == "".join(text.split())
    assert [i for s in doc.sentences for i in range(s.first, s.last + 1)] == list(range(len(doc.tokens)))
    assert all((s.start, s.end) == (doc.tokens[s.first].start, doc.tokens[s.last].end) for s in doc.sentences)
    assert len(doc.sentence_at) == len(doc.word_at) == len(doc.tokens)


def test_an_analysis_is_remembered():
    assert language().analyse("Some text.") is language().analyse("Some text.")


def test_backends_go_by_name():
    assert language() is language("builtin")
    assert isinstance(language(), Builtin)
    assert isinstance(language(), Language)
    assert language().name == "builtin"


@pytest.mark.parametrize(("name", "hint"), [("bultin", "builtin"), ("stanza:en", ""), ("builtin:fast", ""), ("", "")])
def test_an_unknown_backend_is_refused(name, hint):
    with pytest.raises(SpecError, match=f"unknown language backend '{name}'.*{hint}"):
        language(name)


# --- spaCy and Stanza behind our own interface: small stand-ins for both, shaped as the libraries are

TEXT = "Mrs Mary Jones can’t come.  Jones is ill.\n\nOK!"
TAGS = {
    "Mrs": "NNP", "Mary": "NNP", "Jones": "NNP", "ca": "MD", "can": "MD", "n’t": "RB", "come": "VB", "is": "VBZ",
    "ill": "JJ", ".": ".",
}  # fmt: skip


class StubDoc(list):
    """A list of tokens with sentences and names, as spaCy's documents are."""

    def has_annotation(self, what):
        return self.sentences and what == "SENT_START"


class SpacyStub:
    """Splits words at blanks and before stops and n't; runs of blanks are tokens, as in spaCy."""

    def __init__(self, lang="en", pipes=("tok2vec", "tagger", "ner"), sentences=True):
        self.lang, self.pipe_names, self.sentences, self.seen = lang, list(pipes), sentences, list[str]()

    def __call__(self, text):
        self.seen.append(text)
        text.encode()  # as spaCy does: lone surrogates are an error
        tokens = [
            SimpleNamespace(
                idx=m.start(), text=m[0], tag_=TAGS.get(m[0], "" if m[0].isspace() else "NN"), is_space=m[0].isspace()
            )
            for m in re.finditer(r"ca(?=n’t)|n’t|\w+|[^\w\s]|\s{2,}|(?<=\s)\s|\n", text)
        ]
        ends = [m.end() for m in re.finditer(r"[.!](?=\s|$)", text)] or [len(text)]
        bounds = [(0, ends[0]), *zip(ends, [*ends[1:], len(text)], strict=True)]
        doc = StubDoc(tokens)
        doc.sentences = self.sentences
        doc.sents = [SimpleNamespace(start_char=a, end_char=b) for a, b in bounds]
        doc.ents = [
            SimpleNamespace(start_char=m.start(), end_char=m.end(), label_="PERSON")
            for m in re.finditer(r"(Mary )?Jones", text)
        ]
        doc.ents.append(SimpleNamespace(start_char=0, end_char=3, label_="ORG"))
        return doc


@pytest.fixture
def spacy(monkeypatch):
    inflect("go", "VBD")  # lemminflect looks for spaCy when it is first loaded, and would find the stand-in
    made = ModuleType("spacy")
    made.pipelines = {
        "en_core_web_sm": SpacyStub(),
        "de_core_news_sm": SpacyStub("de"),
        "bare": SpacyStub(pipes=()),
        "flat": SpacyStub(sentences=False),
    }

    def load(name, exclude=()):
        if name not in made.pipelines:
            raise OSError(f"[E050] Can't find model '{name}'")
        return made.pipelines[name]

    made.load = load
    monkeypatch.setitem(sys.modules, "spacy", made)
    return made


def stanza_word(text, xpos="NN"):
    return SimpleNamespace(text=text, xpos=xpos)


class StanzaStub:
    """Gives what it was made with, for any text."""

    def __init__(self, sentences=(), ents=()):
        self.sentences, self.ents = sentences, ents

    def __call__(self, text):
        return SimpleNamespace(sentences=self.sentences, ents=self.ents)


@pytest.fixture
def stanza(monkeypatch):
    made = ModuleType("stanza")
    made.asked = []
    made.error = None
    made.made = StanzaStub()

    def pipeline(*args, **options):
        made.asked.append((args, options))
        if made.error:
            raise made.error
        return made.made

    made.Pipeline = pipeline
    monkeypatch.setitem(sys.modules, "stanza", made)
    return made


def shown(doc):
    return [(t.text, t.tag) for t in doc.tokens]


def sentences(doc):
    return [doc.between(s) for s in doc.sentences]


def test_a_text_as_spacy_reads_it(spacy):
    language = Spacy()
    assert isinstance(language, Language)
    doc = language.analyse(TEXT)
    assert doc.text == TEXT
    assert shown(doc) == [
        ("Mrs", "NNP"),
        ("Mary", "NNP"),
        ("Jones", "NNP"),
        ("ca", "MD"),
        ("n’t", "RB"),
        ("come", "VB"),
        (".", "."),
        ("Jones", "NNP"),
        ("is", "VBZ"),
        ("ill", "JJ"),
        (".", "."),
        ("OK", "NN"),
        ("!", "NN"),
    ]
    assert sentences(doc) == ["Mrs Mary Jones can’t come.", "Jones is ill.", "OK!"]
    assert all(TEXT[t.start : t.end] == t.text for t in doc.tokens)


def test_persons_are_those_that_the_pipeline_names(spacy):
    language = Spacy()
    first, second = language.persons(language.analyse(TEXT))
    assert (first.first, first.last, TEXT[first.start : first.end]) == (1, 2, "Mary Jones")
    assert (first.title, first.given, first.family, first.gender, first.label) == (0, 1, 2, "f", "person")
    assert (second.first, second.given, second.family, second.title) == (7, None, 7, None)
    assert (second.who, second.gender) == (first.who, "f")


def test_forms_and_related_words_are_our_own(spacy):
    language = Spacy()
    assert (language.lemma("went", "VBD"), language.inflect("go", "VBD")) == ("go", "went")
    assert language.related("big", "adj", "antonym")[0] in ("little", "small")


def test_templates_work_on_it(spacy):
    made = perturb("change_names", TEXT, language=Spacy())[0]
    assert made is None or "Mary" not in made.text
    assert perturb("pronoun_error", "She fell.", language=Spacy())[0].text == "He fell."


def test_a_pipeline_that_finds_no_sentences_gets_ours(spacy):
    assert sentences(Spacy("flat").analyse("It rains. It pours.")) == ["It rains.", "It pours."]


def test_one_text_is_read_once(spacy):
    language = Spacy()
    language.persons(language.analyse(TEXT))
    language.analyse(TEXT)
    assert spacy.pipelines["en_core_web_sm"].seen == [TEXT]


def test_without_spacy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"'spacy' needs packages.*pip install 'nlgauge\[spacy\]'"):
        Spacy()


def test_a_pipeline_that_is_not_there_is_told_with_the_command_that_fetches_it(spacy):
    with pytest.raises(
        MissingPipeline, match=r"no pipeline 'en_core_web_xl' on this machine; run: python -m spacy download"
    ):
        Spacy("en_core_web_xl")
    with pytest.raises(MissingExtra, match="pipeline 'bare' has no tagger"):
        Spacy("bare")
    with pytest.raises(SpecError, match="is for 'de', expected one for 'en'"):
        Spacy("de_core_news_sm")


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0", "\udc80", "a\ud800b c", "\u2028x"])
def test_blank_and_broken_texts_are_read(spacy, text):
    doc = Spacy().analyse(text)
    assert "".join(t.text for t in doc.tokens) == "".join(text.split())


def test_a_long_text_is_read_in_parts(spacy, monkeypatch):
    monkeypatch.setattr(languages, "_MOST", 10)
    text = "one two three. four five " + "x" * 25 + " six"
    language = Spacy()
    assert "".join(t.text for t in language.analyse(text).tokens) == "".join(text.split())
    assert max(len(seen) for seen in spacy.pipelines["en_core_web_sm"].seen) <= 10


def test_a_text_as_stanza_reads_it(stanza):
    text = "Ben can't win. Dunno!"

    def token(start, end, *words):
        return SimpleNamespace(text=text[start:end], start_char=start, end_char=end, words=list(words))

    stanza.made = StanzaStub(
        [
            SimpleNamespace(
                tokens=[
                    token(0, 3, stanza_word("Ben", "NNP")),
                    token(4, 9, stanza_word("ca", "MD"), stanza_word("n't", "RB")),
                    token(10, 13, stanza_word("win", "VB")),
                    token(13, 14, stanza_word(".", None)),
                ]
            ),
            SimpleNamespace(
                tokens=[
                    token(15, 20, stanza_word("do", "VBP"), stanza_word("not", "RB")),
                    token(20, 21, stanza_word("!", ".")),
                ]
            ),
        ],
        [
            SimpleNamespace(start_char=0, end_char=3, type="PERSON"),
            SimpleNamespace(start_char=15, end_char=20, type="ORG"),
        ],
    )
    language = Stanza()
    assert isinstance(language, Language)
    doc = language.analyse(text)
    # words that do not stand in the text letter by letter are not parted
    assert shown(doc) == [
        ("Ben", "NNP"),
        ("ca", "MD"),
        ("n't", "RB"),
        ("win", "VB"),
        (".", "XX"),
        ("Dunno", "VBP"),
        ("!", "."),
    ]
    assert sentences(doc) == ["Ben can't win.", "Dunno!"]
    assert [(p.start, p.end, p.given, p.gender) for p in language.persons(doc)] == [(0, 3, 0, "m")]


def test_stanza_downloads_nothing(stanza):
    Stanza()
    ((args, options),) = stanza.asked
    assert args == ("en",)
    assert options["download_method"] is None


def test_without_stanza_or_its_models_the_way_out_is_named(stanza, monkeypatch):
    stanza.error = FileNotFoundError("resources.json")
    with pytest.raises(
        MissingPipeline, match=r"no English models on this machine; run: python -c .import stanza; stanza.download"
    ):
        Stanza()
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[stanza\]"):
        Stanza()


@given(text=st.text(max_size=30), cuts=st.lists(st.integers(0, 30), max_size=8))
def test_every_letter_lies_in_one_token_whatever_a_pipeline_says(text, cuts):
    points = sorted({min(c, len(text)) for c in cuts})
    pieces = [Piece(a, b, "NN") for a, b in zip(points[::2], points[1::2], strict=False)]
    doc = assemble(text, [pieces])
    covered = [i for t in doc.tokens for i in range(t.start, t.end)]
    assert len(covered) == len(set(covered))
    assert {i for i, c in enumerate(text) if not c.isspace()} <= set(covered)
    assert [t.index for t in doc.tokens] == list(range(len(doc.tokens)))


def test_people_without_a_known_name_have_no_gender():
    doc = assemble(
        "Xq Zw met Xq.",
        [[Piece(0, 2, "NNP"), Piece(3, 5, "NNP"), Piece(6, 9, "VBD"), Piece(10, 12, "NNP"), Piece(12, 13, ".")]],
    )
    first, second = people(doc, [(10, 12), (0, 5)])
    assert (first.gender, first.given, first.family) == (None, 0, 1)
    assert second.who == first.who
    assert people(doc, [(12, 13)]) == []
