from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
from tests.io.logs.test_rows import plain_zip, zstandard_zip

import nlgauge as ng
from nlgauge.io.logs.rows import Archive

METRIC = {"name": "Faithfulness", "threshold": 0.5, "success": True, "score": 0.9}


def case(**more):
    return {
        "name": "test_case_0", "input": "Q", "actualOutput": "A", "expectedOutput": "B", "retrievalContext": ["d", "e"],
        "success": True, "order": 0, "metricsData": [METRIC], **more,
    }  # fmt: skip


def test_cases_become_segments_also_wrapped(put):
    run = {"testCases": [case()], "metricsScores": []}
    for content in (run, {"testRunData": run}):
        (segment,) = ng.read(put("a.json", json.dumps(content, indent=1))).segments
        assert (segment.hypothesis, segment.references, segment.source) == ("A", ("B",), "Q")
        assert segment.human == {"Faithfulness": 0.9, "Faithfulness.pass": 1.0, "pass": 1.0}
    assert ng.read("a.json", columns={"src": "retrievalContext"}).segments[0].source == "d\ne"
    with pytest.raises(ng.InputError, match="'testCases' is no list"):
        ng.read(put("a.json", json.dumps({"testCases": {}})))


def test_absent_keys_are_undefined(put):
    bare = {"name": "test_case_1", "input": "Q2", "actualOutput": "A", "metricsData": [{"name": "Bias", "error": "x"}]}
    data = ng.read(
        put("a.json", json.dumps({"testCases": [bare, case(metricsData=[METRIC, {**METRIC, "flaky": True}])]}))
    )
    assert data.segments[0].human == {}
    assert data.segments[0].references == ()
    assert "a.json: 2 of 2 scores 'Bias' undefined" in data.notes
    assert "a.json: 'Faithfulness' is marked flaky: deepeval does not let it decide" in data.notes


def test_items_are_told_by_their_texts_and_retries_are_runs(put):
    data = ng.read(put("a.json", json.dumps({"testCases": [case(), case(name="test_case_7"), case(input="R " * 60)]})))
    assert [s.item for s in data][:2] == [data.segments[0].item] * 2
    assert data.segments[1].id.endswith("#2")
    assert data.segments[2].item.startswith("R R R")
    assert len(data.segments[2].item) < 60
    with pytest.raises(ng.InputError, match="columns name 'contxt' as src, expected input or context or"):
        ng.read(put("a.json", json.dumps({"testCases": [case()]})), columns={"src": "contxt"})


def test_two_metrics_of_one_name_have_two_columns(put):
    strict = {**METRIC, "threshold": 1.0, "success": False, "score": 0.2}
    data = ng.read(put("a.json", json.dumps({"testCases": [case(metricsData=[METRIC, strict])]})))
    assert data.segments[0].human == {
        **{"Faithfulness": 0.9, "Faithfulness.pass": 1.0, "Faithfulness#2": 0.2, "Faithfulness.pass#2": 0.0},
        "pass": 1.0,
    }


def result(word="hi", **more):
    return {
        "promptIdx": 0, "testIdx": 0, "promptId": "p", "provider": {"id": "openai:x", "label": "new"},
        "prompt": {"raw": f"Say {word}", "label": "a"}, "vars": {"word": word}, "response": {"output": word.upper()},
        "success": True, "score": 1, "failureReason": 0, "namedScores": {"tone": 0.8},
        "gradingResult": {"pass": True, "score": 1, "componentResults": []}, **more,
    }  # fmt: skip


def written(*results, version=3, **more):
    return json.dumps({"evalId": "e", "results": {"version": version, "results": results}, "config": {}, **more})


def test_results_become_segments(put):
    data = ng.read(put("a.json", written(result(), result("yes"))))
    assert [(s.id, s.hypothesis, s.source, s.system) for s in data] == [
        ("new:hi", "HI", "hi", "new"), ("new:yes", "YES", "yes", "new")
    ]  # fmt: skip
    assert data.segments[0].human == {"score": 1.0, "pass": 1.0, "tone": 0.8}
    assert data.notes == ()
    lined = ng.read(put("a.jsonl", "".join(json.dumps(one) + "\n" for one in (result(), result("yes"))) + '{"promp'))
    assert lined.segments == data.segments
    assert lined.notes == ("a.jsonl: line 3, the last, breaks off and is skipped",)
    with pytest.raises(ng.InputError, match=r"a.json, results 1: the output was stripped"):
        ng.read(put("a.json", written(result(response={"output": "[output stripped]"}))))


@pytest.mark.parametrize(
    "change",
    [
        {"failureReason": 2, "score": 0, "success": False},
        {"error": "timed out", "score": 0, "success": False},
        {"gradingResult": {"componentResults": [{"score": 0, "metadata": {"graderError": True}}]}, "score": 0},
    ],
)
def test_a_score_of_0_after_an_error_is_undefined(put, change):
    data = ng.read(put("a.json", written(result(), result("no", **change), result("bad", score=0, success=False))))
    assert [s.human.get("score") for s in data] == [1.0, None, 0.0]
    assert [s.human.get("pass") for s in data] == [1.0, None, 0.0]
    assert "a.json: 1 of 3 scores 'score' undefined" in data.notes


def test_a_failed_assertion_is_a_score_though_it_leaves_a_reason(put):
    row = result(error="Expected a to equal b", failureReason=1, score=0, success=False)
    assert ng.read(put("a.json", written(row))).segments[0].human["score"] == 0.0


def test_objects_are_read_as_json_on_request(put):
    path = put("a.json", written(result(response={"output": {"b": 1, "a": "x"}})))
    with pytest.raises(ng.InputError, match=r"the output is an object, expected a string.*--columns hyp=json"):
        ng.read(path)
    assert ng.read(path, columns={"hyp": "json"}).segments[0].hypothesis == '{"a": "x", "b": 1}'


def test_references_are_what_assertions_expect_or_a_variable(put):
    asserts = [{"type": "equals", "value": "{{ answer }}!"}, {"type": "llm-rubric", "value": "is polite"}]
    row = result(vars={"word": "hi", "answer": "HO"}, testCase={"assert": asserts})
    path = put("a.json", written(row))
    assert ng.read(path).segments[0].references == ("HO!",)
    named = ng.read(path, columns={"ref": "vars.answer", "src": "vars.word"}).segments[0]
    assert (named.references, named.source) == (("HO",), "hi")


def test_repeats_and_prompts(put):
    other = {"prompt": {"raw": "Shout", "label": "b"}}
    data = ng.read(put("a.json", written(result(), result(testIdx=1), result(**other))))
    assert [(s.system, s.item, s.id) for s in data] == [
        ("new a", "hi", "new a:hi"), ("new a", "hi", "new a:hi#2"), ("new b", "hi", "new b:hi")
    ]  # fmt: skip


def test_another_version_is_noted_and_no_answer_counted(put):
    data = ng.read(put("a.json", written(result(), result("x", response=None, failureReason=2, error="e"), version=9)))
    assert [note.removeprefix("a.json: ") for note in data.notes] == [
        "version 9 of the results, read as version 3",
        "1 of 2 samples have no answer and are left out",
    ]


def test_tests_whose_variables_were_stripped_stay_apart(put):
    rows = [result(vars={}, testIdx=number) for number in (0, 1, 1)]
    data = ng.read(put("a.json", written(*rows)))
    assert [s.item for s in data] == ["test 0", "test 1", "test 1"]
    assert any("their number tells the item" in note for note in data.notes)


def test_an_assertion_whose_type_is_no_word_expects_nothing(put):
    odd = result(gradingResult={"componentResults": [{"assertion": {"type": ["equals"], "value": "x"}}]})
    assert ng.read(put("a.json", written(odd))).segments[0].references == ()


def test_columns_of_one_name_are_two_systems(put):
    data = ng.read(put("a.json", written(result(), result(promptIdx=1), result(testIdx=1))))
    assert [s.id for s in data] == ["new (column 1):hi", "new (column 2):hi", "new (column 1):hi#2"]
    assert "a.json: 2 columns are called 'new', which are told apart by their order" in data.notes


def test_an_item_is_named_by_its_description_or_by_the_texts_of_its_variables(put):
    def items(*tests):
        rows = [result(vars=variables, testCase={"description": told}) for told, variables in tests]
        return [s.item for s in ng.read(put("a.json", written(*rows)))]

    article = {"article": "River Plate are keen to sign him. " * 9, "style": "short"}
    (long,) = items((None, article))
    assert long.startswith("River Plate are keen to sign him. River... ")
    assert items(("a rumour", article), (None, {"w": "hi"})) == ["a rumour", "hi"]
    twice = items(("a rumour", article), ("a rumour", {**article, "style": "long"}))  # the description tells no test
    assert len(set(twice)) == 2
    assert len(set(items(("hi", {"w": "ho"}), (None, {"w": "hi"})))) == 2
    assert items((None, {"w": 1}), (None, {"w": "1"})) == ['{"w": 1}', '{"w": "1"}']


def test_references_are_a_variable_of_a_usual_name_where_no_assertion_has_any(put):
    row = result(vars={"article": "A", "expected": "E"})
    data = ng.read(put("a.json", written(row)))
    assert (data.segments[0].references, data.segments[0].source) == (("E",), "A")
    assert data.notes == (
        "a.json: references are the variable 'expected'; another one is named with --columns ref=vars.NAME",
    )
    asserted = {**row, "testCase": {"assert": [{"type": "equals", "value": "V"}]}}
    assert ng.read(put("b.json", written(asserted))).segments[0].references == ("V",)
    assert ng.read(put("c.json", written(result(vars={"target": "fr"})))).segments[0].references == ()  # an input
    with pytest.raises(
        ng.InputError, match=r"no row has 'vars.x', which columns name as ref; found: 'article', 'expected'$"
    ):
        ng.read("a.json", columns={"ref": "vars.x"})


HEAD = {
    "version": 2,
    "status": "success",
    "eval": {"task": "quiz", "model": "m/a", "dataset": {"samples": 2}, "config": {"epochs": 2}},
}


def sample(item="q1", epoch=1, said="Lima.", value: object = "C", target: object = "Lima", **more):
    return {
        "id": item, "epoch": epoch, "input": "Where is it?", "target": target,
        "output": {"model": "m/a", "completion": said}, "scores": {"match": {"value": value}}, **more,
    }  # fmt: skip


def log(*samples, **more):
    return json.dumps({**HEAD, **more, "samples": samples})


def evaluated(samples, pack=plain_zip, head=HEAD, **others):
    members = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    members = {"header.json": head, **members, **others}
    return pack({name: json.dumps(value).encode() for name, value in members.items() if value is not None})


@pytest.mark.parametrize(("target", "references"), [("", ()), ([], ()), (["", "Lima"], ("Lima",)), (None, ())])
def test_a_sample_without_a_target_has_no_reference(put, target, references):
    # inspect_ai stores "" where a data set has no target; nlgauge's own scorer there reads it so, too.
    data = ng.read(put("a.json", log(sample(target=target))))
    assert data.segments[0].references == references


@pytest.mark.parametrize("pack", [plain_zip, zstandard_zip])
def test_an_archive_is_read_as_its_json(put, pack):
    samples = [sample(), sample(epoch=2, said="Cusco.", value="I"), sample(7, value="P")]
    data = ng.read(put("a.eval", evaluated(samples, pack)))
    assert [(s.id, s.hypothesis, s.human) for s in data] == [
        ("m/a:q1", "Lima.", {"match": 1.0}),
        ("m/a:q1#2", "Cusco.", {"match": 0.0}),
        ("m/a:7", "Lima.", {"match": 0.5}),
    ]
    first = data.segments[0]
    assert (first.system, first.item, first.group, first.source, first.references) == (
        *("m/a", "q1", "quiz", "Where is it?"),
        ("Lima",),
    )
    assert data.notes == ("a.eval: up to 2 runs of an item; they are repeats, never items",)
    assert ng.read(put("a.json", log(*samples))).segments == data.segments
    assert ng.read(put("b.json", json.dumps({**HEAD, "samples": samples}, indent=2))).segments == data.segments


@pytest.mark.parametrize(
    ("value", "scores"),
    [
        ("C", {"match": 1}), ("n", {"match": 0}), ("yes", {"match": 1}), ("0.25", {"match": 0.25}),
        (True, {"match": 1}), (3, {"match": 3}), (float("nan"), {}), (None, {}), ("good", {}), (10**400, {}),
        ({"tone": "P", "length": 4, "odd": "?"}, {"match.tone": 0.5, "match.length": 4}),
        (["C", None], {"match.1": 1}),
    ],
)  # fmt: skip
def test_what_is_no_score_is_undefined_and_counted(put, value, scores):
    data = ng.read(put("a.json", log(sample(value=value))))
    assert data.segments[0].human == scores
    undefined = [note for note in data.notes if note.endswith("undefined")]
    assert bool(undefined) == (not scores or isinstance(value, dict | list))


def test_a_sample_in_pieces_finds_its_long_texts(put):
    shell = sample("a/b", said="attachment://2", input=[{"role": "user", "content": [{"text": "attachment://9"}]}])
    pieces = {
        "samples/a/b_epoch_1.json": None,
        "samples/a/b_epoch_1/sample.json": shell,
        "samples/a/b_epoch_1/skeleton.json": [],
        "samples/a/b_epoch_1/messages/0.json": [{}],
        "samples/a/b_epoch_1/attachments/0.json": ["x", "y"],
        "samples/a/b_epoch_1/attachments/2.json": ["a long answer"],
    }
    whole = sample("c", said="attachment://d1", attachments={"d1": "another"})
    data = ng.read(put("a.eval", evaluated([shell, whole], head={**HEAD, "version": 3}, **pieces)))
    assert {s.item: s.hypothesis for s in data} == {"a/b": "a long answer", "c": "another"}
    assert data.notes == ("a.eval: 1 texts stand in attachments that the log does not hold",)


def test_summaries_and_reductions_are_no_samples(put):
    cut = {"summaries.json": [sample(said="cut...")], "reductions.json": [{"scorer": "match"}]}
    assert len(ng.read(put("a.eval", evaluated([sample()], **cut)))) == 1


def test_a_crashed_run_says_how_many_samples_it_has(put):
    content = evaluated(
        [sample()], **{"header.json": None, "_journal/start.json": {"version": 2, "eval": HEAD["eval"]}}
    )
    data = ng.read(put("a.eval", content))
    assert data.notes == ("a.eval: the status is 'unknown', 1 of 4 samples are in the log",)


def test_failed_retried_and_invalid_samples_are_counted(put):
    samples = [sample(said="first"), sample(said="second"), sample("q2", output=None, error={"message": "x"})]
    samples += [sample("q3", invalidation={"reason": "x"}), sample("q4", error={"message": "late"})]
    data = ng.read(put("a.json", log(*samples)))
    assert {s.item: (s.hypothesis, s.human) for s in data} == {
        "q1": ("second", {"match": 1.0}), "q3": ("Lima.", {}), "q4": ("Lima.", {})
    }  # fmt: skip
    assert [note.removeprefix("a.json: ") for note in data.notes] == [
        "1 samples declared invalid, their scores undefined",
        "1 of 4 samples have no answer and are left out",
        "1 sample stored again after a retry, the last is kept",
        "2 of 3 scores 'match' undefined",
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (json.dumps(HEAD), "'samples' is missing"),
        (log(), "no sample in it"),
        (log({"epoch": 1}), "a.json, sample 1: field 'id' is missing"),
        (log(sample(epoch="x")), "field 'epoch' is 'x'"),
        (log(sample(output=None, error={"message": "x"})), "all 1 sample failed"),
        (log(sample())[:-20], "not valid JSON"),
    ],
)
def test_what_cannot_be_read_is_one_line(put, content, says):
    with pytest.raises(ng.InputError, match=says):
        ng.read(put("a.json", content), format="inspect")


def test_another_zip_archive_is_refused(put):
    with pytest.raises(ng.InputError, match=r"without header.json"):
        ng.read(put("a.eval", plain_zip({"x": b"1"})))


def test_a_log_without_a_name_or_under_another_one_is_told_by_its_content(put, monkeypatch):
    packed, whole = evaluated([sample()]), log(sample()).encode()
    for content in (packed, whole):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        assert len(ng.read("-")) == 1
    for name in ("run.json", "run.zip", "run.eval"):
        assert len(ng.read(put(name, packed))) == 1
    assert len(ng.read(put("run.eval", whole))) == 1


def test_the_name_of_a_member_breaks_no_error_in_two(put):
    odd = plain_zip({"header.json": json.dumps(HEAD).encode(), "samples/a\nb.json": b"[]"})
    with pytest.raises(ng.InputError, match="not an object") as error:
        ng.read(put("a.eval", odd))
    assert "\n" not in str(error.value)


def test_ids_1_as_number_and_as_text_are_two_samples(put):
    data = ng.read(put("a.json", log(sample(1, said="a"), sample("1", said="b"))))
    assert [(s.item, s.hypothesis) for s in data] == [("1", "a"), ('"1"', "b")]


def test_long_texts_that_lie_together_are_unpacked_once(put, monkeypatch):
    shell = sample("a", said="attachment://2", target=["attachment://0", "attachment://1"])
    pieces = {
        "samples/a_epoch_1.json": None,
        "samples/a_epoch_1/sample.json": shell,
        "samples/a_epoch_1/attachments/0.json": ["x", "y", "z"],
    }
    read, names = Archive.read, list[str]()
    monkeypatch.setattr(Archive, "read", lambda self, name: names.append(name) or read(self, name))
    (segment,) = ng.read(put("a.eval", evaluated([shell], **pieces))).segments
    assert (segment.hypothesis, segment.references) == ("z", ("x", "y"))
    assert names == ["header.json", "samples/a_epoch_1/sample.json", "samples/a_epoch_1/attachments/0.json"]
