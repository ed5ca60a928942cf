from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
from tests.io.logs.test_archive import plain_zip, zstandard_zip

import nlgauge as ng
from nlgauge.io.logs.archive import Archive

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
