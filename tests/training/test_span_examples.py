"""Examples with errors at known places, as people, rules and synthesis give them."""

import json

import pytest

import nlgauge as ng
from nlgauge.audits.suites import perturbed_suite, rows_to_perturb
from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.files import InputFile
from nlgauge.io.suites.rows import write_pairs
from nlgauge.training.span_examples import SpanExample, read_span_examples
from nlgauge.training.spans import UNKNOWN

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
