"""Both sides of every pair: each distinct text once, the pairs that are made for the metric, one phenomenon at a time
where it pools.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.audits.preference import anchors, cases_of, check_copies, distinct, preference_rows, score_sides
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.registry import metric, named
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import dependent_trials, mean_trials, wilson


def pair(key, better, worse, phenomenon="typos", **more):
    return Pair(
        id=key,
        phenomenon=phenomenon,
        better=f"x {better}",
        worse=f"x {worse}",
        references=more.pop("references", ("ref",)),
        **more,
    )


def sides(suite, metric, **options):
    return score_sides(suite, {"m": metric}, Runtime(), **options)["m"]


def test_values_stand_beside_their_pairs(told):
    found = sides(Suite((pair("a", 3, 1), pair("b", 2, 5))), told)
    assert found.better.tolist() == [3, 2]
    assert found.worse.tolist() == [1, 5]
    assert found.margin.tolist() == [2, -3]


def test_the_margin_turns_with_the_direction(told_error):
    assert sides(Suite((pair("a", 3, 1),)), told_error).margin.tolist() == [-2]


def test_each_distinct_text_is_scored_once(told):
    sides(Suite((pair("a", 3, 1), pair("b", 3, 2), pair("c", 3, 1))), told)
    assert sorted(told.calls[-1]) == ["x 1", "x 2", "x 3"]


def test_the_same_text_against_another_reference_is_another(told):
    sides(Suite((pair("a", 3, 1), pair("b", 3, 1, references=("other",)))), told)
    assert len(told.calls[-1]) == 4


def test_a_metric_with_references_gets_pairs_made_for_it(told, told_source):
    suite = Suite(
        (
            pair("r", 1, 0, setup="ref", source="s"),
            pair("s", 2, 0, setup="src", source="s"),
            pair("b", 3, 0, source="s"),
        )
    )
    assert sides(suite, told).places == (0, 2)
    assert sides(suite, told_source).places == (1, 2)


def test_a_pooled_metric_sees_one_phenomenon_at_a_time(pooled):
    found = sides(Suite((pair("a", 3, 1), pair("b", 10, 30, "negation"))), pooled)
    assert found.better.tolist() == [1, -10]
    assert np.allclose(found.better + found.worse, 0)
    assert sorted(map(len, pooled.calls)) == [2, 2]


def test_no_pair_for_a_metric_is_told_with_what_it_needs(told_source):
    with pytest.raises(InputError, match="m needs source; no pair of words has that"):
        sides(Suite((pair("a", 1, 0),), "words"), told_source)


def test_sources_may_stand_for_references(told):
    suite = Suite((pair("a", 2, 1, references=(), source="what was said"),))
    with pytest.raises(InputError, match="--references source"):
        sides(suite, told)
    assert sides(suite, told, references="source").margin.tolist() == [1]


def test_pairs_in_a_script_that_the_metric_cannot_split_are_noted():
    chinese = {"references": ("昨天他没有去学校",)}
    suite = Suite((pair("1", "a", "b", **chinese), pair("2", "今天这里下了很大的雨", "昨天"), pair("3", "a", "b")))
    found = score_sides(suite, {"m": metric("bleu")}, Runtime())["m"]
    (note,) = found.unread
    assert note.startswith("m: 1 of 3 pairs (1) look Chinese (Han): the tokenizer 13a splits words at blanks")


def test_a_pair_has_a_flag_where_either_side_has():
    suite = Suite(
        (
            Pair(id="1", phenomenon="typos", better="a b", worse="", references=("a b",)),
            Pair(id="2", phenomenon="typos", better="a b", worse="a", references=("a b",)),
            Pair(id="3", phenomenon="typos", better="a b", worse="", references=("a b",)),
        )
    )
    found = score_sides(suite, {"m": metric("chrf")}, Runtime())["m"]
    assert found.flags["empty"].tolist() == [True, False, True]  # each text is scored once, each pair counted
    assert found.counts == {"empty": 2}


def test_strict_refuses_pairs_that_a_metric_does_not_read_before_any_is_scored(told):
    chinese = pair("a", "火车晚点了两个小时", "火车没有晚点", references=("列车迟到了两小时",))
    suite = Suite((chinese,))
    with pytest.raises(InputError, match=r"bleu: 1 of 1 pairs \(a\) look Chinese .*note in place of strict takes them"):
        score_sides(suite, {"m": told, "bleu": metric("bleu")}, Runtime(), scripts="strict")
    assert told.calls == []
    noted, silent = (score_sides(suite, {"m": metric("bleu")}, Runtime(), scripts=how)["m"] for how in ("note", "off"))
    assert [len(sides.unread) for sides in (noted, silent)] == [1, 0]
    with pytest.raises(InputError, match="language is 'loud'"):
        sides(suite, told, scripts="loud")


def test_the_signature_holds_the_texts_of_frequencies():
    def pairs(*references):
        rows = enumerate(references)
        return [pair(f"{i}", "a b", "b a", "typos" if i < 2 else "negation", references=(ref,)) for i, ref in rows]

    idf = metric("bertscore:idf=true")
    suites = [Suite(tuple(one)) for one in (pairs("a b", "c d"), pairs("a b", "c e"), pairs("a b", "c d", "a e", "f"))]
    found = [score_sides(one, {"m": idf}, Runtime())["m"].signature for one in suites]
    assert len(set(found)) == 3
    assert all("|documents:sha256:" in one for one in found)


def test_metrics_of_the_same_pairs_are_asked_in_one_call_and_a_pooled_one_alone(
    told, told_error, told_source, pooled, monkeypatch
):
    asked = []

    def spy(metrics, segments, runtime):
        asked.append((*metrics,))
        return score_segments(metrics, segments, runtime)

    monkeypatch.setattr("nlgauge.audits.preference.score_segments", spy)
    suite = Suite((pair("r", 1, 0, setup="ref"), pair("s", 2, 0, setup="src", source="s"), pair("b", 3, 0, source="s")))
    metrics = {"a": told, "pooled": pooled, "source": told_source, "b": told_error}
    found = score_sides(suite, metrics, Runtime())
    assert [*found] == [*metrics]  # in the order of the metrics, whatever was asked first
    assert asked[0] == ("a", "b")
    assert ("source",) in asked
    assert {names for names in asked if "pooled" in names} == {("pooled",)}
    for spec, built in metrics.items():
        alone = score_sides(suite, {spec: built}, Runtime())[spec]
        np.testing.assert_array_equal(found[spec].margin, alone.margin)


# --- Which texts are perturbed: references of items once, or hypotheses; a limit draws some of them

TEXTS = (
    "The old farmer sold 12 horses.",
    "Maria does not like the winter.",
    "It is raining.",
    "We have seen the doctor.",
)


def data(texts=TEXTS):
    return Dataset(
        tuple(Segment(f"s{i}", f"hypothesis {i}", (t,), "a source", None, f"s{i}") for i, t in enumerate(texts)),
        "words",
    )


def test_references_are_perturbed_where_there_are_any_and_hypotheses_where_there_are_none():
    bare = Dataset(tuple(Segment(f"s{i}", t) for i, t in enumerate(TEXTS)), "words")
    assert [a.text for a in anchors(data())] == list(TEXTS)
    assert [a.text for a in anchors(data(), "hyp")] == [f"hypothesis {i}" for i in range(4)]
    assert [a.text for a in anchors(bare)] == list(TEXTS)
    with pytest.raises(InputError, match=r"^words: no segment has a reference; perturb the hypotheses \(field hyp\)$"):
        anchors(bare, "ref")


def test_one_item_of_many_systems_is_taken_once():
    one = ("It rained.", "There was rain.")
    several = Dataset(tuple(Segment(f"{system}-1", system, one, system=system, item="1") for system in "abc"), "words")
    (anchor,) = anchors(several)
    assert (anchor.text, anchor.others) == (one[0], one[1:])
    assert [a.text for a in anchors(several, "hyp")] == ["a", "b", "c"]


def test_a_limit_draws_texts_in_their_order():
    texts = [f"Number {i} is here." for i in range(50)]
    chosen = [[a.text for a in anchors(data(texts), limit=7, seed=seed)] for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0]) == 7
    assert chosen[0] == sorted(chosen[0], key=texts.index)
    assert len(anchors(data(texts), limit=99)) == 50


def test_a_limit_draws_the_same_texts_whatever_the_data_are_called_and_in_whatever_order():
    texts = [f"Number {i} is here." for i in range(50)]
    here = data(texts)
    there = Dataset(tuple(list(here)[::-1]), "../elsewhere/words.jsonl")
    drawn = [a.text for a in anchors(here, limit=7)]
    assert [a.text for a in anchors(there, limit=7)] == drawn[::-1]
    # one text more takes the place of one of these at most
    more = anchors(data([*texts, "One more."]), limit=7)
    assert len(set(drawn) - {a.text for a in more}) <= 1


def test_a_limit_counts_texts_of_one_item_apart():
    two = Dataset(tuple(Segment(f"s{i}", "x", (f"Text {i}.",), system=str(i), item=str(i % 3)) for i in range(6)))
    assert len(anchors(two, limit=4)) == 4


def test_a_case_knows_the_other_texts_and_what_its_segment_holds():
    turns = ({"speaker": "A", "text": "Hello."},)
    first, second = cases_of(
        anchors(Dataset((Segment("a", "x", ("One.", "Two."), context=turns), Segment("b", "y", ("Three.",))))),
        "builtin",
    )
    assert tuple(first.references) == ("Two.",)
    assert [turn.text for turn in first.context] == ["Hello."]
    assert set(second.pool) >= {"One."}


def test_a_name_stands_once():
    assert distinct(["typos", "negation"]) == ["typos", "negation"]
    with pytest.raises(SpecError, match="perturbation 'typos' is named twice"):
        distinct(["typos", "negation", "typos"])


# --- Preference accuracy: wins, ties and losses by hand, under every tie rule; means over phenomena; groups


def suite(*rows, **more):
    """(phenomenon, better score, worse score, group) a row."""
    return Suite(
        tuple(
            Pair(id=str(i), phenomenon=p, better=f"b {b}", worse=f"w {w}", references=(f"a b c {i}",), group=g, **more)
            for i, (p, b, w, g) in enumerate(rows)
        )
    )


def rows(made, metric, **options):
    found = preference_rows(made, score_sides(made, {"m": metric}, Runtime())["m"], **options)
    return {(r.phenomenon, r.group): r.as_row() for r in found}


def test_wins_ties_and_losses_are_counted(told):
    row = rows(suite(("typos", 2, 1, None), ("typos", 1, 1, None), ("typos", 1, 2, None), ("typos", 5, 1, None)), told)[
        "typos", None
    ]
    assert (row["n"], row["wins"], row["ties"], row["losses"]) == (4, 2, 1, 1)
    assert row["accuracy"] == 0.5
    assert (row["low"], row["high"]) == wilson(2, 4)


@pytest.mark.parametrize(("rule", "accuracy"), [("loss", 1 / 3), ("zero", 1 / 3), ("half", 0.5), ("exclude", 0.5)])
def test_tie_rules(told, rule, accuracy):
    row = rows(suite(("typos", 2, 1, None), ("typos", 1, 1, None), ("typos", 1, 2, None)), told, ties=rule)[
        "typos", None
    ]
    assert row["accuracy"] == pytest.approx(accuracy)
    assert row["ties"] == 1  # counted apart whatever the rule


def test_means_over_phenomena_are_plain_means(told):
    made = suite(
        ("typos", 2, 1, None),
        ("addition", 2, 1, None),
        ("addition", 1, 2, None),
        ("negation", 1, 2, None),
        ("own kind", 2, 1, None),
    )
    found = rows(made, told)
    assert found["mean-adequacy", None]["accuracy"] == pytest.approx((1 / 2 + 0) / 2)
    assert found["mean-fluency", None]["accuracy"] == 1
    assert found["mean-all", None]["accuracy"] == pytest.approx((1 + 1 / 2 + 0 + 1) / 4)
    assert found["mean-all", None]["n_phenomena"] == 4


def test_several_groups_have_rows_of_their_own_and_together(told):
    found = rows(suite(("typos", 2, 1, "x"), ("typos", 1, 2, "y"), ("typos", 1, 2, "y")), told)
    assert [found["typos", g]["accuracy"] for g in ("x", "y", "all")] == pytest.approx([1, 0, 1 / 3])


def test_one_group_is_not_shown_twice(told):
    assert {g for _, g in rows(suite(("typos", 2, 1, "x")), told)} == {"x"}


def test_an_undefined_score_is_lost_and_counted(told):
    row = rows(suite(("typos", "nan", 1, None), ("typos", 2, 1, None)), told)["typos", None]
    assert (row["n_undefined"], row["losses"], row["accuracy"]) == (1, 1, 0.5)


def test_all_tied_and_ties_excluded_is_undefined(told):
    row = rows(suite(("typos", 1, 1, None)), told, ties="exclude")["typos", None]
    assert math.isnan(row["accuracy"])


def test_what_should_not_change_is_won_within_the_tolerance(told):
    made = suite(("synonyms", 100, 96, None), ("synonyms", 100, 90, None), ("synonyms", 100, 104, None), expect="same")
    found = rows(made, told, tolerance=0.05)
    assert found["synonyms", None]["accuracy"] == pytest.approx(2 / 3)  # 4 % off either way is the same, 10 % is not
    assert ("mean-all", None) not in found


def test_distances_tell_passed_from_failed(told):
    made = Suite(
        (
            Pair(id="1", phenomenon="typos", better="a b c 2", worse="a x c 1", references=("a b c 2",)),
            Pair(id="2", phenomenon="typos", better="p q r 1", worse="a b c 2", references=("a b c 2",)),
            # judged by its source: how far it is from a reference says nothing of the metric
            Pair(id="3", phenomenon="typos", better="z 5", worse="z 4", references=("a",), source="s", setup="src"),
        )
    )
    row = rows(made, told)["typos", None]
    assert row["distance_passed"] == 0  # the paraphrase is the reference
    assert row["distance_failed"] == 1  # four words of four
    assert row["distance_worse"] == pytest.approx(np.mean([2 / 4, 0]))


def preference_pair(i, better="the cat sat", reference="the cat sat", **more):
    more = {"phenomenon": "negation", "worse": "the cat did not sit", **more}
    return ng.Pair(id=str(i), better=better, references=(reference,) if reference else (), **more)


def suite_of(*pairs):
    return ng.Suite(pairs, "pairs.jsonl")


def copies_in(pairs, metrics="bleu", references="own"):
    return check_copies(suite_of(*pairs), named(metrics), references)


def test_a_suite_that_cannot_be_failed_is_refused_with_the_ways_out():
    with pytest.raises(InputError) as caught:
        ng.audit(suite_of(preference_pair(1), preference_pair(2, better="the cat sat ")), "bleu")
    assert str(caught.value) == (
        "pairs.jsonl: in all 2 pairs for bleu the better text is the reference, so that no metric could fail; make"
        " pairs that can be failed: 'nlgauge perturb --field hyp', or 'nlgauge audit DATA --suite menli', which takes"
        " paraphrases"
    )


def test_pairs_of_a_checklist_are_pointed_to_that_design():
    pairs = [preference_pair(1, task="mt", criterion="adequacy")]
    with pytest.raises(InputError, match=r"use them as a checklist \(--design checklist\), or make pairs"):
        copies_in(pairs)
    assert ng.audit(suite_of(*pairs), "bleu", design="checklist").rows


def test_who_asks_for_preferences_by_name_gets_them_with_a_note():
    found = ng.audit(suite_of(preference_pair(1)), "bleu", design="preference")
    assert any(note.startswith("in 1 of 1 pairs the better text is a reference") for note in found.notes)


def test_some_copies_are_counted():
    pairs = [preference_pair(1), preference_pair(2, better="a cat sat there")]
    note = "in 1 of 2 pairs the better text is a reference, which nearly every metric prefers"
    note += ": accuracies are higher for it"
    assert copies_in(pairs) == [note]
    assert copies_in(pairs, ["bleu", "chrf"]) == [note]
    assert note in ng.audit(suite_of(*pairs), "bleu").notes


def test_a_real_suite_needs_no_word():
    assert copies_in([preference_pair(1, better="a cat sat there")]) == []


def test_pairs_that_should_score_the_same_do_not_count():
    assert copies_in([preference_pair(1, expect="same"), preference_pair(2, better="a cat sat there")]) == []


def test_a_metric_without_references_is_not_concerned():
    pairs = [preference_pair(1, source="die Katze sass", setup="any")]
    assert copies_in(pairs, "summac") == []
    with pytest.raises(InputError):
        copies_in(pairs, "bleu")


def test_a_source_in_place_of_the_reference_counts_like_one():
    copy, real = (
        preference_pair(1, source="the cat sat", reference=""),
        preference_pair(2, source="the dog", reference=""),
    )
    assert len(copies_in([copy, real], references="source")) == 1
    with pytest.raises(InputError):
        copies_in([copy], references="source")


def test_pairs_of_one_origin_count_as_fewer_trials(told):
    made = suite(("typos", 2, 1, None), ("typos", 2, 1, None), ("typos", 1, 2, None), ("typos", 1, 2, None))
    pairs = [replace(pair, cluster=origin) for pair, origin in zip(made, "aabb", strict=True)]
    row = rows(Suite(tuple(pairs)), told)["typos", None]
    assert (row["accuracy"], row["n"]) == (0.5, 4)
    trials = dependent_trials(4.0, np.array([1, 1, -1, -1]) / 8, "aabb")
    assert (row["low"], row["high"]) == pytest.approx(wilson(trials / 2, trials))
    alone = [replace(pair, cluster=origin) for pair, origin in zip(made, "abcd", strict=True)]
    assert rows(Suite(tuple(alone)), told)["typos", None]["low"] == pytest.approx(wilson(2, 4)[0])


def test_a_mean_takes_pairs_of_one_origin_together(told):
    made = suite(("typos", 2, 1, None), ("addition", 2, 1, None), ("typos", 1, 2, None), ("addition", 1, 2, None))
    plain = rows(made, told)["mean-all", None]
    pairs = [replace(pair, cluster=origin) for pair, origin in zip(made, "aabb", strict=True)]
    found = rows(Suite(tuple(pairs)), told)["mean-all", None]
    assert found["accuracy"] == plain["accuracy"] == 0.5
    # two shares of one half and two trials each: `mean_trials` is 4, and each origin moves the mean by two parts
    trials = dependent_trials(mean_trials([1, 1], [2, 2]), np.array([1, -1, 1, -1]) / 8, "abab")
    assert (found["low"], found["high"]) == pytest.approx(wilson(trials / 2, trials))
    assert found["low"] < plain["low"]


def test_pairs_of_one_text_are_of_one_origin_where_the_suite_names_none(told):
    """What pairs are held against tells where they come from: intervals are those of a suite that says so."""
    made = suite(("typos", 2, 1, None), ("typos", 2, 1, None), ("typos", 1, 2, None), ("typos", 1, 2, None))
    named_ = [replace(pair, cluster=origin) for pair, origin in zip(made, "aabb", strict=True)]
    for what in ("references", "source"):
        texts = [("a",), ("a",), ("b",), ("b",)] if what == "references" else ["a", "a", "b", "b"]
        same = [
            replace(pair, references=("r",)) if what == "references" else replace(pair, references=()) for pair in made
        ]
        same = [replace(pair, **{what: text}) for pair, text in zip(same, texts, strict=True)]
        assert [pair.origin for pair in same] == [("text", one) for one in "aabb"]
        if what == "references":
            one, other = (rows(Suite(tuple(pairs)), told)["typos", None] for pairs in (same, named_))
            assert (one["low"], one["high"]) == (other["low"], other["high"])
    assert ng.Pair(id="1", phenomenon="p", better="a", worse="b").origin == ("pair", "1")


def test_a_published_suite_has_rows_for_all_groups_together(told):
    made = replace(suite(("typos", 2, 1, "x"), ("typos", 1, 2, "y")), published="demetr")
    assert {group for _, group in rows(made, told)} == {"all"}


def test_the_exact_interval_is_an_option(told):
    # Two of two: (0.025)^(1/2) = 0.158; Wilson's lower end is 2 / (2 + 1.96^2) = 0.342.
    found = rows(suite(("typos", 2, 1, None), ("typos", 3, 1, None)), told, interval="clopper-pearson")
    assert found["typos", None]["low"] == pytest.approx(0.025**0.5)
    assert found["mean-all", None]["low"] == pytest.approx(0.025**0.5)  # of one phenomenon: of all its pairs
    made = suite(("typos", 2, 1, None), ("typos", 3, 1, None))
    outcome = ng.audit(made, {"m": told}.popitem()[1], interval="clopper-pearson")
    assert any("intervals are Clopper and Pearson's" in note for note in outcome.notes)
    with pytest.raises(InputError, match="interval is 'exact'; known: clopper-pearson, wilson"):
        ng.audit(made, told, interval="exact")


def test_a_group_of_several_that_is_named_like_all_of_them_is_refused():
    made = suite(("typos", 2, 1, "all"), ("typos", 1, 2, "de-en"))
    with pytest.raises(InputError, match="pair '0' is of group 'all', which is the name for all groups together"):
        ng.audit(made, ["chrf"])
    ng.audit(suite(("typos", 2, 1, "all")), ["chrf"])


def test_pairs_of_one_phenomenon_expect_the_same():
    # one pair that should score lower and one that should score the same: "2 of 2 won" would say nothing
    lower, same = suite(("typos", 2, 1, None), ("typos", 1, 1, None))
    with pytest.raises(InputError, match="pairs '0' and '1' are both of 'typos', but the first expects 'lower'"):
        ng.audit(Suite((lower, replace(same, expect="same"))), ["chrf"])


def test_what_compares_the_outputs_for_one_input_audits_no_pair():
    with pytest.raises(InputError, match="consensus:metric=chrf compares the outputs of several systems for one input"):
        ng.audit(suite(("typos", 2, 1, None)), ["consensus:metric=chrf"])
    with pytest.raises(InputError, match="compares the outputs of several systems for one input"):
        ng.audit(suite(("typos", 2, 1, None)), ["0.5*chrf + 0.5*consensus:metric=bleu [norm=none]"])
