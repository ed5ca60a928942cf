"""Words in full, function words, and words inside spans, by hand."""

from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.worded import WordedText, carries_content, is_function


def test_contractions_are_words_in_full():
    said = WordedText.of("They can't go, it’s late and she didnt.")
    assert " ".join(said.lower) == "they can not go , it 's late and she not ."


def test_function_words_and_marks_carry_no_content_but_negations_do():
    assert [is_function(word) for word in ("the", "'s", ",", "cat", "7")] == [True, True, True, False, False]
    said = ("the", ",", "cat", "7", "not", "n't")
    assert [word for word in said if carries_content(word)] == ["cat", "7", "not", "n't"]


@given(st.text(alphabet="ab1 .", max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=4))
def test_words_inside_spans_are_those_that_share_a_character(text, drawn):
    worded, spans = WordedText.of(text), [(start, start + length) for start, length in drawn]
    shared = {
        place
        for place, (start, end) in enumerate(worded.places)
        if any(set(range(start, end)) & set(range(*span)) for span in spans)
    }
    assert worded.inside(spans) == shared
