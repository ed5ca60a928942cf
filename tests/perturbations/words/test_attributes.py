from nlgauge.perturbations.words.attributes import _table, attribute
from nlgauge.text.lexicon import knows


def test_a_set_excludes_itself_and_what_is_too_near():
    assert "red" not in attribute("red").fitting(None)
    assert "green" in attribute("red").fitting(None)
    assert not {"red", "pink", "purple"} & set(attribute("maroon").fitting(None)) - {"pink"}


def test_some_words_are_only_for_some_nouns():
    assert "tall" in attribute("small").fitting("person")
    assert "tall" not in attribute("small").fitting("artifact")
    assert attribute("old").fitting("person") == ["young"]
    assert attribute("old").fitting(None) == ["new", "modern"]


def test_unknown_words_have_no_kind():
    assert attribute("chromatic") is None


def test_every_word_of_the_table_is_known_and_no_word_is_its_own_replacement():
    unknown = {"pointy", "shirtless"}  # no lemmas of WordNet's, and no misspellings
    for word, known in _table().items():
        words = [o.word for o in known.others]
        assert word not in words
        assert words
        for other in {word, *words} - unknown:
            assert knows(other, "adj") or knows(other, "noun"), other


def test_fields_are_those_of_the_lexicon():
    fields = {field for known in _table().values() for other in known.others for field in other.fields}
    assert fields <= {
        "person",
        "animal",
        "plant",
        "body",
        "object",
        "location",
        "artifact",
        "food",
        "phenomenon",
        "substance",
    }
