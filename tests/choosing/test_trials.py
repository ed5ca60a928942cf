"""Pairs of rated outputs, worked by hand."""

import math

import numpy as np
import pytest
from tests.choosing.made import Fixed, data

from nlgauge.choosing.evidence import ASPECTS, TRIED, UNREFERENCED, seconds_each, tried
from nlgauge.choosing.trials import (
    MEAN,
    PublicSet,
    agreement,
    alike,
    apart_evidence,
    aspect_of,
    distance,
    expected_seconds,
    grid_of,
    language_of,
    looked_at,
    make_trials,
    nearest,
    profile_of,
    public_evidence,
    public_sets,
    rated_pairs,
    rating_of,
    sampled,
    settled_task,
    trust_in,
)
from nlgauge.core.errors import SpecError
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.registry import metric, on_encoder
from nlgauge.perturbations.checklist import TASKS, checklist_rows
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import Share


def outputs(n_items, systems=("a", "b")):
    return [Segment(f"{s}{i}", "text", ("ref",), None, s, str(i)) for i in range(n_items) for s in systems]


def test_outputs_for_one_input_are_compared_where_there_are_enough():
    human = np.array([1.0, 2.0] * 19 + [5.0, 3.0])
    pairs = rated_pairs(outputs(20), human)
    assert pairs.within
    assert len(pairs) == 20
    assert pairs.first.tolist() == [*range(1, 39, 2), 38]  # b, but for the last item


def test_otherwise_all_outputs_of_a_group_are():
    human = np.array([1.0, 2.0, 2.0, np.nan])
    segments = [*outputs(3, ("a",)), Segment("d", "text", ("ref",), None, "a", "d")]
    pairs = rated_pairs(segments, human)
    assert not pairs.within
    assert [*zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)] == [(1, 0), (2, 0)]  # the tie is left out
    elsewhere = [*segments[:1], Segment("x", "text", ("ref",), None, "a", "x", "another group")]
    assert len(rated_pairs(elsewhere, np.array([1.0, 2.0]))) == 0


def test_a_share_counts_ties_of_scores_as_half():
    pairs = rated_pairs(outputs(4, ("a",)), np.array([1.0, 2.0, 3.0, 4.0]))
    # of 6 pairs: (3,2) wrong, (1,0) tied, 4 right
    found = agreement(np.array([0.0, 0.0, 9.0, 8.0]), pairs)
    assert (found.value, found.n) == (pytest.approx(4.5 / 6), 4)


def test_an_undefined_score_does_not_count():
    pairs = rated_pairs(outputs(3, ("a",)), np.array([1.0, 2.0, 3.0]))
    assert agreement(np.array([1.0, np.nan, 2.0]), pairs).n == 2
    assert agreement(np.full(3, np.nan), pairs) is None


@pytest.mark.parametrize("systems", [("a",), ("a", "b", "c")])
def test_a_perfect_metric_is_always_right_and_its_opposite_never(systems):
    segments = outputs(12, systems)
    human = np.random.default_rng(0).normal(size=len(segments))
    pairs = rated_pairs(segments, human)
    assert agreement(human, pairs).value == 1
    assert agreement(-human, pairs).value == 0
    blind = agreement(np.random.default_rng(1).normal(size=len(segments)), pairs)
    assert blind.low < 0.5 < blind.high


def test_the_mean_of_criteria_is_in_deviations():
    rated = [{"a": 1, "b": 10}, {"a": 3, "b": 30}, {"a": 2}]
    dataset = Dataset(tuple(Segment(str(i), "x", human=human) for i, human in enumerate(rated)))
    low, high, middle = rating_of(dataset, MEAN)
    assert (low, middle) == (pytest.approx(-high, rel=0.2), pytest.approx(0.0))
    assert rating_of(dataset, "a").tolist() == [1, 3, 2]


# --- Whole items, and what a sample says of its texts


def sample_data(n_items, systems=("a", "b"), text="x {}"):
    return Dataset(
        tuple(Segment(f"{s}{i}", text.format(i), ("y",), None, s, str(i)) for i in range(n_items) for s in systems)
    )


def test_items_are_taken_whole():
    found = sampled(sample_data(200), limit=100)
    assert len(found.segments) == 100
    assert found.n_items == 200
    by_item = [s.item for s in found.segments]
    assert all(by_item.count(item) == 2 for item in by_item)
    assert found.notes == ("100 of 400 outputs are looked at: those of 50 of 200 items",)


def test_a_small_set_is_taken_as_it_is_and_the_seed_decides_otherwise():
    assert sampled(sample_data(10)).dataset == sample_data(10)
    one, other = (sampled(sample_data(200), 60, seed).dataset for seed in (0, 1))
    assert one != other
    assert one == sampled(sample_data(200), 60, 0).dataset


def test_of_many_systems_eight_are_compared():
    found = sampled(sample_data(10, [f"s{i}" for i in range(20)]))
    assert len(found.dataset.systems) == 8
    assert found.notes[0] == "8 of 20 systems are looked at, those with most outputs"


def test_where_some_outputs_are_rated_these_are_looked_at():
    rated = [Segment(s.id, s.hypothesis, human={"x": 1} if s.system == "a" else {}) for s in sample_data(5)]
    found = sampled(Dataset(tuple(rated)), criterion="x")
    assert [s.id for s in found.segments] == [f"a{i}" for i in range(5)]
    assert len(found.whole) == 10


def test_of_long_texts_fewer_are_looked_at():
    assert sampled(sample_data(300), 200).part == 1
    long = sampled(sample_data(300, text="word " * 119 + "{}"), 200)  # 120 words and a reference of one
    assert long.part == pytest.approx(60 / 121)
    assert len(long.segments) == 98  # 200 * 60 / 121, in whole items of two
    assert sampled(sample_data(300, text="word " * 1500), 200).part == 0.25
    # a run ends: of texts of 5,000 words, or with such sources, 450 words for each usual text are read
    assert sampled(sample_data(300, text="word " * 5000), 200).part == pytest.approx(450 / 5001)
    articles = [Segment(s.id, s.hypothesis, s.references, "word " * 4499, s.system, s.item) for s in sample_data(300)]
    assert sampled(Dataset(tuple(articles)), 200).part == pytest.approx(450 / 4502)


def test_copies_and_blanks_are_no_outputs():
    assert sampled(sample_data(3)).has_outputs
    copies = sampled(sample_data(3, text="y"))
    assert copies.are_copies
    assert not copies.has_outputs
    assert not sampled(sample_data(3, text=" ")).has_outputs


# --- Trials of the user's own texts, and the task that they are made for


def test_errors_are_put_into_outputs_and_compared_with_references():
    trials = make_trials(sampled(data(8)), None)
    assert (trials.task, trials.source, trials.notes) == ("mt", "your outputs", ())
    outputs = {s.hypothesis for s in data(8)}
    assert all(pair.better in outputs and pair.better not in pair.references for pair in trials.errors)
    assert {pair.criterion for pair in trials.errors} <= {*ASPECTS, "same"}
    kinds = [pair.criterion for pair in trials.errors]
    assert max(map(kinds.count, kinds)) <= 60
    assert all(pair.better != pair.worse for pair in trials.errors)
    assert trials.copies is not None


def test_no_error_is_what_another_system_says_of_the_item():
    rows = data(4, group="data-to-text")  # whose checklist puts other texts in the place of an output
    trials = make_trials(sampled(rows), None)
    answers = {s.item: {o.hypothesis for o in rows if o.item == s.item} | {*s.references} for s in rows}
    item = {s.hypothesis: s.item for s in rows}
    assert any(pair.phenomenon == "random_text" for pair in trials.errors)
    assert not [pair.id for pair in trials.errors if pair.worse in answers[item[pair.better]]]


def test_without_references_there_are_no_near_copies():
    trials = make_trials(sampled(data(6, references=False)), None)
    assert trials.copies is None
    assert trials.suites == (trials.errors,)


def test_the_task_is_given_or_told_by_the_data_or_translation():
    assert settled_task(data(2), "data-to-text") == ("d2t", [])
    assert settled_task(data(2, group="summarization"), None) == ("as", [])
    assert settled_task(data(2, group="zh-en"), None) == ("mt", [])
    task, (note,) = settled_task(data(2, group=None), None)
    assert (task, note.startswith("the data name no task")) == ("mt", True)
    with pytest.raises(SpecError):
        settled_task(data(2), "verse")


def test_every_error_of_the_checklists_harms_something():
    found = {aspect_of(row.template, row.criterion) for row in checklist_rows() if row.criterion != "invariance"}
    assert found == {*ASPECTS}
    assert aspect_of("change_numbers", "adequacy") == "facts"
    assert aspect_of("drop_phrases", "data_coverage") == "coverage"
    assert aspect_of("typos") == "fluency"


# --- Systems side by side, halves of items, and metrics that say the same


def segments(n, systems=("a", "b")):
    return [Segment(f"{s}{i}", "x", (), None, s, str(i)) for s in systems for i in range(n)]


def scores(spec, values, rows, **more):
    return Scores(Signature("m", {}), ids(rows), np.asarray(values, dtype=float), **more)


def test_only_items_that_all_systems_answer_are_compared():
    rows = segments(5)
    grid = grid_of([*rows, Segment("extra", "x", (), None, "a", "extra")], 6)
    assert grid.systems == ("a", "b")
    assert grid.places.tolist() == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert grid_of(segments(3), 3) is None  # too few to halve
    assert grid_of(segments(9, ("a",)), 9) is None


def test_a_clear_difference_stays_on_every_half_and_noise_does_not():
    rng, rows = np.random.default_rng(0), segments(40)
    grid = grid_of(rows, 40)
    clear = apart_evidence("m", scores("m", [*rng.normal(5, 1, 40), *rng.normal(0, 1, 40)], rows), grid)
    assert clear.value == 1
    assert clear.detail["widest"] == pytest.approx(5, abs=0.6)
    # 2.8 deviations of the mean: 2.8 * sqrt(2) / sqrt(40) = 0.63
    assert clear.detail["detectable"] == pytest.approx(0.63, abs=0.12)
    noise = rng.normal(0, 1, 40)
    level = apart_evidence("m", scores("m", [*noise, *rng.permutation(noise)], rows), grid)  # means are the same
    assert level.value < 0.5  # what one half has more, the other has less


def test_systems_with_the_same_outputs_are_at_chance():
    rows = segments(10)
    found = apart_evidence("m", scores("m", [*range(10)] * 2, rows), grid_of(rows, 10))
    assert found.value == 0.5
    assert np.isnan(found.detail["detectable"])


def test_metrics_are_alike_where_texts_and_systems_are_ordered_alike():
    rng, rows = np.random.default_rng(0), segments(20, ("a", "b", "c"))
    values = rng.normal(size=60)
    found = alike(
        {
            "one": scores("one", values, rows),
            "scaled": scores("scaled", 3 * values + 1, rows),
            "turned": scores("turned", -values, rows, higher_is_better=False),
            "another": scores("another", rng.normal(size=60), rows),
            "opposed": scores("opposed", -values, rows),
        },
        grid_of(rows, 20),
    )
    assert {name: head for name, (head, _) in found.items()} == {
        "one": "one", "scaled": "one", "turned": "one", "another": "another", "opposed": "opposed",
    }  # fmt: skip
    assert found["scaled"][1] == pytest.approx(1)


# --- The shipped table, and the sets that are nearest


def test_the_table_holds_shares_of_metrics_that_are_tried():
    assert len(public_sets()) > 10
    for one, figures in public_sets().items():
        assert one.task in TASKS
        english = one.language == "en"
        abroad = () if english else ("bertscore:value=recall", "0.3*bertscore:value=recall + 0.7*cosine[norm=none]")
        known = {*TRIED[one.task], *UNREFERENCED, "summac", *abroad}
        elsewhere = {on_encoder(name, "multilingual") for name in known}
        assert {*figures} <= ({*known, *elsewhere} if english else elsewhere)  # those for English read no other
        assert english or not {*figures} & {"rated", "gauge", "gauge-rated", "sescore", "nli-robust"}
        assert all(0 <= f.low <= f.value <= f.high <= 1 and f.n > 20 for f in figures.values())


def test_a_set_is_near_by_language_length_and_closeness():
    own = PublicSet("", "mt", "en", 19.0, 50.0)
    assert distance(own, own) == 0
    assert distance(own, PublicSet("x", "mt", "en", 39.0, 50.0)) == 1  # twice as long
    assert distance(own, PublicSet("x", "mt", "en", 19.0, 30.0)) == 1
    assert math.isinf(distance(own, PublicSet("x", "mt", "de", 19.0, 50.0)))
    assert math.isinf(distance(own, PublicSet("x", "as", "en", 19.0, 50.0)))
    assert math.isinf(distance(own, PublicSet("x", "mt", "en", 19.0, math.nan)))  # without references
    assert [one.name for one in nearest(PublicSet("", "as", "en", 60.0, 40.0))] == ["summeval"]
    assert [one.name for one in nearest(PublicSet("", "as", "en", 60.0, math.nan))] == ["qags-cnn"]
    assert [one.task for one in nearest(own)] == ["mt"] * 3
    assert nearest(PublicSet("", "qg", "en", 9.0, 50.0)) == []
    assert nearest(PublicSet("", "mt", "hi", 19.0, 50.0)) == nearest(PublicSet("", "mt", "", 19.0, 50.0)) == []
    assert {one.language for one in nearest(PublicSet("", "mt", "de", 19.0, 50.0))} == {"de"}
    left = nearest(own, leave_out=[nearest(own)[0].name])
    assert nearest(own)[0] not in left


def test_evidence_is_a_mean_of_the_sets_and_none_for_a_metric_of_ones_own():
    sets = nearest(PublicSet("", "mt", "en", 19.0, 50.0))
    found = public_evidence("chrf", sets)
    values = [public_sets()[one]["chrf"].value for one in sets]
    assert min(values) < found.value < max(values)
    assert found.low < found.value < found.high
    assert public_evidence("mine", sets) is None
    assert public_evidence("chrf", []) is None


def test_a_figure_is_of_one_encoder_alone():
    sets = nearest(PublicSet("", "mt", "en", 19.0, 50.0))
    value = {name: public_evidence(name, sets).value for name in ("bertscore", "bertscore:model=multilingual")}
    assert public_evidence("bertscore", sets, encoder="multilingual").value == value["bertscore:model=multilingual"]
    assert value["bertscore"] != value["bertscore:model=multilingual"]
    assert public_evidence("bertscore", sets, encoder="base") is None
    assert public_evidence("rated", sets, encoder="base") is None
    # what stands on no encoder, and a head that stays with its own
    assert public_evidence("chrf", sets, encoder="base").value == public_evidence("chrf", sets).value
    assert public_evidence("rated", sets, encoder="multilingual").value == public_evidence("rated", sets).value
    assert public_evidence("a-metric-of-mine", sets, encoder="multilingual") is None


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["It rains in the north and it is cold.", "The train is late.", "Leeds"], "en"),
        (["Es regnet im Norden und es ist kalt.", "Der Zug hat Verspätung."], "de"),
        (["今天北京下了一场大雨", "他每天早上去市场买菜"], "zh"),
        (
            ["It rains in the north and it is cold.", "Es regnet im Norden und es ist kalt.", "Il pleut dans le nord"],
            "",
        ),
        (["", " "], ""),
        ([], ""),
    ],
)
def test_the_language_is_that_of_half_of_the_texts(texts, code):
    assert language_of(texts) == code
    assert language_of(texts[::-1]) == code


@pytest.fixture
def made_sets(monkeypatch):
    """Two sets of two metrics, whose errors are .01 and .03: the half of an interval is 1.96 errors."""
    near, far = (PublicSet(name, "mt", "en", 19.0, 50.0) for name in ("near", "far"))
    table = {
        one: {m: Share(value, value - 1.959964 * error, value + 1.959964 * error, 99) for m, value in figures.items()}
        for one, error, figures in ((near, 0.01, {"a": 0.6, "b": 0.5}), (far, 0.03, {"a": 0.5, "b": 0.6}))
    }
    monkeypatch.setattr("nlgauge.choosing.trials.public_sets", lambda: table)
    return near, far


def test_a_set_with_a_narrow_interval_weighs_more(made_sets):
    # variances with that between sets: .01^2 + .005^2 = .000125 and .03^2 + .005^2 = .000925, so near has .88095
    found = public_evidence("a", made_sets)
    assert found.value == pytest.approx(0.88095 * 0.6 + 0.11905 * 0.5, abs=1e-4)
    error = math.sqrt(0.88095**2 * 0.000125 + 0.11905**2 * 0.000925)
    assert found.high - found.value == pytest.approx(1.96 * error, abs=1e-4)


def test_figures_with_wide_intervals_count_less(made_sets):
    near, far = made_sets
    # what two metrics do not err by together is .42 of the variance; metrics differ by a deviation of .014
    assert trust_in([near]) == pytest.approx(0.014**2 / (0.014**2 + 0.42 * 0.01**2 + 0.005**2))
    assert trust_in([far]) == pytest.approx(0.014**2 / (0.014**2 + 0.42 * 0.03**2 + 0.005**2))
    assert trust_in([near, far]) > trust_in([near]) > trust_in([far]) > trust_in([]) == 0.0


def test_a_metric_that_reads_sources_looks_at_a_bounded_number_of_words():
    long = "word " * 9_000
    pairs = [
        Pair(id=str(i), phenomenon="negation", better="It rains.", worse=f"It does not rain {i}.", source=long)
        for i in range(40)
    ]
    suite = Suite(tuple(pairs), "made")
    kept = looked_at(suite, metric("supert"))
    # 9,002 words of the better text, which all share, and 9,005 of each worse one: 10 of these hold 99,052
    assert len(kept) == 10
    assert kept == sorted(kept)
    assert looked_at(suite, metric("chrf")) == [*range(40)]
    assert looked_at(Suite(tuple(pairs[:1]), "made"), metric("supert")) == [0]  # one at least


def test_of_the_longest_texts_one_item_is_looked_at():
    rows = [Segment(f"{i}", "It rains.", ("It rains.",), "word " * 200_000, None, str(i)) for i in range(3)]
    assert len(sampled(Dataset(rows, "long")).segments) == 1


def test_the_profile_of_texts():
    own = profile_of(sampled(data(6)), "mt", Runtime())
    assert own.language == "en"
    assert 5 < own.words < 15
    assert 0 < own.chrf < 100
    assert math.isnan(profile_of(sampled(data(6, references=False)), "mt", Runtime()).chrf)


def test_metrics_that_are_tried_exist():
    for name in {name for names in TRIED.values() for name in names} | {*UNREFERENCED}:
        metric(name)


# --- How long a choice will take


def test_what_is_not_slow_is_timed_in_a_batch(monkeypatch):
    """Four outputs alone may take fifty times as long each as in a batch of 24, on a busy machine with two threads."""
    sizes, ticks = [], iter(range(10**6))
    monkeypatch.setattr(
        "nlgauge.choosing.evidence.score_segments", lambda metrics, segments, runtime: sizes.append(len(segments))
    )
    monkeypatch.setattr("nlgauge.choosing.evidence.perf_counter", lambda: next(ticks))  # a second between two looks
    assert seconds_each(metric("chrf"), data(12).segments, Runtime()) == pytest.approx(1 / 24)
    assert sizes == [2, 4, 24]
    sizes.clear()
    monkeypatch.setattr("nlgauge.choosing.evidence.perf_counter", lambda: 9 * next(ticks))
    assert seconds_each(metric("chrf"), data(12).segments, Runtime()) == pytest.approx(
        9 / 4
    )  # a judge is asked no more
    assert sizes == [2, 4]


def test_every_metric_that_can_score_has_an_expected_time():
    found = expected_seconds(data(4), ["chrf", "bleu", "supert"])
    assert [*found] == ["chrf", "bleu"]
    assert all(seconds > 0 for seconds in found.values())


def test_what_is_tried_fits_the_data():
    english = Segment("1", "It rains in the north and it is cold.", ("It rains.",), "The north of the land has rain.")
    german = Segment(
        "1", "It rains in the north and it is cold.", ("It rains.",), "Im Norden ist es kalt und es regnet."
    )
    assert "faithful" in tried("as", [english])
    assert "faithful" not in tried("as", [german])
    assert "parent" not in tried("d2t", [english])  # no table
    assert tried("mt", [Segment("1", "It rains in the north.")]) == []
    assert isinstance(Fixed(), Fixed)
