"""A result file as a result again, or one line that says why not."""

import gzip
import json
from pathlib import Path

import pytest
from tests.cli.command import check_schema, run

from nlgauge.core.errors import InputError
from nlgauge.core.result import KINDS, Result
from nlgauge.io.results import read_result, result_schema

METRIC = {"spec": "m", "signature": "metric:m", "higher_is_better": True, "flags": {}}
RESULT = Result(
    "score",
    [{"system": "a", "metric": "m", "value": 1.5, "p": None}],
    [{"path": "x", "sha256": "0" * 64}],
    [METRIC],
    ["a note"],
    {"test": "bootstrap", "seed": 0},
    "nlgauge score x",
)


def test_what_was_written_comes_back(tmp_path):
    RESULT.write(tmp_path / "r.json")
    found = read_result(tmp_path / "r.json")
    assert found == RESULT
    (tmp_path / "r.json.gz").write_bytes(gzip.compress((tmp_path / "r.json").read_bytes()))
    assert read_result(tmp_path / "r.json.gz") == RESULT
    (tmp_path / "r.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is no result of nlgauge"):
        read_result(tmp_path / "r.json")


def test_statistics_of_a_published_suite_come_back(tmp_path):
    own = {"metric": "m", "statistic": "tau", "part": "all", "value": 0.5, "low": None, "high": None, "n": 3}
    result = Result("audit", [], notes=[], statistics=[own])
    result.write(tmp_path / "r.json")
    assert read_result(tmp_path / "r.json").statistics == [own]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"schema": 2}, r"a result of schema 2, and this version of nlgauge reads schema 1; read it with the version"),
        ({"kind": "list"}, r"a result of kind 'list', expected one of score, align"),
        ({"kind": 3}, r"is no result of nlgauge, expected what --json writes \(field 'kind' is no text"),
        ({"rows": None}, r"field 'rows' is no list"),
        ({"rows": [1]}, r"entry 1 of 'rows' is no object"),
        ({"metrics": [{**METRIC, "spec": 1}]}, r"'spec' in entry 1 of 'metrics' is not a text"),
        ({"inputs": [{"path": "x"}]}, r"'sha256' in entry 1 of 'inputs' is not a text"),
        ({"notes": [1]}, r"field 'notes' is no list of texts"),
        ({"statistics": [{"metric": "m"}]}, r"'statistic' in entry 1 of 'statistics' is not a text"),
        ({"command": 1}, r"field 'command' is no text"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(tmp_path, changed, said):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**RESULT.as_json(), **changed}))
    with pytest.raises(InputError, match=said) as caught:
        read_result(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "1", '{"hyp": "a"}', '{"schema": 1, "schema": 1}', "[" * 9999, "NaN"])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError, match=r"r\.json is no result of nlgauge, expected what --json writes \("):
        read_result(tmp_path / "r.json")


# --- The schema: tests of the command hold every result against it that they write


def test_the_schema_of_all_is_valid_and_has_every_kind():
    jsonschema = pytest.importorskip("jsonschema")
    whole = result_schema()
    jsonschema.Draft202012Validator.check_schema(whole)
    assert set(whole["$defs"]) == {*KINDS, "list"}
    jsonschema.validate(RESULT.as_json(), whole)
    assert result_schema("gate") == {"$schema": whole["$schema"], **whole["$defs"]["gate"]}
    with pytest.raises(InputError, match=r"^there is no result of kind 'scores'; did you mean 'score'"):
        result_schema("scores")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": "gate"}, "'score' was expected"),
        ({"schema": 2}, "1 was expected"),
        ({"rows": [{"value": "1.5"}]}, "'1.5' is not of type 'number', 'null'"),
        ({"rows": [{"parts.bp": "1"}]}, "'1' is not of type"),  # a flat name, and not `bp` in an object `parts`
        ({"metrics": [{"spec": "m"}]}, "'signature' is a required property"),
        ({"metrics": [{**METRIC, "flags": {"empty": 1.5}}]}, "1.5 is not of type 'integer'"),
        ({"inputs": [{"path": 1, "sha256": ""}]}, "1 is not of type 'string'"),
    ],
)
def test_the_schema_refuses_other_types_and_lets_new_fields_pass(changed, said):
    jsonschema = pytest.importorskip("jsonschema")
    schema = result_schema("score")
    jsonschema.validate(
        {**RESULT.as_json(), "new": 1, "rows": [{"new": 1, "parts.new": None, "guards.new": 1}]}, schema
    )
    with pytest.raises(jsonschema.ValidationError, match=said):
        jsonschema.validate({**RESULT.as_json(), **changed}, schema)
    with pytest.raises(jsonschema.ValidationError, match="'new' was unexpected"):
        check_schema({**RESULT.as_json(), "new": 1})


def test_results_of_verbs_follow_their_schema(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jsonschema")
    examples = Path(__file__).parents[2] / "examples"
    data, ratings = examples / "weather.jsonl", examples / "weather_ratings.tsv"
    if not data.is_file():
        pytest.skip("the examples are not beside the tests")
    monkeypatch.chdir(tmp_path)
    people = [data, "--judgements", ratings, "-m", "chrf", "-c", "adequacy"]
    tests = ["--significance", "bootstrap", "-n", 20]
    pair = {"ref": "it rains", "better": "rain falls", "worse": "it rained", "phenomenon": "typos"}
    Path("pairs.jsonl").write_text(json.dumps({**pair, "task": "mt", "criterion": "fluency"}))
    between = ["--base-system", "template", "--new-system", "careless"]
    results = [
        ["score", data, "-m", "bleu", *tests, "--adjust", "holm", "--by-group"],
        ["score", data, "-m", "bleu", *tests, "--pairs"],
        ["audit", "--suite", "pairs.jsonl", "-m", "chrf"],
        ["audit", "--suite", "pairs.jsonl", "-m", "chrf", "--design", "checklist"],
        ["meta", *people, "-m", "bleu", "--level", "item", "--stat", "kendall_b", "--test", "auto", "--draws", 20],
        ["select", *people, "--hybrids", 20, "--pool", 3],
        ["sweep", *people, "--suite", "pairs.jsonl", "--with", "bleu", "--weights", "0,1"],
        ["gate", data, data, *between, "-m", "chrf", "--allow", 100],
        ["explain", data, "--method", "words"],
    ]
    for arguments in results:
        assert run(*arguments, "--json", "result.json", "-q") == 0
        assert json.loads(Path("result.json").read_text())["kind"] == arguments[0]
    assert run("list", "metrics", "--json", "result.json") == 0
