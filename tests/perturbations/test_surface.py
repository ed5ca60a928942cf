from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.perturb import apply_edits, perturb
from nlgauge.perturbations.surface import (
    Contractions,
    Expansions,
    SubjectVerbDisagreement,
    _misspellings,
    _near,
    stopwords,
)
from nlgauge.text.languages import language
from nlgauge.text.tagging import known_tags

WORDS = ["He", "likes", "is", "n't", "n’t", "Are", "dogs", "do", "HAS", "'s", ".", "?", "\n", "\ud800"]
ODD = st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join))


def outcome(template, text, seed=0):
    made = perturb(template, [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


def test_one_verb_takes_the_other_number(cases):
    for text, expected in cases:
        assert outcome(SubjectVerbDisagreement(), text) == expected


def test_forms_that_show_no_number_are_left_alone(cases):
    for text in cases:
        assert outcome(SubjectVerbDisagreement(), text) == "no present-tense verb"


def test_of_several_one_is_drawn_unless_all_are_asked_for():
    text = "She sings and he dances."
    assert {outcome(SubjectVerbDisagreement(), text, seed) for seed in range(20)} == {
        "She sing and he dances.",
        "She sings and he dance.",
    }
    assert outcome(SubjectVerbDisagreement(which="all"), text) == "She sing and he dance."


def test_subjects_that_allow_both_numbers_come_last():
    text = "The team is here, and it rains."
    assert {outcome(SubjectVerbDisagreement(), text, seed) for seed in range(20)} == {"The team is here, and it rain."}
    assert outcome(SubjectVerbDisagreement(), "The team is here.") == "The team are here."


@given(text=ODD, which=st.sampled_from(["one", "all"]))
def test_any_text_gives_a_different_text_or_a_reason(text, which):
    [made] = outcomes = perturb(SubjectVerbDisagreement(which=which), [text])
    if made is None:
        assert outcomes.reasons[0]
    else:
        assert made.text != text
        assert apply_edits(text, made.edits) == made.text
        assert all(
            text[e.start : e.end].isalpha() and e.new.isalpha() for e in made.edits
        )  # apostrophes and blanks stay


def test_each_form_becomes_the_other(cases):
    for full, short in cases:
        assert outcome(Contractions(), full) == short
        assert outcome(Expansions(), short) == full


def test_short_forms_are_written_out(cases):
    for text, expected in cases:
        assert outcome(Expansions(), text) == expected


def test_full_forms_are_made_short_where_speech_does(cases):
    for text, expected in cases:
        assert outcome(Contractions(), text) == expected


def test_what_has_no_other_form_is_left_alone(cases):
    for name, text, reason in cases:
        assert outcome(name, text) == reason


def test_one_of_several_places_is_drawn():
    text = "He's late, and we're waiting."
    made = {outcome(Expansions(which="one"), text, seed) for seed in range(20)}
    assert made == {"He is late, and we're waiting.", "He's late, and we are waiting."}


# --- Punctuation taken away or misplaced; words in another order

pieces = st.sampled_from([
    "The", "old", "isn't", "it’s", "U.S.", "2.5", "1,500", "well-known", "dogs'", ",", ".", "?!", "(", ")", '"', "“",
    "—", "-", "`", " ", " ", "\n", "猫", "\ud800",
])  # fmt: skip
texts = st.lists(pieces, max_size=12).map("".join) | st.text(max_size=20)


def only(name: str, text: str, seed: int = 0, **options: object) -> str | None:
    [made] = perturb(name, [text], seed=seed, **options)
    if made is None:
        return None
    assert apply_edits(text, made.edits) == made.text != text
    return made.text


# punctuation


def test_punctuation_outside_words_and_numbers_goes(cases):
    for text, expected in cases:
        assert only("remove_punctuation", text) == expected


@pytest.mark.parametrize("text", ["no marks at all", "isn't well-known", "2.5", "Yes"])
def test_without_punctuation_there_is_none_to_remove(text):
    assert perturb("remove_punctuation", [text]).reasons == ["no punctuation"]


@given(text=texts)
def test_removing_punctuation_takes_nothing_else_and_leaves_no_blanks_behind(text):
    made = only("remove_punctuation", text)
    if made is not None:
        letters = iter(text)
        assert all(c in letters for c in made if not c.isspace())
        assert Counter(c for c in made if c.isalnum()) == Counter(c for c in text if c.isalnum())
        assert "  " in text or "  " not in made
        assert perturb("remove_punctuation", [made]).reasons[0] in ("no punctuation", "empty", None)


def test_a_misplaced_mark_leaves_its_place_and_a_comma_stands_inside_a_phrase():
    text = "The old bus came late, and we left."
    seen = {only("remove_punctuation", text, seed, mode="misplace") for seed in range(40)}
    assert seen == {"The, old bus came late and we left."}  # the comma, moved behind the article
    for made in seen:
        assert made is not None
        assert (made.count(","), made.count(".")) == (1, 1)
        assert made.replace(",", "").replace(".", "") == text.replace(",", "").replace(".", "")


def test_a_text_without_a_comma_gets_one_and_keeps_its_full_stop():
    seen = {only("remove_punctuation", "The dog sleeps in the garden.", seed, mode="misplace") for seed in range(20)}
    assert seen == {
        "The, dog sleeps in the garden.",
        "The dog sleeps in, the garden.",
        "The dog sleeps in the, garden.",
    }


@pytest.mark.parametrize("text", ["Really?", "Yes."])
def test_a_comma_needs_a_place_to_go(text):
    assert perturb("remove_punctuation:mode=misplace", [text]).reasons == ["too short"]


@given(text=texts, seed=st.integers(0, 3))
def test_misplacing_moves_one_mark_and_no_word(text, seed):
    made = only("remove_punctuation", text, seed, mode="misplace")
    if made is not None:
        assert [c for c in made if c.isalnum()] == [c for c in text if c.isalnum()]


# order


def words(text: str) -> list[str]:
    return sorted(w.strip(",.?!:“”()").casefold() for w in text.split())


@pytest.mark.parametrize(
    "text",
    [
        "The bus came late, and we left.",
        "a man in front of a tree",
        "Isn't it well-known?",
        "THE BUS CAME",
        "He left the U.S. in 1990 (at last).",
        "it is parted .",
    ],
)
def test_words_change_places_and_marks_do_not(text):
    for seed in range(10):
        made = only("jumble_words", text, seed)
        assert made is not None
        assert words(made) == words(text)
        assert [w.casefold() for w in made.split()] != [w.casefold() for w in text.split()]
        marks = [(i, w[-1]) for i, w in enumerate(text.split()) if w[-1] in ",?)"]
        assert marks == [(i, w[-1]) for i, w in enumerate(made.split()) if w[-1] in ",?)"]


def test_the_capital_of_a_sentence_stays_at_its_head_and_names_keep_theirs():
    made = {only("jumble_words", "The bus took Anna home.", seed) for seed in range(20)}
    assert all(m and m[0].isupper() and "Anna" in m and " The" not in m for m in made)
    kept = {only("jumble_words", "German trains run.", seed) for seed in range(20)}
    assert all(m and "German" in m for m in kept)
    assert "bus The came." in {only("jumble_words", "The bus came.", seed, recase=False) for seed in range(20)}


def test_marks_are_shuffled_too_on_request():
    made = {only("jumble_words", "So, we left.", seed, keep_punctuation=False, recase=False) for seed in range(40)}
    assert any(m and not m.endswith(".") for m in made)
    assert all(m and Counter(m.replace(" ", "")) == Counter("So,weleft.") for m in made)


@pytest.mark.parametrize("text", ["Yes", "Yes.", "no No, NO", "..."])
def test_one_word_has_no_other_order(text):
    assert perturb("jumble_words", [text]).reasons == ["too short"]


@given(text=texts, seed=st.integers(0, 3))
def test_jumbling_keeps_every_letter(text, seed):
    made = only("jumble_words", text, seed, recase=False)
    if made is not None:
        assert Counter(made) == Counter(text)


# --- Sentences in another order, one of them twice

sentences_pieces = st.sampled_from(
    ["The bell rang", "Go", "U.S", ".", ".", "!", "…”", " ", " ", "\n", "\n\n", "渡轮离港。", "\ud800", "“"]
)
sentences_texts = st.lists(sentences_pieces, max_size=14).map("".join) | st.text(max_size=20)


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


def test_a_sentence_is_said_again_at_the_end(cases):
    for text, expected in cases:
        assert results("repeat_sentences", text) == set(expected.split(" | "))


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


@given(text=sentences_texts, seed=st.integers(0, 3))
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


# --- Stop words dropped, or nothing but them kept

stopwords_pieces = st.sampled_from([
    "The", "old", "isn't", "it’s", "mill", "and/or", "US", "May", "dogs'", "'s", ",", ".", "?", "(", ")", '"', "—",
    " ", " ", " ", "\n", "\ud800",
])  # fmt: skip
stopwords_texts = st.lists(stopwords_pieces, max_size=14).map("".join) | st.text(max_size=20)


def stopped(text: str) -> list[str]:
    doc = language().analyse(text)
    return [doc.between(w) for w, stop in zip(doc.words, stopwords(doc), strict=True) if stop]


def test_stop_words_are_told_whatever_their_capitals_and_clitics(cases):
    for text, expected in cases:
        assert stopped(text) == (expected.split(" | ") if expected else [])


def test_content_words_are_left_with_the_marks_that_part_them(cases):
    for text, expected in cases:
        assert only("drop_stopwords", text) == expected


def test_the_question_word_stays_on_request():
    assert only("drop_stopwords", "Who is the world leader?", keep_question_word=True) == "Who world leader?"
    assert only("drop_stopwords", "The man who left.", keep_question_word=True) == "Man left."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("When was the shop closed", "When shop closed"),  # no mark at the end
        ("when was the shop closed ?", "when shop closed ?"),
        ("Who is the man that was there", "Who man"),  # not the relative pronoun
        ("In what year was he born?", "What year born?"),  # the word that asks, behind a preposition
        ("When he was born , he was a baby .", "Born , baby ."),  # no question
    ],
)
def test_the_word_that_asks_is_kept_with_a_mark_or_without(text, left):
    assert only("drop_stopwords", text, keep_question_word=True) == left


@pytest.mark.parametrize(
    ("text", "expected", "with_marks"),
    [
        ("The boats are in the old harbour.", "The are in the", "The are in the."),
        ("a man in front of a tree", "a in of a", "a in of a"),
        ("Sadly, it isn't hers.", "It isn't hers", ", it isn't hers."),
        ("She left the U.S. He stays.", "She the He", "She the He."),
    ],
)
def test_nothing_but_stop_words_is_left(text, expected, with_marks):
    assert only("keep_only_stopwords", text) == expected
    kept = only("keep_only_stopwords", text, keep_punctuation=True)
    assert kept is not None
    assert kept.casefold() == with_marks.casefold()


@pytest.mark.parametrize("name", ["drop_stopwords", "keep_only_stopwords"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Boats sank", "no stop word"),
        ("...", "no stop word"),
        ("So it is.", "only stop words"),
        ("", "empty"),
        ("Die Fähre kommt nicht und ist weg.", "language"),
    ],
)
def test_texts_of_one_kind_of_words_are_left_alone(name, text, reason):
    assert perturb(name, [text]).reasons == [reason]


@given(text=stopwords_texts)
def test_what_one_drops_the_other_keeps(text):
    dropped, kept = only("drop_stopwords", text), only("keep_only_stopwords", text)
    assert (dropped is None) == (kept is None)
    if dropped is not None and kept is not None:
        letters = sorted(c for c in text.casefold() if c.isalnum())
        assert sorted(c for c in (dropped + kept).casefold() if c.isalnum()) == letters
        assert perturb("drop_stopwords", [text]).skipped == {}


# --- One word misspelt, and nothing else

typos_pieces = st.sampled_from([
    "every", "Window", "HOUSE", "noon", "aaaa", "Straße", "ИЗБА", "isn't", "mid-air", "McLeod", "ABC1", "where", ".",
    ",", " ", " ", "\n", "猫猫猫猫", "ǅungla", "ŉame",
])  # fmt: skip
typos_texts = st.lists(typos_pieces, max_size=10).map("".join) | st.text(max_size=20)
KINDS = ["swap", "delete", "insert", "substitute"]


def misspelt(text: str, seed: int = 0, kind: str = "any") -> tuple[str, str] | None:
    """The word that was misspelt and what became of it."""
    [made] = perturb("typos", [text], seed=seed, kind=kind)
    if made is None:
        return None
    [edit] = made.edits
    assert apply_edits(text, made.edits) == made.text != text
    assert text[edit.start : edit.end] == made.meta["word"]
    assert edit.new == made.meta["typo"]
    assert kind in ("any", made.meta["kind"])
    return made.meta["word"], edit.new


@pytest.mark.parametrize("kind", ["any", *KINDS])
def test_one_long_word_is_misspelt_and_none_of_the_others(kind):
    text = "An odd window isn't the well-known U.S. Ford2 McLeod."
    assert {misspelt(text, seed, kind)[0] for seed in range(20)} == {"window"}  # type: ignore[index]


def test_each_kind_of_slip_is_what_it_says():
    for seed in range(30):
        word, typo = misspelt("Every window", seed, "swap") or ("", "")
        assert sorted(typo) == sorted(word)
        word, typo = misspelt("Every window", seed, "delete") or ("", "")
        assert len(typo) == len(word) - 1
        word, typo = misspelt("Every window", seed, "insert") or ("", "")
        assert len(typo) == len(word) + 1
        word, typo = misspelt("Every window", seed, "substitute") or ("", "")
        [place] = [i for i in range(len(word)) if word[i] != typo[i]]
        assert typo[place] in _near(word[place])


def test_all_kinds_come_up_unless_one_is_asked_for():
    made = [perturb("typos", ["every window was open"], seed=seed)[0] for seed in range(40)]
    assert {m.meta["kind"] for m in made if m} == set(KINDS)


@pytest.mark.parametrize("text", ["Every window", "EVERY WINDOW", "form from", "where there", "Straße", "изба", "ИЗБА"])
def test_the_first_letter_and_the_capitals_stay(text):
    for seed in range(40):
        word, typo = misspelt(text, seed) or ("", "")
        assert typo[0] == word[0]
        assert typo.isupper() == word.isupper()
        assert typo[1:].islower() == word[1:].islower()


@pytest.mark.parametrize("word", ["form", "there", "bread", "trial", "slat", "coast", "band"])
def test_what_comes_out_is_no_word_where_that_can_be_had(word):
    typos = {misspelt(f"the {word}", seed) for seed in range(60)}
    assert len(typos) > 5
    assert not [typo for typo in typos if typo and known_tags(typo[1])]


def test_a_name_is_misspelt_only_where_there_is_nothing_else():
    assert {misspelt("Yesterday Weber met Anna Lang.", seed)[0] for seed in range(30)} == {"Yesterday"}  # type: ignore[index]
    assert {misspelt("NATO said that.", seed)[0] for seed in range(30)} == {"said", "that"}  # type: ignore[index]
    assert misspelt("Weber") is not None


def test_words_that_are_often_misspelt_are_misspelt_as_people_do():
    assert misspelt("They definitely left.", kind="common") in {
        ("definitely", wrong) for wrong in _misspellings()["definitely"]
    }
    assert {misspelt("Separate rooms", seed, "common") for seed in range(5)} == {("Separate", "Seperate")}
    assert perturb("typos:kind=common", ["Boats sank."]).reasons == ["no word that is often misspelt"]


def test_the_list_of_misspellings_holds_words_and_what_differs_from_them():
    for right, wrongs in _misspellings().items():
        assert wrongs
        assert right == right.lower()
        assert all(wrong.isalpha() and wrong != right and wrong[0] == right[0] for wrong in wrongs)
        assert len(set(wrongs)) == len(wrongs)


def test_keys_are_neighbours_of_each_other():
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert all(a in _near(b) for a in letters for b in _near(a))
    assert set(_near("g")) == set("fhtyvb")
    assert set(_near("Q")) == set("WA")
    assert _near("é") == ()


@pytest.mark.parametrize("text", ["a bus", "isn't", "5000", "U.S.A.", "猫猫猫猫", "well-known", "McLeod"])
def test_texts_without_a_plain_word_of_four_letters_are_left_alone(text):
    assert perturb("typos", [text]).reasons == ["no word of four letters"]


def test_a_word_that_stays_itself_is_left_alone():
    assert perturb("typos:kind=swap", ["aaaa"]).reasons == ["no word that can be misspelt"]
    assert misspelt("aaaa", kind="delete") == ("aaaa", "aaa")


def test_an_unknown_kind_is_refused():
    with pytest.raises(SpecError, match=r"typos:kind is 'swop'.*swap"):
        perturb("typos", ["window"], kind="swop")


@given(text=typos_texts, seed=st.integers(0, 3), kind=st.sampled_from(["any", *KINDS, "common"]))
def test_any_text_keeps_all_but_one_word(text, seed, kind):
    made = misspelt(text, seed, kind)
    assert made is None or made[0].lower() != made[1].lower()
    [alone], [_, among] = (
        perturb("typos", [text], seed=seed, kind=kind),
        perturb("typos", ["window", text], seed=seed, kind=kind),
    )
    assert alone == among
