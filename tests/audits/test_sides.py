"""Both sides of every pair: each distinct text once, the pairs that are made for the metric, one phenomenon at a time
where it pools.
"""

import numpy as np
import pytest

from nlgauge.audits.sides import score_sides
from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.registry import metric
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime


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

    monkeypatch.setattr("nlgauge.audits.sides.score_segments", spy)
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
