"""Languages of a call: by function words, by the name of a group, and by the model where these say little."""

import pytest

from nlgauge.metrics import languagecounts
from nlgauge.metrics.languagecounts import FEW, LanguageCounts

GERMAN = "Der Zug war nicht pünktlich, und wir haben auf dem Bahnhof gewartet."
ENGLISH = "The train was not on time, and we were waiting at the station."
NAMES = "Anna Karlsson, Lund"


def found(*segments, side=1):
    """Count texts in groups; ids are their places."""
    counts = LanguageCounts(side)
    for i, (group, *texts) in enumerate(segments):
        counts.add(str(i), group, texts)
    return {code: (one.n, one.first) for code, one in counts.found().items()}


def test_texts_are_counted_and_the_first_are_named():
    assert found(*[(None, GERMAN)] * 6) == {"de": (6, ["0", "1", "2", "3", "4", "5"])}
    assert found(*[(None, GERMAN)] * 20)["de"][1] == [str(i) for i in range(10)]


@pytest.mark.parametrize(("german", "noted"), [(FEW - 1, False), (FEW, True)])
def test_a_few_texts_are_no_language(german, noted):
    assert ("de" in found(*[(None, GERMAN)] * german, *[(None, ENGLISH)] * 10)) is noted


@pytest.mark.parametrize(("english", "noted"), [(45, True), (46, False)])  # 5 of 50 are a tenth, 5 of 51 are less
def test_less_than_a_tenth_of_a_group_is_no_language(english, noted):
    assert ("de" in found(*[(None, GERMAN)] * 5, *[(None, ENGLISH)] * english)) is noted


def test_a_reference_in_another_language_is_enough():
    assert found(*[(None, NAMES, GERMAN)] * 5)["de"][0] == 5
    assert found(*[(None, ENGLISH, GERMAN)] * 5)["de"][0] == 5


def test_the_name_of_a_group_tells_what_words_do_not_unless_they_say_something_else():
    assert found(("en-de", NAMES)) == {"de": (1, ["0"])}
    assert found(("en-de", NAMES), side=0) == {"en": (1, ["0"])}
    assert found(("en-de", NAMES), ("en-de", GERMAN))["de"][0] == 2
    assert "de" not in found(("en-de", NAMES), ("en-de", ENGLISH))
    assert found(("weather", NAMES), ("as-xx", NAMES), ("q-a", NAMES)) == {}


def test_groups_are_told_apart():
    many = [("news", ENGLISH)] * 100
    assert found(*many, *[("talks", GERMAN)] * 5)["de"] == (5, [str(i) for i in range(100, 105)])


def test_texts_in_other_scripts_count_towards_all():
    counts = LanguageCounts()
    counts.add("a", "en-zh", [NAMES])
    for _ in range(10):
        counts.pass_by("en-zh")
    assert counts.found() == {}  # one of eleven


LATIN_WORDS = "Gallia est divisa partes tres"


def test_the_model_is_asked_where_words_say_little_and_must_be_certain_each_time(monkeypatch):
    asked = []

    def model(text):
        asked.append(text)
        return {"la": sure.pop(), "en": 0.0}

    monkeypatch.setattr(languagecounts, "languages", model)
    sure = [0.995] * 3
    assert found(*[(None, LATIN_WORDS)] * 10)["la"][0] == 10
    assert len(asked) == 3
    sure = [0.995, 0.98, 0.995]
    assert found(*[(None, LATIN_WORDS)] * 10) == {}
    assert found(*[(None, LATIN_WORDS)] * 9) == {}  # too few to ask
    assert {*found(*[(None, LATIN_WORDS)] * 30, *[(None, ENGLISH)] * 10)} == {"en"}  # a quarter says enough
    assert len(asked) == 6
