"""Words left out of a sentence, a phrase said twice."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.clauses import Omission, clause
from nlgauge.perturbations.perturb import Perturbed, apply_edits, perturb, perturbation
from nlgauge.text.languages import Builtin, language
from nlgauge.text.scripts import data_lines

pieces = st.sampled_from([
    "The", "old", "isn't", "mill", "in", "U.S.", "Anna", ",", ".", "?", "(", ")", '"', "—", " ", " ", " ", " ", "\n",
    "猫", "\ud800",
])  # fmt: skip
texts = st.lists(pieces, max_size=24).map("".join) | st.text(max_size=20)
LONG = (
    "We waited in the cold rain for the very last bus to town, but it had left at noon, and nobody had told us so. Then"
    " we walked."
)


def only(name: str, text: str, seed: int = 0, **options: object) -> Perturbed | None:
    [made] = perturb(name, [text], seed=seed, **options)
    assert made is None or apply_edits(text, made.edits) == made.text != text
    return made


def results(name: str, text: str, seeds: int = 60, **options: object) -> set[str | None]:
    return {made.text if (made := only(name, text, seed, **options)) else None for seed in range(seeds)}


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


def test_a_phrase_is_said_again_before_the_final_mark(cases):
    for text, expected in cases:
        assert results("repeat_phrases", text) == set(expected.split(" | "))


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


# --- Clauses that can be said after a sentence, and what is none

clause_pieces = st.sampled_from([
    "The shop", " was closed", " because", ", and", " we", " left", ".", "?", '"', " (", ")", " ", "\n", "\ud800",
    "渡轮离港。",
])  # fmt: skip
clause_texts = st.lists(clause_pieces, max_size=10).map("".join) | st.text(max_size=20)


def first(text: str, most: int = 12) -> tuple[str, bool] | None:
    doc = language().analyse(text)
    return clause(doc, doc.sentences[0], most)


def test_a_whole_clause_begins_small_unless_a_name_begins_it(cases):
    for text, expected in cases:
        assert first(text) == (expected, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a dog on a bench", "a dog on a bench"), ("Two boats in a harbour.", "two boats in a harbour")],
)
def test_a_caption_is_a_phrase(text, expected):
    assert first(text) == (expected, False)


def test_what_is_no_clause(cases):
    for text in cases:
        assert first(text) is None


def test_the_length_is_counted_in_words():
    assert first("The shop was closed today.", 5) is not None
    assert first("The shop was closed today.", 4) is None


@given(text=clause_texts)
def test_a_clause_is_a_run_of_words_of_its_sentence(text):
    doc = language().analyse(text)
    for sentence in doc.sentences:
        found = clause(doc, sentence, 8)
        if found is not None:
            assert doc.between(sentence).casefold().startswith(found[0].casefold())
            assert 3 <= len(language().analyse(found[0]).words) <= 8


def outcome(template, text, seed=0):
    made = perturb(template, [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


def test_numbers_change_and_the_clause_is_denied():
    [made] = perturb("number_and_negation", ["The shop sold 40 loaves."])
    assert made.text.startswith("The shop did not sell ")
    assert made.text.endswith(" loaves.")
    assert " 40 " not in made.text
    assert [made.original[e.start : e.end] for e in made.edits] == ["sold", "40"]
    assert made.meta.keys() == {"number_error", "negation"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The shop sold loaves.", "no number"),
        ("40 loaves", "no finite verb"),
        ("It opened in 1990.", "no number"),
        ("", "empty"),
    ],
)
def test_both_parts_must_apply(text, reason):
    assert outcome("number_and_negation", text) == reason


# --- Other texts brought in: a clause, nonsense, all of another text, another reference

POOL = ["The soup was cold because we came late.", "Really?", "a dog on a bench", "Anna left the old house."]


# a clause more


def test_what_another_text_says_is_added_before_the_final_mark(cases):
    for text, expected in cases:
        assert results("add_extra_text", text, pool=POOL) == set(expected.split(" | "))


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
    assert results("random_text", "A cat.", pool=POOL, references=[[POOL[0].upper(), POOL[1]]]) == {
        POOL[2],
        POOL[3],
    }
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


@given(text=clause_texts, pool=st.lists(clause_texts, max_size=4), seed=st.integers(0, 3))
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


def test_a_text_of_the_pool_is_analysed_once_to_be_brought_in_however_often_it_is_looked_at():
    class Counting(Builtin):
        asked = 0

        def analyse(self, text):
            self.asked += 1
            return super().analyse(text)

    texts = [f"The bridge {i} near the river because it rained." for i in range(60)]  # none fits: all are looked at
    counting = Counting()
    assert perturb("add_extra_text", texts, pool=texts, language=counting)
    assert counting.asked <= 2 * len(texts)
