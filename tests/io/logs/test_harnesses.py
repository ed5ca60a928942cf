from __future__ import annotations

import json
import math

import pytest

import nlgauge as ng

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


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
    with pytest.raises(ng.InputError, match=r"^a.jsonl:2: not valid JSON"):
        ng.read(put("a.jsonl", lines({}) + '{"doc_id": 1,\n' + lines({"doc_id": 2})))


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


NAME = "details_gsm8k|5_2026-11-01T10-00-00.123456.parquet"


def row(number, said, metric, processed=None, logprobs=(), **doc):
    """A row as lighteval 0.11 and later write it, with some of the fields that are not read."""
    return {
        "doc": {
            "query": "2 and 2?", "choices": ["4", "four", "5"], "gold_index": [0, 1], "id": str(number),
            "task_name": "gsm8k|5", "specific": {"n": 1}, **doc,
        },
        "metric": metric,
        "model_response": {
            "input": "Q", "input_tokens": [1, 2], "text": said, "text_post_processed": processed,
            "logprobs": [*logprobs], "output_tokens": [[3]],
        },
    }  # fmt: skip


@pytest.fixture
def store(put, tmp_path):
    def write(rows, name=NAME):
        path = put(name, b"")
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / path)
        return path

    return write


def notes(data):
    return [note.rpartition("parquet: ")[2] for note in data.notes]


def test_lighteval_rows_become_segments(store):
    rows = [row(0, ["It is 4"], {"em": 1.0, "f1": 0.5}), row(1, ["5"], {"em": 0.0, "f1": None}, gold_index=[2])]
    data = ng.read(store(rows, f"details/owner/model/2026-11-01T10-00-00.123456/{NAME}"))
    assert [(s.id, s.hypothesis, s.references, s.source, s.group, s.human) for s in data] == [
        ("owner/model:0", "It is 4", ("4", "four"), "2 and 2?", "gsm8k|5", {"em": 1.0, "f1": 0.5}),
        ("owner/model:1", "5", ("5",), "2 and 2?", "gsm8k|5", {"em": 0.0}),
    ]
    assert notes(data) == ["1 of 2 scores 'f1' undefined"]


def test_scores_that_are_missing_or_nan_are_undefined(store):
    # rows of a table share their fields, so that a score which only some rows have is null in the others
    rows = [row(0, ["a"], {"em": 0.0}), row(1, ["a"], {"em": math.nan}), row(2, ["a"], {"other": 1.0})]
    data = ng.read(store(rows))
    assert [s.human for s in data] == [{"em": 0.0}, {}, {"other": 1.0}]
    assert notes(data) == ["2 of 3 scores 'em' undefined", "2 of 3 scores 'other' undefined"]


def test_several_answers_are_runs_and_reasoning_is_cut_as_lighteval_does(store):
    path = store([row(0, ["so 4", "so 5"], {"pass@2": 1.0}, processed=["4", "5"])])
    data = ng.read(path)
    assert [(s.id, s.hypothesis) for s in data] == [("0", "4"), ("0#2", "5")]
    assert notes(data)[0] == "scores are of all responses to an item together, and stand beside each of them"
    assert [s.hypothesis for s in ng.read(path, columns={"hyp": "text"})] == ["so 4", "so 5"]


def test_an_index_outside_the_choices_is_no_reference(store):
    rows = [row(n, ["a"], {"em": 1.0}, gold_index=index) for n, index in enumerate((-1, 3, 1))]
    assert [s.references for s in ng.read(store(rows))] == [(), (), ("four",)]


def test_an_answer_that_is_missing_is_counted(store):
    data = ng.read(store([row(0, [], {"em": 0.0}), row(1, ["", "b"], {"em": 0.0})]))
    assert [s.hypothesis for s in data] == ["", "b"]
    assert "1 of 3 samples have no answer and are left out" in notes(data)


def test_lighteval_corpus_metrics_are_left_out(store):
    data = ng.read(store([row(0, ["a"], {"em": 1.0, "bleu": {"golds": ["4"], "preds": ["a"]}})]))
    assert data.segments[0].human == {"em": 1.0}
    assert notes(data) == ["'bleu' is a number of the whole corpus, of which rows hold only a part: left out"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([row(0, [], {"acc": 1.0}, logprobs=[-1.5, -2.5])], r"row 1: responses are likelihoods of choices"),
        ([{"predictions": ["4"], "gold": ["4"], "metrics": {"em": 1.0}}], "as lighteval writes from 0.11 on"),
        ([{"doc": "x", "model_response": "y", "metric": "z"}], "expected objects 'doc', 'model_response' and 'metric'"),
        ([row(0, [], {"em": 1.0})], "all 1 sample failed"),
    ],
)
def test_what_is_wrong_is_one_line(store, rows, says):
    with pytest.raises(ng.InputError, match=says):
        ng.read(store(rows))


def test_what_is_no_parquet_is_refused(put):
    for content in (b"PAR1", b"", b"PAR1" + b"x" * 100 + b"PAR1"):
        with pytest.raises(ng.InputError):
            ng.read(put("a.parquet", content), "lighteval")


def test_long_texts_are_refused(store):
    with pytest.raises(ng.InputError, match="a text of 50 characters, expected at most 20"):
        ng.read(store([row(0, ["a" * 50], {"em": 1.0})]), limits=ng.io.Limits(segment=20))


def state(item="id1", said="Oslo", trial=0, **more):
    return {
        "instance": {
            "id": item, "input": {"text": f"Where is {item}?"},
            "references": [
                {"output": {"text": "Oslo"}, "tags": ["correct"]}, {"output": {"text": "Rome"}, "tags": []},
            ],
        },
        "reference_index": None, "train_trial_index": trial, "request": {"model": "org/a", "prompt": "..."},
        "result": {"success": True, "completions": [{"text": said, "logprob": -1.0}]}, **more,
    }  # fmt: skip


def stats(item="id1", trial=0, perturbation=None, **means):
    named = [{"name": {"name": key, "split": "test"}, "count": 1, "mean": value} for key, value in means.items()]
    return {"instance_id": item, "train_trial_index": trial, "stats": named} | (
        {"perturbation": {"name": perturbation}} if perturbation else {}
    )


def run(put, states, instances=None, spec=True):
    put("run/scenario_state.json", json.dumps({"request_states": states}))
    if instances is not None:
        put("run/per_instance_stats.json", json.dumps(instances))
    if spec:
        about = {"name": "towns:subject=north,model=org_a", "adapter_spec": {"model": "org/a"}}
        put("run/run_spec.json", json.dumps(about))
    return "run"


def test_a_run_is_read_with_the_statistics_of_its_instances(put):
    states = [state(), state(trial=1, said="Rome"), state("id2", said="Bergen")]
    data = ng.read(run(put, states, [stats(exact_match=1.0, num_prompt_tokens=9), stats(trial=1, exact_match=0.0)]))
    first, second, third = data.segments
    assert (first.system, first.group, first.source) == ("org/a", "towns:subject=north", "Where is id1?")
    assert (first.references, first.hypothesis) == (("Oslo",), "Oslo")
    assert (first.item, second.item, second.id) == ("id1", "id1", "org/a:id1#2")
    assert (first.human, second.human, third.human) == ({"exact_match": 1.0}, {"exact_match": 0.0}, {})
    assert any("1 of 3 scores 'exact_match' undefined" in note for note in data.notes)


def test_a_perturbed_instance_is_an_item_of_its_own(put):
    perturbed = state(said="oslo")
    perturbed["instance"] = perturbed["instance"] | {"perturbation": {"name": "lowercase"}}
    worst = stats(exact_match=1.0)
    worst["stats"].append({"name": {"name": "exact_match", "perturbation": {"name": "robustness"}}, "mean": 0.0})
    data = ng.read(run(put, [state(), perturbed], [worst, stats(perturbation="lowercase", exact_match=0.0)]))
    assert [(s.item, s.human["exact_match"]) for s in data] == [("id1", 1.0), ("id1 lowercase", 0.0)]


def test_failed_requests_are_left_out_and_likelihoods_counted(put):
    failed = state("id2", result={"success": False, "completions": [], "error": "429"})
    data = ng.read(run(put, [state(), failed, state("id3", reference_index=0)], spec=False))
    assert [(s.item, s.system, s.group) for s in data] == [("id1", "org/a", None)]
    told = [note.partition(": ")[2] for note in data.notes]
    assert told == [
        "per_instance_stats.json is missing, so there are no scores",
        "1 requests ask for the likelihood of a choice, which is no answer in words",
        "1 of 2 samples have no answer and are left out",
    ]


@pytest.mark.parametrize(
    ("states", "instances", "told"),
    [
        ([], [], r"scenario_state\.json: no sample in it"),
        ([{"instance": {}}], [], r"request_states 1: the id of the instance is missing"),
        ([state(trial="x")], [], "field 'train_trial_index' is 'x', expected a whole number"),
        ([state()], {}, r"per_instance_stats\.json: the file is no list"),
        ({}, None, "'request_states' is no list"),
    ],
)
def test_what_is_no_run_is_one_line(put, states, instances, told):
    with pytest.raises(ng.InputError, match=told):
        ng.read(run(put, states, instances))


def test_every_file_that_was_read_is_named_with_its_digest(put):
    from nlgauge.io.read import open_data

    source = open_data(run(put, [state()], [stats(exact_match=1)]))
    assert len(source.check().inputs) == 3


EVERY_ROW = {
    "schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m", "evaluation_name": "quiz", "sample_id": "s1",
    "interaction_type": "single_turn", "input": {"raw": "Where?", "reference": ["here", "there"]},
    "output": {"raw": ["here"]}, "evaluation": {"score": 1.0, "is_correct": True},
}  # fmt: skip


def every_lines(*changes):
    return "".join(json.dumps({**EVERY_ROW, **change}) + "\n" for change in changes)


def test_lines_become_segments(put):
    (segment,) = ng.read(put("a.jsonl", every_lines({}))).segments
    assert (segment.id, segment.hypothesis, segment.references) == ("m:s1", "here", ("here", "there"))
    assert (segment.source, segment.group, segment.human) == ("Where?", "quiz", {"score": 1.0, "pass": 1.0})
    with pytest.raises(ng.InputError, match="'sample_id' is missing"):
        ng.read(put("a.jsonl", every_lines({"sample_id": None})))


def test_errors_are_undefined_and_other_versions_noted(put):
    data = ng.read(put("a.jsonl", every_lines({"error": "timed out", "schema_version": "2.0"}, {"sample_id": "s2"})))
    assert [s.human for s in data] == [{}, {"score": 1.0, "pass": 1.0}]
    assert data.notes[0] == "a.jsonl: schema version '2.0', read as 0.3"


def test_the_last_message_of_a_conversation_is_the_answer(put):
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "text", "text": "ho"}]}]
    assert ng.read(put("a.jsonl", every_lines({"output": None, "messages": talk}))).segments[0].hypothesis == "ho"
    assert [s.id for s in ng.read(put("a.jsonl", every_lines({"output": {"raw": ["a", "b"]}})))] == ["m:s1", "m:s1#2"]
