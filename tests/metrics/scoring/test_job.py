"""Scoring a source up to the result that the command prints."""

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.parallel import open_parallel
from nlgauge.metrics.comparing.plan import ComparisonOptions
from nlgauge.metrics.scoring.job import score_source

HYPOTHESES = {"one": ["the cat sat", "a dog ran off"], "two": ["the cat sat down", "no dog"]}
REFERENCES = ["the cat sat down", "a dog ran away"]


@pytest.fixture
def source(tmp_path):
    paths = []
    for name, texts in (*HYPOTHESES.items(), ("ref", REFERENCES)):
        path = tmp_path / f"{name}.txt"
        path.write_text("\n".join(texts) + "\n")
        paths.append(str(path))
    opened = open_parallel(paths[:2], paths[2:], None)
    yield opened
    opened.close()


def test_a_person_in_python_gets_what_the_command_prints(source):
    result = score_source(source, ["bleu", "chrf"]).result()
    assert result.kind == "score"
    assert [(row["metric"], row["system"], row["n"]) for row in result.rows] == [
        ("bleu", "one", 2),
        ("bleu", "two", 2),
        ("chrf", "one", 2),
        ("chrf", "two", 2),
    ]
    alone = ng.score(HYPOTHESES["one"], [[r] for r in REFERENCES], metrics="chrf")["chrf"]
    assert result.rows[2]["value"] == pytest.approx(float(alone.finish(alone.stats.sum(axis=0))))
    assert [metric["spec"] for metric in result.metrics] == ["bleu", "chrf"]
    assert len(result.inputs) == 3


def test_systems_are_tested_against_the_baseline(source):
    options = ComparisonOptions(test="bootstrap", baseline="two", draws=50)
    result = score_source(source, "chrf", options).result()
    first, second = result.rows
    assert (first["baseline"], second["p"]) == ("two", None)
    assert 0 < first["p"] <= 1
    assert result.notes[-1] == "p: paired bootstrap against the baseline, two-sided, 50 draws, seed 0"


def test_the_baseline_may_be_a_system_without_a_name():
    rows = [Segment(f"{s}{i}", f"a b {s}{i}", ("a b c d",), system=s, item=str(i)) for s in ("x", "") for i in range(3)]
    options = ComparisonOptions(test="bootstrap", baseline="", draws=20)
    result = score_source(InMemory(*rows), "chrf", options).result()
    assert {row["baseline"] for row in result.rows} == {""}  # it was "x", the first


def test_blocks_are_handed_on_as_they_are_scored(source):
    seen = []
    score_source(source, "chrf", on_block=lambda block, scores: seen.append((len(block), list(scores))))
    assert seen == [(4, ["chrf"])]


def test_intervals_alone(source):
    row = score_source(source, "chrf", ComparisonOptions(intervals=True, draws=20)).result().rows[0]
    assert row["low"] <= row["value"] <= row["high"]
    assert "baseline" not in row


class InMemory:
    """Segments that lie in no file."""

    def __init__(self, *segments):
        self.segments = segments

    def check(self):
        from nlgauge.io.segments import Tally

        tally = Tally()
        for segment in self.segments:
            tally.add(segment)
        return tally.summary([], [])

    def blocks(self):
        yield list(self.segments)


def test_groups_are_rows_of_their_own_or_a_note():
    segments = InMemory(
        Segment(id="1", hypothesis="a b", references=("a b",), group="x"),
        Segment(id="2", hypothesis="a b", references=("c d",), group="y"),
    )
    (row,), notes = score_source(segments, "chrf").result().rows, score_source(segments, "chrf").result().notes
    assert "group" not in row
    assert notes == ["2 groups (x, y) are scored together; --by-group gives each its row"]
    rows = score_source(segments, "chrf", ComparisonOptions(by_group=True)).result().rows
    assert [(row["group"], row["n"]) for row in rows] == [("x", 1), ("y", 1)]


def test_a_note_on_few_items_counts_those_of_a_group():
    segments = InMemory(*(Segment(f"{i}", "a b", ("a c",), group=f"g{i % 2}") for i in range(8)))
    together, apart = (ComparisonOptions(intervals=True, by_group=by_group, draws=2) for by_group in (False, True))
    assert any("intervals from 8 items" in note for note in score_source(segments, "chrf", together).result().notes)
    assert any("intervals from 4 items" in note for note in score_source(segments, "chrf", apart).result().notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ComparisonOptions(test="bootstrap"), "expected at least two, found none named"),
        (ComparisonOptions(baseline="b"), "baseline is what others are tested against; it goes with test"),
    ],
)
def test_systems_that_cannot_be_compared_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        score_source(InMemory(Segment(id="1", hypothesis="a", references=("a",))), "chrf", options)


def test_what_a_metric_needs_must_be_there():
    with pytest.raises(InputError, match="chrf needs references; segment '1' has none"):
        score_source(InMemory(Segment(id="1", hypothesis="a")), "chrf")


CHINESE = Segment(id="7", hypothesis="火车晚点了两个小时", references=("昨天他没有去学校",))


def test_scripts_that_a_metric_cannot_split_are_noted_refused_or_left_alone():
    (note,) = score_source(InMemory(CHINESE), "bleu").result().notes
    assert note.startswith("bleu: 1 of 1 segments (7) look Chinese (Han): the tokenizer 13a splits words at blanks")
    assert score_source(InMemory(CHINESE), "bleu", language="off").result().notes == []
    with pytest.raises(InputError, match=r"bleu: 1 of 1 segments \(7\) look Chinese"):
        score_source(InMemory(CHINESE), "bleu", language="strict")


def test_rouge_says_that_its_tokenizer_keeps_nothing_and_not_that_a_side_is_empty():
    notes = score_source(InMemory(CHINESE), "rougeL").result().notes
    kept = "have a side of which the tokenizer keeps nothing; they get the worst value"
    assert notes[1:] == [f"rougeL: 1 of 1 segments (7) {kept}"]
    assert "tokenizer=unicode" in notes[0]


def test_flags_are_counted_in_notes():
    empty = InMemory(Segment(id="1", hypothesis="", references=("a b",)))
    (note,) = score_source(empty, "chrf").result().notes
    assert note == "chrf: 1 of 1 segments (1) have an empty side; they get the worst value"


def test_counts_stand_beside_the_metric():
    segments = InMemory(*(Segment(str(i), text, ("a b",)) for i, text in enumerate(["", "a b"])))
    assert [metric["flags"] for metric in score_source(segments, ["chrf", "ter"]).result().metrics] == [
        {"empty": 1},
        {"empty": 1},
    ]


@pytest.mark.parametrize(("second", "note"), [("b\nb\n", "2 references per segment"), (None, None)])
def test_several_references_are_told(tmp_path, second, note):
    for name, text in (("hyp", "a\nb\n"), ("one", "a\nb\n"), ("two", second)):
        if text is not None:
            (tmp_path / name).write_text(text)
    references = [str(tmp_path / name) for name in ("one", "two") if (tmp_path / name).exists()]
    opened = open_parallel([str(tmp_path / "hyp")], references, None)
    notes = score_source(opened, ["chrf"]).result().notes
    opened.close()
    assert [n for n in notes if "references per segment" in n] == ([note] if note else [])
