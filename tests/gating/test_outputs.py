"""Items and runs: keys, pairs, inputs that differ, and clusters."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.gating.sides import BASE, REFS, worse

import nlgauge as ng
from nlgauge import Runtime, metric
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.gating.outputs import (
    Outputs,
    ScoredSide,
    check_cards,
    clusters_of,
    difference,
    differences,
    from_texts,
    is_baseline,
    paired,
    read_baseline,
    same_texts,
    score_side,
    score_sides,
    seal,
    usual_scale,
)
from nlgauge.io import JudgeCard, write_card
from nlgauge.io.ratings import Prompts
from nlgauge.metrics.function import RatingColumn
from nlgauge.metrics.judging import Judge


def outputs(*rows, name="BASE", system=None):
    return Outputs.of(Dataset(tuple(Segment(f"{name}{i}", **row) for i, row in enumerate(rows))), name, system)


def test_rows_of_one_item_are_its_runs():
    found = outputs(*({"hypothesis": text, "item": item} for text, item in (("a", "1"), ("b", "2"), ("c", "1"))))
    assert {item: [run.hypothesis for run in runs] for item, runs in found.items.items()} == {
        "1": ["a", "c"],
        "2": ["b"],
    }


def test_without_items_ids_are_the_keys():
    assert [*outputs({"hypothesis": "a"}, {"hypothesis": "b"}).items] == ["BASE0", "BASE1"]


def test_one_number_in_two_groups_is_two_items():
    rows = [{"hypothesis": "a", "item": i, "group": g} for i, g in (("1", "de"), ("1", "fr"), ("2", "de"))]
    assert [*outputs(*rows).items] == ["de:1", "fr:1", "2"]


def test_a_system_is_chosen_by_name():
    rows = [{"hypothesis": s, "item": "1", "system": s} for s in ("one", "two")]
    assert outputs(*rows, system="two").segments[0].hypothesis == "two"
    with pytest.raises(InputError, match="BASE holds 2 systems"):
        outputs(*rows)
    with pytest.raises(InputError, match="no system 'tow'; did you mean 'two'"):
        outputs(*rows, system="tow")


def test_half_of_the_items_named_is_refused():
    with pytest.raises(InputError, match="names no item"):
        outputs({"hypothesis": "a", "item": "1"}, {"hypothesis": "b"})
    with pytest.raises(InputError, match="holds no segment"):
        outputs()


def test_lists_of_runs_become_segments():
    data = from_texts([["a", "b"], ["c"]], "NEW", ["r", "s"], None, ["x", "y"], ["g", "g"])
    assert [(s.id, s.item, s.group, s.references) for s in data] == [
        ("x", "x", "g", ("r",)),
        ("x#2", "x", "g", ("r",)),
        ("y", "y", "g", ("s",)),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], "NEW", None, None, ["1", "2"]), "1 items but 2 ids"),
        ((["a", "b"], "NEW", None, None, ["1", "1"]), "id '1' occurs twice"),
        (([[]], "NEW"), "item '1' has no run"),
        (([None], "NEW"), "entry 0 holds NoneType"),
        (([["a", 3]], "NEW"), "entry 0 holds int"),
    ],
)
def test_lists_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        from_texts(*arguments)


def test_pairs_are_in_the_order_of_base():
    base = outputs({"hypothesis": "a", "item": "1"}, {"hypothesis": "b", "item": "2"})
    new = outputs({"hypothesis": "c", "item": "2"}, {"hypothesis": "d", "item": "1"}, name="NEW")
    _, turned = paired(base, new)
    assert [*turned.items] == ["1", "2"]
    assert same_texts(base, turned).tolist() == [False, False]
    assert same_texts(base, base).all()


def test_an_item_that_one_side_lacks_is_an_error():
    base = outputs({"hypothesis": "a", "item": "1"}, {"hypothesis": "b", "item": "2"})
    with pytest.raises(InputError, match=r"NEW lacks 1 of 2 items of BASE .'2'."):
        paired(base, outputs({"hypothesis": "a", "item": "1"}, name="NEW"))
    with pytest.raises(
        InputError, match=r"the ids have nothing in common, so name the key of items with --columns seg="
    ):
        paired(base, outputs({"hypothesis": "a", "item": "x1"}, {"hypothesis": "a", "item": "x2"}, name="NEW"))
    more = [{"hypothesis": "a", "item": str(i)} for i in range(1, 4)]
    with pytest.raises(InputError, match="BASE lacks 1 of 3 items of NEW"):
        paired(base, outputs(*more, name="NEW"))


def test_items_that_both_have_may_be_enough():
    base = outputs(*({"hypothesis": "a", "item": i} for i in "123"))
    new = outputs(*({"hypothesis": "a", "item": i} for i in "423"), name="NEW")
    old, fresh = paired(base, new, common=True)
    assert [*old.items] == [*fresh.items] == ["2", "3"]
    assert old.notes == ("only 2 items that both sides have are judged, of 3 in BASE and 3 in NEW",)
    mended = outputs(*({"hypothesis": "a", "item": i, "references": (i,)} for i in "12"))
    other = outputs(*({"hypothesis": "a", "item": i, "references": ("2",)} for i in "12"), name="NEW")
    assert [*paired(mended, other, common=True)[1].items] == ["2"]  # 1 has another reference
    assert paired(base, base, common=True)[0].notes == ()


def test_other_references_are_another_set():
    base = outputs({"hypothesis": "a", "item": "1", "references": ("x",)})
    with pytest.raises(InputError, match="item '1' has other references"):
        paired(base, outputs({"hypothesis": "a", "item": "1", "references": ("y",)}, name="NEW"))
    rows = [{"hypothesis": "a", "item": str(i), "references": ("x",)} for i in range(3)]
    last = [*rows[:2], {**rows[2], "references": ("y",)}]
    with pytest.raises(InputError, match="item '2' has other references"):  # every item is looked at
        paired(outputs(*rows), outputs(*last, name="NEW"))
    filled, _ = paired(outputs({"hypothesis": "a", "item": "1"}), base)
    assert filled.segments[0].references == ("x",)


def test_the_same_inputs_in_another_order_are_told_from_another_set():
    rows = [{"hypothesis": "a", "item": str(i), "references": (x,)} for i, x in enumerate("xyz")]
    moved = [{**row, "references": (x,)} for row, x in zip(rows, "xzy", strict=True)]
    with pytest.raises(InputError, match=r"item '1' has other references.*the same in another order; give each an id"):
        paired(outputs(*rows), outputs(*moved, name="NEW"))
    mended = [*rows[:2], {**rows[2], "references": ("x",)}]  # as a label that was wrong: no order explains it
    with pytest.raises(InputError, match=r"item '2' has other references.*is it another set"):
        paired(outputs(*rows), outputs(*mended, name="NEW"))


def test_groups_that_one_side_leaves_out_are_those_of_the_other():
    rows = [{"hypothesis": "a", "item": str(i), "group": f"doc{i // 2}"} for i in range(4)]
    plain = [{"hypothesis": "b", "item": row["item"]} for row in rows]
    for old, fresh in ((rows, plain), (plain, rows)):
        for one in paired(outputs(*old), outputs(*fresh, name="NEW")):
            assert one.groups == ["doc0", "doc0", "doc1", "doc1"]


def test_groups_are_clusters_where_there_are_several():
    assert clusters_of(["a", "a", "b"]) == ["group a", "group a", "group b"]
    assert clusters_of(["a", "a"]) is None
    assert clusters_of(["a", "b"]) is None
    assert clusters_of([None, None]) is None


# --- A judge decides only with a card of its model and its prompt

URL = "http://127.0.0.1:9/v1"  # which is never asked
JUDGE = Judge(url=URL, model="m")
NONE: frozenset[str] = frozenset()


@pytest.fixture
def card(tmp_path):
    def made(model="m", prompt=JUDGE.prompt_sha256, **more):
        path = str(tmp_path / f"{model}.{prompt[:4]}.json")
        known = {"n": 40, "label_policy": "two people", "kappa": 0.61, "base_rate": 0.7, "date": "2026-11-01"}
        write_card(path, JudgeCard(model=model, prompt_sha256=prompt, **known, **more))
        return path

    return made


def test_a_card_of_the_judge_is_told(card):
    (note,) = check_cards({"judge": JUDGE, "chrf": ng.metric("chrf")}, NONE, [card()])
    assert note.startswith("judge: kappa 0.61 with people on 40 items, the commonest label has 70% (two people; 2026-")
    assert note.endswith(".json)")


def test_a_card_tells_how_far_the_prompt_decides(card):
    (note,) = check_cards({"judge": JUDGE}, NONE, [card(prompts=Prompts(tried=3, n=40, dependent=10, kappa=0.547))])
    assert note.endswith("; under 3 prompts the label of 25% of 40 items depends on the prompt, kappa 0.55 between two")


@pytest.mark.parametrize("wrong", [{"model": "other"}, {"prompt": "0" * 64}])
def test_a_card_of_another_model_or_prompt_does_not_do(card, wrong):
    with pytest.raises(InputError, match="'judge' has no judge card, expected one with model 'm' and prompt_sha256 '"):
        check_cards({"judge": JUDGE}, NONE, [card(**wrong)])


def test_a_judge_that_is_only_reported_needs_none_and_may_have_one(card):
    assert check_cards({"judge": JUDGE}, frozenset({"judge"}), [card()]) == []


def test_a_card_that_is_of_no_judge_is_named(card):
    with pytest.raises(InputError, match="a card of 'other' with another prompt or model than any judge here"):
        check_cards({"judge": JUDGE}, NONE, [card(), card(model="other")])


def test_a_judge_inside_another_metric_is_refused(card):
    inner = {"qmetric:base=judge": ng.metric("chrf")}  # the name alone decides
    with pytest.raises(InputError, match="a judge inside another metric has no card"):
        check_cards({**inner, "judge": JUDGE}, NONE, [card()])


# --- Scores of both sides: directions, rates, runs, and scores that are undefined


def side(hyps, name="BASE"):
    return Outputs.of(from_texts(hyps, name, REFS[: len(hyps)]), name)


def scored(*runs):
    """A side with these scores, of which each is that of a text of its own."""
    texts = side([[f"score {x}" for x in one] for one in runs])
    return ScoredSide(texts, {"m": [np.array(one) for one in runs]}, {"m": "m"})


def test_lower_is_better_turns_round():
    base, new = score_sides([side(BASE), side(worse(0.5))], {"ter": metric("ter")}, Runtime())
    found = differences("ter", metric("ter"), base, new, "fail")
    assert (found.values <= 0).all()
    assert found.falls
    assert found.values == pytest.approx(found.base - found.new)
    assert found.largest is None or found.largest > 0


def test_a_pooled_metric_sees_both_sides_in_one_call():
    metrics = {"cider": metric("cider"), "chrf": metric("chrf")}
    base, new = score_sides([side(BASE), side(BASE, "NEW")], metrics, Runtime())
    assert [*base.runs] == ["cider", "chrf"]
    assert base.signatures == new.signatures
    assert np.array_equal(np.concatenate(base.runs["cider"]), np.concatenate(new.runs["cider"]))


def test_runs_are_averaged_before_items_are():
    found = differences("m", metric("chrf"), scored([0.0, 10.0], [4.0]), scored([7.0], [1.0, 3.0]), "fail")
    assert found.values.tolist() == [2.0, -2.0]
    assert not found.is_rate


def test_zeros_and_ones_are_a_rate_on_a_scale_of_one():
    rates = scored([1.0], [0.0])
    assert differences("m", metric("rouge1"), rates, rates, "fail").is_rate
    assert not differences("m", metric("chrf"), rates, rates, "fail").is_rate  # of 100
    assert not differences("m", metric("rouge1"), scored([1.0, 0.0], [0.0]), rates, "fail").is_rate


def test_undefined_scores_are_never_dropped_silently():
    base, new = scored([1.0], [1.0], [math.nan], [math.nan]), scored([1.0], [math.nan], [1.0], [math.nan])
    found = differences("m", metric("rouge1"), base, new, "fail")
    assert found.lost.tolist() == [False, True, False, False]  # what neither side has is not lost
    assert np.isnan(found.values).tolist() == [False, True, True, True]
    assert differences("m", metric("rouge1"), base, new, "worst").values.tolist()[:2] == [0.0, -1.0]
    with pytest.raises(InputError, match="has no worst score"):
        differences("m", metric("ter"), base, new, "worst")


def test_what_an_item_has_to_lose_is_at_stake():
    # .5 and 1 above the worst score: (.25 + 1) / 1.5; a pass has 1 to lose, and a failure cannot show a loss
    known = [scored([0.5], [1.0]), scored([1.0], [0.0], [1.0])]
    stakes = [differences("m", metric("rouge1"), one, one, "fail").at_stake for one in known]
    assert stakes == pytest.approx([1.25 / 1.5, 1.0])
    lost = differences("m", metric("rouge1"), scored([0.5], [1.0]), scored([0.5], [0.0]), "fail")
    assert lost.at_stake == 1.0  # no less than was lost
    falling = differences("m", metric("mer"), scored([0.2]), scored([0.2]), "fail")
    assert falling.at_stake == pytest.approx(0.8)
    assert differences("m", metric("ter"), scored([0.2]), scored([0.3]), "fail").at_stake is None


# --- What is no difference: the same texts, and scores that a processor may move so far


def sides(old, new, old_scores, new_scores):
    """Two sides with these texts and these scores, one run each."""
    given = ((side(old), old_scores), (side(new, "NEW"), new_scores))
    return [ScoredSide(own, {"m": [np.array([x]) for x in scores]}, {"m": "m"}) for own, scores in given]


def found(metric_name, *given):
    return differences("m", metric(metric_name), *sides(*given), "fail").values.tolist()


def test_the_same_text_has_the_same_score_whatever_its_bits_are():
    # as bfloat16 moves them on another processor; the second text is another one
    assert found("bertscore", ["a", "b"], ["a", "c"], [0.9, 0.9], [0.89, 0.89]) == [0.0, pytest.approx(-0.01)]
    assert found("gauge", ["a"], ["a"], [1.0], [0.99]) == [0.0]
    assert found("chrf", ["a"], ["a"], [60.0], [60.0 + 1e-9]) == [0.0]


@pytest.mark.parametrize("name", ["bertscore", "sescore", "gauge", "nli"])
def test_other_texts_score_the_same_within_what_is_promised_of_a_model(name):
    assert found(name, ["a", "b"], ["c", "d"], [0.5, 0.5], [0.5 - 1e-5, 0.4999]) == [0.0, pytest.approx(-1e-4)]
    assert found("chrf", ["a"], ["c"], [0.5], [0.5 - 1e-5]) == [pytest.approx(-1e-5)]  # words are counted


def test_a_score_that_depends_on_all_texts_is_the_same_where_all_are():
    assert found("cider", ["a", "b"], ["a", "b"], [1.0, 1.0], [1.1, 1.0]) == [0.0, 0.0]
    assert found("cider", ["a", "b"], ["a", "c"], [1.0, 1.0], [1.1, 1.0]) == [pytest.approx(0.1), 0.0]


def test_ratings_of_the_same_text_may_differ():
    old, new = sides(["a", "b"], ["a", "b"], [3.0, 4.0], [2.0, 4.0 + 1e-15])
    assert differences("m", RatingColumn(criterion="q"), old, new, "fail").values.tolist() == [-1.0, 0.0]


def test_a_run_without_a_score_is_none_where_the_same_text_had_none():
    runs = {"m": [np.array([0.5, math.nan])]}
    old, new = (ScoredSide(side([["a", "b"]], name), runs, {"m": "m"}) for name in ("BASE", "NEW"))
    same = differences("m", metric("rouge1"), old, new, "fail")
    assert (same.lost.tolist(), same.values.tolist()) == ([False], [0.0])


# --- The scale of scores that were made elsewhere


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ([0.6, 0.9], (0, 1)),
        ([3, 4, 5], (0, 5)),
        ([7, 2], (0, 10)),
        ([5, 80], (0, 100)),
        ([-12, 0], (-25, 0)),
        ([-0.4, 0.6], (-1, 1)),
        ([1, 730], (0, 1000)),
        ([-3000], (-10_000, 0)),
    ],
)
def test_the_least_usual_scale_that_holds_all(scores, scale):
    assert usual_scale(np.array(scores, dtype=float)) == scale


def rated(old, new, scale=None):
    columns = RatingColumn(criterion="q")
    return differences("m", columns, *sides([*"abc"], [*"def"], old, new), "fail", scale)


def test_ratings_may_fall_to_the_end_of_their_scale():
    # from 4, 4, 4 on 0 to 5: four to lose, and one to gain
    taken = rated([4.0, 4.0, 4.0], [4.0, 3.0, 4.0])
    assert (taken.taken, taken.at_stake, taken.in_reach, taken.largest) == ((0, 5), 4, 1, None)
    named = rated([4.0, 4.0, 4.0], [4.0, 3.0, 4.0], (1.0, 5.0))
    assert (named.taken, named.at_stake, named.in_reach, named.largest) == (None, 3, 1, 4)
    grades = rated([1.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    assert (grades.taken, grades.is_rate, grades.at_stake, grades.in_reach) == (None, True, 1, 1)
    with pytest.raises(InputError, match=r"m has scores from 3 to 4, expected 0 to 3.5; name a scale that holds them"):
        rated([4.0, 4.0, 4.0], [4.0, 3.0, 4.0], (0.0, 3.5))


def test_one_run_without_a_score_leaves_an_item_without_one():
    found = differences("m", metric("chrf"), scored([1.0, math.nan]), scored([2.0, math.nan]), "fail")
    assert found.base.tolist() == [1.0]
    assert found.lost.tolist() == [True]


def test_what_a_metric_needs_is_asked_for():
    alone = Outputs.of(from_texts(["a"], "NEW"), "NEW")
    with pytest.raises(InputError, match="chrf needs references"):
        score_side(alone, {"chrf": metric("chrf")}, Runtime())


# --- Baselines: what is written comes back, and what differs, was changed or is something else is refused


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "base.json"
    ng.gate(BASE, BASE, REFS, metrics=["chrf", "ter"]).save(path)
    return path.read_bytes()


@pytest.fixture
def path(kept, tmp_path):
    (tmp_path / "base.json").write_bytes(kept)
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


def test_the_same_texts_pass_with_scores_of_another_processor(path):
    def moved(made):
        for i, item in enumerate(made["items"]):
            item["scores"]["chrf"][0] -= 1e-10 * (i % 3)

    found = judge(changed(path, moved), allow=0)
    assert (found.verdict, found.rows[0]["method"], found.rows[0]["n_changed"]) == ("PASS", "same texts", 0)
    # beside texts that did change, those that stayed are no more than they were
    assert judge(path, worse(0.5)).rows[0]["n_changed"] == judge(BASE, worse(0.5)).rows[0]["n_changed"]


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


@pytest.mark.parametrize("change", [0.04, 1e-9])
def test_a_small_change_of_a_score_is_refused_too(path, change):
    made = json.loads(path.read_text())
    made["items"][2]["scores"]["chrf"][0] -= change
    path.write_text(json.dumps(made))
    with pytest.raises(ng.InputError, match="the seal differs"):
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


def test_severity_is_taken_out_over_both_sides():
    # on one side alone every rater's mean would be 0, and no side better than the other
    def side(name, *given):
        who = {"raters": {"q": ("ann",)}}
        rows = ({"hypothesis": f"{name}{x}", "item": str(i), "human": {"q": [x]}, **who} for i, x in enumerate(given))
        return outputs(*rows, name=name)

    column = {"human.q.z": RatingColumn(criterion="q.z")}
    base, new = score_sides([side("BASE", 4.0, 6.0), side("NEW", 1.0, 3.0)], column, Runtime())
    deviation = np.std([4, 6, 1, 3], ddof=1)
    found = differences("human.q.z", column["human.q.z"], base, new, "fail").values
    np.testing.assert_allclose(found, [-3 / deviation] * 2)
