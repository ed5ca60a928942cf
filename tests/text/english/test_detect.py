"""Texts that templates for English take, and texts that they leave alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.english.detect import is_english
from nlgauge.text.languages import language


def judged(text: str) -> bool:
    return is_english(language().analyse(text))


@pytest.mark.parametrize(
    "text",
    [
        "The ferry leaves at seven and comes back late.",
        "a man riding a horse on a beach",
        "Paris",  # no function words to tell by
        "Das Auto",  # too short to tell
        "Angela Weber, Peter Lang",
        "Why not?",
        "12 + 30 = 42",
        "...",
        "",
        "naïve café owners met in Zürich",
        "The Greek letter λ stands for the rate.",
        "The paper Die Zeit was founded in the port of Hamburg.",
        "THE DOG AND THE CAT",
    ],
)
def test_english_and_what_cannot_be_told_from_it(text):
    assert judged(text)


@pytest.mark.parametrize(
    "text",
    [
        "Die Fähre fährt um sieben ab und kommt nicht wieder.",
        "Le bateau part à sept heures et il ne revient pas.",
        "El barco sale a las siete y no vuelve por la noche.",
        "Il traghetto parte alle sette e non torna con la nave della sera.",
        "A balsa sai às sete e não volta com os barcos da noite.",
        "De veerboot vertrekt om zeven uur en komt niet terug van het eiland.",
        "Паром уходит в семь часов.",
        "渡轮七点离港。",
        "フェリーは七時に出ます。",
        "العبارة تغادر في السابعة",
        "नाव सात बजे जाती है।",
        "The 渡轮七点离港，晚上不回来。",
    ],
)
def test_other_languages(text):
    assert not judged(text)


@given(text=st.text())
def test_any_text_is_judged(text):
    assert judged(text) in (True, False)
