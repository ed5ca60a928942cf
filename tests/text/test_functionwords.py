"""Languages by function words: told where they decide, and not otherwise; their codes are those of the model."""

import pytest

from nlgauge.text.functionwords import leaning, names, told
from nlgauge.text.identification import known_languages

SENTENCES = {
    "en": "The road is closed today because of works.",
    "de": "Die Straße ist heute wegen Bauarbeiten nicht für alle gesperrt, und wir müssen warten.",
    "fr": "La route est fermée aujourd'hui à cause de travaux, et nous devons attendre.",
    "es": "La carretera está cerrada hoy porque hay obras, y todos tenemos que esperar.",
    "nl": "De weg is vandaag dicht omdat er aan wordt gewerkt, maar wij wachten niet.",
    "it": "La strada è chiusa oggi perché ci sono dei lavori, e non possiamo passare.",
    "ru": "Дорога сегодня закрыта, и мы не знаем, когда это будет иначе, но они ждут.",
}


@pytest.mark.parametrize(("code", "text"), SENTENCES.items())
def test_sentences_are_told_by_their_function_words(code, text):
    assert told(text) == code
    assert leaning(text) == code


@pytest.mark.parametrize("text", ["", "12 + 34", "Tokyo, Osaka, Kyoto", "the the the", "Heavy rain", "in", "na u je"])
def test_little_tells_nothing(text):
    assert told(text) is None


def test_a_text_half_in_another_language_is_not_decided():
    # the, of, and against der, und, von: three each, and one language must have twice as many as another
    assert told("the house of Anna and der Hund und von") is None
    assert leaning("the house of Anna and der Hund und von") is None


def test_near_languages_are_not_told_apart_but_both_are_not_english():
    text = "Det er en by i den nordlige del av landet, og de har en kirke der."  # Norwegian, and nearly Danish
    assert told(text) is None
    assert leaning(text) in ("no", "nn", "da", "sv")


def test_codes_are_those_of_the_model_so_that_language_pairs_need_no_model():
    assert names().keys() == known_languages()
    assert names()["de"] == "German"
