"""Edits by tokens, and what they make necessary around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.draft import Draft, with_case_of
from nlgauge.perturbations.perturb import Change, Edit, Inapplicable, apply_edits
from nlgauge.perturbations.synthesis import Stratum, is_mark
from nlgauge.text.languages import language

pieces = st.sampled_from([
    "The", "a", "an", "old", "hour", "U.S.", "don't", "well-known", ",", ".", "?", "(", ")", '"', "“", "”", "—", "-",
    " ", " ", "\n", "\u00a0", "猫", "\ud800",
])  # fmt: skip
texts = st.lists(pieces, max_size=14).map("".join)


def draft(text: str) -> Draft:
    return Draft(language().analyse(text))


def place(d: Draft, word: str, nth: int = 0) -> int:
    return [t.index for t in d.doc.tokens if t.text == word][nth]


def finished(d: Draft, **options: bool) -> str:
    change = d.finish(**options)
    assert isinstance(change, Change)
    return apply_edits(d.doc.text, change.edits)


def without(text: str, *words: str, pauses: bool = False, tidy: bool = False) -> str:
    d = draft(text)
    for word in words:
        d.delete(place(d, word), place(d, word), pauses=pauses)
    if tidy:
        d.tidy()
    return finished(d)


# blanks


def test_what_is_deleted_takes_one_blank_with_it(cases):
    for text, word, expected in cases:
        assert without(text, word) == expected


def test_neighbours_deleted_one_by_one_go_as_one_run():
    d = draft("We saw the big old mill.")
    for word in ("old", "big"):
        d.delete(place(d, word), place(d, word))
    change = d.finish(picked="big old")
    assert isinstance(change, Change)
    assert change == Change([Edit(10, 18, "")], {"picked": "big old"})


# a and an


def test_articles_fit_the_word_that_follows(cases):
    for text, old, new, expected in cases:
        d = draft(text)
        d.replace(place(d, old), place(d, old), new)
        assert finished(d) == expected


def test_articles_fit_after_deletions_and_insertions_and_only_where_asked():
    assert without("It is an old mill.", "old") == "It is a mill."
    d = draft("It is an inn.")
    d.insert_before(place(d, "inn"), "big")
    assert finished(d) == "It is a big inn."
    assert finished(d, articles=False) == "It is an big inn."


# capitals


def test_a_sentence_begins_with_a_capital_still():
    assert without("The mill burns. The inn does not.", "The") == "Mill burns. The inn does not."
    assert without("“The mill burns.”", "The") == "“Mill burns.”"
    assert without("the mill burns.", "the") == "mill burns."
    d = draft("The mill burns.")
    d.insert_before(0, "so")
    assert finished(d) == "So The mill burns."  # to lower what follows is the template's business
    assert finished(d, capitals=False) == "so The mill burns."


def test_a_number_at_the_head_leaves_the_next_word_alone():
    assert without("Some 40 mills burn.", "Some") == "40 mills burn."


def test_replacements_take_the_capitals_of_what_they_replace_unless_told_otherwise():
    d = draft("Mills burn.")
    d.replace(0, 0, "inns")
    assert finished(d) == "Inns burn."
    d = draft("Mills burn.")
    d.replace(1, 1, "BURNT", cased=False)
    assert finished(d) == "Mills BURNT."


def test_capitals_are_carried_over(cases):
    for old, new, expected in cases:
        assert with_case_of(old, new) == expected


# marks


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("Well, we left.", "Well", "We left."),
        ("The mill, sadly, burns.", "sadly", "The mill, burns."),
        ("The mill burns, sadly.", "sadly", "The mill burns."),
        ("The mill burns, sadly", "sadly", "The mill burns"),
        ("We saw mills, inns and boats.", "inns", "We saw mills, and boats."),
    ],
)
def test_a_pause_left_dangling_goes_with_what_it_set_apart(text, word, expected):
    assert without(text, word, pauses=True) == expected


def test_marks_left_without_words_go(cases):
    for text, words, expected in cases:
        assert without(text, *words.split(" | "), tidy=True) == expected


def test_tidying_touches_no_sentence_that_keeps_its_words():
    d = draft("It was, , cold () today. So it was.")
    d.delete(place(d, "So"), place(d, "So"))
    d.tidy()
    assert finished(d) == "It was, , cold () today. It was."


# the end of a sentence


def test_words_are_put_before_the_final_mark(cases):
    for text, expected in cases:
        d = draft(text)
        d.append(d.doc.sentences[-1], "X")
        assert finished(d) == expected


def test_the_joint_may_be_a_word_and_the_sentence_any():
    d = draft("The mill burns. We left.")
    d.append(d.doc.sentences[0], "the inn", joint=" and ")
    assert finished(d) == "The mill burns and the inn. We left."


# all together


def test_nothing_changed_is_inapplicable():
    d = draft("The mill burns.")
    assert d.finish() == Inapplicable("unchanged")
    d.replace(1, 1, "mill")
    assert d.finish() == Inapplicable("unchanged")


def test_a_token_changed_twice_is_a_fault_of_the_template():
    d = draft("The mill burns.")
    d.replace(0, 1, "it")
    d.replace(1, 2, "it")
    with pytest.raises(ValueError, match="overlap"):
        d.finish()


def test_insertions_that_touch_what_is_deleted_are_one_edit():
    d = draft("The mill burns.")
    d.insert_after(0, ",", blank=False)
    d.delete(1, 1)
    change = d.finish()
    assert isinstance(change, Change)
    assert apply_edits(d.doc.text, change.edits) == "The, burns."
    assert len(change.edits) == 1


@given(text=texts, data=st.data())
def test_any_deletion_leaves_the_rest_as_it_was(text, data):
    d = draft(text)
    if not d.doc.tokens:
        return
    gone = data.draw(st.sets(st.integers(0, len(d.doc.tokens) - 1), min_size=1))
    for i in gone:
        d.delete(i, i)
    if data.draw(st.booleans()):
        d.tidy()
    change = d.finish(capitals=False, articles=False, stops=False)
    assert isinstance(change, Change)
    kept = [t for t in d.doc.tokens if t.index not in gone]
    left = apply_edits(text, change.edits)
    letters = iter("".join(t.text for t in kept))
    assert all(c in letters for c in "".join(left.split()))  # in order, and nothing but what was kept
    assert all(t.text in left for t in kept if d.doc.word_at[t.index] is not None)


@given(text=texts, data=st.data())
def test_repairs_never_fail_and_edits_always_rebuild(text, data):
    d = draft(text)
    if not d.doc.tokens:
        return
    i = data.draw(st.integers(0, len(d.doc.tokens) - 1))
    do = data.draw(st.sampled_from(["replace", "delete", "before", "after", "append"]))
    if do == "replace":
        d.replace(i, i, data.draw(st.sampled_from(["hour", "inn", "House", "5"])))
    elif do == "delete":
        d.delete(i, i, pauses=True)
    elif do == "append":
        d.append(d.doc.sentences[d.doc.sentence_at[i]], "inn")
    else:
        (d.insert_before if do == "before" else d.insert_after)(i, "inn")
    change = d.finish()
    assert isinstance(change, Inapplicable) or apply_edits(text, change.edits) != text


# --- Blanks around an edit, as a writer sets them; everything goes through the edits that need them

RAIN = "The rain, it fell (hard) today."
#       1   2   3 4  5    6 7  8 9    10


def after(text, operation, *arguments):
    stratum = Stratum(text)
    getattr(stratum, operation)(*arguments)
    return stratum.text


def test_what_comes_in_is_parted_by_blanks_as_words_and_marks_are(cases):
    for start, phrase, expected in cases:
        assert after(RAIN, "insert", int(start), phrase) == expected


def test_where_words_go_no_blank_is_left_twice(cases):
    for start, span, expected in cases:
        assert after(RAIN, "delete", int(start), int(span)) == expected


@pytest.mark.parametrize(
    ("start", "phrase", "expected"),
    [
        (1, "snow", "The snow, it fell (hard) today."),
        (2, "and", "The rain and it fell (hard) today."),  # a word for a mark
        (3, ";", "The rain,; fell (hard) today."),  # a mark for a word
        (9, "again", "The rain, it fell (hard) today again"),
        (6, "very hard", "The rain, it fell (very hard) today."),
    ],
)
def test_a_word_in_the_place_of_a_mark_gets_a_blank_and_a_mark_loses_it(start, phrase, expected):
    assert after(RAIN, "replace", start, 1, phrase) == expected


@pytest.mark.parametrize(
    ("start", "distance", "expected"),
    [
        (0, 1, "rain The, it fell (hard) today."),
        (2, 1, "The rain it, fell (hard) today."),
        (8, 1, "The rain, it fell (hard). today"),
        (0, 4, "fell rain, it The (hard) today."),
    ],
)
def test_tokens_that_change_places_leave_the_blanks_but_those_of_marks(start, distance, expected):
    assert after(RAIN, "swap", start, distance) == expected


@pytest.mark.parametrize(
    ("text", "operation", "arguments", "expected"),
    [
        (
            '"Go," he said.',
            "insert",
            (1, "Please"),
            '"Please Go," he said.',
        ),  # a plain quote opens where a word follows at once
        ('"Go," he said.', "insert", (3, "then"), '"Go, then" he said.'),  # and closes where it touches what is before
        ('"Go," he said.', "insert", (0, "So"), 'So "Go," he said.'),
        ('"Go," he said.', "delete", (2, 1), '"Go" he said.'),
        ("rain--snow", "delete", (1, 1), "rain snow"),  # two words never become one
        ("One line\nand another", "delete", (1, 1), "One\nand another"),  # a line that ended still does
        ("  indented text here", "delete", (0, 1), "  text here"),
        ("  indented text here", "insert", (0, "some"), "  some indented text here"),
        ("ends in blanks  ", "delete", (2, 1), "ends in  "),
        ("a b  c\td", "insert", (1, "x"), "a x b  c\td"),  # elsewhere blanks stay as they are
        ("今天下雨，路滑。", "insert", (2, "又"), "今天又下雨，路滑。"),  # no blanks where the script has none
        ("今天下雨，路滑。", "delete", (4, 1), "今天下雨路滑。"),
        ("今天下雨，路滑。", "replace", (4, 1, "又"), "今天下雨又路滑。"),
        ("今天下雨，路滑。", "swap", (0, 2), "下天今雨，路滑。"),
        ("今天 GDP 增长", "insert", (2, "新"), "今天 新GDP 增长"),
        ("السفينة غادرت، ثم عادت", "insert", (2, "أمس"), "السفينة غادرت أمس، ثم عادت"),
    ],
)
def test_quotes_lines_and_other_scripts(text, operation, arguments, expected):
    assert after(text, operation, *arguments) == expected


def test_a_mark_has_neither_letters_nor_digits():
    assert [t for t in ("a", "5%", ",", "—", "€", "今", "。") if is_mark(t)] == [",", "—", "€", "。"]
