"""What a broken step leaves in texts, what tools put at their ends, and real texts that show neither."""

import os
import random
import unicodedata
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.signs import SIGN_MEANINGS, Signs, signs

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
        *("en_XX A storm.", "A storm. eng_Latn", ">>de<< A storm.", "__en__ A storm.", "<2en> A storm."),
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
    "control": ["\x1b[32mA storm.\x1b[0m", "A storm.\x00", "A\x08 storm", "A storm\x7f"],
    "errors": ["#NAME?", " #REF!", "#DIV/0!", "#N/A"],
    "unseen": ["a\u200bb", "\ufeffA storm", "sto\u00adrm", "co\u200dop", "\u200eA storm"],
    "printed": ["b'A storm.'", ' b"it\'s"', "caf\\u00e9", "caf\\xc3\\xa9", "One.\\nTwo."],
}
SIGNS_WHOLE = [
    "One.\tTwo.\r\nThree.\x0c",
    "The value #N/A and the locale en_US are words here, and so is __init__.",
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


@pytest.mark.parametrize("text", SIGNS_WHOLE)
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
        f"input: 4 of 4 segments (1, 2, 3, 4) have {SIGN_MEANINGS['subwords']} (hypothesis and reference)",
        f"input: 4 of 4 segments (1, 2, 3, 4) have {SIGN_MEANINGS['entities']} (hypothesis and source)",
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


# --- Signs that count on one side alone


def noted(hypotheses, references=None, sources=None, **more):
    """The notes on some texts, each with one reference."""
    found = Signs()
    for place, hypothesis in enumerate(hypotheses):
        known = (references[place],) if references else ()
        found.add(Segment(str(place), hypothesis, known, sources[place] if sources else None, **more))
    return [*found.notes(len(hypotheses))]


ARABIC = ["\u0648\u0635\u0644 \u0627\u0644\u0642\u0637\u0627\u0631", "\u0627\u0644\u062e\u0628\u0632"]
PERSIAN = ["\u0645\u06cc{}\u0631\u0648\u0645", "\u0645\u06cc{}\u0634\u0648\u062f"]
KANA = ["\u30ab\u30bf\u30ab\u30ca", "\u30c6\u30ec\u30d3"]
PLAIN = ["The first train was late.", "The office closed at five."]
ODD = [
    *[("turned", [mark + text for text in ARABIC], ARABIC) for mark in "\u061c\u200f\u200e\u2067\u202b"],
    ("turned", [text.format("\u200c") for text in PERSIAN], [text.format("") for text in PERSIAN]),
    ("compatible", ["\ufeed\ufebb\ufede \ufe8d", "\ufe8d\ufedf"], ARABIC),
    ("compatible", ["".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in text) for text in PLAIN], PLAIN),
    ("compatible", ["The \ufb01rst train was late.", "The of\ufb01ce closed at \ufb01ve."], PLAIN),
    ("compatible", ["\uff76\uff80\uff76\uff85", "\uff83\uff9a\uff8b"], KANA),
    *[("missing", [value, PLAIN[1]], PLAIN) for value in ("nan", "None", "null", "N/A", "undefined")],
]


@pytest.mark.parametrize(("name", "odd", "plain"), ODD)
def test_what_one_side_alone_has_is_told_of_that_side(name, odd, plain):
    for side, note in (("hypothesis", noted(odd, plain)), ("reference", noted(plain, odd))):
        (one,) = note
        assert SIGN_MEANINGS[name] in one
        assert one.endswith(f"({side})")
    assert noted(odd, odd) == []
    assert not any(SIGN_MEANINGS[name] in one for one in noted([*odd, *plain], [*plain, *odd]))  # as people write


def test_one_sided_signs_are_told_of_a_twentieth_and_missing_values_of_three():
    odd, plain = "\u200f" + ARABIC[0], ARABIC[0]
    assert noted([odd] + [plain] * 20, [plain] * 21) == []
    assert len(noted([odd] + [plain] * 19, [plain] * 20)) == 1
    assert noted(["nan"] * 2 + PLAIN * 50, PLAIN * 51) == []
    assert len(noted(["nan"] * 3 + PLAIN * 50, ["One."] * 3 + PLAIN * 50)) == 1
    assert noted(["None", "None", "Anger"], ["None", "Anger", "None"]) == []  # a label
    (note,) = noted(["nan", "A storm."])  # beside no reference, too
    assert "(hypothesis)" in note


# --- Beginnings and ends that nearly all texts of a system have

OURS = ["The ferry leaves at nine.", "We bought three loaves of bread.", "Nobody saw the fox last night."]
THEIRS = ["The ferry departs at nine o'clock.", "We bought three loaves of bread.", "Last night nobody saw the fox."]


def marked(form, texts):
    return [form.format(text, i=place, n=place + 1) for place, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("[PASS] {}", "begin with '[\u2026]'"),
        ("1. {}", "begin with '0.'"),
        ("0 ||| {} ||| -1.{i}2", "begin with '0 |||' and end with '||| -0.0'"),
        ('"{}"', "begin with '\"' and end with '\"'"),
        ("\u201e{}\u201c", "begin with '\"' and end with '\"'"),
        ("'{}'", 'begin with "\'" and end with "\'"'),
        ("Sure! Here is the translation: {}", "begin with 'Sure! Here is the translation:'"),
        ("Answer: {}", "begin with 'Answer:'"),
        ("{}\t-0.{i}5", "end with '\\t-0.0'"),
        ("```\n{}\n```", "begin with '```\\n' and end with '\\n```'"),
        ("**{}**", "begin with '**' and end with '**'"),
    ],
)
def test_a_mark_that_all_outputs_begin_or_end_with_and_no_reference_is_told_once(form, says):
    (note,) = noted(marked(form, OURS), THEIRS, system="a")
    assert note.startswith(f"input: nearly all outputs of a {says}, as in ")
    assert ", and hardly any reference does; if a tool or a model put that there, cut it off" in note
    (note,) = noted(OURS, marked(form, THEIRS))
    assert note.startswith(f"input: nearly all references {says}, as in ")
    assert noted(marked(form, OURS), marked(form, THEIRS)) == []  # both sides have it
    (note,) = noted(marked(form, OURS), None, THEIRS)
    assert "hardly any source does" in note


@pytest.mark.parametrize(
    ("form", "says"),
    [
        *[("H-{i}\t-0.{i}1\t{}", "begin with ids"), ("spk1-utt{i:03} {}", "begin with ids")],
        *[("{} (spk1-utt{i:03})", "end with ids"), ("1089-134686-{i:04} {}", "begin with ids")],
        *[(form, "begin with numbers in running order") for form in ("{n}. {}", "{i}\t{}", "({n}) {}", "Q{n}: {}")],
    ],
)
def test_ids_and_running_numbers_are_told_of_both_sides(form, says):
    outputs, references = noted(marked(form, OURS), marked(form, THEIRS))
    assert outputs.startswith(f"input: nearly all outputs {says}, as in ")
    assert references.startswith(f"input: nearly all references {says}, as in ")
    assert len(noted(marked(form, OURS), THEIRS)) == 1


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        (OURS, THEIRS),
        (["The ferry is late.", "The fox ran.", "The bread is old."], ["A late ferry.", "A fox.", "Old bread."]),
        (["42.", "17.", "5."], ["42", "17", "5"]),
        (["COVID-19 spread.", "COVID-19 ended.", "COVID-19 cases rose."], ["It spread.", "It ended.", "More."]),
        (["Yes, it is.", "Yes, he did.", "Yes, we may."], ["It is.", "He did.", "We may."]),
        (["Is it late?", "Did he go?", "May we?"], ["It is late", "He went", "We may"]),
        (['"It rains."', "He said so.", '"Come in," she said.'], ["It rains.", "He said so.", "She asked him in."]),
    ],
)
def test_texts_that_people_write_are_not_told(hypotheses, references):
    assert noted(hypotheses, references) == []


WORDS = ["".join(random.Random(i).choices("abcdefghij", k=6)) for i in range(100)]


def test_words_alone_are_a_way_of_writing():
    assert noted([f"On day one it pours in {word}" for word in WORDS], [f"On day one {word}" for word in WORDS]) == []
    assert noted([f"Here is the summary of {word}" for word in WORDS], WORDS) == []
    assert len(noted([f"Here is the summary: {word}" for word in WORDS], WORDS)) == 1


def test_several_outputs_for_one_input_are_one():
    same = [f'"Way Down Deep", said {name}' for name in ("Ada", "Bo", "Cy")]
    assert noted(same, ["A book."] * 3) == []
    assert len(noted(same, ["A book.", "A poem.", "A song."])) == 1


def test_a_tenth_may_be_otherwise_and_a_fiftieth_of_the_references_alike():
    texts = [f"- {word}" for word in WORDS]
    assert len(noted([*texts[:90], *WORDS[90:]], WORDS)) == 1
    assert noted([*texts[:89], *WORDS[89:]], WORDS) == []
    assert len(noted(texts, ["- A", "- B", *WORDS[2:]])) == 1
    assert noted(texts, ["- A", "- B", "- C", *WORDS[3:]]) == []


def test_each_system_is_looked_at_and_ten_are_named():
    found = Signs()
    for system in range(12):
        for place, text in enumerate(OURS):
            known = (THEIRS[place],)
            found.add(Segment(f"{system}.{place}", f"[{system}] {text}", known, system=f"s{system}", item=str(place)))
    (note,) = found.notes(36)
    assert note.count("outputs of s") == 10
    assert "; ...; if a tool" in note


@pytest.mark.parametrize("name", ["bagel", "mlqe-pe", "summeval", "webnlg2020-humaneval", "wmt15-da-seg", "wmt24-esa"])
def test_real_texts_in_sets_of_any_size_are_not_told(name):
    files = sorted(Path(os.environ.get("NLGAUGE_DATA", ""), name).glob("segments*.jsonl.gz"))
    if not files:
        pytest.skip("needs the sets that NLGAUGE_DATA points to")
    chance = random.Random(1)
    by_system = {}
    for segment in ng.read(chance.choice(files)).segments:
        by_system.setdefault(segment.system, []).append(segment)
    for n in (3, 5, 10, 30, 100):
        for _ in range(30):
            texts = chance.choice([*by_system.values()])
            found = Signs()
            for segment in chance.sample(texts, min(n, len(texts))):
                found.add(segment)
            assert not [note for note in found.notes(n) if "put that there" in note or "where the other side" in note]
