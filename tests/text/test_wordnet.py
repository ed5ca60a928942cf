"""WordNet's own files: read as their manual says, on a folder of five synsets written here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.text.wordnet import SUPERSENSES, WordNet, base_forms

LICENCE = "  1 This is a line of the licence, two blanks first.  \n"
SYNSETS = {  # file -> lines without their offsets; {name} is the offset of the synset of that name
    "noun": {
        "animal": "05 n 01 animal 0 001 ~ {dog} n 0000 | a living thing",
        "dog": '05 n 02 dog 0 domestic_dog 0 002 @ {animal} n 0000 ! {cat} n 0101 | barks; "a dog"',
        "cat": "05 n 01 cat 0 001 ! {dog} n 0101 | purrs",
    },
    "verb": {"walk": "38 v 02 walk 0 go 1 000 02 + 02 00 + 08 01 | on foot"},
    "adj": {"big": "00 s 01 big(a) 0 000 | of size"},
    "adv": {"fast": "02 r 01 fast 0 000 | with speed"},
}
INDEX = {
    "noun": (
        "animal n 1 1 ~ 1 1 {animal}\ndog n 2 2 @ ! 2 1 {dog} {animal}\ndomestic_dog n 1 1 @ 1 0 {dog}\ncat n 1 1 ! 1 0"
        " {cat}\n"
    ),
    "verb": "walk v 1 0 1 1 {walk}\n",
    "adj": "big a 1 0 1 0 {big}\n",
    "adv": "fast r 1 0 1 0 {fast}\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dict")
    for part, synsets in SYNSETS.items():
        offsets, at = {}, len(LICENCE)
        for name, line in synsets.items():
            offsets[name] = f"{at:08d}"
            at += 9 + len(line.format_map(dict.fromkeys(synsets, "00000000"))) + 1
        lines = [f"{offsets[name]} {line.format_map(offsets)}\n" for name, line in synsets.items()]
        (path / f"data.{part}").write_text(LICENCE + "".join(lines))
        (path / f"index.{part}").write_text(LICENCE + INDEX[part].format_map(offsets))
    (path / "cntlist.rev").write_text("dog%1:05:00:: 1 42\nbig%5:00:00:large:00 1 7\nwalk%2:38:00:: 1 3\n")
    return path


def test_senses_come_in_the_order_of_the_index(folder):
    wordnet = WordNet(folder)
    dog, animal = wordnet.senses("dog", "noun")
    assert (dog.words, dog.supersense, dog.gloss) == (("dog", "domestic_dog"), "noun.animal", 'barks; "a dog"')
    assert animal.words == ("animal",)
    assert wordnet.senses("domestic dog", "noun") == [dog]
    assert wordnet.senses("unicorn", "noun") == []


def test_pointers_lead_from_synset_to_synset_and_from_word_to_word(folder):
    wordnet = WordNet(folder)
    dog = wordnet.senses("dog", "noun")[0]
    (up,) = dog.to("@")
    assert wordnet.synset(up.target).words == ("animal",)
    (opposite,) = dog.to("!", word=1)
    assert (wordnet.synset(opposite.target).words, opposite.to_word) == (("cat",), 1)
    assert list(dog.to("!", word=2)) == []


def test_frames_of_all_words_of_a_verb_are_kept(folder):
    # frame 2 holds for both words (00), frame 8 for the first alone (01)
    assert WordNet(folder).senses("walk", "verb")[0].frames == {2}


def test_satellites_and_places_of_adjectives(folder):
    (big,) = WordNet(folder).senses("big", "adj")
    assert big.satellite
    assert big.words == ("big",)


def test_counts_are_those_of_the_sense(folder):
    wordnet = WordNet(folder)
    counts = [
        wordnet.count(*sense)
        for sense in (("dog", "noun", 1), ("dog", "noun", 2), ("big", "adj", 1), ("walk", "verb", 1))
    ]
    assert counts == [42, 0, 7, 3]


def test_related_words_are_those_of_the_first_senses(folder):
    wordnet = WordNet(folder)
    assert wordnet.related("dog", "noun", "synonym") == ["domestic dog"]
    assert wordnet.related("dog", "noun", "antonym") == ["cat"]
    assert wordnet.related("domestic dog", "noun", "antonym") == []  # the arrow starts at the other word
    assert wordnet.related("dog", "noun", "hypernym") == ["animal"]
    assert wordnet.related("animal", "noun", "hyponym") == ["dog", "domestic dog"]  # the counted one first
    assert wordnet.related("dog", "noun", "sibling") == []
    assert wordnet.related("dog", "noun", "hyponym") == []
    assert wordnet.related("dog", "noun", "hyponym", senses=2) == ["domestic dog"]  # of "animal", less the word itself


def test_lemmas_leave_the_licence_out(folder):
    assert list(WordNet(folder).lemmas("noun")) == ["animal", "dog", "domestic_dog", "cat"]


def test_there_are_45_fields_of_meaning():
    assert len(SUPERSENSES) == 45
    assert [SUPERSENSES[i] for i in (0, 18, 29, 44)] == ["adj.all", "noun.person", "verb.body", "adj.ppl"]


def test_a_folder_without_the_files_is_told(tmp_path):
    with pytest.raises(InputError, match=r"no index\.noun; expected the dict folder"):
        WordNet(tmp_path)


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        ("index.noun", "dog n 2", "dog n two", r"index\.noun has a line 'dog n two .*', expected a lemma of WordNet"),
        ("index.adv", "fast r 1 0 1 0", "fast", r"index\.adv has a line"),
        ("data.noun", "  1 This is", "  1 That was", r"data\.noun has no synset at offset \d+, .* of one release"),
        ("data.noun", "n 02 dog", "n zz dog", r"data\.noun has no synset at offset"),
    ],
)
def test_damaged_files_and_those_of_two_releases_are_told(folder, tmp_path, file, before, after, told):
    other = tmp_path / "dict"
    shutil.copytree(folder, other)
    text = (other / file).read_text()
    assert before in text
    (other / file).write_text(text.replace(before, after))
    with pytest.raises(InputError, match=told):
        WordNet(other).synonyms("dog")


def test_an_unknown_relation_or_part_of_speech_is_told(folder):
    with pytest.raises(InputError, match=r"^no relation 'meronym', expected one of synonym, "):
        WordNet(folder).related("dog", "noun", "meronym")
    with pytest.raises(InputError, match=r"^no part of speech 'NN', expected one of noun, "):
        WordNet(folder).senses("dog", "NN")


def test_synonyms_are_the_words_of_all_senses_of_all_base_forms(folder):
    wordnet = WordNet(folder)
    assert wordnet.synonyms("Dogs") == {"dog", "animal"}  # two senses; domestic_dog is written with a blank
    assert wordnet.synonyms("walking") == {"walk", "go"}
    assert wordnet.synonyms("unicorn") == set()


def test_irregular_forms_come_from_the_lists_of_exceptions(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "verb.exc").write_text("went walk\n")
    assert WordNet(copy).synonyms("went") == {"walk", "go"}
    assert WordNet(copy).digest != WordNet(folder).digest


@pytest.mark.parametrize(
    ("word", "pos", "forms"),
    [
        ("churches", "noun", ["church"]),
        ("men", "noun", ["man"]),
        ("hating", "verb", ["hate"]),
        ("bigger", "adj", []),  # "bigg" and "bigge" are no words; the list of exceptions has big
        ("saws", "verb", ["saw"]),
    ],
)
def test_base_forms_are_those_known(word, pos, forms):
    assert base_forms(word, pos, {"church", "man", "hate", "big", "saw"}.__contains__) == forms
    assert base_forms("better", "adj", {"good", "better"}.__contains__, {"better": ["good"]}) == ["better", "good"]
