"""Sentences in another order, one of them twice."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb

pieces = st.sampled_from(
    ["The bell rang", "Go", "U.S", ".", ".", "!", "…”", " ", " ", "\n", "\n\n", "渡轮离港。", "\ud800", "“"]
)
texts = st.lists(pieces, max_size=14).map("".join) | st.text(max_size=20)


def results(name: str, text: str, seeds: int = 60, **options: object) -> set[str | None]:
    made = set()
    for seed in range(seeds):
        [one] = perturb(name, [text], seed=seed, **options)
        assert one is None or apply_edits(text, one.edits) == one.text != text
        made.add(one.text if one else None)
    return made


def test_every_other_order_comes_up_and_never_the_same():
    sentences = ("The bell rang.", "Why now?", "“Everyone went in.”")
    orders = {" ".join(p) for p in permutations(sentences)} - {" ".join(sentences)}
    assert results("reorder_sentences", " ".join(sentences)) == orders


def test_what_stands_between_sentences_stays():
    text = " First one.\n\nThen two.\tAt last three.\n"
    orders = {f" {a}\n\n{b}\t{c}\n" for a, b, c in permutations(("First one.", "Then two.", "At last three."))}
    assert results("reorder_sentences", text) == orders - {text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. We stay", "We stay. It rains"),  # the end of the text keeps its manner
        ("It rains! We stay", "We stay. It rains!"),
        ("A headline\nIt rains.", "It rains\nA headline."),
        ("渡轮离港。我们留下。", "我们留下。渡轮离港。"),
        ("It rains. It rains. We stay. We stay.", None),
    ],
)
def test_full_stops_fit_the_place(text, expected):
    made = results("reorder_sentences", text)
    assert expected is None or made == {expected}
    assert text not in made


@pytest.mark.parametrize(
    "text", ["It rains.", "It rains. It rains.", "It rains. It rains", "It rains", "...", "It rains, we stay."]
)
def test_one_sentence_has_no_other_order(text):
    assert perturb("reorder_sentences", [text]).reasons == ["one sentence"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. We stay.", {"It rains. We stay. It rains.", "It rains. We stay. We stay."}),
        ("It rains.", {"It rains. It rains."}),
        ("a man in the rain", {"a man in the rain. a man in the rain"}),
        ("So what?  It rains", {"So what?  It rains.  So what?", "So what?  It rains.  It rains"}),
        ("It rains.\nWe stay.\n", {"It rains.\nWe stay.\nIt rains.\n", "It rains.\nWe stay.\nWe stay.\n"}),
        ("“It rains.”", {"“It rains.” “It rains.”"}),
        ("渡轮离港。", {"渡轮离港。渡轮离港。"}),
        ("It rains. ...", {"It rains. ... It rains."}),
        ("Yes. It rains.", {"Yes. It rains. It rains."}),
        ("Yes. No.", {"Yes. No. Yes.", "Yes. No. No."}),
    ],
)
def test_a_sentence_is_said_again_at_the_end(text, expected):
    assert results("repeat_sentences", text) == expected


def test_the_place_may_be_next_to_it_or_any():
    text = "It rains. We stay. Why not?"
    assert results("repeat_sentences", text, place="next") == {
        "It rains. It rains. We stay. Why not?",
        "It rains. We stay. We stay. Why not?",
        "It rains. We stay. Why not? Why not?",
    }
    assert "It rains. Why not? We stay. Why not?" in results("repeat_sentences", text, place="any")
    assert (
        len(results("repeat_sentences", text, place="any")) == 6 + 1
    )  # of nine, those that repeat it before and behind read alike


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("repeat_sentences", "It rains. For example:", "It rains. For example: It rains."),
        ("repeat_sentences", "See you soon 😀", "See you soon 😀 See you soon 😀"),
        ("repeat_sentences", "It cost 5 %", "It cost 5 %. It cost 5 %"),
        ("reorder_sentences", "It rained all day. Related :", "Related : It rained all day."),
    ],
)
def test_no_full_stop_goes_behind_another_mark(name, text, expected):
    assert expected in results(name, text)
    assert not any(":." in made or "😀." in made for made in results(name, text))


@pytest.mark.parametrize("text", ["...", "— !"])
def test_marks_are_no_sentence_to_repeat(text):
    assert perturb("repeat_sentences", [text]).reasons == ["no sentence"]


@given(text=texts, seed=st.integers(0, 3))
@pytest.mark.parametrize("name", ["reorder_sentences", "repeat_sentences", "repeat_sentences:place=any"])
def test_no_word_is_lost_in_any_text(name, text, seed):
    [made] = perturb(name, [text], seed=seed)
    if made is not None:
        letters = [c for c in made.text if c.isalnum()]
        if name == "reorder_sentences":
            assert sorted(letters) == sorted(c for c in text if c.isalnum())
        else:
            left = iter(letters)
            assert all(c in left for c in text if c.isalnum())
            assert len(made.edits) == 1
        assert made.text.count("\n\n") >= text.count("\n\n")


@given(batch=st.lists(texts, min_size=1, max_size=3), seed=st.integers(0, 3))
@pytest.mark.parametrize("name", ["reorder_sentences", "repeat_sentences"])
def test_a_text_fares_alike_alone_and_among_others(name, batch, seed):
    assert perturb(name, batch, seed=seed) == [perturb(name, [text], seed=seed)[0] for text in batch]
