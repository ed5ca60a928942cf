"""What a broken step leaves in a text is told, and ordinary text of many languages is not."""

import unicodedata

import pytest

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.guards.signs import MEANINGS, Signs, signs

BROKEN = {
    "subwords": [
        "the may@@ or",
        "it br@@",
        "well @-@ known",
        "\u2581The \u2581mayor",
        "The mayor open ##ed it",
        "The\u0120mayor opened",
        "\u0120The \u0120mayor",
    ],
    "tokens": [
        "<s> A storm.",
        "A storm.</s>",
        "the <unk> was",
        "[UNK] came",
        "done<|im_end|>",
        "a<0x0A>b",
        "<pad><PAD>",
    ],
    "objects": ['{"text": "It rains."}', ' {"id": 1, "output": "a"}'],
    "thoughts": ["<think>He may mean</think> A storm.", "so it is.</think>"],
    "entities": ["It &apos;s", "&quot; new &quot;", "R &amp; D", "it&#39;s", "caf&#xE9;", "a&nbsp;b"],
    "undecoded": ["caf\ufffd"],
    "misread": [
        word.encode().decode(code)
        for word, code in [
            ("caf\u00e9", "latin-1"),
            ("caf\u00e9", "cp1252"),
            ("it\u2019s", "cp1252"),
            ("it\u2019s", "latin-1"),
            ("stra\u00dfe", "cp1252"),
            ("20 \u00b0", "latin-1"),
            ("\u043f\u0440\u0438\u043c\u0435\u0440", "latin-1"),
            ("\u5929\u6c14", "latin-1"),
        ]
    ],
    "unseen": ["a\u200bb", "\ufeffA storm", "sto\u00adrm", "co\u200dop", "\u200eA storm"],
    "printed": ["b'A storm.'", ' b"it\'s"', "caf\\u00e9", "caf\\xc3\\xa9", "One.\\nTwo."],
}
WHOLE = [
    "Write to a@b.org or @home, at 5 @ 3, R&D; AT&T, fish & chips.",
    "## A heading\n\n# another #tag and ticket ##12",
    "a < s > b, <b>bold</b>, [1], [sic], [INSTALL], x <<s",
    "b'day party, \\alpha in C:\\users\\new",
    "Il-\u0120img\u0127a \u0120or\u0121 mar G\u0127awdex",  # Maltese
    "S\u00c3O PAULO: N\u00c3O, \u00abMANH\u00c3\u00bb, \u00c2ngela disse: \u201cIRM\u00c3\u201d",
    "\u00ab caff\u00e8\u2026\u201d, d\u00e9j\u00e0\u00bb \u2013 \u00e0 20 \u00b0C",
    "\u0645\u06cc\u200c\u0631\u0648\u0645",  # Persian, with the joiner that it is written with
    "\u0915\u094d\u200d\u0937 \u0dc1\u0dca\u200d\u0dbb\u0dd3",  # Hindi and Sinhala, likewise
    "\u0e09\u0e31\u0e19\u200b\u0e44\u0e1b",  # Thai
    "\u05e9\u05dc\u05d5\u05dd\u200f (A)\u200e",  # Hebrew
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \u2582\u2583\u2581",
    "\u0423\u0436\u0435 \u0111\u1ebfn, \u00d0a\u00f0 \u00d1u",
]


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BROKEN.items() for text in texts])
def test_what_a_broken_step_leaves_is_seen(name, text):
    assert {*signs(text)} == {name}


@pytest.mark.parametrize("text", WHOLE)
def test_ordinary_text_shows_nothing(text):
    assert [*signs(text)] == []


@pytest.mark.parametrize("text", ["M\u00fcllers T\u00fcr", "\u30ac\u30e9\u30b9", "\ud55c\uad6d"])
def test_forms_that_differ_are_told_of_the_side_with_separate_accents(text):
    apart = unicodedata.normalize("NFD", text)
    for told, hypothesis, reference, *source in (
        ("(hypothesis)", apart, text),
        ("(reference)", text, apart),
        ("(source)", text, text, apart),
    ):
        one = Signs()
        one.add(Segment("a", hypothesis, (reference,), *source))
        (note,) = one.notes(1)
        assert note.startswith("input: 1 of 1 segments (a) have letters with separate accents (NFD)")
        assert note.endswith(told)
    same = Signs()
    same.add(Segment("a", apart, (apart,)))
    same.add(Segment("b", apart, ("plain",)))
    same.add(Segment("c", "\u0958", ("\u0915\u093c \u00e9",)))  # NFC itself takes this letter of Hindi apart
    assert [*same.notes(3)] == []


def test_each_sign_is_noted_once_with_its_sides_and_no_text_is_distrusted():
    texts = ["It &apos;s a br@@ idge"] * 3 + ["A bridge"]
    with pytest.warns(ng.ScoreWarning):
        scores = ng.score(texts, ["a br@@ idge"] * 4, ["&lt;s&gt;"] * 4, metrics="chrf", guards="refuse")["chrf"]
    assert scores.notes == (
        f"input: 4 of 4 segments (1, 2, 3, 4) have {MEANINGS['subwords']} (hypothesis and reference)",
        f"input: 4 of 4 segments (1, 2, 3, 4) have {MEANINGS['entities']} (hypothesis and source)",
    )
    assert ng.score(["a br@@ idge"], ["a br@@ idge"], metrics="chrf", guards="off")["chrf"].notes == ()


def test_lines_of_json_are_told_of_on_one_side_alone():
    line = '{"text": "It rains."}'
    one, both = Segment("1", line, ("It rains.",)), Segment("2", line, (line,))
    found = Signs()
    found.add(one)
    found.add(both)
    (note,) = found.notes(2)
    assert "1 of 2 segments (1) have objects of JSON, as lines of a table" in note
