"""a or an: by sound, not by letter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.lexicon.articles import article_before

AN = """\
apple egg idea old ugly umbrella uncle unusual unimportant uninteresting unidentified urgent usher utter upper hour
hours hour-long honest honour honor honorary heir heirloom heiress hors-d'oeuvre MP MPs MP's FBI F.B.I. NHS NGO LED SUV
RAF X-ray x-ray F-16 H-bomb mp3 html mRNA MPhil MSc ESPN NAACP A-level e-mail iPhone I Italian AIDS OPEC E 8 80 800
8,000 8.5 8th 11 11th 18 18-year-old 11:30 11,000 18,000,000 1800 1850s €8 $11 “old (old état Ångström Yves Ypres
onerous Uzbek UGLY OLD HOUR
"""
A = """\
dog house historic hotel yellow university union unit unique uniform European euro eulogy one one-off once use used
useful usual user Utah utensil ukulele Ukrainian UK US U.S. USA UN UFO UNESCO UNICEF Ugandan uranium urine Uruguayan
unanimous unidirectional ubiquitous ewe oui NATO NASA FIFA FEMA SIM RAM LASER HOUSE NEW MAN PhD BBC DVD T-shirt U-turn
TV CEO BMW 1 7 9 10 12 100 110 118 180 1,100 1,800 1.8 0.8 $1 £20 McDonald 猫 αβγ 😀
"""


def test_an_stands_before_a_vowel_sound():
    assert [word for word in AN.split() if article_before(word) != "an"] == []


def test_a_stands_before_any_other_sound():
    assert [word for word in A.split() if article_before(word) != "a"] == []


def test_only_the_first_word_counts():
    assert (article_before("old dog"), article_before("dog and an owl"), article_before(" «hour»")) == ("an", "a", "an")


@given(st.text(max_size=20))
def test_every_text_has_an_article(text):
    assert article_before(text) in ("a", "an")
