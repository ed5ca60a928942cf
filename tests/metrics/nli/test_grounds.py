import pytest

from nlgauge.metrics.nli.grounds import Grounds

SOURCE = (
    "Paul Merson wrote for the BBC on May 29, 1943 . The United Nations sent 3 , 500 people to Spain's north, a"
    " 19-year-old said. America paid $1.5 million, 12% of it in two parts. José lives in Zürich."
)


def lacking(sentence, source=SOURCE):
    return [mention.text for mention in Grounds(source).lacks(sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The UN sent 3,500 people.",  # initials; a number as tokenised texts have it
        "He earned three thousand five hundred dollars.",
        "She is nineteen, says Merson.",
        "The Spanish and the American team met.",  # other forms of names
        "Mr Paul Merson's column of 1943 was in the BBC.",
        "Jose went to Zurich.",  # without marks
        "It was 12 percent, or 1.5 million.",
        "nothing here is a name or a number",
        "",
    ],
)
def test_what_stands_in_the_source_has_ground(sentence):
    assert lacking(sentence) == []


def test_what_does_not_is_named_in_order_with_its_place():
    sentence = "Paul Merson left Italy in 1946 with 14 friends of Anna Smith."
    found = Grounds(SOURCE).lacks(sentence)
    assert [(m.text, m.kind) for m in found] == [
        ("Italy", "name"),
        ("1946", "number"),
        ("14", "number"),
        ("Anna Smith", "name"),
    ]
    assert all(sentence[m.start : m.end] == m.text for m in found)


def test_a_name_needs_ground_for_each_of_its_words():
    assert lacking("We met Paul Smith.") == ["Paul Smith"]


def test_an_empty_source_gives_none():
    assert lacking("Rain fell on Paris in 2010.", "") == ["Paris", "2010"]


def test_numbers_are_found_in_a_source_in_another_script():
    assert lacking("It cost 30 pounds.", "これは30ポンドでした。") == []


@pytest.mark.parametrize(
    ("sentence", "share"),
    [
        ("The cats were sitting", 1.0),  # stems
        ("the cat sat there", 0.5),  # one of two runs
        ("A dog lay.", 0.0),
        ("cat sat", 1.0),  # two words are one run
        ("sat cat", 0.0),
        ("?!", 1.0),
        ("", 1.0),
    ],
)
def test_the_share_that_is_copied(sentence, share):
    assert Grounds("The cat sat. The cat were sitting").copied(sentence) == share


def test_nothing_is_copied_from_an_empty_source():
    assert Grounds("").copied("The cat sat on") == 0.0
