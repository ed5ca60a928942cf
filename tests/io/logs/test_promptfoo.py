from __future__ import annotations

import json

import pytest

import nlgauge as ng


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


def test_stripped_outputs_are_refused(put):
    with pytest.raises(ng.InputError, match=r"a.json, results 1: the output was stripped"):
        ng.read(put("a.json", written(result(response={"output": "[output stripped]"}))))


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
