"""Meta-evaluation from end to end, on judgements small enough to work out by hand."""

from contextlib import contextmanager
from dataclasses import fields, replace
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.core.suite import Pair, Suite
from nlgauge.core.tables import Key, Preference, Preferences, ScoreTable
from nlgauge.metaeval.evaluate import ITEM_MEAN, MetaOptions, criteria_rows, meta_evaluate, with_controls
from nlgauge.metaeval.joined import JoinedScores
from nlgauge.metaeval.measure import Task, check_options
from nlgauge.metaeval.select import select_models
from nlgauge.metaeval.sweep import sweep
from nlgauge.metaeval.tasks import Protocol
from nlgauge.runtime.runtime import Runtime


def dataset(human, systems=("a", "b", "c"), group=None):
    """A grid of ratings, one row per system; None where nobody rated."""
    segments = [
        Segment(
            f"{group or ''}{system}{i}",
            "text",
            system=system,
            item=str(i),
            group=group,
            human={} if value is None else {"adequacy": value},
        )
        for system, row in zip(systems, human, strict=True)
        for i, value in enumerate(row)
    ]
    return Dataset(tuple(segments))


def two_criteria():
    """Four texts rated for adequacy, whose judge, a column of a log, rated them, too."""
    ratings = [(3, 2), (1, 3), (4, 4), (0, 1)]
    return Dataset(
        tuple(
            Segment(str(i), "text", item=str(i), human={"adequacy": a, "judge": [j - 0.5, j + 0.5]})
            for i, (a, j) in enumerate(ratings)
        )
    )


def test_a_column_of_ratings_is_a_metric_as_in_a_gate():
    # From the means 2 and 2.5: adequacy (1, -1, 2, -2) and judge (-.5, .5, 1.5, -1.5), so r = 5 / sqrt(10 * 5). Of two
    # ratings of a text the mean counts.
    found = meta_evaluate(two_criteria(), "human.judge", "adequacy")
    assert found.row("human.judge")["value"] == pytest.approx(0.5**0.5)


def test_a_column_of_ratings_is_not_compared_with_itself():
    for criterion in ("judge", "all"):
        with pytest.raises(InputError, match=r"metric human\.judge is the criterion itself; name another"):
            meta_evaluate(two_criteria(), "human.judge", criterion)
    with pytest.raises(InputError, match="no text has a rating 'juge'; did you mean 'judge'"):
        meta_evaluate(two_criteria(), "human.juge", "adequacy")


def test_a_segment_level_value_takes_all_segments_of_a_group_together():
    data = dataset([[1, 2], [3, 5], [4, 6]])
    scores = {"m": [1, 3, 2, 5, 4, 6]}
    found = meta_evaluate(data, scores=scores, stats="pearson")
    assert found.value("m") == pytest.approx(np.corrcoef([1, 2, 3, 5, 4, 6], scores["m"])[0, 1])


def test_inside_items_two_orders_of_three_and_all_three_make_a_mean_of_two_thirds():
    # item 0: people 1 3 4, metric 1 2 4: tau 1; item 1: people 2 5 6, metric 3 6 5: one of three pairs wrong, tau 1/3
    data = dataset([[1, 2], [3, 5], [4, 6]])
    found = meta_evaluate(data, scores={"m": [1, 3, 2, 6, 4, 5]}, level="item", stats="kendall_b")
    assert found.value("m") == pytest.approx((1 + 1 / 3) / 2)


def test_the_progress_of_tests_is_that_of_the_runtime():
    shown = []

    @contextmanager
    def progress(total, label):
        yield lambda count: shown.append((label, total, count))

    scores = {"m": [1, 3, 2, 6, 4, 5], "k": [1, 2, 3, 4, 5, 6]}
    runtime = Runtime(device="cpu", progress=progress)
    meta_evaluate(dataset([[1, 2], [3, 5], [4, 6]]), scores=scores, stats="kendall_b", test="auto", runtime=runtime)
    assert shown == [("perm_both of kendall_b", 1, 1)]


def test_the_mean_over_language_pairs_is_plain():
    one, other = dataset([[1, 2, 3], [3, 5, 6], [4, 6, 8]], group="en-de"), dataset([[1], [3], [4]], group="zh-en")
    both = Dataset((*one.segments, *other.segments))
    found = meta_evaluate(both, scores={"m": [*range(9), 3, 2, 1]})
    parts = [found.value("m", group=group) for group in ("en-de", "zh-en")]
    assert found.value("m") == pytest.approx(np.mean(parts))  # not weighted by 9 and 3 segments
    assert [row["n_used"] for row in found.rows] == [9, 3, 2]


def test_values_and_rows_are_found_by_what_they_are():
    data = dataset([[1, 2], [3, 5], [4, 6]])
    found = meta_evaluate(data, scores={"m": [1, 3, 2, 5, 4, 6], "k": [1] * 5 + [2]}, stats=["pearson", "spearman"])
    assert found.value("m", stat="spearman") == found.row("m", stat="spearman", group=None)["value"]
    with pytest.raises(InputError, match="2 numbers fit"):
        found.value("m")


def test_metrics_are_scored_here_and_scores_of_others_stand_beside_them():
    texts = ["the cat sat", "a cat sat", "cat", "dog"]
    data = Dataset(tuple(Segment(str(i), t, ("the cat sat",), human={"q": 4 - i}) for i, t in enumerate(texts)))
    found = meta_evaluate(data, ["chrf", "rouge1"], scores={"theirs": {"3": 1, "2": 2, "1": 3, "0": 4}})
    assert found.held.metrics == ("chrf", "rouge1", "theirs")
    assert found.value("theirs") == pytest.approx(1)
    assert found.value("chrf") > 0.9
    result = found.result([{"path": "x", "sha256": "0"}]).as_json()
    assert result["kind"] == "meta"
    assert [m["spec"] for m in result["metrics"]] == ["chrf", "rouge1", "theirs"]
    assert result["metrics"][0]["signature"].startswith("metric:chrf|")


def test_the_metric_that_others_are_tested_against_may_stand_anywhere():
    texts = ["the cat sat", "a cat sat", "cat", "dog"]
    data = Dataset(tuple(Segment(str(i), t, ("the cat sat",), human={"q": 4 - i}) for i, t in enumerate(texts)))
    for baseline in ("chrf", "bleu", "rougeL"):
        rows = meta_evaluate(data, ["chrf", "bleu", "rougeL"], stats="kendall_b", baseline=baseline).rows
        assert {row["against"] for row in rows if row.get("against")} == {baseline}
    with pytest.raises(InputError, match="baseline is 'ter', which is not among the metrics"):
        meta_evaluate(data, ["chrf", "bleu", "rougeL"], baseline="ter")


def test_ranks_follow_the_rule_that_is_asked_for():
    """The first metric beats the third and the fourth (p = .025, .024), and no other beats any: the second (p = .14
    under the first, .16 and more above the others) keeps all together, but for a greedy rule."""
    rng = np.random.default_rng(3)
    human = rng.normal(size=40)
    noise = {name: rng.normal(size=40) for name in "abcd"}
    table = {name: human + far * noise[name] for name, far in zip("abcd", (0.6, 0.8, 1.0, 1.2), strict=True)}
    data = Dataset(tuple(Segment(f"{i}", "x", ("y",), item=f"{i}", human={"q": z}) for i, z in enumerate(human)))

    def found(**how):
        told = meta_evaluate(data, scores=table, stats="pearson", test="williams", **how)
        rows = [row for row in told.rows if row.get("against") is None and row["group"] == "mean"]
        return {row["metric"]: row["rank"] for row in rows}, [note for note in told.notes if note.startswith("rank")]

    whole, said = found()
    greedy, told = found(ranks="any")
    assert said == []
    assert told == ["rank: a metric opens a new rank as soon as one metric of the rank above beats it (p < alpha)"]
    assert whole == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert greedy == {"a": 1, "b": 1, "c": 2, "d": 2}
    assert found(ranks="wmt")[0] == greedy  # no p equals alpha
    with pytest.raises(InputError, match=r"ranks changes nothing here: it acts on a test"):
        meta_evaluate(data, scores=table, stats="pearson", ranks="any")
    with pytest.raises(InputError, match="ranks is 'some'"):
        found(ranks="some")


def test_a_table_of_scores_brings_a_metric_a_column():
    data = dataset([[1, 2], [3, 5], [4, 6]])
    keys = tuple(Key(None, s, str(i)) for s in "abc" for i in range(2))
    table = ScoreTable(keys, {"m": np.arange(6.0), "error": -np.arange(6.0)}, name="x.tsv")
    found = meta_evaluate(data, scores=table, lower_is_better=["error"])
    assert found.value("m") == pytest.approx(found.value("error"))
    assert found.row("error")["raw"] == pytest.approx(-found.value("m"))


def test_scores_of_systems_alone_are_for_level_system():
    data = dataset([[1, 2], [3, 5], [4, 6]])
    table = ScoreTable(tuple(Key(None, s) for s in "abc"), {"m": np.array([1.0, 2.0, 4.0])}, "system", "x.sys.score")
    found = meta_evaluate(data, scores=table, level="system", criterion="adequacy")
    assert found.value("m") == pytest.approx(np.corrcoef([1, 2, 4], [1.5, 4, 5])[0, 1])
    with pytest.raises(InputError, match="m has scores of systems alone; choose level='system'"):
        meta_evaluate(data, scores=table)


def test_systems_are_left_out_by_name():
    data = dataset([[1, 2], [3, 5], [4, 6], [9, 9]], systems="abcd")
    found = meta_evaluate(
        data,
        scores={"m": {f"{s}{i}": k for k, (s, i) in enumerate((s, i) for s in "abcd" for i in range(2))}},
        exclude=["d"],
    )
    assert {s.system for s in found.held.segments} == set("abc")
    assert "3 of 4 systems (left out: d)" in found.notes
    with pytest.raises(InputError, match="exclude names 'e', which is not among the systems"):
        meta_evaluate(data, scores={"m": range(8)}, exclude=["e"])


def test_pairs_that_people_gave_take_the_place_of_ratings():
    data = Dataset(tuple(Segment(i, "x", group="g") for i in "abc"))
    pairs = Preferences(
        (Preference(Key("a"), Key("b")), Preference(Key("c"), Key("b")), Preference(Key("a"), Key("c")))
    )
    found = meta_evaluate(data, scores={"m": [3, 2, 1]}, pairs=pairs, stats=["preference_accuracy", "rr_kendall"])
    assert found.value("m", stat="preference_accuracy") == pytest.approx(2 / 3)
    assert found.value("m", stat="rr_kendall") == pytest.approx(1 / 3)
    assert {row["criterion"] for row in found.rows} == {"preference"}


def test_pairs_have_no_correlation_and_no_criterion():
    data = Dataset(tuple(Segment(i, "x") for i in "ab"))
    pairs = Preferences((Preference(Key("a"), Key("b")),))
    with pytest.raises(InputError, match="pearson needs ratings, and pairs have none"):
        meta_evaluate(data, scores={"m": [2, 1]}, pairs=pairs)
    with pytest.raises(InputError, match="leave the criterion out"):
        meta_evaluate(data, scores={"m": [2, 1]}, pairs=pairs, stats="rr_kendall", criterion="q")


def test_a_protocol_says_what_is_computed_and_what_is_given_beside_it_wins():
    data = Dataset(
        tuple(
            Segment(f"{s}{i}", "x", ("x", "y"), system=s, item=str(i), human={"q": k + i * k})
            for k, s in enumerate("abcd")
            for i in range(3)
        )
    )
    scores = {"m": [*range(11), 5]}
    assert {row["stat"] for row in meta_evaluate(data, scores=scores, preset="realsumm").rows} == {"pearson"}
    assert {row["level"] for row in meta_evaluate(data, scores=scores, preset="realsumm").rows} == {"summary", "system"}
    own = meta_evaluate(data, scores=scores, preset="realsumm", stats="kendall_b", level="item")
    assert {(row["stat"], row["level"]) for row in own.rows} == {("kendall_b", "item")}


def test_the_threshold_of_darr_is_25_points():
    # differences 30 (metric right), 24 (metric wrong, not counted), 54 (metric right)
    data = dataset([[10.0], [40.0], [64.0]])
    assert meta_evaluate(data, scores={"m": [1, 3, 2]}, preset="wmt-da-rr").value("m") == 1


def test_sescores_webnlg_takes_the_mean_of_the_criteria_and_leaves_human_ties_out():
    # means 2, 1, 2, 3: of the six pairs that of the first and the third is a human tie; the metric has a > b, b = c,
    # a < d, b < d and c < d, and its tie is a loss: (4 - 1) / 5
    rated = [(1, 3), (2, 0), (2, 2), (2, 4)]
    data = Dataset(
        tuple(Segment(str(i), "x", item="1", system=str(i), human={"a": a, "b": b}) for i, (a, b) in enumerate(rated))
    )
    found = meta_evaluate(data, scores={"m": [2, 1, 1, 3]}, preset="sescore-webnlg")
    assert found.value("m", criterion="mean") == pytest.approx(3 / 5)


def test_several_criteria_have_a_plain_mean():
    data = Dataset(
        tuple(Segment(str(i), "x", human={"a": a, "b": b}) for i, (a, b) in enumerate([(1, 3), (2, 1), (3, 2), (5, 4)]))
    )
    found = meta_evaluate(data, scores={"m": [1, 2, 3, 4]}, criterion="all")
    parts = [found.value("m", criterion=c) for c in "ab"]
    assert found.value("m", criterion="mean") == pytest.approx(np.mean(parts))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stats": "perason"}, "unknown statistic 'perason'; did you mean 'pearson'"),
        ({"stats": []}, "no statistic is named"),
        ({"criterion": "adequcy"}, "is rated for 'adequcy'; did you mean 'adequacy'"),
        ({"level": "sytem"}, "level is 'sytem'; did you mean 'system'"),
        ({"test": "wiliams"}, "unknown test 'wiliams'; did you mean 'williams'"),
        ({"preset": "wmt16-sg"}, "unknown preset 'wmt16-sg'; did you mean 'wmt16-seg'"),
        ({"adjust": "hollm"}, "adjust is 'hollm'; did you mean 'holm'"),
        ({"intervals": "fischer"}, "intervals is 'fischer'; did you mean 'fisher'"),
        ({"outliers": "madd"}, "outliers is 'madd'; did you mean 'mad'"),
        ({"treshold": 3}, "no option 'treshold'; did you mean 'threshold'"),
        ({"threshold": 3}, "pearson take no threshold"),
        ({"missing": "dorp"}, "missing is 'dorp'; did you mean 'drop'"),
        ({"references": "maen"}, "references is 'maen'; did you mean 'mean'"),
        ({"lower_is_better": ["k"]}, "lower_is_better names 'k'"),
        ({"scores": {}}, "no metric and no scores are given"),
        ({"metrics": "chrf", "scores": {"chrf": range(6)}}, "'chrf' is both a metric to score and a column of scores"),
    ],
)
def test_what_is_no_choice_is_refused_with_the_nearest(options, message):
    with pytest.raises(InputError, match=message):
        meta_evaluate(dataset([[1, 2], [3, 5], [4, 6]]), **{"scores": {"m": range(6)}, **options})


@given(st.permutations(range(9)))
def test_the_order_of_segments_changes_nothing(order):
    rng = np.random.default_rng(0)
    data = dataset(rng.normal(size=(3, 3)).tolist())
    scores = {"m": {s.id: float(v) for s, v in zip(data, rng.normal(size=9), strict=True)}}
    turned = Dataset(tuple(data.segments[i] for i in order))
    for level in ("segment", "item", "system"):
        one, other = (meta_evaluate(d, scores=scores, level=level, intervals="none").value("m") for d in (data, turned))
        assert one == pytest.approx(other, abs=1e-12)  # sums in another order


@given(st.floats(0.1, 100), st.floats(-50, 50))
def test_a_metric_on_another_scale_is_the_same_metric(scale, offset):
    rng = np.random.default_rng(1)
    data, x = dataset(rng.normal(size=(4, 5)).tolist(), systems="abcd"), rng.normal(size=20)
    for stat, level in (
        ("pearson", "segment"),
        ("spearman", "item"),
        ("kendall_b", "system"),
        ("pairwise_accuracy", "system"),
    ):
        one, other = (
            meta_evaluate(data, scores={"m": v}, level=level, stats=stat, intervals="none").value("m")
            for v in (x, scale * x + offset)
        )
        assert one == pytest.approx(other, abs=1e-9)  # the offset costs digits


def judged_by_two(stat="pearson"):
    rng = np.random.default_rng(3)
    data = dataset(rng.normal(size=(3, 4)).tolist())
    return data, {"m": rng.normal(size=12), "k": rng.normal(size=12)}


@pytest.mark.parametrize(("name", "test"), [("wmt16-seg", "williams"), ("wmt-mqm-seg", "item_swap")])
def test_a_protocol_runs_its_test_unless_told_otherwise(name, test):
    data, scores = judged_by_two()
    result = meta_evaluate(data, scores=scores, preset=name, draws=19).result()
    assert {row["test"] for row in result.rows if row.get("against")} == {test} == {result.settings["test"]}
    for other in ({"test": "none"}, {"stats": "kendall_b"}):
        found = meta_evaluate(data, scores=scores, preset=name, **other)
        assert not [row for row in found.rows if row.get("against")]
    alone = meta_evaluate(data, scores={"m": scores["m"]}, preset=name)
    assert "no test was made: it compares metrics, and m is the only one" in alone.notes


def test_settings_of_a_test_are_those_of_the_result():
    data, scores = judged_by_two()
    found = meta_evaluate(data, scores=scores, level="item", test="auto", adjust="holm", draws=19, seed=4).result()
    assert found.settings == {"test": "perm_both", "draws": 19, "seed": 4, "adjust": "holm", "confidence": 0.95}
    plain = meta_evaluate(data, scores=scores, intervals="none").result()
    assert set(plain.settings.values()) == {None}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjust": "holm"}, "there is no p-value to adjust; name a test as well"),
        ({"system_scores": "all"}, "system_scores changes nothing here: it acts on level 'system'"),
        ({"aggregate": "mean", "level": "item"}, "aggregate changes nothing here: it acts on level 'system'"),
        ({"outliers": "mad"}, "outliers changes nothing here: it acts on level 'system'"),
        ({"common": True}, "common changes nothing here: it acts on averages over items or systems"),
        ({"undefined": "zero", "level": "system"}, "undefined changes nothing here: it acts on averages"),
        ({"draws": 9, "intervals": "none"}, "draws changes nothing here: it acts on a test or an interval that draws"),
        ({"seed": 0, "intervals": "fisher"}, "seed changes nothing here"),
        ({"compat": "realsumm"}, "compat changes nothing here: it acts on items"),
    ],
)
def test_options_that_would_change_nothing_are_refused(options, message):
    data, scores = judged_by_two()
    with pytest.raises(InputError, match=message):
        meta_evaluate(data, scores=scores, **options)


def test_draws_that_nothing_used_are_noted():
    data, scores = judged_by_two()
    found = meta_evaluate(data, scores=scores, level="system", draws=9)  # Fisher's formula
    assert "draws changed nothing: no test and no interval here draws at random" in found.notes


def test_columns_of_a_frame_are_named_for_every_verb_about_people(tmp_path):
    pandas = pytest.importorskip("pandas")
    own = [Segment(f"{s}{i}", f"{s} {'x' * i}", ("a xx",), system=s, item=str(i)) for s in "abc" for i in range(4)]
    ratings = [float(i * len(s.hypothesis) % 5) for i, s in enumerate(own)]
    data = Dataset(tuple(replace(s, human={"mark": r}) for s, r in zip(own, ratings, strict=True)))
    fields = ("id", "hypothesis", "references", "system", "item")
    frame = pandas.DataFrame({name.upper(): [getattr(s, name) for s in own] for name in fields} | {"MARK": ratings})
    columns = {"hyp": "HYPOTHESIS", "refs": "REFERENCES", "id": "ID", "system": "SYSTEM", "seg": "ITEM"}
    columns["human.mark"] = "MARK"
    assert meta_evaluate(frame, "chrf", columns=columns, exclude=["c"]).rows == (
        meta_evaluate(data, "chrf", exclude=["c"]).rows
    )
    few = {"hybrids": 20, "pool": 3}
    assert select_models(frame, "chrf", columns=columns, **few).rows == select_models(data, "chrf", **few).rows
    pairs = Suite((Pair(id="p", phenomenon="typos", better="a xx", worse="b", references=("a xxx",)),), "suite")
    mixed = [sweep(d, pairs, "chrf", "ter", [0.5], **o).rows for d, o in ((frame, {"columns": columns}), (data, {}))]
    for one, other in zip(*mixed, strict=True):
        assert {k: v for k, v in one.items() if v == v} == {k: v for k, v in other.items() if v == v}


# --- Control rows of official tables, by hand

# Two systems on three items. The sources get longer as ratings fall, so their length alone orders the items.
SEGMENTS = tuple(
    Segment(f"{system}{item}", "abc", ("x",), "s" * (item + 1), system, str(item), "de-en")
    for system in "AB"
    for item in range(3)
)
RATINGS = {"mqm": np.array([0.0, -1.0, -2.0, 0.0, -1.0, -2.0])}
TASK = Task("pearson", "segment", "none")


def held(values, higher=True):
    names = tuple(s.id for s in SEGMENTS)
    scores = Scores(Signature("m", ()), names, np.array(values, dtype=float), higher_is_better=higher)
    return JoinedScores(SEGMENTS, RATINGS, {"m": scores})


def own(low):
    return {"metric": "m", "criterion": "mqm", "stat": "pearson", "level": "segment", "group": "mean", "low": low}


@pytest.mark.parametrize(("values", "higher"), [([3, 2, 0, 3, 2, 2], True), ([-3, -2, 0, -3, -2, -2], False)])
def test_controls_by_hand(values, higher):
    rows, notes = with_controls([own(0.9), own(1.1)], held(values, higher), Protocol(tasks=(TASK,)))
    found = {row["metric"]: row for row in rows if row["group"] == "mean"}
    # -1, -2, -3 characters against 0, -1, -2
    assert found["sentinel:side=source"]["value"] == pytest.approx(1)
    assert np.isnan(found["sentinel:side=hypothesis"]["value"])  # of one length
    # the means of m by item are 3, 2, 1, which any scaling of m leaves in line with the ratings
    assert found[ITEM_MEAN]["value"] == pytest.approx(1)
    assert all(row["control"] for row in rows)
    (note,) = notes
    assert note.startswith("pearson at level segment: sentinel:")
    assert "gets 1.000 without comparing texts, which is within or above the interval of m;" in note


def test_without_sources_or_items_there_are_fewer():
    bare = tuple(Segment(s.id, s.hypothesis, system=s.system, group=s.group) for s in SEGMENTS)
    scores = Scores(Signature("m", ()), tuple(s.id for s in bare), np.arange(6.0))
    rows, _ = with_controls([], JoinedScores(bare, RATINGS, {"m": scores}), Protocol(tasks=(TASK,)))
    assert {row["metric"] for row in rows} == {"sentinel:side=hypothesis"}


def test_a_metric_without_interval_is_held_against_its_value():
    rows = [{**own(np.nan), "value": 0.9}, {**own(np.nan), "value": 1.1, "metric": "better"}]
    _, (note,) = with_controls(rows, held([3, 2, 0, 3, 2, 2]), Protocol(tasks=(TASK,)))
    assert "which is not below the value of m; such" in note


def test_controls_leave_out_the_systems_that_metrics_leave_out():
    # six systems, of which f is far off by ratings
    segments = tuple(Segment(s, "x" * (i + 1), ("x",), "s", s, "1", "de-en") for i, s in enumerate("abcdef"))
    ratings = {"mqm": np.array([1.0, 2, 3, 2.5, 1.5, 90])}
    data = JoinedScores(segments, ratings, {"m": Scores(Signature("m", ()), tuple("abcdef"), np.arange(6.0))})
    task = Task("pearson", "system")
    for outliers, n in ((None, 6), ("mad", 5)):
        rows, _ = with_controls([], data, Protocol(tasks=(task,), outliers=outliers))
        assert {row["n_used"] for row in rows if row["metric"] == "sentinel:side=hypothesis"} >= {n}


# --- Criteria with each other


def agreements(human, stat="pearson"):
    """(One, other) -> correlation of two criteria, rated for six outputs; None where nobody rated."""
    segments = tuple(
        Segment(str(i), "x", system="ab"[i // 3], item=str(i % 3), human={c: v[i] for c, v in human.items() if v[i]})
        for i in range(6)
    )
    found = meta_evaluate(Dataset(segments), scores={"m": range(6)}, criterion="all", intervals="none")
    rows = criteria_rows(found.held, stat, "segment")
    return {(row["metric"].removeprefix("human."), row["criterion"]): row["value"] for row in rows}


HUMAN = {"fluency": [1, 2, 3, 4, 5, 6], "adequacy": [2, 1, 3, 4, 6, 5], "style": [6, 5, 4, 3, 2, 1]}


def test_criteria_agree_both_ways_alike():
    values = agreements(HUMAN)
    assert len(values) == 6
    assert values == pytest.approx({(b, a): value for (a, b), value in values.items()})
    assert values["fluency", "adequacy"] == pytest.approx(np.corrcoef(HUMAN["fluency"], HUMAN["adequacy"])[0, 1])
    assert values["fluency", "style"] == pytest.approx(-1)
    assert agreements(HUMAN, "kendall_b")["fluency", "adequacy"] == pytest.approx(11 / 15)  # 2 pairs of 15 are turned


def test_segments_rated_for_both_count():
    human = {"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 9, None, None, None], "c": [None, None, None, 1, 3, 2]}
    values = agreements(human)
    assert values["a", "b"] == pytest.approx(np.corrcoef([1, 2, 3], [1, 2, 9])[0, 1])
    assert np.isnan(values["b", "c"])  # no segment is rated for both
    # the two criteria are both rated where one of them is always 3
    assert np.isnan(agreements({"a": [1, 2, 3, 4, None, None], "b": [3, 3, 3, 3, 1, 2]})["a", "b"])


def test_one_criterion_has_nothing_to_agree_with():
    with pytest.raises(InputError, match="'a' is the only criterion"):
        agreements({"a": [1, 2, 3, 4, 5, 6]})


# --- The options that the command offers are those of the library, each declared once

KEYWORDS = signature(meta_evaluate).parameters
OF_STATISTICS = [field for field in fields(MetaOptions) if field.name not in KEYWORDS]


def test_a_keyword_has_the_same_default_typed_and_in_python():
    ours = {field.name: field.default for field in fields(MetaOptions) if field.name in KEYWORDS}
    theirs = {name: KEYWORDS[name].default for name in ours}
    assert ours == {**theirs, "exclude": None}  # what is repeated is a list when it is typed, and no list otherwise
    assert len(ours) >= 14


def test_any_other_option_is_one_that_statistics_or_tests_take():
    assert [field.default for field in OF_STATISTICS if field.default] == []
    check_options(["pearson"], {field.name: None for field in OF_STATISTICS})  # None leaves it to the statistic
    with pytest.raises(InputError, match="no option 'epsilom'; did you mean 'epsilon'"):
        check_options(["pearson"], {"epsilom": None})


def test_what_is_left_out_is_left_to_preset_and_statistic():
    assert MetaOptions().given() == {}
    assert MetaOptions(stats=[], exclude=[]).given() == {}  # typed nowhere
    options = MetaOptions(level="item", power=True, draws=7)
    assert options.given() == {"level": "item", "power": True, "draws": 7}
