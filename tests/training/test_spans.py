"""Examples with errors at known places, as people, rules and synthesis give them."""

import itertools
import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import nlgauge as ng
from nlgauge.audits.suites import perturbed_suite, rows_to_perturb
from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.files import InputFile
from nlgauge.io.suites.rows import write_pairs
from nlgauge.models.spans import Judged, load_spans
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.explaining import MarkThresholds, thresholds
from nlgauge.training import spans
from nlgauge.training.recipe import Recipe, Schedule
from nlgauge.training.spans import (
    UNKNOWN,
    MarkedPair,
    SpanExample,
    fix_thresholds,
    read_span_examples,
    score_spans,
    threshold_of_texts,
    train_spans,
    write_thresholds,
)

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)


PAIR = {"better": "It costs 14 euros.", "worse": "It costs 40 euros.", "refs": ["The price is 14 euros."],
        "expect": "lower", "phenomenon": "number_error", "meta": {"edits": [[9, 11, "40"]]}}  # fmt: skip
STEPS = [{"start": 9, "end": 11, "new": "40", "severity": -5.0}, {"start": 0, "end": 3, "new": "", "severity": -1.0}]
TRIPLE = {"hyp": "costs 40 euros.", "refs": ["It costs 14 euros."], "steps": STEPS}
MARKED = {"hyp": "The hat sat.", "ref": "The cat sat down.", "spans": [
    {"start": 4, "end": 7, "severity": "major"}, {"start": 11, "end": 11, "severity": "minor", "missing": True}
]}  # fmt: skip


def read(tmp_path, *rows):
    path = tmp_path / "examples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_span_examples(InputFile(path))


def test_labels_by_hand():
    spans = (ErrorSpan(4, 7, "major"), ErrorSpan(8, 9, "minor"), ErrorSpan(11, 11, "minor", missing=True))
    found = SpanExample("The hat sat.", "The cat sat down.", spans).labelled()
    assert found.words == ("The", "hat", "sat", ".")
    assert found.others == ("The", "cat", "sat", "down", ".")
    assert found.labels == (0, 2, 1, 0)  # a word that an error touches is part of it
    assert found.missing == (0, 0, 0, 1, 0)
    end = SpanExample("The hat", "x", (ErrorSpan(7, 7, "major", missing=True),)).labelled()
    assert end.missing == (0, 0, 1)


def test_marked_texts_with_one_reference_or_several(tmp_path):
    spans = (ErrorSpan(4, 7, "major"), ErrorSpan(11, 11, "minor", missing=True))
    assert read(tmp_path, MARKED) == [SpanExample("The hat sat.", "The cat sat down.", spans)]
    refs = {**{k: v for k, v in MARKED.items() if k != "ref"}, "refs": ["One.", "Two."]}
    assert [one.other for one in read(tmp_path, refs)] == ["One.", "Two."]
    of_source = {**MARKED, "spans": [{"start": 0, "end": 90, "severity": "major", "side": "src"}]}
    assert read(tmp_path, of_source, {**MARKED, "spans": None})[0].spans == ()  # nobody looked at the second
    assert len(read(tmp_path, MARKED, MARKED)) == 2  # what people marked twice counts twice


def test_what_explain_writes_is_read(tmp_path):
    (row,) = ng.explain("The cat sat on the hat.", "The cat sat on the mat.", method="words")
    assert read(tmp_path, row.as_row()) == [SpanExample(row.hypothesis, row.others[0], row.spans)]


def test_a_pair_has_its_error_at_its_edit_and_its_first_text_none(tmp_path):
    found = read(tmp_path, PAIR, {**PAIR, "worse": "It costs 41 euros.", "meta": {"edits": [[9, 11, "41"]]}})
    assert [(one.text, [(s.start, s.end, s.severity) for s in one.spans]) for one in found] == [
        ("It costs 40 euros.", [(9, 11, "major")]),
        ("It costs 14 euros.", []),  # once
        ("It costs 41 euros.", [(9, 11, "major")]),
    ]
    (alone,) = read(tmp_path, {**PAIR, "refs": [PAIR["better"]]})
    assert alone.spans  # beside a copy of itself the first text would teach nothing


@pytest.mark.parametrize(
    ("more", "severities"),
    [
        ({"criterion": "fluency"}, ["minor"]),
        ({"phenomenon": "typos:rate=0.2"}, ["minor"]),
        ({"criterion": "adequacy"}, ["major"]),
        ({"expect": "same"}, []),
    ],
)
def test_how_bad_the_error_of_a_pair_is(tmp_path, more, severities):
    assert [span.severity for span in read(tmp_path, {**PAIR, **more})[0].spans] == severities


def test_pairs_of_every_rule_are_read(tmp_path):
    """Whatever a rule does, its edits lead to its text, with spans in it."""
    texts = [
        ng.Segment("1", "x", ("On Monday 14 tall men quickly walked to Paris, but she didn't see the old house.",)),
        ng.Segment("2", "x", ("The ferry leaves at seven, and nobody waits on the old pier.", "The boat goes at 7.")),
    ]
    from nlgauge.perturbations.perturb import PERTURBATIONS

    names = [name for name in PERTURBATIONS.names() if "mask" not in name]  # which need a model
    suite = perturbed_suite(ng.Dataset(tuple(texts)), rows_to_perturb(names))
    write_pairs(suite, tmp_path / "pairs.jsonl")
    found = read_span_examples(InputFile(tmp_path / "pairs.jsonl"))
    assert len(found) > len(suite) / 2
    for one in found:
        assert all(0 <= span.start <= span.end <= len(one.text) for span in one.spans)
        one.labelled()


def test_a_triple_has_its_errors_at_its_steps(tmp_path):
    (one,) = read(tmp_path, TRIPLE)
    assert [(s.start, s.end, s.severity, s.missing) for s in one.spans] == [
        (0, 0, "minor", True),
        (6, 8, "major", False),
    ]
    beside = {**TRIPLE, "refs": ["The price is 14 euros."], "original": "It costs 14 euros."}
    assert read(tmp_path, beside)[0].spans == one.spans
    assert read(tmp_path, {"hyp": "a b", "refs": ["b c"], "original": "a b", "steps": []})[0].spans == ()


def test_triples_of_synthesis_are_read(tmp_path):
    texts = ["The ferry leaves at seven, and nobody waits on the old pier.", "A storm closed the road for two days."]
    made = ng.synthesize(texts, infill="lexicon", severity="none", variants=20)
    found = read(tmp_path, *(one.as_row(str(i)) for i, one in enumerate(made)))
    assert len(found) == 40
    assert all(one.spans for one in found)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"hyp": "a", "score": 1}, "fields are hyp, score; expected hyp with ref and spans"),
        ([1], "list; expected hyp with ref and spans"),
        ({**MARKED, "hyp": " "}, "hyp is ' ', expected a text that is not blank"),
        ({**MARKED, "ref": None}, "there is no ref to compare the text with"),
        ({**MARKED, "ref": []}, r"ref is \[\], expected a text, or a list of texts"),
        ({**MARKED, "spans": [{"start": 4, "end": 70, "severity": "major"}]}, "a span ends at character 70 of a text"),
        ({**MARKED, "spans": [{"start": 4, "end": 7, "severity": "bad"}]}, "severity 'bad'"),
        ({**PAIR, "meta": {}}, "meta.edits is None, expected a list of edits"),
        ({**PAIR, "meta": {"edits": [[9, 11]]}}, r"an edit is \[9, 11\], expected start, end and new text"),
        ({**PAIR, "meta": {"edits": [[9, 99, "x"]]}}, "an edit from 9 to 99 of a text of 18 characters"),
        ({**PAIR, "worse": "else"}, "its edits lead to 'It costs 40 euros.', and not to 'else'"),
        ({**TRIPLE, "steps": [1]}, "a step is 1, expected an object"),
        ({**TRIPLE, "steps": [{**STEPS[0], "severity": None}]}, "severity of a step is None, expected a number"),
    ],
)
def test_a_damaged_row_is_refused_with_its_line(tmp_path, row, message):
    with pytest.raises(InputError, match=rf"examples.jsonl:2: {message}"):
        read(tmp_path, MARKED, row)


def test_a_file_without_examples_is_refused(tmp_path):
    for rows in ([], [{**MARKED, "spans": None}]):
        with pytest.raises(InputError, match=r"examples.jsonl holds no examples"):
            read(tmp_path, *rows)


def test_of_a_text_may_be_known_only_whether_it_has_an_error(tmp_path):
    row = {"hyp": "The hat sat.", "ref": "The cat sat.", "spans": None, "faulty": True}
    (one,) = read(tmp_path, row)
    assert one == SpanExample("The hat sat.", "The cat sat.", None, faulty=True)
    pair = one.labelled()
    assert set(pair.labels) == set(pair.missing) == {UNKNOWN}
    assert pair.has_error() == 1
    (one,) = read(tmp_path, {**row, "spans": [], "faulty": False, "gaps": False})
    pair = one.labelled()
    assert set(pair.labels) == {0}
    assert set(pair.missing) == {UNKNOWN}
    assert pair.has_error() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"faulty": "yes"}, "faulty is 'yes', expected true, false or null"),
        ({"gaps": 0}, "gaps is 0, expected true, false or null"),
        ({"faulty": False, "spans": [{"start": 4, "end": 7, "severity": "major"}]}, "faulty is false, but spans has 1"),
    ],
)
def test_what_is_said_of_a_whole_text_must_fit(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, {"hyp": "The hat sat.", "ref": "The cat sat.", "spans": [], **change})


# --- Thresholds of a head: fixed where they help most, written into its file, and used by whoever reads it

RIGHT = "the cat sat on the mat"
EXAMPLES = [
    SpanExample("the dog sat on the mat", RIGHT, (ErrorSpan(4, 7, "major"),)),
    SpanExample("the cat lay on the mat", RIGHT, (ErrorSpan(8, 11, "major"),)),
    SpanExample("the cat sat on that mat", RIGHT, ()),  # no copy, which has no mark whatever a head says
]
# What a head says: it is sure of the errors at .62, and of right words at .4; a gap at .52 in the text without errors.
FAULTY = {0: {1: 0.62, 3: 0.4}, 1: {2: 0.62}, 2: {5: 0.4}}
GAPS = {2: 0.52}


@pytest.fixture(scope="module")
def trained(tiny_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "head.safetensors"
    recipe = Recipe(model=str(tiny_model("bert")), rank=2, max_tokens=40, schedule=Schedule(batch_size=4))
    train_spans([one.labelled() for one in EXAMPLES], path, recipe, Runtime())
    return path


@pytest.fixture
def head(trained, tmp_path):
    return Path(shutil.copy(trained, tmp_path))


@pytest.fixture
def says(monkeypatch):
    def judged(i):
        major, missing = np.zeros(6), np.zeros(7)
        for place, value in FAULTY[i].items():
            major[place] = value
        missing[3] = GAPS.get(i, 0)
        return Judged(np.zeros(6), major, missing, 6)

    monkeypatch.setattr(
        "nlgauge.models.spans.SpanModel.judge", lambda self, pairs, *rest: [judged(i) for i in range(3)]
    )


def test_the_threshold_lies_between_errors_and_right_words(head, says):
    assert thresholds(load_spans(str(head), "float32", Runtime())) == MarkThresholds(0.5, 0.5)  # without any
    before = score_spans(head, EXAMPLES, Runtime(), "dev")
    limits = fix_thresholds(head, EXAMPLES, Runtime())
    # Right words have .4 and errors .62: each threshold between them marks the errors alone.
    assert 0.4 < limits.words < 0.62
    assert limits.missing == 0.55  # the lowest of the grid above .52
    assert thresholds(load_spans(str(head), "float32", Runtime())) == limits
    after = score_spans(head, EXAMPLES, Runtime(), "dev")
    assert (after.name, after.n, after.f1, after.left_clean) == ("dev", 3, 1.0, 1.0)
    assert before.left_clean == 0  # of a gap at .52, above .5


def test_without_clean_texts_nothing_tells_when_something_is_missing(head, says, monkeypatch):
    monkeypatch.setitem(FAULTY, 2, {5: 0.62})
    marked = [*EXAMPLES[:2], SpanExample(RIGHT, RIGHT, (ErrorSpan(19, 22, "major"),))]
    assert fix_thresholds(head, marked, Runtime()).missing == 0.5
    assert np.isnan(score_spans(head, marked, Runtime()).left_clean)


def test_a_head_that_sees_gaps_everywhere_names_none(head, says, monkeypatch):
    monkeypatch.setitem(GAPS, 2, 0.99)
    assert fix_thresholds(head, EXAMPLES, Runtime()).missing == spans._NEVER


def test_the_weights_stay_and_no_examples_are_refused(head, says):
    from safetensors.numpy import load_file

    before = load_file(head)
    fix_thresholds(head, EXAMPLES, Runtime())
    after = load_file(head)
    assert before.keys() == after.keys()
    assert all((before[name] == after[name]).all() for name in before)
    with pytest.raises(InputError, match="no examples to fix thresholds on"):
        fix_thresholds(head, [], Runtime())


def test_few_enough_right_texts_pass_for_faulty():
    # Of 200 right texts 13 may pass: Wilson's one-sided 95 % limit of 13/200 is .0999, of 14/200 .106.
    right = [i / 1000 for i in range(200)]
    text = threshold_of_texts(right, 0.1)
    assert sum(one >= text for one in right) == 13
    assert threshold_of_texts(right[::-1], 0.1) == text
    assert threshold_of_texts([0.9999] * 200, 0.1) == 0.999  # no threshold above what a probability can be


@pytest.mark.parametrize(
    ("n", "share", "message"), [(200, 0, "expected a share"), (10, 0.1, "10 texts without errors")]
)
def test_a_share_that_so_few_texts_cannot_show_is_refused(n, share, message):
    with pytest.raises(InputError, match=message):
        threshold_of_texts([0.5] * n, share)


def test_thresholds_take_the_place_of_earlier_ones(head):
    write_thresholds(head, MarkThresholds(0.2, 0.7, 0.6))
    assert thresholds(load_spans(str(head), "float32", Runtime())) == MarkThresholds(0.2, 0.7, 0.6)
    write_thresholds(head, MarkThresholds(0.3, 0.7))
    assert thresholds(load_spans(str(head), "float32", Runtime())) == MarkThresholds(0.3, 0.7, 0.0)


def test_explain_marks_by_an_own_head_at_its_thresholds(head):
    write_thresholds(head, MarkThresholds(0.001, 0.999))  # every word that is read has more
    with pytest.warns(ng.ScoreWarning, match="longer than the head reads"):
        found = ng.explain(["the dog sat " * 20], [RIGHT], model=str(head))
    assert [(span.start, span.missing) for span in found[0].spans] == [(0, False)]
    assert 0 < found[0].spans[0].end < 240
    assert 0 < found[0].spans[0].confidence <= 1
    assert "threshold:0.001|missing:0.999|text:0.0" in found.method["signature"]
    with pytest.warns(ng.ScoreWarning):
        notes = ng.explain("Die Katze, die auf der Matte saß, war auch gut.", RIGHT, model=str(head)).notes
    assert any("not English, the language that the head reads" in note for note in notes)
    write_thresholds(head, MarkThresholds(0.998, 0.999))
    assert ng.explain("the dog sat on the mat", RIGHT, model=str(head))[0].spans == ()


def test_examples_without_places_fix_nothing(head):
    with pytest.raises(InputError, match="no example has known places"):
        fix_thresholds(head, [SpanExample("a b", "a c", None, faulty=True)], Runtime())


# --- A tiny model learns that "not" is a major error, "a" a minor one, and that without a noun something is missing


def pairs():
    found = []
    for noun, verb in itertools.product(("cat", "dog", "rain", "snow"), ("sat", "lay", "fell")):
        right = ("the", noun, verb, "on", "the", "mat")
        found += [
            MarkedPair(right, right, (0,) * 6, (0,) * 7),
            MarkedPair(("the", noun, "not", verb), right, (0, 0, 2, 0), (0,) * 5),
            MarkedPair(("a", noun, verb), right, (1, 0, 0), (0,) * 4),
            MarkedPair(("the", verb, "on", "the", "mat"), right, (0,) * 5, (0, 1, 0, 0, 0, 0)),
        ]
    return found


def recipe(tiny_model, kind, epochs=30):
    schedule = Schedule(epochs=epochs, batch_size=16, learning_rate=0.01, seed=3)
    return Recipe(model=str(tiny_model(kind)), rank=4, alpha=8.0, max_tokens=40, schedule=schedule)


@pytest.mark.parametrize("kind", ["bert", pytest.param("mpnet", marks=pytest.mark.slow)])
def test_a_head_learns_and_is_read_as_it_was_trained(tiny_model, tmp_path, kind):
    out, told = tmp_path / "head.safetensors", []
    train_spans(pairs(), out, recipe(tiny_model, kind), Runtime(), about={"name": "tiny"}, tell=told.append)
    assert [line.split()[0] for line in told] == ["48"]
    assert told[0].endswith(" pieces each, 0 cut, in float32")
    judged = load_spans(str(out), "float32", Runtime()).judge([(pair.words, pair.others) for pair in pairs()])
    right = [
        (np.argmax([1 - one.minor - one.major, one.minor, one.major], axis=0) == pair.labels).mean()
        for one, pair in zip(judged, pairs(), strict=True)
    ]
    gaps = [
        ((one.missing > 0.5) == np.array(pair.missing, dtype=bool)).mean()
        for one, pair in zip(judged, pairs(), strict=True)
    ]
    assert np.mean(right) > 0.95
    assert np.mean(gaps) > 0.95
    texts = [(one.text > 0.5) == bool(pair.has_error()) for one, pair in zip(judged, pairs(), strict=True)]
    assert np.mean(texts) > 0.95
    assert [path.name for path in tmp_path.iterdir()] == ["head.safetensors"]  # no checkpoint is left
    with safe_open(str(out), framework="pt") as file:
        about = file.metadata()
    assert about["kind"] == "spans"
    assert about["outputs"] == "none,minor,major,missing"
    assert about["name"] == "tiny"
    assert about["max_tokens"] == "40"


def test_a_text_may_be_known_to_be_faulty_where_no_place_is(tiny_model, tmp_path):
    # The words of faulty texts are unknown, and only the texts themselves are told apart.
    known = [
        MarkedPair(pair.words, pair.others, (UNKNOWN,) * len(pair.words), (UNKNOWN,) * len(pair.missing), True)
        if pair.has_error()
        else pair
        for pair in pairs()
    ]
    out = tmp_path / "head.safetensors"
    train_spans(known, out, recipe(tiny_model, "bert"), Runtime())
    judged = load_spans(str(out), "float32", Runtime()).judge([(pair.words, pair.others) for pair in known])
    right = [(one.text > 0.5) == pair.has_error() for one, pair in zip(judged, known, strict=True)]
    assert np.mean(right) > 0.95
    assert max((one.minor + one.major).max() for one in judged) < 0.5  # no word was ever wrong


def test_what_is_known_of_a_text_follows_from_its_labels():
    def text(labels, missing=(0, 0, 0), faulty=None):
        return MarkedPair(("a", "b"), ("a", "b"), labels, missing, faulty).has_error()

    assert text((0, 0)) == 0
    assert text((0, 1)) == 1
    assert text((0, 0), (0, 1, 0)) == 1
    assert text((UNKNOWN, UNKNOWN)) == UNKNOWN
    assert text((UNKNOWN, 2)) == 1
    assert text((0, 0), (UNKNOWN,) * 3) == UNKNOWN
    assert text((UNKNOWN, UNKNOWN), faulty=True) == 1
    assert text((0, 0), (UNKNOWN,) * 3, faulty=False) == 0


def test_the_same_run_gives_the_same_bytes(tiny_model, tmp_path):
    paths = [tmp_path / f"{name}.safetensors" for name in "ab"]
    for path in paths:
        train_spans(pairs(), path, recipe(tiny_model, "bert", 2), Runtime())
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (MarkedPair(("a", "b"), ("a",), (0,), (0, 0, 0)), "2 words with 1 labels and 3 gaps"),
        (MarkedPair(("a", "b"), ("a",), (0, 0), (0, 0)), "2 words with 2 labels and 2 gaps"),
    ],
)
def test_labels_that_do_not_fit_the_words_are_refused(tiny_model, tmp_path, pair, message):
    with pytest.raises(InputError, match=message):
        train_spans([pair], tmp_path / "head.safetensors", recipe(tiny_model, "bert"), Runtime())


def test_no_pairs_and_no_head_file_are_refused(tiny_model, tmp_path):
    with pytest.raises(InputError, match="no pairs to learn from"):
        train_spans([], tmp_path / "head.safetensors", recipe(tiny_model, "bert"), Runtime())
    with pytest.raises(InputError, match="safetensors"):
        train_spans(pairs(), tmp_path / "head", recipe(tiny_model, "bert"), Runtime())


def test_a_head_goes_on_from_an_earlier_one(tiny_model, tmp_path):
    first, second = (tmp_path / f"{name}.safetensors" for name in "ab")
    train_spans(pairs(), first, recipe(tiny_model, "bert", 4), Runtime())
    schedule = Schedule(epochs=1, batch_size=48, learning_rate=1e-6)
    short = Recipe(model=str(tiny_model("bert")), rank=4, alpha=8.0, max_tokens=40, schedule=schedule)
    train_spans(pairs(), second, short, Runtime(), init=str(first))
    asked = [(pair.words, pair.others) for pair in pairs()]
    before, after = (load_spans(str(path), "float32", Runtime()).judge(asked) for path in (first, second))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one.major, other.major, atol=0.02)
        np.testing.assert_allclose(one.missing, other.missing, atol=0.02)


def test_a_head_begins_from_what_a_head_of_entailment_learnt(tiny_model, tiny_head, tmp_path):
    out = tmp_path / "head.safetensors"
    train_spans(pairs(), out, recipe(tiny_model, "bert", 1), Runtime(), init=str(tiny_head()))
    assert out.is_file()
    with pytest.raises(InputError, match="stands on another encoder"):
        train_spans(pairs(), out, recipe(tiny_model, "mpnet", 1), Runtime(), init=str(tiny_head()))
