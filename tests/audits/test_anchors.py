"""Which texts are perturbed: references of items once, or hypotheses; a limit draws some of them."""

import pytest

from nlgauge.audits.anchors import anchors, cases_of, distinct
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment

TEXTS = (
    "The old farmer sold 12 horses.",
    "Maria does not like the winter.",
    "It is raining.",
    "We have seen the doctor.",
)


def data(texts=TEXTS):
    return Dataset(
        tuple(Segment(f"s{i}", f"hypothesis {i}", (t,), "a source", None, f"s{i}") for i, t in enumerate(texts)),
        "words",
    )


def test_references_are_perturbed_where_there_are_any_and_hypotheses_where_there_are_none():
    bare = Dataset(tuple(Segment(f"s{i}", t) for i, t in enumerate(TEXTS)), "words")
    assert [a.text for a in anchors(data())] == list(TEXTS)
    assert [a.text for a in anchors(data(), "hyp")] == [f"hypothesis {i}" for i in range(4)]
    assert [a.text for a in anchors(bare)] == list(TEXTS)
    with pytest.raises(InputError, match=r"^words: no segment has a reference; perturb the hypotheses \(field hyp\)$"):
        anchors(bare, "ref")


def test_one_item_of_many_systems_is_taken_once():
    one = ("It rained.", "There was rain.")
    several = Dataset(tuple(Segment(f"{system}-1", system, one, system=system, item="1") for system in "abc"), "words")
    (anchor,) = anchors(several)
    assert (anchor.text, anchor.others) == (one[0], one[1:])
    assert [a.text for a in anchors(several, "hyp")] == ["a", "b", "c"]


def test_a_limit_draws_texts_in_their_order():
    texts = [f"Number {i} is here." for i in range(50)]
    chosen = [[a.text for a in anchors(data(texts), limit=7, seed=seed)] for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0]) == 7
    assert chosen[0] == sorted(chosen[0], key=texts.index)
    assert len(anchors(data(texts), limit=99)) == 50


def test_a_limit_draws_the_same_texts_whatever_the_data_are_called_and_in_whatever_order():
    texts = [f"Number {i} is here." for i in range(50)]
    here = data(texts)
    there = Dataset(tuple(list(here)[::-1]), "../elsewhere/words.jsonl")
    drawn = [a.text for a in anchors(here, limit=7)]
    assert [a.text for a in anchors(there, limit=7)] == drawn[::-1]
    # one text more takes the place of one of these at most
    more = anchors(data([*texts, "One more."]), limit=7)
    assert len(set(drawn) - {a.text for a in more}) <= 1


def test_a_limit_counts_texts_of_one_item_apart():
    two = Dataset(tuple(Segment(f"s{i}", "x", (f"Text {i}.",), system=str(i), item=str(i % 3)) for i in range(6)))
    assert len(anchors(two, limit=4)) == 4


def test_a_case_knows_the_other_texts_and_what_its_segment_holds():
    turns = ({"speaker": "A", "text": "Hello."},)
    first, second = cases_of(
        anchors(Dataset((Segment("a", "x", ("One.", "Two."), context=turns), Segment("b", "y", ("Three.",))))),
        "builtin",
    )
    assert tuple(first.references) == ("Two.",)
    assert [turn.text for turn in first.context] == ["Hello."]
    assert set(second.pool) >= {"One."}


def test_a_name_stands_once():
    assert distinct(["typos", "negation"]) == ["typos", "negation"]
    with pytest.raises(SpecError, match="perturbation 'typos' is named twice"):
        distinct(["typos", "negation", "typos"])
