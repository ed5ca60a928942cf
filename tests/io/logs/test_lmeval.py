from __future__ import annotations

import json

import pytest

import nlgauge as ng

ROW = {
    "doc_id": 0, "doc": {"question": "2 and 2?", "n": 1}, "target": "4",
    "arguments": {"gen_args_0": {"arg_0": "Say: 2 and 2?", "arg_1": {"until": []}}},
    "resps": [["So it is 4"]], "filtered_resps": ["4"], "filter": "last", "metrics": ["exact_match"],
    "doc_hash": "a", "prompt_hash": "b", "target_hash": "c", "exact_match": 1.0,
}  # fmt: skip


def lines(*changes):
    return "".join(json.dumps({**ROW, **change}) + "\n" for change in changes)


def test_rows_become_segments(put):
    data = ng.read(put("samples_my_task_2026-11-01T10-00-00.123.jsonl", lines({}, {"doc_id": 1, "exact_match": None})))
    first, second = data.segments
    assert (first.item, first.hypothesis, first.references, first.source) == ("0", "4", ("4",), "2 and 2?")
    assert (first.group, first.human, second.human) == ("my_task", {"exact_match": 1.0}, {})
    assert data.notes == ("samples_my_task_2026-11-01T10-00-00.123.jsonl: 1 of 2 scores 'exact_match' undefined",)


def test_of_two_filters_one_is_named(put):
    path = put("a.jsonl", lines({}, {"filter": "first", "filtered_resps": ["2"], "exact_match": 0.0}))
    with pytest.raises(ng.InputError, match=r"2 filters \(last, first\).*--columns hyp=filter:last"):
        ng.read(path)
    assert ng.read(path, columns={"hyp": "filter:first"}).segments[0].hypothesis == "2"
    assert ng.read(path, columns={"filter:last": "hyp"}).segments[0].human == {"exact_match": 1.0}
    assert ng.read(path, columns={"hyp": "resps", "src": "prompt"}).segments[0].source == "Say: 2 and 2?"
    with pytest.raises(ng.InputError, match="no filter 'x'"):
        ng.read(path, columns={"hyp": "filter:x"})
    with pytest.raises(ng.InputError) as error:
        ng.read(put("b.jsonl", lines({"filter": "a\nb"}, {"filter": "c"})))
    assert "\n" not in str(error.value)


def test_old_files_have_blocks_in_place_of_filters_and_one_list(put):
    old = {key: value for key, value in ROW.items() if key not in ("filter", "metrics", "resps")}
    rows = [old, {**old, "doc_id": 1}, {**old, "exact_match": 0.0, "filtered_resps": ["x"]}]
    path = put("a.json", json.dumps(rows))
    assert len(ng.read(path, columns={"hyp": "filter:1"})) == 2
    assert [s.human for s in ng.read(path, columns={"hyp": "filter:2"})] == [{"exact_match": 0.0}]


def test_corpus_metrics_are_left_out(put):
    path = put("a.jsonl", lines({"metrics": ["exact_match", "bleu"], "bleu": ["4", "4"]}))
    data = ng.read(path)
    assert data.segments[0].human == {"exact_match": 1.0}
    assert "'bleu' is a number of the whole corpus" in data.notes[0]


def test_nan_is_undefined_and_half_a_line_is_skipped(put):
    data = ng.read(put("a.jsonl", lines({"exact_match": float("nan")}) + '{"doc_id": 1, "doc": {"que'))
    assert data.segments[0].human == {}
    assert [note.removeprefix("a.jsonl: ") for note in data.notes] == [
        "line 2, the last, breaks off and is skipped",
        "1 of 1 score 'exact_match' undefined",
    ]


def test_likelihoods_are_no_texts(put):
    for change in (
        {"filtered_resps": [["-1.5", "False"], ["-2.5", "False"]], "arguments": {"gen_args_0": {}, "gen_args_1": {}}},
        {"filtered_resps": [["-1.5", "False"]]},
    ):
        with pytest.raises(ng.InputError, match="likelihoods of choices"):
            ng.read(put("a.jsonl", lines(change)))


def test_responses_of_other_shapes(put):
    assert ng.read(put("a.jsonl", lines({"filtered_resps": "flat"}))).segments[0].hypothesis == "flat"
    data = ng.read(put("a.jsonl", lines({"filtered_resps": [["4", "5", "4"]]})))
    assert [(s.id, s.hypothesis) for s in data] == [("0", "4"), ("0#2", "5"), ("0#3", "4")]


def test_half_a_line_in_the_middle_is_refused(put):
    with pytest.raises(ng.InputError, match=r"^a.jsonl:2: not valid JSON"):
        ng.read(put("a.jsonl", lines({}) + '{"doc_id": 1,\n' + lines({"doc_id": 2})))


def test_several_answers_that_the_harness_stored_as_one_text_are_references(put):
    changes = (
        {"target": "['Paris', \"the city's core\"]"},
        {"doc_id": 1, "target": "[]"},
        {"doc_id": 2, "target": "[a]"},
    )
    data = ng.read(put("a.jsonl", lines(*changes)))
    assert [s.references for s in data] == [("Paris", "the city's core"), (), ("[a]",)]
    assert data.notes == (
        "a.jsonl: 2 targets are lists of answers stored as texts, of which each answer is a reference",
    )
    own = {"target": "['a', 'b']", "doc": {"question": "sorted('ba')?", "answer": "['a', 'b']"}}  # the answer is a list
    assert ng.read(put("b.jsonl", lines(own))).segments[0].references == ("['a', 'b']",)


def test_an_answer_in_which_the_filter_found_nothing_is_empty(put):
    for shape in ({"filtered_resps": ["[invalid]"]}, {"filtered_resps": "[invalid]", "resps": "four"}):
        path = put("a.jsonl", lines({**shape, "exact_match": 0.0}, {"doc_id": 1}))
        data = ng.read(path)
        assert [s.hypothesis for s in data] == ["", "4"]  # what was said is wrong, and not missing
        assert data.notes == (
            "a.jsonl: 1 documents have answers in which the filter found nothing ([invalid]); these are empty",
        )
    said = {"resps": [["[invalid]"]], "filtered_resps": ["[invalid]"]}  # the model's own word
    assert ng.read(put("b.jsonl", lines(said))).segments[0].hypothesis == "[invalid]"


def test_a_source_that_no_document_has_is_refused(put):
    path = put("a.jsonl", lines({}))
    with pytest.raises(
        ng.InputError, match=r"no row has 'text', which columns name as src; found: 'prompt', 'question"
    ):
        ng.read(path, columns={"src": "text"})
    assert ng.read(path, columns={"src": "doc.question"}).segments[0].source == "2 and 2?"
