from __future__ import annotations

import json

import pytest

import nlgauge as ng


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
