"""Words left out of a sentence, a phrase said twice."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.base import Perturbed, apply_edits
from nlgauge.perturbations.clauses.phrases import Omission
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.registry import perturbation
from nlgauge.text.languages import language

pieces = st.sampled_from(
    [
        "The",
        "old",
        "isn't",
        "mill",
        "in",
        "U.S.",
        "Anna",
        ",",
        ".",
        "?",
        "(",
        ")",
        '"',
        "—",
        " ",
        " ",
        " ",
        " ",
        "\n",
        "猫",
        "\ud800",
    ]
)
texts = st.lists(pieces, max_size=24).map("".join) | st.text(max_size=20)
LONG = (
    "We waited in the cold rain for the very last bus to town, but it had left at noon, and nobody had told us so. Then"
    " we walked."
)


def only(name: str, text: str, seed: int = 0, **options: object) -> Perturbed | None:
    [made] = perturb(name, [text], seed=seed, **options)
    assert made is None or apply_edits(text, made.edits) == made.text != text
    return made


def results(name: str, text: str, seeds: int = 40, **options: object) -> set[str]:
    return {made.text if (made := only(name, text, seed, **options)) else "" for seed in range(seeds)}


def words(text: str) -> list[str]:
    doc = language().analyse(text)
    return [doc.between(w) for w in doc.words]


# a span


def test_one_run_of_at_most_a_fifth_of_the_words_goes():
    n, lengths, starts = len(words(LONG)), set(), set()
    for seed in range(200):
        made = only("drop_phrases", LONG, seed, length="any")
        assert made is not None
        gone = words(made.meta["dropped"])
        assert made.meta["dropped"] in LONG
        assert n - len(words(made.text)) == len(gone) <= n // 5
        lengths.add(len(gone))
        starts.add(LONG.index(made.meta["dropped"]))
    assert lengths == set(range(1, n // 5 + 1))
    assert len(starts) > 15
    assert min(starts) == 0
    assert max(starts) > LONG.index("Then")


def test_a_fifth_of_the_words_goes_as_in_the_code_of_the_paper():
    text = "We stood at the door of the inn until it was opened."  # 12 words: a fifth is 2.4
    assert {len(words(made.meta["dropped"])) for seed in range(40) if (made := only("drop_phrases", text, seed))} == {2}


def test_no_run_crosses_the_end_of_a_sentence_or_takes_all_of_one():
    text = "No. We did not see it. Why not? It was dark, and very cold, and late."
    for made in results("drop_phrases", text, 100):
        assert made.startswith("No. ")
        assert len(language().analyse(made).sentences) == 4, made


def test_brackets_and_quotes_stay_whole():
    text = 'He called (at noon, as always) the "old red mill" a place of wonder and of rest.'
    for made in results("drop_phrases", text, 100):
        assert made.count("(") == made.count(")")
        assert made.count('"') % 2 == 0


def test_what_is_left_begins_with_a_capital_and_has_no_comma_to_spare():
    made = results("drop_phrases", "Sadly, a train left.", 60)
    assert made == {"A train left.", "Sadly, train left.", "Sadly, a left.", "Sadly, a train."}


@pytest.mark.parametrize("text", ["Yes.", "We did.", "We did so.", "One. Two. Three. Four."])
@pytest.mark.parametrize("mode", ["span", "phrase"])
def test_short_texts_lose_nothing(text, mode):
    assert perturb("drop_phrases", [text], mode=mode).reasons[0] in ("too short", "no phrase")


def test_a_phrase_goes_with_its_preposition_the_shortest_where_all_are_long():
    assert results("drop_phrases", "We waited in the rain for a bus.", mode="phrase") == {
        "We waited for a bus.",
        "We waited in the rain.",
    }
    assert results("drop_phrases", "a man in front of a tree", mode="phrase") == {"in front of a tree"}
    assert perturb("drop_phrases:mode=phrase", ["It is here and there."]).reasons == ["no phrase"]


def test_phrases_are_told_in_english_and_spans_in_any_language():
    text = "Le bateau part à sept heures et il ne revient pas."
    assert perturb("drop_phrases:mode=phrase", [text]).reasons == ["language"]
    assert only("drop_phrases", text) is not None


def test_phrases_of_a_fifth_of_the_words_are_preferred():
    text = "After a long and cold winter at sea the old sailors of the northern fleet came to a harbour."
    assert {text.replace(f"{gone} ", "") for gone in ("at sea", "the old sailors")} | {
        text.replace(" to a harbour", "")
    } == results("drop_phrases", text, mode="phrase")


# a share


def test_between_one_and_twenty_percent_of_the_words_go():
    n, counts = len(words(LONG)), set()
    for seed in range(150):
        made = only("omission", LONG, seed)
        assert made is not None
        [gone] = made.meta["dropped"]
        assert gone in LONG
        counts.add(len(words(gone)))
        assert n - len(words(made.text)) == len(words(gone))
    assert counts == set(range(1, math.floor(0.2 * n) + 1))


def test_words_go_here_and_there():
    scattered = [only("omission", LONG, seed, mode="scattered", fraction=(0.2, 0.2)) for seed in range(20)]
    n = len(words(LONG))
    assert {len(m.meta["dropped"]) for m in scattered if m} == {math.floor(0.2 * n)}
    assert {n - len(words(m.text)) for m in scattered if m} == {math.floor(0.2 * n)}
    assert all(m and len(m.edits) > 1 for m in scattered)


@pytest.mark.parametrize(
    ("given", "share"),
    [
        ((0.1, 0.2), (0.1, 0.2)),
        ([0.1, 0.2], (0.1, 0.2)),
        (0.1, (0.1, 0.1)),
        ("0.1", (0.1, 0.1)),
        ("0.1-0.2", (0.1, 0.2)),
        ("1e-2-0.2", None),
        (0, (0, 0)),
    ],
)
def test_a_share_may_be_a_pair_a_number_or_text(given, share):
    if share is None:
        with pytest.raises(SpecError, match="omission:fraction is"):
            Omission(fraction=given)
    else:
        assert Omission(fraction=given).fraction == share
        assert Omission(fraction=Omission(fraction=given).fraction) == Omission(fraction=given)


@pytest.mark.parametrize("fraction", [(0.3, 0.1), (-0.1, 0.2), 1.0, "some", (), (0.1, 0.2, 0.3), None, float("nan")])
def test_what_is_no_share_is_refused(fraction):
    with pytest.raises(SpecError, match="expected one or two shares of the words below 1"):
        Omission(fraction=fraction)


def test_a_share_stands_in_a_specification():
    assert perturbation("omission:fraction=0.1-0.3,mode=scattered") == Omission(fraction=(0.1, 0.3), mode="scattered")


def test_no_more_than_the_share_goes_even_if_that_is_nothing():
    assert perturb("omission", ["We did see it."]).reasons == ["too short"]  # a fifth of four words is less than one
    assert results("omission", "We did not see it.") == {
        "Did not see it.",
        "We not see it.",
        "We did see it.",
        "We did not it.",
        "We did not see.",
    }
    assert perturb("omission", ["One. Two. Three. Four. Five."]).reasons == ["too short"]
    assert perturb("omission:fraction=0.5,mode=scattered", ["One. Two."]).reasons == ["too short"]


# twice


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My relatives are in town.", {"My relatives are in town, my relatives."}),
        ("a man in front of a tree", {"a man in front of a tree, a man"}),
        ("Did the old bus come?", {"Did the old bus come, the old bus?"}),
        ("He said: “The bus is late.”", {"He said: “The bus is late, the bus.”"}),
        ("Anna Lang came home.", {"Anna Lang came home, Anna Lang."}),
        ("German trains are late.", {"German trains are late, German trains."}),
        ("THE OLD BUS CAME", {"THE OLD BUS CAME, THE OLD BUS"}),
        ("The bus is here. We left.", {"The bus is here, the bus. We left."}),
        ("The mayor is in the U.S.", {"The mayor is in the U.S., the mayor."}),
        ("I am fine.", {"I am fine, I am."}),  # no noun: subject and verb
        ("Children laughed.", {"Children laughed, children."}),
        ("the bus is late .", {"the bus is late , the bus ."}),  # parted already
    ],
)
def test_a_phrase_is_said_again_before_the_final_mark(text, expected):
    assert results("repeat_phrases", text) == expected


def test_the_joint_is_a_comma_or_and():
    assert results("repeat_phrases", "The bus is late.", joint="and") == {"The bus is late and the bus."}
    assert results("repeat_phrases", "The bus is late.", joint="any") == {
        "The bus is late and the bus.",
        "The bus is late, the bus.",
    }


@pytest.mark.parametrize("text", ["Well, really?", "So what", "...", "Why not?"])
def test_without_a_phrase_there_is_none_to_repeat(text):
    assert perturb("repeat_phrases", [text]).reasons == ["no phrase"]


# any text


@given(text=texts, seed=st.integers(0, 3))
@pytest.mark.parametrize(
    "name", ["drop_phrases", "drop_phrases:mode=phrase", "omission", "omission:mode=scattered,fraction=0.1-0.6"]
)
def test_leaving_out_adds_nothing_but_blanks_capitals_articles_and_stops(name, text, seed):
    made = only(name, text, seed)
    if made is not None:
        letters = iter(text.casefold())
        assert all(c in letters for c in made.text.casefold() if c.isalnum() and c != "n")  # an may come of a
        assert len(words(made.text)) < len(words(text))
        assert words(made.text)


@given(text=texts, seed=st.integers(0, 3))
def test_repeating_inserts_words_of_the_text_and_takes_none(text, seed):
    made = only("repeat_phrases", text, seed)
    if made is not None:
        [(start, end, new)] = made.edits
        assert start == end
        assert new.casefold().strip(" ,.") in text.casefold()


@given(batch=st.lists(texts, min_size=1, max_size=3), seed=st.integers(0, 3))
@pytest.mark.parametrize("name", ["drop_phrases", "omission", "repeat_phrases"])
def test_a_text_fares_alike_alone_and_among_others(name, batch, seed):
    assert perturb(name, batch, seed=seed) == [perturb(name, [text], seed=seed)[0] for text in batch]
