"""What is looked for in the texts of every score: one list of looks, whichever way the texts come in."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.runtime.runtime import ENCODER_BY, Runtime
from nlgauge.scoring.looks import Looking, Looks, beside, by_texts

BLOCKS = [[Segment("1", "a", system="s")], [Segment("2", "", system="s"), Segment("3", "b", system="t")]]
KEY = None, "s"


class Blank:
    """A look at texts without letters."""

    def __init__(self):
        self.seen, self.blank = [], Counter()

    def add(self, segments):
        self.seen += [s.id for s in segments]
        self.blank.update(s.system for s in segments if not s.hypothesis)

    def notes(self):
        return [f"{self.blank.total()} blank"]

    def refuse(self):
        if self.blank:
            raise InputError("blank")

    def by_system(self, by_group=False):
        return {(None, system): Counter(n_flagged=self.blank[system]) for system in ("s", "t")}


def test_every_look_is_given_every_block_and_says_its_notes():
    one, other = Blank(), Blank()
    looking = Looking([one, other])
    looking.ahead(BLOCKS)  # nothing is refused, so that nothing is looked at yet
    assert one.seen == []
    for block in BLOCKS:
        looking.add(block)
    assert one.seen == other.seen == ["1", "2", "3"]
    assert looking.notes() == ["1 blank", "1 blank"]
    assert looking.by_system()[KEY] == {"n_flagged": 2}  # their numbers add up


def test_where_texts_may_be_refused_all_looks_see_them_ahead_and_once():
    one, refusing = Blank(), Blank()
    looking = Looking([one, refusing], [refusing])
    looking.ahead(BLOCKS[:1])
    looking.add(BLOCKS[0])
    assert one.seen == refusing.seen == ["1"]
    with pytest.raises(InputError, match=r"^blank$"):
        Looking([one, refusing], [refusing]).ahead(BLOCKS)


def test_numbers_stand_beside_the_rows_of_their_system_if_any_text_was_found():
    looking = Looking([Blank()])
    rows = [{"system": "s", "value": 1.0}, {"system": "s", "against": "t", "delta": 0.5}]
    looking.add(BLOCKS[0])
    assert beside(rows, looking.by_system()) == rows
    looking.add(BLOCKS[1])
    assert beside(rows, looking.by_system()) == [{**rows[0], "n_flagged": 1}, rows[1]]


def test_what_is_off_is_not_looked_for():
    blank = [Segment("1", "It rains.", ("Rain falls.", ""))]
    for chosen, found in ((Looks(), 1), (Looks(guards="off"), 0), (Looks(language="off"), 1)):
        assert len(chosen.seen({}, blank).notes()) == found
    with pytest.raises(InputError, match="guard blank_reference"):
        Looks(guards="refuse").seen({}, blank)


def test_a_comparison_says_of_languages_what_scores_say():
    systems = {"a": ["火车晚点了", "昨天他没有"], "b": ["火车没有晚点", "昨天他"]}
    compared = ng.compare(systems, ["火车晚点了", "他没有"], metrics="bleu", draws=10)
    (note,) = (note for note in compared.notes if "look Chinese" in note)
    assert note in compared.scores["bleu"].notes


@pytest.mark.parametrize(
    ("metric", "hyps", "refs", "note"),
    [
        ("bleu", ["a cat", "red"], ["a cat", "red"], "bleu: no text has 4 words, so that the corpus number is 0"),
        ("bleu", ["今天天气很好我们去公园"], ["今天天气很好我们去公园"], None),  # the note on scripts says it
        ("bleu2", ["a cat", "red"], ["a cat", "red"], None),
        ("bleu", ["a cat", "a red cat sat"], ["a cat", "red"], None),
        ("bleu:effective_order=true", ["a cat"], ["a cat"], None),
        ("bleu:average=sentence", ["a cat"], ["a cat"], None),
        ("rougeLsum", ["It rained. A ship sank."], ["A ship sank."], "rougeLsum: no text has a line break"),
        ("rougeLsum", ["It rained."], ["A ship sank. It rained."], "rougeLsum: no text has a line break"),
        ("rougeLsum", ["It rained. A ship sank."], ["A ship\nsank."], None),
        ("rougeLsum", ["It rained."], ["A ship sank."], None),  # one sentence each
        ("rougeLsum:split=sentences", ["It rained. A ship sank."], ["A ship sank."], None),
        ("rougeL", ["It rained. A ship sank."], ["A ship sank."], None),
    ],
)
def test_a_number_that_texts_cannot_change_has_a_note(metric, hyps, refs, note):
    looking = Looks(language="off").seen({metric: ng.metric(metric)}, ng.Dataset.from_texts(hyps, refs).segments)
    assert [one[: len(note or "")] for one in looking.notes()] == ([note] if note else [])


def test_such_a_note_names_the_systems_unless_they_are_all():
    looking = Looks(language="off").over({"bleu": ng.metric("bleu")})
    for block in ({"A": ["a"], "B": ["b"]}, {"A": ["a b c d"], "B": ["b"]}):
        looking.add(ng.Dataset.from_texts(block, ["c"]).segments)
    (note,) = looking.notes()
    assert note.startswith("bleu: of B: no text has 4 words")


WORDS = "the old man saw a red boat near green hills while two small dogs slept under that wide tree".split()


def outputs(changes, n=20, words=6):
    """Outputs of systems for n sentences of different words: system -> how many first ones are the reference."""
    references = [" ".join(WORDS[(i + j * (i % 5 + 1)) % len(WORDS)] for j in range(words)) for i in range(n)]
    other = [" ".join("no of by up it".split()[(i + j) % 5] for j in range(words)) for i in range(n)]
    return [
        Segment(f"{system}-{i}", references[i] if i < same else other[i], (references[i],), system=system)
        for system, same in changes.items()
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("segments", "says"),
    [
        (outputs({"A": 20, "B": 0}), "input: 20 of 20 outputs of A are nearly a reference"),
        (outputs({"B": 2, "A": 5}), "input: 5 of 20 outputs of A"),  # a quarter, and 2 of others are less than half
        (outputs({"B": 2, "A": 4}), None),
        (outputs({"B": 6, "A": 11}), None),  # easy sentences: others come near, too
        (outputs({"A": 19, "B": 0}, n=19), None),  # too few
        (outputs({"A": 20}), None),  # nobody to favour it over
        (outputs({"A": 20, "B": 0}, words=3), None),  # under 20 characters, as are met by chance
    ],
)
def test_a_system_that_the_references_came_from_is_named(segments, says):
    looking = Looks().over({})
    for start in range(0, len(segments), 7):  # in whichever blocks
        looking.add(segments[start : start + 7])
    assert [note[: len(says or "")] for note in looking.notes()] == ([says] if says else [])
    assert looking.notes() == looking.notes()
    assert not [note for note in Looks(guards="off").seen({}, segments).notes() if "nearly" in note]


def test_a_reference_that_was_post_edited_is_near():
    """A letter of 24 added: 2 * 24 of 24 + 25 characters are shared, 0.98; two words of six more are not near."""
    segments = [
        Segment(f"{system}-{i}", text, ("the old man saw red boat",), system=system)
        for system, text in (("A", "the old man saw red boats"), ("B", "an old man saw that red boat"))
        for i in range(20)
    ]
    (note,) = Looks().seen({}, segments).notes()
    assert note.startswith("input: 20 of 20 outputs of A")


def test_each_group_has_its_own_favoured_system_and_the_first_hundred_outputs_count():
    groups = {
        "a-b": outputs({"A": 150, "B": 0}, n=150),
        "a-c": outputs({"A": 0, "B": 20}),
        "a-d": outputs({"A": 0, "B": 0}),
    }
    segments = [replace(one, group=group, id=f"{group}{one.id}") for group, some in groups.items() for one in some]
    (note,) = (note for note in Looks().seen({}, segments).notes() if "nearly" in note)
    assert note.startswith("input: 100 of 100 outputs of A (a-b), 20 of 20 outputs of B (a-c) are nearly a reference;")


# --- The encoder auto is settled by the texts, once for a run

ENGLISH, GERMAN, CHINESE = (
    "It was the best of them all.",
    "Der Zug war nicht da, und wir warten.",
    "火车晚点了两个小时。",
)


def segments(*rows):
    """Of a group, a text and how often."""
    return [Segment(f"{g}{t}{i}", t, (t,), source=ENGLISH, group=g) for g, t, n in rows for i in range(n)]


def took(*rows, metrics="bertscore", runtime=None):
    """The encoder and why, of blocks of three segments."""
    texts = segments(*rows)
    blocks = [texts[i : i + 3] for i in range(0, len(texts), 3)]
    settled, notes = by_texts(runtime or Runtime(encoder="auto"), metrics, blocks)
    return settled.encoder, [note.removeprefix(f"encoder auto took {settled.encoder}: ") for note in notes]


def test_the_encoder_auto_says_where_no_language_is_known(monkeypatch):
    monkeypatch.delenv(ENCODER_BY, raising=False)
    unknown = "no language is known of the texts; if they are not English take --encoder multilingual"
    hindi = ["hamari padosan har shaam chai banati hai", "woh kal subah akhbaar kharidta tha", "baarish bahut tez hui"]
    russian = ["Poezd opyat' opozdal na chas.", "Moya sosedka pechet khleb.", "Zavtra budet teplo."]
    urls = [f"https://www.example{place}.com/it/la-casa/{place}.html" for place in range(20)]
    for texts in (hindi * 5, russian * 5, urls, ["Anna K."] * 12):
        assert took(*[(None, text, 1) for text in texts]) == ("embedded", [unknown])
    assert took(*[(None, text, 1) for text in hindi * 2], (None, ENGLISH, 2)) == (
        "embedded",
        ["the texts look English"],
    )
    assert took(*[("hi-en", text, 1) for text in hindi]) == ("embedded", ["the texts look English"])  # by its name


@pytest.mark.parametrize(
    ("rows", "encoder", "why"),
    [
        ([(None, ENGLISH, 9)], "embedded", "the texts look English"),
        ([("de-en", "Anna K.", 2)], "embedded", "the texts look English"),  # into English, with English sources
        ([("en-de", "Anna K.", 2)], "multilingual", "2 of 2 segments of en-de look German"),
        ([(None, GERMAN, 1)], "multilingual", "1 of 1 segments look German"),
        # a tenth of a group, of which 1 in 20 is less and 1 in 10 is not
        ([(None, ENGLISH, 19), (None, CHINESE, 1)], "embedded", "the texts look English"),
        ([(None, ENGLISH, 9), (None, CHINESE, 1)], "multilingual", "1 of 10 segments look Chinese (Han)"),
        (
            [("de-en", ENGLISH, 19), ("en-zh", CHINESE, 1)],
            "multilingual",
            "1 of 1 segments of en-zh look Chinese (Han)",
        ),
        # but not of one that is no language pair: of many small ones some text will look like another language
        ([("a", ENGLISH, 19), ("b-c", CHINESE, 1)], "embedded", "the texts look English"),
        (
            [(f"{code}-de", GERMAN, 1) for code in ("en", "fr", "zh", "es", "ru")],
            "multilingual",
            ", ".join(f"1 of 1 segments of {code}-de look German" for code in ("en", "fr", "zh")) + " and 2 more",
        ),
    ],
)
def test_the_encoder_auto_reads_the_texts_of_every_language_pair(rows, encoder, why, monkeypatch):
    monkeypatch.delenv(ENCODER_BY, raising=False)
    assert took(*rows) == (encoder, [why])


def test_only_metrics_that_take_the_encoder_of_a_run_ask_for_it(monkeypatch):
    monkeypatch.setenv(ENCODER_BY, "base")
    german = "en-de", GERMAN, 1
    assert took(german, metrics=["chrf", "rated", "bertscore:lang=de", "human.q", "none such"]) == ("base", [])
    assert took(german, metrics=["chrf", "cosine"])[0] == "multilingual"
    assert took(german, runtime=Runtime(encoder="embedded")) == ("embedded", [])
    assert took(("de-en", ENGLISH, 1))[0] == "base"
    # what is read beside the hypothesis counts, too: of de-en that is the source, in which no word tells otherwise
    source = [Segment("1", ENGLISH, source="Anna K.", group="de-en")]
    _, notes = by_texts(Runtime(encoder="auto"), "bertscore:against=source", [source])
    assert notes == ["encoder auto took multilingual: the sources of 1 of 1 segments of de-en look German"]


def test_an_encoder_that_is_not_here_is_told_before_anything_is_scored(monkeypatch, tmp_path):
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path))
    monkeypatch.setattr("nlgauge.models.fetch._installed", lambda one: None)
    with pytest.raises(InputError, match=r"^the encoder 'multilingual' is not here; run: nlgauge fetch multilingual"):
        ng.score([GERMAN], [GERMAN], metrics=["bleu", "bertscore"], runtime=Runtime(encoder="auto"))
