"""Baselines: what is written comes back, and what differs, was changed or is something else is refused."""

from __future__ import annotations

import json

import pytest
from tests.gating.sides import BASE, REFS, worse

import nlgauge as ng
from nlgauge.gating.baseline import difference, is_baseline, read_baseline, seal


@pytest.fixture
def path(tmp_path):
    ng.gate(BASE, BASE, REFS, metrics=["chrf", "ter"]).save(tmp_path / "base.json")
    return tmp_path / "base.json"


def judge(path, new=BASE, metrics=("chrf",), refs=REFS, **more):
    return ng.gate(path, new, refs, metrics=list(metrics), **more)


def changed(path, change):
    """The file after a change of its object, sealed anew."""
    made = json.loads(path.read_text())
    change(made)
    path.write_text(json.dumps({**made, "seal": seal(made)}, indent=1))
    return path


def test_a_baseline_judges_as_its_texts_do(path):
    one, other = judge(path, worse(0.5)), ng.gate(BASE, worse(0.5), REFS, metrics="chrf")
    assert one.rows == other.rows
    assert one.items == other.items
    assert judge(path).rows[0]["method"] == "same texts"


def test_nothing_is_scored_that_is_kept(path):
    def better(made):
        made["items"][0]["scores"]["chrf"] = [100.0]

    assert judge(changed(path, better)).rows[0]["base"] > judge(BASE).rows[0]["base"]


def test_undefined_scores_come_back(tmp_path, path):
    def gone(made):
        made["items"][0]["scores"]["chrf"] = [None]

    assert judge(changed(path, gone)).rows[0]["n_left_out"] == 1


def test_another_signature_is_refused_with_what_differs(path):
    def older(made):
        made["metrics"][0]["signature"] = made["metrics"][0]["signature"].replace("beta:2", "beta:3")

    changed(path, older)
    with pytest.raises(ng.InputError, match=r"chrf was scored otherwise than now: beta was 3, is 2; .*--rescore"):
        judge(path)
    assert judge(path, worse(0.5), rescore=True).rows == judge(BASE, worse(0.5)).rows


def test_a_metric_that_is_not_kept_is_refused(path):
    with pytest.raises(ng.InputError, match="has no scores of rouge1, its metrics are chrf, ter"):
        judge(path, metrics=["rouge1"])
    assert judge(path, metrics=["rouge1"], rescore=True).verdict == "PASS"


def test_other_items_and_other_references_are_refused(path):
    with pytest.raises(ng.InputError, match=r"base.json lacks 1 of 61 items of NEW .'61'"):
        judge(path, [*BASE, "a"], refs=[*REFS, "a"])
    with pytest.raises(ng.InputError, match="item '1' has other references"):
        judge(path, refs=[*REFS[1:], "a"])


def test_items_in_common_keep_their_own_scores(path):
    found = judge(
        path, [*worse(0.5)[:59], "a"], refs=[*REFS[:59], "a"], ids=[*map(str, range(1, 60)), "new"], common=True
    )
    alone = ng.gate(BASE[:59], worse(0.5)[:59], REFS[:59], metrics="chrf")
    assert found.rows == alone.rows
    assert any("only 59 items that both sides have" in note for note in found.notes)


def test_a_text_that_was_changed_is_refused(path):
    def edited(made):
        made["items"][4]["texts"] = ["something else"]

    with pytest.raises(ng.InputError, match="a text of item '5' is not the one that was scored"):
        judge(changed(path, edited))


@pytest.mark.parametrize("indent", [None, 4])
def test_a_baseline_is_json_whatever_the_order_of_its_keys(path, indent):
    one = judge(path, worse(0.5)).rows
    made = json.loads(path.read_text(), parse_float=lambda x: int(float(x)) if float(x).is_integer() else float(x))
    path.write_text(json.dumps(made, indent=indent, sort_keys=True))
    assert judge(path, worse(0.5)).rows == one


@pytest.mark.parametrize("where", ["scores", "seal", "group"])
def test_a_change_by_hand_is_refused(path, where):
    made = json.loads(path.read_text())
    if where == "scores":
        for item in made["items"]:
            item["scores"]["chrf"] = [item["scores"]["chrf"][0] - 20]
    elif where == "group":
        made["items"][3]["group"] = "a"
    else:
        del made["seal"]
    path.write_text(json.dumps(made))
    with pytest.raises(
        ng.InputError, match=r"\((the seal differs|there is no seal)\); save the baseline again with --save"
    ):
        judge(path)


def test_a_score_that_the_metric_cannot_give_is_refused(path):
    with pytest.raises(ng.InputError, match=r"chrf of item '1' is \[-1000000.0\], expected 0 to 100"):
        judge(changed(path, lambda made: made["items"][0]["scores"].update(chrf=[-1e6])))


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made["items"].clear(),
        lambda made: made["items"][0].pop("scores"),
        lambda made: made["items"][0]["scores"].update(chrf=["high"]),
        lambda made: made["items"][0]["scores"].update(chrf=[10**400]),
        lambda made: made["items"][0]["scores"].update(chrf=[1.0, 2.0]),
        lambda made: made["items"].append(made["items"][0]),
        lambda made: made["metrics"][0].update(signature=3),
        lambda made: made.update(items={"a": 1}),
    ],
)
def test_damaged_baselines_are_refused_in_one_line(path, change):
    with pytest.raises(ng.InputError, match="is no baseline, expected what nlgauge gate --save writes"):
        judge(changed(path, change))


def test_another_schema_is_named(path):
    with pytest.raises(ng.InputError, match="schema 9, this version of nlgauge reads schema 1"):
        judge(changed(path, lambda made: made.update(schema=9)))


def test_a_file_that_names_a_metric_opens_nothing(path):
    """A metric is made of what was typed; a specification in the file is a key, and no more."""

    def planted(made):
        made["metrics"].append({**made["metrics"][0], "spec": "bertscore:model=/etc/passwd"})
        for item in made["items"]:
            item["scores"]["bertscore:model=/etc/passwd"] = [1.0]

    assert [metric["spec"] for metric in judge(changed(path, planted)).metrics] == ["chrf"]


def test_other_files_are_no_baselines(tmp_path, path):
    assert is_baseline(str(path))
    (tmp_path / "a.json").write_text('[{"hyp": "a"}]')
    assert not is_baseline(str(tmp_path / "a.json"))
    assert not is_baseline(str(tmp_path / "none.json"))
    (tmp_path / "data.json").write_text('[{"hyp": "a", "meta": {"kind": "baseline"}}]')
    assert not is_baseline(str(tmp_path / "data.json"))
    (tmp_path / "half.json").write_text(path.read_text()[:300])
    assert is_baseline(str(tmp_path / "half.json"))
    with pytest.raises(ng.InputError, match="not valid JSON"):
        read_baseline(tmp_path / "half.json")


def test_a_baseline_is_no_new_side(path):
    with pytest.raises(ng.InputError, match="is a baseline, expected it as BASE"):
        ng.gate(BASE, path, REFS, metrics="chrf")


def test_scores_that_depend_on_a_call_are_not_kept(tmp_path):
    found = ng.gate(BASE, worse(0.5), REFS, metrics="0.5*chrf + 0.5*ter")
    with pytest.raises(ng.InputError, match="cannot be kept in a baseline"):
        found.save(tmp_path / "base.json")
    assert not (tmp_path / "base.json").exists()


def test_what_differs_between_signatures():
    assert difference("metric:a|beta:2|x:1", "metric:a|beta:3") == "beta was 2, is 3, x was 1, is absent"
