"""What goes round, and what merely says a word twice."""

import gzip
import json
import os
import re
import time
import warnings
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.scores import MEANINGS
from nlgauge.core.segment import Segment
from nlgauge.metrics import guards
from nlgauge.metrics.guards import (
    LEAST,
    OUTPUTS,
    PART,
    REFERENCES,
    GuardCounts,
    GuardRules,
    Ways,
    habits,
    is_bare,
    is_loop,
    is_shorter,
    loop,
    turns_itself,
)
from nlgauge.scoring.job import score_source


def loops(text, spaced=True):
    return is_loop(re.findall(r"\w+", text) if spaced else list(text), spaced)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on a board on a board on a board", True),  # three words, three turns: nine words, the least
        ("on a board on a board on a", False),  # eight words, two turns and two thirds
        ("and so on and so on and then and so on", False),  # three turns, but "then" stands between
        ("one two three four one two three four one two three four", True),  # four words, three turns
        ("one two three four one two three four one two three", False),  # eleven of twelve words
        ("the the the the the the the the the", True),  # nine times one word
        ("the the the the the the the the", False),
        ("more and more and more and more and", False),  # eight words in turns of two
        ("again and again and again and again and again", True),  # nine
        ("more and more of it and more and more and still more and more of that", False),
        ("0 0 0 0 0 0 0 0 0 0 0 0", False),  # a table
        ("1 2 3 0 0 0 0 0 0 0 0 0 0", False),  # nor do numbers beside it make one
        ("they had 3 goals 0 0 0 0 0 0 0 0 0", False),
        ("5 goals 5 goals 5 goals 5 goals 5 goals", True),  # "goals" is a word
        ("m" * 48, True),
        ("m" * 47, False),
        ("oh n" + "o" * 60, True),
        ("ha" * 24, True),
        ("abcdefghijklmnop" * 3, True),  # turns of 16 letters
        ("abcdefghijklmnopq" * 9, False),  # turns of 17 letters: no word goes on like this
        ("1" * 60, False),
        ("", False),
    ],
)
def test_three_turns_of_nine_words_make_a_loop(text, found):
    assert loops(text) == found


def test_a_loop_that_is_less_than_a_third_of_its_text_is_none():
    loop, others = "on a board " * 3, [f"w{i}" for i in range(19)]
    assert (LEAST, PART) == (9, 1 / 3)
    assert loops(loop + " ".join(others[:18]))  # 9 of 27 words
    assert not loops(loop + " ".join(others))  # 9 of 28
    assert loops(" ".join(others[:9]) + " " + loop + " ".join(others[9:18]))  # wherever it stands


def test_what_a_loop_takes_up_and_what_of_it_was_said_before():
    assert loop("so it is on a board on a board on a board on".split(), True) == 10 / 13  # three words turn
    assert loop("it is on a board".split(), True) == 0
    assert loop(["so", "m" * 48], True) == 48 / 50


def test_where_no_blanks_set_words_apart_letters_are_counted():
    assert loops("今天下雨" * 5, spaced=False)  # 20 letters, five turns
    assert loops("天下雨" * 6, spaced=False)  # 18
    assert loops("今天下雨路关" * 3, spaced=False)  # 18, three turns
    assert not loops("天下雨" * 5 + "天下", spaced=False)  # 17
    assert not loops("今天下雨路关了人们等" * 2, spaced=False)  # two turns


def test_sentences_that_share_words_are_no_loop():
    assert not loops(
        "Smith scored in the first half. Smith scored in the second half. Jones scored in the second half, and Smith"
        " was sent off in the second half."
    )
    assert not loops(" ".join(f"item {i} costs {i} pounds" for i in range(40)))
    # the same sentence twice is told twice, three times it turns
    sentence = "the road is closed because of works near the old bridge "
    assert not loops(sentence * 2)
    assert loops(sentence * 3)


@pytest.mark.parametrize(
    ("text", "found"), [("Ha ha ha ha!", True), ("No, no, no.", False), ("哈哈哈哈", True), ("WWW", False)]
)
def test_a_side_that_says_a_short_word_four_times_turns_itself(text, found):
    assert turns_itself(text) == found


words = st.sampled_from(["a", "b", "c", "d"])


@given(phrase=st.lists(words, min_size=1, max_size=3, unique=True), turns=st.integers(min_value=9, max_value=20))
def test_every_phrase_that_turns_nine_times_is_found(phrase, turns):
    assert is_loop(phrase * turns, True)


@given(text=st.lists(words, max_size=40))
def test_what_is_found_is_there(text):
    """By the definition: a stretch of nine words or more, three turns or more, and a third of the text."""
    n = len(text)
    there = any(
        text[start + period : end] == text[start : end - period]
        for period in range(1, n // 3 + 1)
        for start in range(n)
        for end in range(start + max(LEAST, 3 * period, -(-n // 3)), n + 1)
    )
    assert not is_loop(text, True) or there


@pytest.mark.parametrize("text", ["a b " * 50_000, "ab" * 100_000, " ".join(f"w{i % 997} x" for i in range(100_000))])
def test_the_time_grows_with_the_length_alone(text):
    start = time.process_time()
    loops(text)
    turns_itself(text)
    assert time.process_time() - start < 5  # squares of 200,000 would take minutes


# --- How texts end beside their references


def shown(hypothesis, *references, source=None):
    return [*habits(Segment("a", hypothesis, references, source))]


@pytest.mark.parametrize(
    "end", [".", "!", "...", ":", ";", "&quot;", "-RRB-", "-lsb-", "<unk>", "''", ")", "”", "…", "。", " ."]
)
def test_any_mark_may_end_a_text(end):
    assert not is_bare(f"He went to the sea{end}")
    assert shown(f"He went to the sea{end}", "He went to the sea!") == []


@pytest.mark.parametrize("text", ["He went", "in 2014", "He went,", "वह गया", "he said AT&eacute;", "He went "])
def test_a_letter_a_number_and_a_comma_end_none(text):
    assert is_bare(text)


def test_no_mark_counts_only_beside_references_that_all_have_one():
    assert shown("He said", "He said no.") == ["unmarked"]
    assert shown("He said", "He said “no.”") == ["unmarked"]  # quotation marks do not hide the full stop
    assert shown("He said", "He said no.", "He said") == []
    assert shown("He said", "He said no:") == []  # a colon is no final mark
    assert shown("He said") == []
    assert shown("", "He said.") == []
    assert shown("He said", "He said no.", source="Er sagte nein") == []
    assert shown("He said", "He said no.", source="Er sagte nein.") == ["unmarked"]


def test_a_full_stop_that_one_side_sets_apart_is_shown():
    assert shown("A storm .", "A storm.") == ["spaced"]
    assert shown("A storm.", "A storm .", "The storm . ") == ["spaced"]
    assert shown("A storm .", "A storm .") == []
    assert shown("A storm .", "A storm.", "A storm .") == []
    assert shown("A storm .", "A storm!") == []


def test_a_text_that_is_cut_off_is_shorter_than_every_reference():
    reference = "0123 567 9012 456789"  # 20 characters, so that 18 are the most
    assert is_shorter(Segment("a", "0123 567 9012 4567", (reference,)))  # 18 characters, four words
    assert not is_shorter(Segment("a", "0123 567 9012 45678", (reference,)))
    assert not is_shorter(Segment("a", "0123 567 9012", (reference,)))  # three words
    assert not is_shorter(Segment("a", "0123 567 9012 456", (reference, "0123 567 9012 456")))
    assert not is_shorter(Segment("a", "a b c d"))


# --- A way of writing is told once of a system, whatever the number of its texts

BARE, WHOLE = "It rains", "It rains."


def counted(*texts, system=None, unfinished=()):
    ways = Ways()
    for i, text in enumerate(texts):
        ways.add(Segment(f"s{i}", text, ("It is raining.",), system=system), i in unfinished)
    return ways


def test_five_texts_and_a_tenth_of_a_system_are_told():
    expected = "input: texts (5 of 50) have no final mark where the references have one, and none is distrusted for it"
    assert [*counted(*[BARE] * 5, *[WHOLE] * 45).notes()] == [expected]
    assert [*counted(*[BARE] * 5, *[WHOLE] * 46).notes()] == []  # fewer than a tenth
    assert [*counted(*[BARE] * 4, *[WHOLE] * 2).notes()] == []  # four
    spaced = "input: texts (m: 6 of 6) end in ' .' where the references end in '.', or the other way round, and none is"
    assert [note.startswith(spaced) for note in counted(*["It rains ."] * 6, system="m").notes()] == [True]


def test_texts_that_are_distrusted_one_by_one_are_not_told_again():
    # 6 of 20 lack a mark, 2 of them are cut off: 4 are left, and 5 if only 1 is
    assert [*counted(*[BARE] * 6, *[WHOLE] * 14, unfinished={0, 1}).notes()] == []
    ways = counted(*[BARE] * 6, *[WHOLE] * 14, unfinished={2})
    assert "(5 of 20)" in next(ways.notes())
    assert not ways.is_usual(None)
    assert ways.first() == ["s2"]


def test_more_than_half_of_the_texts_make_it_usual():
    assert not counted(*[BARE] * 5, *[WHOLE] * 5).is_usual(None)
    assert counted(*[BARE] * 6, *[WHOLE] * 5).is_usual(None)
    assert counted(*[BARE] * 5).is_usual(None)
    assert not counted(*[BARE] * 4).is_usual(None)  # of four texts nobody knows
    ways = counted(*[BARE] * 6, system="m", unfinished={0, 1, 2, 3, 4, 5})
    assert ways.first() == []
    assert "(m: 6 of 6)" in next(ways.notes())


def told_of(systems):
    """The note about systems of five texts each."""
    ways = Ways()
    for i in range(5 * systems):
        ways.add(Segment(f"s{i}", BARE, ("It is raining.",), system=f"m{i % systems}"), False)
    (note,) = ways.notes()
    return note


def test_ten_systems_are_named():
    assert "m9: 5 of 5)" in told_of(10)
    note = told_of(12)
    assert note.said.startswith("texts (12 systems) have no final mark")
    assert "(m0: 5 of 5, m1: 5 of 5, " in note
    assert "m9: 5 of 5, and 2 systems more)" in note


# --- What a broken step leaves in a text is told, and ordinary text of many languages is not

# --- The guards one by one: what each distrusts, and what it leaves alone

GERMAN = "Die Straße ist heute wegen Bauarbeiten gesperrt."
ENGLISH = "The road is closed today because of works."


def flags(hypothesis, *references, source=None, group=None):
    return {*GuardRules().flags(Segment("a", hypothesis, references, source, group=group))}


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
    one, reference = GuardRules(), "They have shut the old street since workers are there."
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
        assert [*GuardRules().flags(Segment("a", "A storm.", ("",), "", **asked))] == ["blank_reference"]


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
    monkeypatch.setattr(guards, "languages", told.__getitem__)
    assert ("foreign" in flags(FRENCH, GERMAN_TOO)) == found


def test_three_words_tell_a_language(monkeypatch):
    sure = {"la route": "fr", "la route fermée": "fr", "die straße": "de", "die straße gesperrt": "de"}
    monkeypatch.setattr(guards, "languages", lambda text: {"fr": 0.0, "de": 0.0, sure[text]: 1.0})
    for text, reference in ((a, b) for a in list(sure)[:2] for b in list(sure)[2:]):
        both = len(text.split()) == len(reference.split()) == 3
        assert ("foreign" in flags(text, reference)) == both


@pytest.mark.parametrize(
    ("probability", "beside", "alone"), [(0.0009, True, True), (0.001, True, False), (0.05, False, False)]
)
def test_the_language_of_the_pair_must_be_unlikely_too(monkeypatch, probability, beside, alone):
    told = {FRENCH: {"fr": 0.9, "de": 0.01, "en": probability}, GERMAN_TOO: {"de": 0.9, "fr": 0.01}}
    monkeypatch.setattr(guards, "languages", told.__getitem__)
    assert ("foreign" in flags(FRENCH, GERMAN_TOO, group="cs-en")) == beside
    assert ("foreign" in flags(FRENCH, group="cs-en")) == alone


def test_a_text_that_shares_a_third_of_its_words_with_a_reference_is_in_its_language(monkeypatch):
    monkeypatch.setattr(guards, "_are_other", lambda text, known: True)
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
        ("so " + "ha " * 20, True),
        ("m" * 60, True),
        ("It was good, it was very good, and it was good again, as good as it was before.", False),
        ("The road is closed today, and the other road is open.", False),
    ],
)
def test_texts_that_go_round_in_one_phrase_are_distrusted(text, loops):
    assert ("looping" in flags(text, "no, no, other.")) == loops
    assert ("looping" in flags(text)) == loops
    assert "looping" not in flags(text, text)  # the reference does so, too


def test_what_the_source_the_context_or_one_reference_repeats_may_be_repeated():
    assert "looping" not in flags(LOOP, "Other.", LOOP)
    assert "looping" not in flags(LOOP, "Other.", source=LOOP)
    assert "looping" not in flags("ha " * 20, "He laughed.", source="哈哈哈哈哈")
    turns = ({"speaker": "a", "text": "na na na na na na"},)
    assert [*GuardRules().flags(Segment("a", "na " * 12, context=turns))] == []


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


@pytest.mark.parametrize("text", ["".join(map(chr, range(0x4E00, 0x9FA5))) * 5, "x" + "é " * 50_000])
def test_the_time_of_a_long_text_grows_with_its_length_alone(text):
    start = time.process_time()
    flags(text, "A short reference of six words.", source=text[::-1], group="zh-en")
    assert time.process_time() - start < 5  # squares of 200,000 would take minutes


rules_words = st.text(alphabet="abcdefg äж漢", max_size=60)


@given(hypothesis=rules_words, reference=rules_words, source=rules_words)
def test_blanks_around_a_text_change_nothing(hypothesis, reference, source):
    plain = flags(hypothesis.strip(), reference, source=source)
    for other in (f"{hypothesis.strip()} ", f" \t{hypothesis.strip()}\n"):
        assert flags(other, reference, source=source) == plain


@given(text=rules_words, other=rules_words)
def test_a_text_that_is_its_reference_is_not_distrusted(text, other):
    assert flags(text, text, source=other) <= {"empty", "blank_reference"}


@given(hypothesis=rules_words, references=st.lists(rules_words, max_size=3), source=st.none() | rules_words)
def test_every_guard_has_a_name_and_company_changes_nothing(hypothesis, references, source):
    segment = Segment("a", hypothesis, tuple(references), source)
    one = GuardRules()
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
    one = GuardRules()
    found = [{*one.flags(segment)} & {*OUTPUTS} for segment in texts]
    assert sum(map(bool, found)) <= 0.01 * len(best)


WEATHER = Path(__file__).parents[2] / "examples" / "weather.jsonl"


def test_function_words_tell_that_texts_are_in_one_language_so_that_no_model_is_loaded(monkeypatch):
    def asked(text):
        raise AssertionError(f"the model is asked: {text}")

    monkeypatch.setattr(guards, "languages", asked)
    found = GuardRules()
    for line in WEATHER.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for group in (None, "de-en"):
            assert "foreign" not in found.flags(Segment(row["id"], row["hyp"], tuple(row["refs"]), group=group))
    with pytest.raises(AssertionError, match="the model is asked: Die"):
        assert flags(GERMAN, ENGLISH)


@pytest.mark.parametrize("text", ["What about the käännytyspäätöksen?", "Tokyo, Osaka, Kyoto, Kobe, Nara, Otsu"])
def test_texts_that_function_words_do_not_decide_are_left_to_the_model(text, monkeypatch):
    asked = []
    monkeypatch.setattr(guards, "languages", lambda text: asked.append(text) or {"fi": 0.9, "en": 0.1})
    flags(text, "The people who must go back to where they came from were told so in the morning.")
    assert bool(asked) is (text[0] == "W")  # names are left alone


# --- Texts that guards distrust: how they are counted by system, noted and refused; no score moves


def counting_counted(*segments):
    """Flag -> how many segments have it."""
    checks = GuardCounts()
    checks.add(segments)
    flags = {meaning: flag for flag, meaning in MEANINGS.items()}
    told = {flags.get(note.partition(" have ")[2]): int(note.split()[1]) for note in checks.notes()}
    return {flag: n for flag, n in told.items() if flag is not None}  # others are no flags: values such as n/a


def one(hypothesis, *references, source=None, name="a"):
    return Segment(name, hypothesis, references, source=source)


def test_one_text_for_many_inputs_is_counted():
    same = [Segment(str(i), "I do not know.", (f"Answer {i}.",), item=str(i)) for i in range(5)]
    other = [Segment(f"o{i}", f"Text {i}.", (f"Other {i}.",), item=f"o{i}") for i in range(45)]
    assert counting_counted(*same, *other) == {"repeated": 5}
    assert counting_counted(*same[:4], *other) == {}
    assert counting_counted(*same, *other, Segment("p", "Last.", ("Last one.",), item="p")) == {}  # fewer than a tenth
    systems = [Segment(f"{i}", "Yes.", ("Yes, sir.",), item="one", system=str(i)) for i in range(9)]
    assert counting_counted(*systems) == {}  # many systems say the same of one input
    each = [Segment(f"{i}", "Yes.", (f"Yes, {i}.",), item=str(i), system=f"s{i // 3}") for i in range(9)]
    assert counting_counted(*each) == {}  # none of three systems says it of five inputs
    one = [Segment(f"{i}", "Yes.", (f"Yes, {i}.",), item=str(i), system="s", group=f"g{i % 2}") for i in range(6)]
    assert counting_counted(*each, *one) == {"repeated": 6}


def test_one_reference_for_many_inputs_is_counted():
    same = [Segment(str(i), f"Text {i}.", ("n/a",), item=str(i)) for i in range(5)]
    other = [Segment(f"o{i}", f"Text {i}.", (f"Other {i}.",), item=f"o{i}") for i in range(45)]
    assert counting_counted(*same, *other) == {"repeated_reference": 5}
    assert counting_counted(*same[:4], *other) == {}
    systems = [Segment(f"{i}", f"Yes, {i}.", ("Yes.",), item="one", system=str(i)) for i in range(9)]
    assert counting_counted(*systems) == {}  # of one input
    without = [Segment(str(i), f"Text {i}.", (), item=str(i)) for i in range(9)]
    assert counting_counted(*without) == {}


def test_the_right_answer_may_be_given_often():
    yes_or_no = [Segment(str(i), "Yes.", (("Yes.", "No.")[i % 2],), item=str(i)) for i in range(12)]
    assert "repeated" not in counting_counted(*yes_or_no)  # wrong six times, always in the same way
    # five inputs with five answers: what is wrong for four of them is right for the fifth
    own = [Segment(str(i), "I do not know.", (f"Answer {i}.",), item=str(i)) for i in range(4)]
    assert counting_counted(*own, Segment("r", "I do not know.", ("I do not know.",), item="r")) == {}
    assert counting_counted(*own, Segment("q", "I do not know.", ("Answer q.",), item="q")) == {"repeated": 5}


def cut_off(n, others):
    """Translations by a system "m", the first n of which are cut off."""
    for i in range(n + others):
        whole = f"He went to the sea {i} times with his dog."
        text = whole[:-10] if i < n else whole
        yield Segment(f"s{i}", text, (whole,), f"Er ging mit dem Hund {i} Mal an die See.", "m", f"i{i}", "de-en")


def looked_at(*segments):
    checks = GuardCounts()
    checks.add(segments)
    return checks


def test_texts_that_are_cut_off_are_flagged_unless_most_of_the_system_have_no_final_mark():
    half, most = looked_at(*cut_off(5, 5)), looked_at(*cut_off(6, 5))
    assert half.by_system()[None, "m"] == {"n_flagged": 5, "guards.unfinished": 5}
    (note,) = half.notes()
    assert note.startswith("input: 5 of 10 segments (s0, s1, s2, s3, s4) have a hypothesis that is short and has no")
    assert half.over_all()["unfinished"].tolist() == [True] * 5 + [False] * 5
    assert most.by_system()[None, "m"] == {"n_flagged": 0}
    assert most.notes() == [
        "input: texts (m: 6 of 11) have no final mark where the references have one, and none is distrusted for it"
    ]
    assert not most.over_all()["unfinished"].any()
    with pytest.raises(ng.InputError, match=r"^system 'm', segment \(number 1 of 10\) has a hypothesis that is short"):
        half.refuse()
    most.refuse()  # nothing to refuse


def test_texts_that_are_tokenised_are_told_and_neither_flagged_nor_refused():
    spaced = looked_at(*(one("A storm .", "A storm.", name=f"s{i}") for i in range(5)))
    assert spaced.by_system() == {(None, None): {"n_flagged": 0}}
    assert spaced.notes() == [
        "input: texts (5 of 5) end in ' .' where the references end in '.', or the other way round, and none is"
        " distrusted for it"
    ]
    spaced.refuse()


def test_blocks_add_up_and_the_first_ten_are_named():
    checks = GuardCounts()
    for i in range(12):
        checks.add([one("A storm.", "A storm.", "A storm.", name=f"s{i}")])
    (note,) = checks.notes()
    assert note.startswith("input: 12 of 12 segments (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, ...) have one reference")
    assert GuardCounts().notes() == []


def test_every_run_says_so(tmp_path):
    with pytest.warns(ng.ScoreWarning, match=r"input: 1 of 1 segments have one reference twice"):
        ng.score(["A storm."], [["The storm.", "The storm."]], metrics="chrf")
    data = tmp_path / "data.jsonl"
    data.write_text(
        '{"hyp": "Das ist ein Satz.", "ref": "This is a text.", "src": "Das ist ein Satz.", "seg": "s1"}\n',
        encoding="utf-8",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = score_source(ng.io.open_data(data), "chrf").result()
    assert "input: 1 of 1 segments (1) have a hypothesis that is its source, or nearly" in result.notes


SYSTEMS = {
    "good": ["The ferry leaves at noon.", "The road is closed today."],
    "poor": ["Die Fähre legt heute wegen des Sturms erst um zwölf Uhr ab.", ""],
}
COUNTING_REFERENCES = ["Because of the storm the ferry departs at noon.", "Today the road is closed."]
SOURCES = ["Die Fähre legt heute wegen des Sturms erst um zwölf Uhr ab.", "Die Straße ist heute gesperrt."]


def compared(**how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ng.compare(SYSTEMS, COUNTING_REFERENCES, SOURCES, metrics=["chrf", "ter"], draws=10, **how)


def test_the_number_of_distrusted_outputs_stands_beside_every_mean():
    rows = {(row["metric"], row["system"]): row for row in compared().rows if "against" not in row}
    for metric in ("chrf", "ter"):
        good, poor = rows[metric, "good"], rows[metric, "poor"]
        assert (good["n_flagged"], good["guards.copied"], good["guards.empty"]) == (0, 0, 0)
        assert (poor["n_flagged"], poor["guards.copied"], poor["guards.empty"]) == (2, 1, 1)
        assert poor["guards.foreign"] == 1  # the copy again: two guards, one output
    assert not any("n_flagged" in row for row in compared().rows if "against" in row)
    assert any("1 of 4 segments (poor:1) have a hypothesis that is its source" in note for note in compared().notes)


def test_what_no_text_has_is_left_out():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ng.compare({**SYSTEMS, "poor": SYSTEMS["good"]}, COUNTING_REFERENCES, metrics="chrf", draws=10)
    assert not any("n_flagged" in row for row in found.rows)


def test_no_score_moves_with_or_without_guards():
    assert [row["value"] for row in compared().rows] == [row["value"] for row in compared(guards="off").rows]
    off = compared(guards="off")
    assert not any("n_flagged" in row for row in off.rows)
    assert not any(note.startswith("input") for note in off.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noted, unseen = (
            ng.score(SYSTEMS, COUNTING_REFERENCES, SOURCES, metrics=["bleu", "chrf", "ter", "rougeL"], guards=guards)
            for guards in ("note", "off")
        )
    for name, scores in noted.items():
        np.testing.assert_array_equal(scores.values, unseen[name].values)
        assert scores.by_system() == unseen[name].by_system()


def test_the_first_distrusted_text_is_refused_before_anything_is_scored():
    expected = (
        r"^system 'poor', segment 'poor:1' \(number 3 of 4\) has a hypothesis that is its source, or nearly \(guard"
        r" copied\); mend it or leave it out, or take note"
    )
    with pytest.raises(ng.InputError, match=expected):
        ng.score(SYSTEMS, COUNTING_REFERENCES, SOURCES, metrics="chrf", guards="refuse")
    with pytest.raises(ng.InputError, match=r"^guards is 'refused'; did you mean 'refuse'"):
        ng.score(SYSTEMS, COUNTING_REFERENCES, metrics="chrf", guards="refused")
    twice = [["Because of the storm the ferry departs at noon."] * 2, ["Today the road is closed."]]
    assert ng.score(SYSTEMS["good"], twice, metrics="chrf", guards="refuse")["chrf"].values.shape == (2,)


def test_a_text_for_many_inputs_is_refused_by_its_place():
    texts = ["I do not know."] * 6
    with pytest.raises(ng.InputError, match=r"^segment \(number 1 of 6\) has a hypothesis that .* \(guard repeated\)"):
        ng.score(texts, [f"Answer {i}." for i in range(6)], metrics="chrf", guards="refuse")


def test_groups_are_counted_apart_where_they_have_rows_of_their_own():
    checks = GuardCounts()
    checks.add([Segment("a", "", ("x",), system="s", group="de-en"), Segment("b", "x", ("x",), system="s", group="fi")])
    assert {key: counts["n_flagged"] for key, counts in checks.by_system(by_group=True).items()} == {
        ("de-en", "s"): 1,
        ("fi", "s"): 0,
    }
    assert checks.by_system()[None, "s"] == {"n_flagged": 1, "guards.empty": 1}
