"""One text, edit by edit: refusals are drawn again, and where no room is left the walk ends."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.models.infill import Filler, Gap
from nlgauge.perturbations.synthesis.draws import Draws
from nlgauge.perturbations.synthesis.walk import Walk

TEXT = "The old ferry leaves the harbour at seven, and nobody waits."


def walk(text=TEXT, seed=0, phrases=False, **options):
    return Walk(text, Draws(**options), [phrases], random.Random(seed))


def finished(one, *words):
    """The walk with every gap filled by the same words, and the gaps."""
    gaps = []
    while (gap := one.ask()) is not None:
        gaps.append(gap)
        assert len(gaps) < 100
        one.answer([Filler(word, -i) for i, word in enumerate(words)])
    return gaps


def test_each_gap_stands_in_the_text_as_it_is_by_then():
    one = walk(operations=("insert", "replace"), seed=3)
    text = TEXT
    while (gap := one.ask()) is not None:
        assert gap.text == text
        one.answer([Filler("well", 0.0)])
        text = one.made[-1].text
    assert len(one.made) == one.wanted


def test_what_stands_there_is_no_replacement():
    one = walk(operations=("replace",), seed=1)
    gap = one.ask()
    old = gap.text[gap.start : gap.end]
    one.answer([Filler(old.upper(), 0.0), Filler(" ", -1.0), Filler("other", -2.0)])
    assert one.made[-1].edit.new == "other"


def test_no_mark_is_put_beside_its_like():
    walks = (walk("It rains, they say.", operations=("insert",), seed=seed) for seed in range(100))
    one = next(one for one in walks if (gap := one.ask()).text[gap.start] == ",")  # a place before the comma
    one.answer([Filler(",", 0.0), Filler(";", -1.0)])
    assert one.made[-1].text == "It rains;, they say."


@pytest.mark.parametrize("half", ["(", "]", "“", "``"])
def test_no_half_of_a_pair_of_marks_comes_in(half):
    one = walk(operations=("insert",), seed=1)
    one.ask()
    one.answer([Filler(half, 0.0), Filler("other", -1.0)])
    assert one.made[-1].edit.new.strip() == "other"


def test_one_of_the_top_k_is_drawn_and_all_of_them_alike():
    drawn = set()
    for seed in range(60):
        one = walk(operations=("insert",), seed=seed)
        one.ask()
        one.answer([Filler(f"w{i}", -i) for i in range(5)])
        drawn.add(one.made[-1].edit.new.strip())
    assert drawn == {"w0", "w1", "w2", "w3"}  # by chance one is missing in 4 * 0.75^60, once in seven million


def test_where_the_filler_has_nothing_something_else_is_done():
    one = walk(operations=("insert", "replace", "swap"), seed=2)
    assert finished(one)
    assert {made.operation for made in one.made} == {"swap"}


def test_where_nothing_can_be_done_the_walk_ends():
    one = walk(operations=("insert", "replace"))
    finished(one)
    assert (one.made, one.wanted > 0) == ([], True)


def test_a_masked_word_is_replaced_alone_and_a_phrase_takes_several():
    for phrases, longest in ((False, {1}), (True, {1, 2, 3})):
        spans = set()
        for seed in range(30):
            one = walk(operations=("replace",), seed=seed, phrases=phrases)
            finished(one, "so it was")
            spans |= {made.span for made in one.made}
        assert spans >= longest if phrases else spans == longest


def test_two_tokens_that_are_alike_do_not_change_places():
    one = walk("no no no no no", operations=("swap",))
    finished(one)
    assert one.made == []


def test_a_text_keeps_a_word():
    for seed in range(50):
        one = walk("Go on!", operations=("delete",), seed=seed)
        finished(one)
        assert any(c.isalpha() for c in (one.made[-1].text if one.made else "Go on!"))


@given(st.text(alphabet=st.sampled_from("ab ,.今\n"), min_size=3, max_size=40), st.integers(0, 10_000))
def test_edits_lead_from_each_text_to_the_next(text, seed):
    one = walk("x y " + text, seed=seed)
    finished(one, "new", "words here")
    now = "x y " + text
    assert len(one.made) <= one.wanted <= 5
    for made in one.made:
        assert now[: made.edit.start] + made.edit.new + now[made.edit.end :] == made.text != now
        assert made.filler == (0 if made.operation in ("insert", "replace") else None)
        now = made.text


def test_a_gap_for_an_insertion_is_a_place():
    one = walk(operations=("insert",))
    gap = one.ask()
    assert isinstance(gap, Gap)
    assert gap.start == gap.end
