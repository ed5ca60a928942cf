import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.restore import clean

DATA = os.environ.get("NLGAUGE_DATA")
PIECES = [
    "The",
    "the",
    "DTM",
    "dtm",
    "cat",
    "n't",
    "'s",
    "’s",
    ".",
    ",",
    " ",
    " ",
    "``",
    "''",
    '"',
    "’",
    "1.5",
    "\t",
    "ß",
    "SS",
    "猫",
    "\ud800",
]


@pytest.mark.parametrize(
    ("adv", "ref", "expected"),
    [
        ("the firm 's boss did n't wait .", "The firm's boss didn't wait.", "The firm's boss didn't wait."),
        ("He said `` the old cat slept . ''", 'He said "the cat slept."', 'He said "the old cat slept."'),
        ("It ’s Late in may .", "It’s late in May.", "It’s late in May."),
        # a word that moved: capitals of names come back, the capital of the head of the sentence does not
        ("slept paris in the cat .", "The cat slept in Paris.", "slept Paris in the cat."),
        # the new word stays as it is, blanks before a short form and a stop go
        ("The dog 's owner left .", "The cat left.", "The dog's owner left."),
        # a reference in tokens keeps its texts in tokens
        ("The dog 's owner left .", "The cat 's owner left .", "The dog 's owner left ."),
        ("Th ecat slept.", "The cat slept.", "Th ecat slept."),  # a typo that moved a blank is what the data set wanted
        ("", "The cat.", ""),
        ("A  b", "", "A  b"),
    ],
)
def test_capitals_and_blanks_come_from_the_reference(adv, ref, expected):
    assert clean(adv, ref) == expected


@given(st.text(), st.text())
def test_a_text_without_a_word_of_the_reference_keeps_its_letters(adv, ref):
    assert _letters(clean(adv, ref)) == _letters(adv)


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.lists(st.sampled_from(PIECES)).map("".join))
def test_only_blanks_quotes_and_case_may_change(adv, ref):
    assert _letters(clean(adv, ref)) == _letters(adv)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_the_reference_itself_is_clean(ref):
    assert clean(ref, ref) == ref


@pytest.mark.skipif(not DATA, reason="NLGAUGE_DATA is not set")
def test_published_cases_lose_the_damage_of_joining():
    # Words that stand in both texts but differ in case, and marks with a blank before them that the reference has
    # nowhere.
    with gzip.open(Path(DATA) / "xpaws-fr-adv" / "adversarial.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["phenomenon"] not in ("jumble", "typo")]
    damaged = [row for row in rows if _damage(row["cand_adv_ref"], row["ref"])]
    left = [row for row in damaged if _damage(clean(row["cand_adv_ref"], row["ref"]), row["ref"])]
    assert len(damaged) > 200
    assert len(left) < 0.02 * len(damaged)


def _letters(text):
    text = "".join(text.split())
    for quote in ("``", "''", "“", "”", '"'):
        text = text.replace(quote, "")
    return text.replace("’", "'").casefold().replace("'", "")


def _damage(adv, ref):
    theirs = set(ref.split())
    folded = {word.casefold() for word in theirs}
    recased = sum(word not in theirs and word.casefold() in folded for word in adv.split())
    return recased + sum(mark in adv and mark not in ref for mark in (" .", " ,", " '"))
