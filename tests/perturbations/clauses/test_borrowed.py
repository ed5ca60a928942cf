"""Other texts brought in: a clause, nonsense, all of another text, another reference."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import Perturbed, apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.text.scripts import data_lines

pieces = st.sampled_from(
    [
        "The shop",
        " was closed",
        " because",
        ", and",
        " we",
        " left",
        ".",
        "?",
        '"',
        " (",
        ")",
        " ",
        "\n",
        "\ud800",
        "渡轮离港。",
    ]
)
texts = st.lists(pieces, max_size=10).map("".join) | st.text(max_size=20)
POOL = ["The soup was cold because we came late.", "Really?", "a dog on a bench", "Anna left the old house."]


def results(name: str, text: str, seeds: int = 60, **arguments: object) -> set[str | None]:
    made = set()
    for seed in range(seeds):
        [one] = perturb(name, [text], seed=seed, **arguments)
        assert one is None or apply_edits(text, one.edits) == one.text != text
        made.add(one.text if one else None)
    return made


# a clause more


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The bridge is old.",
            {"The bridge is old, and the soup was cold.", "The bridge is old, and Anna left the old house."},
        ),
        (
            "the bridge is old",
            {"the bridge is old, and the soup was cold", "the bridge is old, and Anna left the old house"},
        ),
        (
            "It is old. Is it?",
            {"It is old, and the soup was cold. Is it?", "It is old, and Anna left the old house. Is it?"},
        ),
        ("A cat on a mat", {"A cat on a mat, and a dog on a bench"}),  # a phrase is added to a phrase
        (
            "He said: “It is old.”",
            {"He said: “It is old, and the soup was cold.”", "He said: “It is old, and Anna left the old house.”"},
        ),
        (
            "THE BRIDGE IS OLD.",
            {"THE BRIDGE IS OLD, AND THE SOUP WAS COLD.", "THE BRIDGE IS OLD, AND ANNA LEFT THE OLD HOUSE."},
        ),
        ("Anna left the old house.", {"Anna left the old house, and the soup was cold."}),
    ],
)
def test_what_another_text_says_is_added_before_the_final_mark(text, expected):
    assert results("add_extra_text", text, pool=POOL) == expected


def test_marks_alone_are_no_text_to_go_on_and_one_letter_is_no_shout():
    made = perturb("add_extra_text", ["?", "()", "I", "U.S."], pool=["The ship was late."])
    assert made.reasons[:2] == ["no word", "no word"]
    assert [one.text for one in made[2:]] == ["I, and the ship was late", "U.S., and the ship was late."]


def test_where_it_comes_from_is_told():
    [made] = perturb("add_extra_text", ["The bridge is old."], pool=POOL[:1])
    assert isinstance(made, Perturbed)
    assert made.meta == {"added": "the soup was cold", "source": POOL[0]}
    assert made.edits == [(17, 17, ", and the soup was cold")]


def test_a_phrase_is_added_where_there_is_no_clause_and_shorter_ones_on_request():
    assert results("add_extra_text", "The bridge is old.", pool=["a dog on a bench"]) == {
        "The bridge is old, and a dog on a bench."
    }
    assert results("add_extra_text", "The bridge is old.", pool=POOL, most_words=4) == {
        "The bridge is old, and the soup was cold."
    }


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        ([], "no pool"),
        (["The bridge is old."], "no pool"),
        (["Really?", "Yes."], "no clause in the pool"),
        (["the bridge is old "], "no clause in the pool"),
    ],
)
def test_a_pool_without_a_clause_gives_none(pool, reason):
    assert perturb("add_extra_text", ["The bridge is old."], pool=pool).reasons == [reason]


# nonsense


def test_nonsense_is_appended_from_the_list_and_from_the_pool():
    made = results("add_nonsense", "I would love to.", 200, pool=[*POOL, "Yes."])
    added = {m.removeprefix("I would love to. ") for m in made if m}
    assert {"The soup was cold because we came late.", "a dog on a bench", "Anna left the old house."} < added
    assert not added & {"Really?", "Yes."}  # such a reply can make sense
    assert len(added & set(data_lines("nonsense.txt"))) > 20
    assert added <= {*data_lines("nonsense.txt"), *POOL}


def test_nonsense_needs_no_pool_and_comes_from_one_source_on_request():
    assert results("add_nonsense", "Yes.") <= {f"Yes. {n}" for n in data_lines("nonsense.txt")}
    assert results("add_nonsense", "Yes.", pool=POOL, source="list") <= {
        f"Yes. {n}" for n in data_lines("nonsense.txt")
    }
    assert results("add_nonsense", "Yes.", pool=POOL[:1], source="pool") == {f"Yes. {POOL[0]}"}
    assert perturb("add_nonsense:source=pool", ["Yes."]).reasons == ["no pool"]
    assert perturb("add_nonsense:source=pool", ["Yes."], pool=["No.", "Yes."]).reasons == [
        "no other text of four words in the pool"
    ]


@pytest.mark.parametrize(
    ("text", "start"), [("i am fine", "i am fine. "), ("So?\n", "So? "), ("“Go!”", "“Go!” "), ("Go 。", "Go 。")]
)
def test_a_full_stop_parts_them_where_there_is_none(text, start):
    assert all(
        made and made.startswith(start) and made.endswith(text[len(text.rstrip()) :])
        for made in results("add_nonsense", text)
    )


def test_what_the_dialogue_said_before_is_no_nonsense():
    context = [[{"speaker": "A", "text": POOL[0]}]]
    assert results("add_nonsense", "Yes.", pool=[POOL[0], POOL[3]], context=context, source="pool") == {
        f"Yes. {POOL[3]}"
    }


def test_the_list_holds_sentences_without_doubles():
    assert len(set(data_lines("nonsense.txt"))) == len(data_lines("nonsense.txt")) >= 30
    assert all(n[0].isupper() and n[-1] == "." and 5 <= len(n.split()) <= 14 for n in data_lines("nonsense.txt"))


# all of another text


def test_every_other_text_of_the_pool_may_take_its_place():
    assert results("random_text", POOL[1], pool=POOL) == {POOL[0], POOL[2], POOL[3]}


def test_references_and_turns_of_the_dialogue_are_no_other_texts():
    assert results("random_text", "A cat.", pool=POOL, references=[[POOL[0].upper(), POOL[1]]]) == {POOL[2], POOL[3]}
    assert results("random_text", "A cat.", pool=POOL[:2], context=[[{"speaker": "A", "text": POOL[0]}]]) == {POOL[1]}
    assert perturb("random_text", ["A cat."], pool=["a  cat.", " "]).reasons == ["no other text in the pool"]
    assert perturb("random_text", ["A cat."]).reasons == ["no pool"]


def test_one_other_text_among_many_alike_is_found():
    assert results("random_text", "A cat.", 5, pool=["A cat."] * 2000 + ["A dog."]) == {"A dog."}


def test_a_large_pool_costs_a_text_nothing():
    pool = [f"Text {i}." for i in range(50_000)]

    def seconds(size: int) -> float:
        start = time.process_time()
        perturb("random_text", pool[:200], pool=pool[:size])
        return time.process_time() - start

    # A hundred times the pool; were every text of it looked at, so would be the time. 30 leaves room for a busy
    # machine.
    assert min(seconds(50_000) for _ in range(2)) < 30 * min(seconds(500) for _ in range(3))


# another reference


def test_another_reference_takes_its_place():
    references = ["A cat.", "a  CAT.", "The cat.", "One cat.", ""]
    assert results("alternative_references", "A cat.", references=[references]) == {"The cat.", "One cat."}
    [made] = perturb("alternative_references", ["A cat."], references=[["A cat.", "The cat."]])
    assert isinstance(made, Perturbed)
    assert (made.expect, made.meta) == ("same", {"reference": 1})


@pytest.mark.parametrize("references", [[], ["A cat."], ["a cat.", "A  cat."]])
def test_one_reference_has_no_alternative(references):
    assert perturb("alternative_references", ["A cat."], references=[references]).reasons == ["no other reference"]


# any text


@given(text=texts, pool=st.lists(texts, max_size=4), seed=st.integers(0, 3))
@pytest.mark.parametrize("name", ["add_extra_text", "add_nonsense", "random_text", "alternative_references"])
def test_any_text_and_any_pool(name, text, pool, seed):
    [made] = perturb(name, [text], seed=seed, pool=pool, references=[pool])
    if made is not None:
        assert apply_edits(text, made.edits) == made.text != text
        if name.startswith("add"):
            letters = iter(made.text)
            assert all(c in letters for c in text)
        else:
            assert made.text in pool
    among = perturb(name, ["Yes.", text], seed=seed, pool=pool, references=[pool, pool])
    assert among[1] == made


@pytest.mark.parametrize("name", ["add_extra_text", "add_nonsense:source=pool", "random_text"])
def test_the_order_of_the_pool_does_not_matter(name):
    pool = [f"The {thing} was {like}." for thing in ("soup", "bridge", "river", "train") for like in ("cold", "old")]
    told = [made.text for made in perturb(name, TOLD, pool=pool)]
    assert [made.text for made in perturb(name, TOLD, pool=pool[::-1])] == told
    assert [made.text for made in perturb(name, TOLD, pool=[*pool[3:], *pool[:3]])] == told
    assert len(set(told)) > 1


TOLD = [f"He came {when}." for when in ("today", "on Monday", "at noon", "late", "again")]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Here are examples:", "Here are examples: "),
        ("Hello,", "Hello, "),
        ("Good morning 😀", "Good morning 😀 "),
        ("See you soon ;)", "See you soon ;) "),
        ("She said “no”", "She said “no”. "),
        ("It cost 5%", "It cost 5%. "),
    ],
)
def test_nonsense_stands_behind_a_full_stop_only_where_a_word_ends_the_text(text, start):
    [made] = perturb("add_nonsense:source=list", [text])
    assert made.text.startswith(start)
    assert made.text.removeprefix(start)[0].isupper()
