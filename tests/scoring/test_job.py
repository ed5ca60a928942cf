"""Scoring a source up to the result that the command prints, and `score` of texts in Python."""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, NlgaugeError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.io.parallel import open_parallel
from nlgauge.io.segments import Source, Tally
from nlgauge.metrics.registry import METRICS
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.compare import ComparisonOptions
from nlgauge.scoring.job import numbers_of, score, score_source

HYPOTHESES = {"one": ["the cat sat", "a dog ran off"], "two": ["the cat sat down", "no dog"]}
REFERENCES = ["the cat sat down", "a dog ran away"]


class InMemory(Source):
    """Segments that lie in no file."""

    def __init__(self, *segments):
        self.segments = segments

    def check(self):
        tally = Tally()
        for segment in self.segments:
            tally.add(segment)
        return tally.summary([], [])

    def blocks(self):
        yield list(self.segments)


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


# --- Scores of texts by named metrics: the public `score`


@dataclass(frozen=True)
class Lengths:
    """Letters of the hypothesis; it reads no reference."""

    weight: float = 1.0
    info: ClassVar = MetricInfo("lengths", needs=(), range=(0.0, np.inf))

    def score(self, segments, runtime):
        values = np.array([self.weight * len(s.hypothesis) for s in segments])
        return Scores(signature_of(self, runtime), ids(segments), values)


def test_keys_are_the_specifications_as_typed():
    found = score(["a b"], ["a b"], metrics=["chrf: word_order=2", "chrf++", "bleu"])
    assert list(found) == ["chrf: word_order=2", "chrf++", "bleu"]
    assert found["chrf++"].values == found["chrf: word_order=2"].values


def test_an_object_goes_by_the_specification_that_rebuilds_it():
    assert list(score(["a"], ["a"], metrics=[ng.metric("chrf++"), Lengths(weight=2.0)])) == [
        "chrf:word_order=2",
        "lengths:weight=2.0",
    ]


def test_one_metric_needs_no_list():
    assert list(score(["a"], ["a"], metrics="bleu")) == ["bleu"]
    assert list(score(["a"], ["a"], metrics=Lengths())) == ["lengths"]


def test_all_embedded_metrics_are_named_at_once(monkeypatch):
    monkeypatch.setattr("nlgauge.metrics.registry.embedded_metrics", lambda: ["bleu", "summac"])
    with pytest.warns(ng.ScoreWarning, match="^embedded metrics left out: summac needs source"):
        assert list(score(["a"], ["a"], metrics=["chrf", "embedded"])) == ["chrf", "bleu"]


def test_a_dataset_brings_its_own_references():
    dataset = ng.Dataset.from_texts({"A": ["a b"], "B": ["c d"]}, ["a b"])
    assert score(dataset, metrics="bleu")["bleu"].ids == ("A:1", "B:1")
    with pytest.raises(InputError, match=r"^a Dataset holds its references and sources; leave refs and srcs out$"):
        score(dataset, ["a b"], metrics="bleu")


def test_every_metric_is_checked_before_the_first_is_run():
    with pytest.raises(InputError, match=r"^bleu needs references; segment '1' has none$"):
        score(["a"], metrics=[Lengths(), ng.metric("bleu")])


def test_a_frame_brings_its_own_references():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"prediction": ["a b", "c d"], "references": [["a b"], ["c", "c d"]]})
    columns = {"hyp": "prediction", "ref": "references"}
    found = score(frame, metrics="bleu", columns=columns)["bleu"]
    of_lists = score(["a b", "c d"], [["a b"], ["c", "c d"]], metrics="bleu")["bleu"]
    of_columns = score(frame["prediction"], frame["references"], metrics="bleu")["bleu"]
    assert found.values.tolist() == of_lists.values.tolist() == of_columns.values.tolist()
    assert found.ids == ("1", "2")


def test_a_frame_is_never_taken_for_the_names_of_its_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"hyp": ["a", "b"], "ref": ["a", "b"]})
    with pytest.raises(InputError, match=r"^a DataFrame holds its references and sources; leave refs and srcs out, or"):
        score(frame, frame["ref"], metrics="chrf")
    with pytest.raises(InputError, match=r"^a DataFrame holds its references"):
        score(frame, ["hyp", "ref"], metrics="chrf")
    with pytest.raises(
        InputError, match=r"^references is a DataFrame with columns 'hyp', 'ref', expected a list of texts"
    ):
        score(["a", "b"], frame, metrics="chrf")
    with pytest.raises(
        InputError, match=r"^sources is a DataFrame with columns 'hyp', 'ref', expected a list of texts"
    ):
        score(["a", "b"], ["a", "b"], frame, metrics="chrf")
    with pytest.raises(InputError, match=r"^columns are named for a frame; lists of texts have none$"):
        score(["a"], ["a"], metrics="chrf", columns={"hyp": "x"})


# --- What is empty, and what parts words, is the same for every metric


@pytest.mark.parametrize("spec", ["bleu", "chrf", "ter", "rouge1", "rougeL", "wordf1", "meteor", "ribes", "bertscore"])
def test_every_metric_calls_the_same_texts_empty(spec):
    if spec not in METRICS.names():
        pytest.skip("not registered")
    blank = ["", " ", "\u200b", "\ufeff", "\u00a0\u200d", "\u3164"]
    texts = [*blank, "a cat", "."]
    with pytest.warns(ng.ScoreWarning):
        scores = ng.score(texts, ["a cat"] * len(texts), metrics=spec)[spec]
    assert any(note.startswith(f"{spec}: 6 of 8 segments (1, 2, 3, 4, 5, 6) have an empty") for note in scores.notes)
    assert scores.flags["empty"].tolist() == [True] * len(blank) + [False, False]
    assert len(set(scores.values[: len(blank)].tolist())) == 1


def blank_and_seen(blank):
    about = {"source": "seen", "table": (("name", "seen"),)}
    sides = [
        (blank, ("a cat",)),
        ("a cat", (blank,)),
        (blank, (blank,)),
        ("a cat", (blank, "the cat")),
        ("a dog", ("dog",)),
    ]
    return [ng.Segment(str(i), hyp, refs, **about) for i, (hyp, refs) in enumerate(sides)]


OF_WORDS = [
    name
    for name, (kind, _) in ((name, METRICS.lookup(name)) for name in METRICS.names())
    if not (kind.info.cached or hasattr(kind, "model"))
]


@pytest.mark.parametrize("name", OF_WORDS)
def test_a_text_without_ink_is_scored_as_an_empty_one(name):
    kind, fixed = METRICS.lookup(name)
    try:
        metric = kind(**fixed)
        empty = metric.score(blank_and_seen(""), Runtime())
    except (TypeError, NlgaugeError):
        pytest.skip("it needs an option, or what is not installed")
    for blank in ("\u200b", "\ufeff", "\u3164"):
        scores = metric.score(blank_and_seen(blank), Runtime())
        np.testing.assert_array_equal(scores.values, empty.values)
        np.testing.assert_array_equal(scores.system, empty.system)
        assert {name: flag.tolist() for name, flag in scores.flags.items()} == {
            name: flag.tolist() for name, flag in empty.flags.items()
        }


WHITE = "\t\r\x0b\x0c\x1c\x85\xa0\u2003\u2028\u202f\u3000"  # a line feed may end a sentence


@pytest.mark.parametrize("name", [*(name for name in OF_WORDS if name != "compression"), "bertscore"])  # bytes
def test_white_space_of_any_kind_parts_words(name):
    kind, fixed = METRICS.lookup(name)
    try:
        metric = kind(**fixed)
        text = "Quelle heure est-il maintenant ?"
        others = [text.replace(" ", white) for white in WHITE]
        pairs = [(text, text), *((other, text) for other in others), *((text, other) for other in others)]
        about = {"source": text, "table": (("name", "heure"),)}
        segments = [ng.Segment(str(i), hyp, (ref,), **about) for i, (hyp, ref) in enumerate(pairs)]
        found = metric.score(segments, Runtime())
    except (TypeError, NlgaugeError):
        pytest.skip("it needs an option, or what is not installed")
    assert found.values.tolist() == pytest.approx([found.values[0]] * len(pairs), rel=1e-6)  # float32 in `bertscore`


@pytest.mark.parametrize("name", [*OF_WORDS, "bertscore", "sentsim", "0.5*bleu + 0.5*chrf"])
def test_no_segments_have_no_score(name):
    try:
        (scores,) = score([], [], [], metrics=name).values()
    except SpecError:
        pytest.skip("it needs an option")
    assert len(scores) == 0
    assert np.isnan(scores.system)
    assert all(map(np.isnan, scores.system_parts.values()))


@pytest.mark.parametrize("name", ["bleu", "wer", "nist", "rouge1"])
def test_none_of_the_segments_have_no_score(name):
    assert np.isnan(score(["a b"], ["a b"], metrics=name)[name].take([]).system)


# --- Arguments in their places, and the look of what comes back


def test_metrics_may_follow_the_texts():
    hyps, refs = ["a b", "c d"], ["a b", "c e"]
    by_name = score(hyps, refs, metrics=["chrf", "bleu"])
    assert score(hyps, refs, ["chrf", "bleu"]) == score(hyps, refs, refs, ["chrf", "bleu"]) == by_name
    assert list(score(hyps, refs, "chrf")) == list(score(hyps, refs, ng.metric("chrf"))) == ["chrf"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "bertscore", "idf": True}, r"idf is an option of bertscore, .* metrics=\['bertscore:idf=true'"),
        ({"metrics": ["ter", "chrf:beta=1"], "word_order": 2}, r"write metrics=\['chrf:beta=1,word_order=2'\]$"),
        ({"metrics": "chrf", "references": ["a"]}, r"score\(\) has no argument 'references'; did you mean 'refs'\?$"),
        ({}, r"^score\(\) is given no metrics, as in metrics=\[\"bleu\", \"chrf\"\]$"),
        ({"srcs": ["chrff"]}, "no metrics, .*; the third argument holds none: unknown metric 'chrff'; did you mean"),
        ({"srcs": ["ein Hund"]}, "no metrics, .*; the third argument holds none: metric specification 'ein Hund'"),
    ],
)
def test_what_stands_in_the_wrong_place_is_told_where_it_goes(options, message):
    with pytest.raises(NlgaugeError, match=message):
        score(["a"], ["a"], **options)


def test_scores_are_shown_under_the_name_as_typed():
    assert repr(score(["a"], ["a"], "ROUGE1")) == "{'ROUGE1': Scores(ROUGE1: 1; 1 segments)}"
    assert repr(score(["a"], ["a"], "rougeL")["rougeL"].take([0])) == "Scores(rougeL: 1; 1 segments)"


def test_all_metrics_stand_in_one_frame():
    pytest.importorskip("pandas")
    frame = score({"one": ["a b"], "two": ["c d"]}, ["a b"], metrics=["chrf", "rouge1"]).to_frame("pandas")
    labels, parts = ["id", "seg", "system"], [f"rouge1.{part}" for part in ("precision", "recall", "f1", "reference")]
    assert [*frame.columns] == [*labels, "chrf", "rouge1", *parts]
    assert frame[["system", "rouge1"]].to_numpy().tolist() == [["one", 1.0], ["two", 0.0]]


def grouped(*specs):
    """Texts of two groups, each of one word that the other says, too, and others."""
    texts = {"x": ["red sun", "red moon", "red star"], "y": ["red hill", "red lake", "blue lake"]}
    segments = [
        Segment(f"{group}{i}", text, (f"{text} here",), system="s", item=str(i), group=group)
        for group, said in texts.items()
        for i, text in enumerate(said)
    ]
    found = score_source(InMemory(*segments), list(specs), ComparisonOptions(by_group=True)).result()
    alone = {
        (group, spec): score_source(InMemory(*[s for s in segments if s.group == group]), [spec]).result().rows[0]
        for group in texts
        for spec in specs
    }
    return found, alone


def test_by_group_what_is_pooled_sees_each_group_alone():
    found, alone = grouped("distinct", "self_bleu", "compression", "cider", "nist", "bleu")
    for row in found.rows:
        assert row["value"] == pytest.approx(alone[row["group"], row["metric"]]["value"], abs=1e-12), row
    # By hand: x says 6 words, of which red, sun, moon and star differ.
    assert next(row["value"] for row in found.rows if row["group"] == "x") == pytest.approx(4 / 6)
    assert "distinct is pooled: scored in each of 2 groups by itself" in found.notes
    assert not any(note.startswith("bleu is pooled") for note in found.notes)


def test_what_judges_nothing_has_no_rank():
    segments = [
        Segment(f"{system}{i}", text * times, (text,), system=system, item=str(i))
        for system, times in (("a", 1), ("b", 3))
        for i, text in enumerate(["red sun ", "red moon ", "red star "])
    ]
    how = ComparisonOptions(test="randomization", pairs=True, draws=20)
    found = score_source(InMemory(*segments), ["length_ratio", "chrf"], how).result()
    ranks = {(row["metric"], row["system"]): row["rank"] for row in found.rows if "rank" in row}
    assert {key: rank is None for key, rank in ranks.items()} == {
        (spec, system): spec == "length_ratio" for spec in ("length_ratio", "chrf") for system in "ab"
    }
    assert [one.get("judges") for one in found.metrics] == [False, None]


# --- Batches scored together give the numbers of one call

HYPS = ["it rains", "a cat sat", "the dog"]
REFS = [["it is raining"], ["the cat sat", "a cat"], ["a dog"]]


def test_the_numbers_are_those_of_one_call():
    meter = ng.Accumulator(["chrf", "bleu"])
    for hyp, refs in zip(HYPS, REFS, strict=True):
        meter.update([hyp], [refs])
    whole = ng.score(HYPS, REFS, metrics=["chrf", "bleu"])
    found = meter.compute()
    assert list(found) == list(whole)
    assert found["chrf"].values.tolist() == whole["chrf"].values.tolist()
    assert found["bleu"].system == whole["bleu"].system
    assert found["chrf"].ids == whole["chrf"].ids == ("1", "2", "3")


def test_more_can_be_added_after_a_number_was_asked_for():
    meter = ng.Accumulator("chrf")
    meter.update(HYPS[:1], REFS[:1])
    assert len(meter.compute()["chrf"]) == 1
    meter.update(HYPS[1:], REFS[1:])
    assert len(meter.compute()["chrf"]) == len(meter) == 3
    assert repr(meter) == "Accumulator(chrf; 3 segments)"
    meter.reset()
    with pytest.raises(ng.InputError, match=r"^nothing was added yet; call update with a batch of texts first$"):
        meter.compute()


def test_a_batch_with_a_fault_is_refused_at_once_and_whole():
    meter = ng.Accumulator(ng.metric("chrf"))
    with pytest.raises(ng.InputError, match=r"^2 hypotheses but 1 entries of references"):
        meter.update(HYPS[:2], REFS[:1])
    assert len(meter) == 0
    with pytest.raises(ng.SpecError, match=r"^unknown metric 'chrff'"):
        ng.Accumulator("chrff")


def test_numbers_are_flat_and_have_names_that_loggers_take():
    scores = ng.score(HYPS, REFS, metrics=["bleu", "chrf:word_order=2"])
    numbers = numbers_of(scores)
    assert numbers["bleu"] == scores["bleu"].system
    assert numbers["bleu.precision1"] == scores["bleu"].system_parts["precision1"]
    assert numbers["chrf_word_order_2"] == scores["chrf:word_order=2"].system
    assert all(re.fullmatch(r"[\w./ -]+", name) and type(value) is float for name, value in numbers.items())


def test_names_that_would_be_alike_stay_apart():
    scores = ng.score(HYPS, REFS, metrics=["chrf"])
    assert numbers_of({"a:b": scores["chrf"], "a=b": scores["chrf"]}).keys() == {"a_b", "a_b_2"}


# --- Systems compared with each other

SYSTEMS = {"good": ["the cat sat", "it rains now", "a dog ran"], "bad": ["mice", "sun", "birds"]}
WRITTEN = ["the cat sat", "it rains now", "a dog ran"]


def test_texts_are_scored_and_compared():
    found = ng.compare(SYSTEMS, WRITTEN, metrics=["chrf", "ter"], test="bootstrap")
    assert found.ranks("chrf") == found.ranks("ter") == {"good": 1, "bad": 2}
    assert found.p("ter", "bad", "good") == pytest.approx(1 / 1001)
    assert found.scores["chrf"].by_system()["good"] == 100
    values = [(row["system"], row["metric"]) for row in found.rows if "against" not in row]
    assert values == [("good", "chrf"), ("bad", "chrf"), ("good", "ter"), ("bad", "ter")]
    (pair,) = [row for row in found.rows if row.get("against") and row["metric"] == "chrf"]
    assert (pair["system"], pair["against"], pair["test"], pair["seed"]) == ("good", "bad", "paired_bootstrap", 0)
    assert [metric["higher_is_better"] for metric in found.result().metrics] == [True, False]
    assert found.result().settings == {
        "test": "bootstrap",
        "draws": 1000,
        "seed": 0,
        "adjust": "holm",
        "confidence": 0.95,
    }
    assert repr(found) == "SystemComparison(6 rows)"


def test_texts_that_were_not_scored_as_they_stand_are_counted():
    with pytest.warns(ng.ScoreWarning, match="an empty side"):
        found = ng.compare({**SYSTEMS, "bad": ["", "sun", "birds"]}, WRITTEN, metrics="chrf")
    assert found.result().metrics[0]["flags"] == {"empty": 1}
    assert found.notes[0] == "chrf: 1 of 6 segments (bad:1) have an empty side; they get the worst value"


def test_the_comparison_is_written_in_every_form(tmp_path):
    found = ng.compare(SYSTEMS, WRITTEN, metrics=["chrf", "ter"])
    for name in ("r.json", "r.html", "r.md", "r.tex", "r.txt", "r.tsv", "r.csv"):
        found.write(tmp_path / name)
    text = (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert "100.00" in text
    assert "p of chrf" in text
    assert "p of chrf" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "p of chrf" in found._repr_html_()


def test_print_shows_the_table_of_the_command_without_its_options():
    shown = str(ng.compare(SYSTEMS, WRITTEN, metrics=["chrf", "ter"]))
    assert shown.splitlines()[0].split() == ["system", "chrf", "ter", "↓", "n"]
    assert {line.split()[0] for line in shown.splitlines()[2 : 2 + len(SYSTEMS)]} == set(SYSTEMS)
    assert "p of chrf" not in shown
    assert "-v" not in shown


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": ["x", "y"]}, {}, "^'a' is the only system; a comparison needs at least two$"),
        ({"a": [], "b": []}, {}, "^no systems: there are no segments"),
        (["x", "y"], {}, "^segment '1' names no system; systems are compared item by item"),
        (SYSTEMS, {"baseline": "goot"}, "^baseline 'goot' is not among the systems; did you mean 'good'"),
        (SYSTEMS, {"adjust": "bonferroni"}, "^adjust is 'bonferroni'"),
        (SYSTEMS, {"test": "t"}, "^test is 't', expected bootstrap or randomization"),
        (SYSTEMS, {"alpha": 5}, "^alpha is 5, expected above 0 and below 1 \\(a share\\)$"),
    ],
)
def test_what_cannot_be_compared_is_refused(systems, options, message):
    refs = WRITTEN if systems is SYSTEMS else WRITTEN[: 0 if "no systems" in message else 2]
    with pytest.raises(InputError, match=message):
        ng.compare(systems, refs, metrics="chrf", **options)


def test_what_judges_nothing_ranks_none():
    found = ng.compare({"a": ["x y", "z z"], "b": ["x y z w", "z"]}, ["x y", "z z"], metrics=["chrf", "length_ratio"])
    assert found.ranks("length_ratio") == {"b": None, "a": None}
    assert set(found.ranks("chrf").values()) == {1}


# --- People's ratings as a metric


def rated(n=6):
    rng = np.random.default_rng(0)
    people = {"ann": 0.0, "bob": 2.0, "cid": -1.0}
    segments = []
    for system, effect in (("A", 0.0), ("B", 1.0)):
        for i in range(n):
            given = [
                float(effect + x + severity) for x, severity in zip(rng.normal(size=3), people.values(), strict=True)
            ]
            about = {"system": system, "item": str(i), "group": "xx"}
            segments.append(
                Segment(f"{system}{i}", "a text", ("a text",), human={"q": given}, raters={"q": (*people,)}, **about)
            )
    return segments


class InBlocks(InMemory):
    def blocks(self):
        yield from ([segment] for segment in self.segments)


@pytest.mark.parametrize("options", [{"intervals": True}, {"test": "randomization", "pairs": True, "draws": 99}])
def test_intervals_of_ratings_do_not_depend_on_blocks_and_are_told_apart(options):
    metrics = ["human.q", "human.q.z", "chrf"]
    whole, parts = (
        score_source(kind(*rated()), metrics, ComparisonOptions(**options)) for kind in (InMemory, InBlocks)
    )
    rows = whole.result().rows
    assert rows == parts.result().rows
    notes = whole.result().notes
    assert notes == parts.result().notes
    assert sum("over items and raters (3 for a system)" in note for note in notes) == 1
    assert "[low, high]: 95 % percentile bootstrap over items, seed 0" in notes  # of chrF
    widths = {row["metric"]: row["high"] - row["low"] for row in rows if row["system"] == "A" and "against" not in row}
    assert widths["human.q"] > 3 * widths["human.q.z"]  # severities of 2 and -1 are taken out


def test_a_run_of_ratings_alone_says_nothing_of_percentiles():
    scored = score_source(InMemory(*rated()), ["human.q"], ComparisonOptions(intervals=True))
    assert not any("percentile" in note for note in scored.result().notes)


def test_raters_without_spread_are_noted_once():
    segments = [replace(s, raters={"q": ("ann", "bob", f"one {s.id}")}) for s in rated()]
    notes = score_source(InBlocks(*segments), ["human.q.z"]).result().notes
    assert [note for note in notes if "are left out: " in note] == [
        "q.z: raters who gave one rating or always the same are left out: 12 of 14, with 12 of 36 ratings (one A0, one"
        " A1, one A2 and 9 more)"
    ]
