"""The guards one by one: what each distrusts, and what it leaves alone."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.segment import Segment
from nlgauge.metrics.guards import rules
from nlgauge.metrics.guards.rules import OUTPUTS, REFERENCES, Rules, is_spoilt

GERMAN = "Die Straße ist heute wegen Bauarbeiten gesperrt."
ENGLISH = "The road is closed today because of works."


def flags(hypothesis, *references, source=None, group=None):
    return {*Rules().flags(Segment("a", hypothesis, references, source, group=group))}


def test_a_copy_of_the_source_is_distrusted_unless_it_is_right():
    text = "Die Fähre legt ab."
    assert flags(text, "The ferry leaves.", source=text) == {"copied"}
    assert flags(text, source=text) == {"copied"}  # without references, too
    assert flags("Berlin", "Berlin", source="Berlin") == set()
    assert flags("es ist gut so", "es ist so gut", "Es ist gut so", source="es ist gut so") == set()
    assert flags(ENGLISH, "They have closed the old road because of works.", source=ENGLISH) == set()  # one language


@pytest.mark.parametrize(
    "text",
    [
        "12.03.2014, 14:30",
        "Angela Merkel, Bad Homburg",
        "@anna_b @karl #berlin",
        "https://example.org/ein-satz-ohne-blanks",
        "anna.b@example.org, karl@example.org",
        "ISBN 978-3-16-148410-0",
        "README.md und /usr/bin/env",
        "Apollo 11 landete",  # one plain word
    ],
)
def test_numbers_dates_handles_addresses_and_names_may_be_copied(text):
    for references in ((), ("Something else stands here.",)):
        assert "copied" not in flags(text, *references, source=text, group="de-en")


def test_two_plain_words_make_a_copy_and_three_a_near_one():
    other = "Something else stands here."
    assert "copied" in flags("Apollo 11 landete weich", other, source="Apollo 11 landete weich", group="de-en")
    # "landete weich" of four plain words; with "dort" they are three
    long = "Apollo 11 Neil Armstrong Buzz Aldrin landete weich"
    assert "copied" not in flags(f"{long} there", other, source=f"{long} da", group="de-en")
    assert "copied" in flags(f"{long} dort there", other, source=f"{long} dort da", group="de-en")
    # what references say is no copy: "landete" is left
    assert "copied" not in flags(f"{long} dort there", "weich dort", source=f"{long} dort da", group="de-en")
    # eight letters are four words where no blanks set them apart, six are three, and two are one
    assert "copied" in flags("今天道路", other, source="今天道路", group="zh-en")
    assert "copied" not in flags("张继科", other, source="张继科", group="zh-en")


def test_four_fifths_of_the_characters_make_a_near_copy():
    source, other = "gehen laufen warten abcde", "Something else stands here."
    near = {"source": source, "group": "de-en"}
    assert "copied" in flags("gehen laufen warten 12345", other, **near)  # 20 of 25 and 25: 2 * 20 / 50 = 80 %
    assert "copied" not in flags("gehen laufen warten 123456", other, **near)  # 2 * 20 / 51 = 78 %
    # a reference that is as near allows it
    assert "copied" not in flags("gehen laufen warten 12345", "gehen laufen warten 67890", **near)
    # 18 letters of its 26 characters and of 25: 2 * 18 / 51 = 71 %
    assert "copied" in flags("gehen laufen warten 12345", "gehen1laufen1warten1xyzuvw", **near)


def test_inputs_with_one_reference_are_told_apart():
    one, reference = Rules(), "They have shut the old street since workers are there."
    for source, found in ((ENGLISH, set()), (GERMAN, {"copied", "foreign"}), (ENGLISH, set())):
        assert {*one.flags(Segment("a", source, (reference,), source))} == found


def test_a_record_is_no_output():
    record = "Piotr Hallmann | height | 175.26"
    assert flags(record, "He is 175.26 cm tall.", source=record) == {"copied"}
    assert "copied" in flags("Anna | height | 175", "She is tall.", source="Anna | height | 175")  # two words
    assert "copied" not in flags("A | 1", "One.", source="A | 1")  # one word


def test_a_near_copy_is_distrusted_where_languages_differ():
    near = GERMAN.replace("heute", "today")
    assert "copied" in flags(near, ENGLISH, source=GERMAN)
    assert "copied" in flags(near, source=GERMAN, group="de-en")
    assert "copied" not in flags(near, source=GERMAN)  # nobody knows the languages
    corrected = "The road is closed today because of the works."
    assert flags(corrected, "Roadworks have closed this road until tomorrow.", source=ENGLISH) == set()
    record = "Piotr Hallmann | height | 175.26"
    assert "copied" not in flags("Piotr Hallmann height 175.26", "He is 175.26 cm tall.", source=record)


def test_a_blank_text_is_empty_and_nothing_else():
    for blank in ("", "  ", "\u200b"):
        assert flags(blank, ENGLISH, source=GERMAN) == {"empty"}


def test_where_nothing_was_to_be_said_a_text_is_distrusted_and_a_blank_is_right():
    for blank in ("", " ", "\u200b"):
        assert flags("A storm.", blank, source=blank) == {"unasked", "blank_reference"}
        assert flags("A storm.", source=blank) == set()  # many files have a column of sources without any
        assert flags("", blank, source=blank) == {"blank_reference"}
    assert flags("A storm.", "", "A storm.", source="") == {"blank_reference"}  # a reference says something
    assert flags("A storm.", "", source="Ein Sturm.") == {"blank_reference"}
    assert flags("A storm.", "") == {"blank_reference"}  # nobody knows what was asked
    table, turns = ({"name": "storm"},), ({"speaker": "a", "text": "What was it?"},)
    for asked in ({"table": table}, {"context": turns}):
        assert [*Rules().flags(Segment("a", "A storm.", ("",), "", **asked))] == ["blank_reference"]


def test_another_language_or_script_is_distrusted():
    assert flags("La route est fermée à cause de travaux.", ENGLISH) == {"foreign"}
    assert flags("Дорога сегодня закрыта из-за ремонта.", ENGLISH) == {"foreign"}
    assert flags("La route est fermée à cause de travaux.", group="de-en") == {"foreign"}
    assert flags("La route est fermée à cause de travaux.", group="de-fr") == set()
    assert flags("La route est fermée à cause de travaux.") == set()  # nothing says what it should be
    assert flags("Une route.", ENGLISH) == set()  # short
    assert flags("La route est fermée à cause de travaux.", "No.") == set()  # so is the reference
    assert flags("道路因施工今天关闭。", "今天由于修路道路封闭。") == set()
    # names tell no language, and nor do short texts beside others
    names = "The songs Mermaid by Train and Calling All Angels"
    assert flags("Nurhan Atasoy and Agremiação Sportiva Arapiraquense play them.", names) == set()
    assert flags("Manta Rhei, Zürich", "The restaurant is called Manta Rhei.") == set()
    assert flags("Radu Constantin Brancusi sent", "The customers come in small") == set()
    assert flags("Hewlett Packard Enterprise сократит до 30.", "Компания хочет уволить людей.") == set()
    # the reference is what was not translated
    assert (
        flags("So here it is now.", "Hier ist es also jetzt.", source="Hier ist es also jetzt.", group="de-en") == set()
    )


FRENCH, GERMAN_TOO = "la route est fermée", "die straße ist gesperrt"


@pytest.mark.parametrize(
    ("own", "known", "found"),
    [
        ({"fr": 0.7, "de": 0.04}, {"de": 0.7, "fr": 0.04}, True),
        ({"fr": 0.69, "de": 0.04}, {"de": 0.7, "fr": 0.04}, False),  # not sure of the text
        ({"fr": 0.7, "de": 0.04}, {"de": 0.69, "fr": 0.04}, False),  # nor of the reference
        ({"fr": 0.7, "de": 0.05}, {"de": 0.7, "fr": 0.04}, False),  # the text may be in the reference's language
        ({"fr": 0.7, "de": 0.04}, {"de": 0.7, "fr": 0.05}, False),  # or the reference in the text's
        ({"de": 0.7, "fr": 0.04}, {"de": 0.7, "fr": 0.04}, False),
    ],
)
def test_both_languages_must_be_sure(monkeypatch, own, known, found):
    told = {FRENCH: own, GERMAN_TOO: known}
    monkeypatch.setattr(rules, "languages", told.__getitem__)
    assert ("foreign" in flags(FRENCH, GERMAN_TOO)) == found


def test_three_words_tell_a_language(monkeypatch):
    sure = {"la route": "fr", "la route fermée": "fr", "die straße": "de", "die straße gesperrt": "de"}
    monkeypatch.setattr(rules, "languages", lambda text: {"fr": 0.0, "de": 0.0, sure[text]: 1.0})
    for text, reference in ((a, b) for a in list(sure)[:2] for b in list(sure)[2:]):
        both = len(text.split()) == len(reference.split()) == 3
        assert ("foreign" in flags(text, reference)) == both


@pytest.mark.parametrize(
    ("probability", "beside", "alone"), [(0.0009, True, True), (0.001, True, False), (0.05, False, False)]
)
def test_the_language_of_the_pair_must_be_unlikely_too(monkeypatch, probability, beside, alone):
    told = {FRENCH: {"fr": 0.9, "de": 0.01, "en": probability}, GERMAN_TOO: {"de": 0.9, "fr": 0.01}}
    monkeypatch.setattr(rules, "languages", told.__getitem__)
    assert ("foreign" in flags(FRENCH, GERMAN_TOO, group="cs-en")) == beside
    assert ("foreign" in flags(FRENCH, group="cs-en")) == alone


def test_a_text_that_shares_a_third_of_its_words_with_a_reference_is_in_its_language(monkeypatch):
    monkeypatch.setattr(rules, "_are_other", lambda text, known: True)
    assert flags("a b c d e f", "a b and more words") == set()  # two of six
    assert flags("a b c d e f g", "a b and more words") == {"foreign"}  # two of seven
    # so are a source and a reference: two of six words, and three
    copy = "the bridge in town has fallen"
    assert "copied" in flags(copy, "the bridge over there is down", source=copy)
    assert "copied" not in flags(copy, "the bridge in there is down", source=copy)


def test_words_of_the_source_that_were_not_translated_are_distrusted():
    assert flags("The road is heute wegen Bauarbeiten closed.", ENGLISH, source=GERMAN) == {"untranslated"}
    # three in a row, two of them plain: "heute Wegen" and one name are too few, and so are two words
    for said, found in (("heute wegen Bauarbeiten", True), ("heute wegen works", False), ("Straße heute Bau", False)):
        source = f"Gestern {said} gesperrt."
        assert ("untranslated" in flags(f"The road is {said} closed.", ENGLISH, source=source, group="de-en")) == found
    source = "Gestern heute wegen 12 gesperrt."
    assert flags("The road is heute wegen 12 closed.", ENGLISH, source=source, group="de-en") == {"untranslated"}
    chinese = {"source": "张继科赢了比赛。", "group": "zh-en"}
    assert flags("Mr Zhang 张继 won.", "Mr Zhang Jike won.", **chinese) == {"untranslated"}
    assert flags("Mr Zhang 张 won.", "Mr Zhang Jike won.", **chinese) == set()  # one letter
    accents = {"source": "Ștefan și Țuțea țin.", "group": "ro-en"}
    assert flags("Ștefan Țuțea held it.", "Stefan and Tutea held it.", **accents) == set()  # Latin letters
    names = "Angela Merkel visited Bad Homburg in June."
    assert flags(names, names.replace("visited", "saw"), source="Angela Merkel besuchte Bad Homburg im Juni.") == set()
    summary = "The storm closed the road because of works nearby."
    article = "A storm came. The council closed the road because of works nearby, and people waited for hours."
    assert flags(summary, "People waited after the council shut a street.", source=article) == set()


LOOP = "the end of the day, " * 3


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("It was " + LOOP, True),
        ("It was a number of a number of a number of a number.", True),
        ("so " + "ha " * 20, True),
        ("m" * 60, True),
        ("It was good, it was very good, and it was good again, as good as it was before.", False),
        ("More and more people come, and more and more of them stay, and more and more buy a house.", False),
        ("the same sentence once more. " * 2, False),
        ("no no no", False),
        ("The road is closed today, and the other road is open.", False),
    ],
)
def test_texts_that_go_round_in_one_phrase_are_distrusted(text, loops):
    assert ("looping" in flags(text, "no, no, other.")) == loops
    assert ("looping" in flags(text)) == loops
    assert "looping" not in flags(text, text)  # the reference does so, too


def test_one_guard_is_enough_to_spoil_a_text_but_a_loop_must_take_up_most_of_it():
    answer = Segment("a", "so " + "on a board " * 3)  # 6 of 10 words were said before, less than two thirds
    loop = Segment("a", "on a board " * 3)  # 6 of 9
    assert not is_spoilt(answer, ())
    assert not is_spoilt(answer, ["looping"])
    assert is_spoilt(answer, ["looping", "copied"])
    assert is_spoilt(answer, ["copied"])
    assert is_spoilt(loop, ["looping"])


def test_what_the_source_the_context_or_one_reference_repeats_may_be_repeated():
    assert "looping" not in flags(LOOP, "Other.", LOOP)
    assert "looping" not in flags(LOOP, "Other.", source=LOOP)
    assert "looping" not in flags("ha " * 20, "He laughed.", source="哈哈哈哈哈")
    turns = ({"speaker": "a", "text": "na na na na na na"},)
    assert [*Rules().flags(Segment("a", "na " * 12, context=turns))] == []


def test_a_long_summary_beside_a_short_reference_is_no_loop():
    summary = (
        "The council closed the road on Monday. The council said the road was in danger. The road will stay closed"
        " until the bridge is safe, the council said. The bridge was built in 1890, and the road in 1902. The council"
        " said it would build a new bridge and a new road."
    )
    assert flags(summary, "A bridge is unsafe.", source=summary * 2) == set()


def test_a_translation_that_is_cut_off_is_distrusted():
    german = {"source": "Er ging mit dem Hund an die See.", "group": "de-en"}
    reference = "He went to the sea with his dog."
    assert flags("He went to the", reference, **german) == {"unfinished"}
    assert flags("He went to the", reference, source=german["source"], group="de-de") == set()  # no translation
    assert flags("He went to the", reference) == set()
    assert flags("He went to the", reference, source="Er ging mit dem Hund an die See", group="de-en") == set()
    assert flags("He took the dog to the sea", reference, **german) == {"unfinished"}  # 26 of 32 characters
    assert flags("With the dog he went to the sea", reference, **german) == set()  # 31: as long as the reference
    assert flags("He left", reference, **german) == set()  # two words


def test_references_without_text_and_references_that_stand_twice_are_found():
    assert flags("A storm.", "A storm.", " ") == {"blank_reference"}
    assert flags("A storm.", "The storm.", "The storm.") == {"doubled_reference"}


def test_a_list_that_was_written_as_one_reference_is_found():
    assert flags("It rains.", "['It is raining.', 'Rain falls.']") == {"printed_reference"}
    assert flags("It rains.", "[It] rains.") == set()


@pytest.mark.parametrize(
    "text", ["".join(map(chr, range(0x4E00, 0x9FA5))) * 10, "a b " * 50_000, "ab" * 100_000, "x" + "é " * 99_999]
)
def test_the_time_of_a_long_text_grows_with_its_length_alone(text):
    start = time.process_time()
    flags(text, "A short reference of six words.", source=text[::-1], group="zh-en")
    assert time.process_time() - start < 5  # squares of 200,000 would take minutes


words = st.text(alphabet="abcdefg äж漢", max_size=60)


@given(hypothesis=words, reference=words, source=words)
def test_blanks_around_a_text_change_nothing(hypothesis, reference, source):
    plain = flags(hypothesis.strip(), reference, source=source)
    for other in (f"{hypothesis.strip()} ", f" \t{hypothesis.strip()}\n"):
        assert flags(other, reference, source=source) == plain


@given(text=words, other=words)
def test_a_text_that_is_its_reference_is_not_distrusted(text, other):
    assert flags(text, text, source=other) <= {"empty", "blank_reference"}


@given(hypothesis=words, references=st.lists(words, max_size=3), source=st.none() | words)
def test_every_guard_has_a_name_and_company_changes_nothing(hypothesis, references, source):
    segment = Segment("a", hypothesis, tuple(references), source)
    one = Rules()
    found = list(one.flags(segment))
    assert {*found} <= {*OUTPUTS, *REFERENCES}
    assert len(found) == len({*found})
    list(one.flags(Segment("b", "another text", ("a b c d",), "e f g")))
    assert list(one.flags(segment)) == found


DATA = Path(os.environ.get("NLGAUGE_DATA", "/nowhere"))


@pytest.mark.skipif(not DATA.is_dir(), reason="NLGAUGE_DATA names no folder")
@pytest.mark.parametrize(
    "name", ["wmt15-da-seg", "wmt16-da-seg", "webnlg2020-humaneval", "summeval", "ted-mqm-zh-en", "ted-mqm-en-de"]
)
def test_well_rated_outputs_are_trusted(name):
    """All guards together distrust at most 1 % of the best quarter."""
    with gzip.open(DATA / name / "segments.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    best = sorted(rows, key=lambda row: -mean(row["human"].values()))[: len(rows) // 4]
    texts = (Segment(row["id"], row["hyp"], tuple(row["refs"]), row["src"], group=row.get("lp")) for row in best)
    one = Rules()
    found = [{*one.flags(segment)} & {*OUTPUTS} for segment in texts]
    assert sum(map(bool, found)) <= 0.01 * len(best)


WEATHER = Path(__file__).parents[3] / "examples" / "weather.jsonl"


def test_function_words_tell_that_texts_are_in_one_language_so_that_no_model_is_loaded(monkeypatch):
    def asked(text):
        raise AssertionError(f"the model is asked: {text}")

    monkeypatch.setattr(rules, "languages", asked)
    found = Rules()
    for line in WEATHER.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for group in (None, "de-en"):
            assert "foreign" not in found.flags(Segment(row["id"], row["hyp"], tuple(row["refs"]), group=group))
    with pytest.raises(AssertionError, match="the model is asked: Die"):
        assert flags(GERMAN, ENGLISH)


@pytest.mark.parametrize("text", ["What about the käännytyspäätöksen?", "Tokyo, Osaka, Kyoto, Kobe, Nara, Otsu"])
def test_texts_that_function_words_do_not_decide_are_left_to_the_model(text, monkeypatch):
    asked = []
    monkeypatch.setattr(rules, "languages", lambda text: asked.append(text) or {"fi": 0.9, "en": 0.1})
    flags(text, "The people who must go back to where they came from were told so in the morning.")
    assert bool(asked) is (text[0] == "W")  # names are left alone
