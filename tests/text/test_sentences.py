import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.sentences import sentence_spans, split_sentences

pieces = st.sampled_from([*".!?…。 \n\u3000\u2028”\"'()¿5猫", "Dr", "U", "S", "the", "The", "No"])
texts = st.lists(pieces, max_size=25).map("".join)


@pytest.mark.parametrize(
    "sentences",
    [
        ["It rains.", "We stay!", "Why not?", "Well…", "So be it."],
        ["Dr. Smith left.", "Mrs. J. K. Jones stayed."],
        ["He said: “Go.”", "She went."],
        ["(It rained.)", "“Go!”", "They went."],
        ["Pi is 3.14 or so.", "See example.com now."],
        ["See No. 5 of vol. 2.", "No.", "He left."],
        ["She works for the U.S. Army.", "He left the U.S.", "The rest stayed."],
        ["It was I.", "Nobody else was there."],
        ["What?!", "Really...", "Yes."],
        ["He came at 5 p.m. and left.", "Then nothing."],
        ["e.g. this and i.e. that, cf. Smith.", "Done."],
        ["¿Vienes?", "¡Claro!", "Vamos."],
        ["Das ist z.B. gut.", "Ja."],
        ["No mark at the end"],
        ["Wait... there is more.", "Now."],
        ["On 3 Jan. 2020 it rained.", "It stopped in Feb.", "We left."],
    ],
)
def test_sentences_set_apart_by_blanks_are_found(sentences):
    assert split_sentences(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["船は七時に出る。", "次は？", "「行こう。」", "はい！"],
        ["渡轮离港。", "下一班呢？"],
        ["नाव चली गई।", "फिर कब?"],
        ["መርከቡ ሄደ።", "መቼ?"],
        ["هل غادرت؟", "نعم."],
    ],
)
def test_full_stops_of_other_scripts_need_no_blank_behind_them(sentences):
    assert split_sentences("".join(sentences)) == sentences


def test_a_line_feed_ends_a_sentence_and_blank_lines_are_none():
    assert split_sentences("a headline\nthe text goes on\r\n\n \nto here") == [
        "a headline",
        "the text goes on",
        "to here",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000\n"])
def test_blank_text_has_no_sentence(text):
    assert sentence_spans(text) == []


def test_offsets_are_those_of_the_text():
    text = "  It rains.  \n We stay. "
    assert [text[start:end] for start, end in sentence_spans(text)] == ["It rains.", "We stay."]
    assert sentence_spans(text) == [(2, 11), (15, 23)]


@given(texts)
def test_spans_hold_every_visible_character_once_in_order(text):
    spans = sentence_spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    inside = {i for start, end in spans for i in range(start, end)}
    assert all(i in inside or character.isspace() for i, character in enumerate(text))


@given(texts)
def test_no_sentence_crosses_a_line(text):
    assert split_sentences(text) == [sentence for line in text.split("\n") for sentence in split_sentences(line)]


@pytest.mark.parametrize("unit", ["a.", ". ", "...", "A. ", "“", "Mr. ", "x", " ", "。", "!\u201d", ".\n"])
def test_a_text_of_200_000_characters_is_read_at_once(unit):
    # time that grew with the square of the text would keep this test busy for many minutes
    spans = sentence_spans(unit * (200_000 // len(unit)))
    assert spans == sorted(spans)
