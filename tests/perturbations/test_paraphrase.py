import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.perturbations.paraphrase import (
    CallableParaphraser,
    LightParaphraser,
    Paraphraser,
    as_paraphraser,
    edit_distance,
    select_para,
)

TEXT = "The ferry left at noon."
NEAR, FAR = "The ferry left at midday.", "At twelve o'clock the boat departed."


@pytest.mark.parametrize(
    ("a", "b", "level", "expected"),
    [
        ("kitten", "sitting", "char", 3 / 7),
        ("the red bus came", "a red bus", "word", 2 / 4),  # one word replaced, one gone
        ("", "", "char", 0),
        ("bus", "", "word", 1),
    ],
)
def test_edit_distance_worked_by_hand(a, b, level, expected):
    assert edit_distance(a, b, level) == pytest.approx(expected)


@given(st.text(), st.text(), st.sampled_from(["char", "word"]))
def test_distance_by_the_longer_text_is_a_share_that_takes_no_sides(a, b, level):
    distance = edit_distance(a, b, level)
    assert 0 <= distance <= 1
    assert distance == edit_distance(b, a, level)
    assert edit_distance(a, a, level) == 0


def test_the_hardest_paraphrase_is_the_farthest():
    candidates = [TEXT, NEAR, FAR]
    assert select_para(candidates, TEXT) == FAR
    assert select_para(candidates, TEXT, how="first") == NEAR
    assert select_para(candidates, TEXT, how="given") == TEXT
    assert select_para([FAR, NEAR], TEXT, how="first") == FAR


@pytest.mark.parametrize("how", ["max_edit_distance", "first"])
def test_the_reference_is_no_paraphrase_of_itself(how):
    assert select_para([TEXT, TEXT], TEXT, how=how) is None
    assert select_para([], TEXT, how=how) is None


def test_unknown_choices_are_refused_with_what_there_is():
    with pytest.raises(SpecError, match="expected one of max_edit_distance, given, first"):
        select_para([NEAR], TEXT, how="best")


def test_a_table_is_looked_up_by_the_text_whatever_its_blanks():
    table = as_paraphraser({TEXT: [NEAR, FAR], "Same.": ["Same."], "Blank.": [" "], "None.": []})
    texts = [TEXT, f" {TEXT.replace(' ', '  ')}\n", "Same.", "Blank.", "None.", "Unknown."]
    assert table.paraphrase(texts) == [FAR, FAR, None, None, None, None]
    assert as_paraphraser({TEXT: [NEAR, FAR]}, how="first").paraphrase([TEXT]) == [NEAR]


def test_a_table_of_strings_is_refused():
    with pytest.raises(InputError, match="one string, expected a list"):
        as_paraphraser({TEXT: NEAR})


def test_a_function_is_called_once_with_all_texts():
    calls = []

    def function(texts):
        calls.append(texts)
        return [NEAR, None, [TEXT, NEAR, FAR], "Same.", []]

    assert CallableParaphraser(function).paraphrase([TEXT, "a", TEXT, "Same.", "b"]) == [NEAR, None, FAR, None, None]
    assert calls == [[TEXT, "a", TEXT, "Same.", "b"]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([NEAR], "got 2 texts and gave 1 paraphrases"),
        ("text", "gave one string"),
        ([1, 2], "paraphrase 0 is int"),
        ([[1], None], "paraphrase 0 is list"),
    ],
)
def test_a_function_that_gives_something_else_is_told_so(given, message):
    with pytest.raises(InputError, match=message):
        CallableParaphraser(lambda texts: given).paraphrase(["a", "b"])


def test_what_a_user_gives_becomes_a_paraphraser():
    table = as_paraphraser({TEXT: [NEAR]})
    assert as_paraphraser(table) is table
    assert table.paraphrase([TEXT]) == [NEAR]
    assert as_paraphraser(lambda texts: [FAR] * len(texts)).paraphrase([TEXT]) == [FAR]
    assert isinstance(as_paraphraser("light"), LightParaphraser)
    for paraphraser in (table, CallableParaphraser(list), LightParaphraser()):
        assert isinstance(paraphraser, Paraphraser)
    with pytest.raises(SpecError, match="no paraphraser 'heavy'; expected 'light'"):
        as_paraphraser("heavy")
    with pytest.raises(SpecError, match="no paraphraser int"):
        as_paraphraser(3)


def test_back_translation_is_a_paraphraser():
    from nlgauge.models.generation import Backtranslator

    assert isinstance(Backtranslator("there", "back"), Paraphraser)


def test_light_paraphrases_open_short_forms_and_spell_numbers():
    light = LightParaphraser()
    first, second, third = light.paraphrase(["They can't carry 12 boxes.", "We are late.", ""])
    assert "cannot" in first or "can not" in first
    assert "twelve" in first
    assert "We're" in second
    assert third is None


def test_light_paraphrases_do_not_depend_on_their_company():
    texts = ["They can't carry 12 boxes.", "A small boy runs home.", "Stop."]
    assert LightParaphraser().paraphrase(texts) == [LightParaphraser().paraphrase([text])[0] for text in texts]
