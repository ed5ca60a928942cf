from __future__ import annotations

from dataclasses import dataclass

import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.meteor import Meteor, _embedded, aligned, n_fragments
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import SEGMENTS, check_metric, check_options

FOLDER = {  # one synset: car and automobile
    "data.noun": "00000000 06 n 02 car 0 automobile 0 000 | four wheels\n",
    "index.noun": "car n 1 0 1 1 00000000\nautomobile n 1 0 1 1 00000000\n",
} | {f"{kind}.{part}": "" for kind in ("data", "index") for part in ("verb", "adj", "adv")}


@pytest.fixture
def folder(tmp_path):
    for name, content in FOLDER.items():
        (tmp_path / name).write_text(content)
    return str(tmp_path)


def one(hypothesis, *references, **options):
    return Meteor(**options).score([Segment("1", hypothesis, references)], Runtime())


def test_equal_words_then_stems_then_synonyms():
    pairs = aligned(
        ("dogs", "chase", "autos", "now"), ("now", "dog", "chases", "cars"), {"auto": {"car"}, "now": set()}.get
    )
    assert pairs == [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_words_are_read_from_the_end_and_take_the_last_one_that_is_free():
    assert aligned(("a", "a"), ("a", "b", "a", "a"), None) == [(0, 2), (1, 3)]
    assert aligned(("x",), ("b", "c"), lambda word: {"b", "c"}) == [(0, 1)]
    assert aligned(("x", "y"), ("b", "c"), lambda word: {"c"}) == [(1, 1)]  # taken, and no other is known


def test_fragments_are_runs_on_both_sides():
    assert n_fragments([(0, 1), (1, 2), (2, 3), (3, 0)]) == 2
    assert n_fragments([(0, 0), (2, 1)]) == 2


def test_recall_counts_nine_times_and_fragments_cost():
    # all 2 words of the hypothesis match, of 4: P = 1, R = 1/2; two fragments of two words cost 0.5
    found = one("a c", "a b c d")
    assert found.values[0] == pytest.approx(0.5 * (1 * 0.5 / (0.9 * 1 + 0.1 * 0.5)))
    assert {name: column[0] for name, column in found.parts.items()} == {
        "precision": 1.0,
        "recall": 0.5,
        "penalty": 0.5,
        "reference": 0.0,
    }


def test_synonyms_come_from_the_folder(folder):
    text = "a car", "an automobile"
    assert one(*text, wordnet=folder, synonyms="words").parts["recall"][0] == 0.5
    assert one(*text, wordnet=folder).parts["recall"][0] == 0  # "automobil"
    assert one("automobiles", "car", wordnet=folder, synonyms="words").values[0] == 0.5  # one word: one fragment of one
    assert "|wordnet:sha256:" in str(signature_of(Meteor(wordnet=folder), Runtime()))
    assert "|wordnet:embedded|" in str(signature_of(Meteor(), Runtime()))
    assert "wordnet" not in str(signature_of(Meteor(synonyms="none"), Runtime()))


def test_without_a_folder_the_embedded_lexicon_is_read():
    assert "automobile" in _embedded("car")
    assert one("He bought the cars", "He bought the automobile", synonyms="words").parts["recall"][0] == 1
    assert one("He bought the cars", "He bought the automobile", synonyms="none").parts["recall"][0] == 0.75


def test_the_best_reference_counts():
    found = one("a b c", "x y z", "a b d", "a b c")
    assert found.parts["reference"][0] == 2
    assert found.values[0] == pytest.approx(1 - 0.5 / 27)  # one fragment of three words


@dataclass
class Word:
    """A lexicon as nltk takes it: a word has one sense, with its synonyms as lemmas."""

    names: frozenset[str]

    def lemmas(self):
        return [type("Lemma", (), {"name": lambda self, name=name: name})() for name in self.names]


class Lexicon:
    def synsets(self, word):
        return [Word(_embedded(word))]


@pytest.mark.parametrize("options", [{}, {"alpha": 0.5, "beta": 1.0, "gamma": 0.2}], ids=str)
@pytest.mark.parametrize("tokenizer", ["13a", "blanks"])
def test_agrees_with_nltk_on_the_same_lexicon(pairs, tokens, tokenizer, options):
    peer = pytest.importorskip("nltk.translate.meteor_score")
    metric = Meteor(tokenizer=tokenizer, **options)
    hypotheses, references = tokens(metric, pairs)
    theirs = [
        peer.meteor_score(r, h, wordnet=Lexicon(), **options) for h, r in zip(hypotheses, references, strict=True)
    ]
    assert metric.score(pairs, Runtime()).values == pytest.approx(theirs, abs=1e-9)  # the same quotients


def test_the_contract_holds_and_every_option_is_signed(folder):
    check_metric(Meteor(synonyms="words", tokenizer="unicode"))
    assert check_options(Meteor(), SEGMENTS[:4], alternatives={"wordnet": folder}) == []


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(SpecError, match=r"^meteor:wordnet changes nothing under synonyms=none"):
        Meteor(synonyms="none", wordnet="there")
    with pytest.raises(ng.InputError, match=r"has no index\.noun; expected the dict folder of WordNet"):
        one("a", "b", wordnet=str(tmp_path))
