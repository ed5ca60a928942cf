import gzip
from collections import Counter
from math import exp, log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import quote
from nlgauge.metrics.lexical import diversity
from nlgauge.metrics.lexical.diversity import Compression, Consensus, Distinct, SelfBleu
from nlgauge.metrics.registry import embedded_metrics, on_encoder
from nlgauge.metrics.stored import check_shipped
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

texts = st.lists(st.lists(st.sampled_from("a b c d e".split()), min_size=1, max_size=9).map(" ".join), min_size=2)


def of(outputs, system=None):
    return [Segment(f"{system} {i}", text, system=system) for i, text in enumerate(outputs)]


@pytest.mark.parametrize("metric", [Distinct(), Distinct(ngram=2), SelfBleu(), Compression(), Consensus(metric="chrf")])
def test_it_keeps_the_contract_of_a_metric(metric):
    check_metric(metric)  # but for `order=given`, with which another order is another score


def test_distinct_counts_different_n_grams_of_a_system_by_hand():
    # "a b a" and "b c": 5 words, of which a, b, c differ; bigrams ab, ba, bc, all of which differ
    segments = of(["a b a", "b c"])
    one = Distinct(tokenizer="blanks").score(segments, Runtime())
    assert one.system == pytest.approx(3 / 5)
    assert one.values == pytest.approx([(1 / 2 + 1 / 2 + 1 / 2) / 3, (1 / 2 + 1) / 2])  # a and b are said twice
    assert Distinct(tokenizer="blanks", ngram=2).score(segments, Runtime()).system == 1.0


def test_real_systems_are_diverse_as_by_definition(real):
    systems = np.array([s.system for s in real])
    distinct = [Distinct(tokenizer="blanks", ngram=n).score(real, Runtime()) for n in (1, 2, 3)]
    compressed = Compression(order="given").score(real, Runtime())
    for system in sorted(set(systems)):
        mine = systems == system
        texts = [s.hypothesis for s in real if s.system == system]
        words = [text.split() for text in texts]
        for n, found in enumerate(distinct, start=1):
            every = [tuple(w[i : i + n]) for w in words for i in range(len(w) - n + 1)]
            assert found.take(mine).system == pytest.approx(len(set(every)) / len(every), abs=1e-9)
        joined = " ".join(texts).encode()
        assert compressed.take(mine).system == pytest.approx(len(joined) / len(gzip.compress(joined, 9)), abs=1e-9)
    bleu = SelfBleu(tokenizer="blanks").score(real[:100], Runtime()).values
    assert bleu == pytest.approx(self_bleu_by_definition([s.hypothesis.split() for s in real[:100]], 4), abs=1e-9)


@given(texts, st.integers(1, 3))
@example(["a", "a"], 2)
def test_distinct_of_a_system_is_types_over_tokens(outputs, ngram):
    metric = Distinct(tokenizer="blanks", ngram=ngram)
    systems = [*of(outputs, "one"), *of([*outputs[::-1], "a"], "two")]
    found = metric.score(systems, Runtime())
    for system in ("one", "two"):
        mine = np.array([s.system == system for s in systems])
        words = [s.hypothesis.split() for s in systems if s.system == system]
        every = [tuple(w[i : i + ngram]) for w in words for i in range(len(w) - ngram + 1)]
        expected = len(set(every)) / len(every) if every else np.nan  # nothing to count
        assert found.take(mine).system == pytest.approx(expected, abs=1e-12, nan_ok=True)
        too_few = [len(w) < ngram for w in words]
        assert np.isnan(found.values[mine]).tolist() == found.flags["wordless"][mine].tolist() == too_few


def self_bleu_by_definition(words, order):
    """BLEU of each text against all others, with 0.1 in the place of no match, in so many comparisons of two texts."""
    found = []
    for i, mine in enumerate(words):
        others, shares = words[:i] + words[i + 1 :], []
        for n in range(1, order + 1):
            counts = [Counter(zip(*(w[k:] for k in range(n)), strict=False)) for w in (mine, *others)]
            most = {g: max(c[g] for c in counts[1:]) for g in counts[0]}
            matched = sum(min(k, most[g]) for g, k in counts[0].items())
            shares.append((matched or 0.1) / max(counts[0].total(), 1))
        any_word = set(mine) & {word for other in others for word in other}
        closest = min(map(len, others), key=lambda n: (abs(n - len(mine)), n))
        penalty = 1.0 if len(mine) > closest else exp(1 - closest / len(mine))
        found.append(penalty * exp(sum(map(log, shares)) / order) if any_word else 0.0)
    return found


@given(texts, st.integers(1, 4))
def test_self_bleu_is_bleu_against_all_others(outputs, order):
    found = SelfBleu(tokenizer="blanks", max_ngram_order=order).score(of(outputs), Runtime())
    assert found.values == pytest.approx(self_bleu_by_definition([t.split() for t in outputs], order), abs=1e-12)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_self_bleu_is_that_of_texygen(order, pairs, tokens):
    bleu = pytest.importorskip("nltk.translate.bleu_score")
    metric = SelfBleu(max_ngram_order=order)
    segments = [Segment(s.id, s.hypothesis) for s in pairs if s.hypothesis.strip()]
    words, _ = tokens(metric, segments)
    smooth, weights = bleu.SmoothingFunction().method1, (1 / order,) * order
    expected = [
        bleu.sentence_bleu(words[:i] + words[i + 1 :], mine, weights, smoothing_function=smooth)
        for i, mine in enumerate(words)
    ]
    assert metric.score(segments, Runtime()).values == pytest.approx(expected, abs=1e-9)  # sums in another order


def test_systems_are_not_compared_with_each_other():
    alike, unlike = of(["a b c d"] * 3, "one"), of(["a b c d", "e f g h"], "two")
    found = SelfBleu().score([*alike, *unlike], Runtime())
    assert found.values.tolist() == [1, 1, 1, 0, 0]
    with pytest.raises(ng.InputError, match=r"there is only one of system 'two'"):
        ng.score(ng.Dataset((*alike, unlike[0], Segment("blank", " ", system="two"))), metrics=["self_bleu"])


def test_a_blank_output_is_the_worst_and_no_reference():
    found = SelfBleu(tokenizer="blanks").score(of(["a b c d", "", "e f g h i"]), Runtime())
    assert found.values.tolist() == [0, 1, 0]
    assert found.flags["empty"].tolist() == [False, True, False]
    kept = SelfBleu(tokenizer="unicode").score(of(["a b c d", "?!", "e f g h i"]), Runtime())
    assert (kept.values[1], kept.flags["untokenized"].tolist()) == (1, [False, True, False])


@given(texts)
def test_compression_of_a_system_is_that_of_gzip(outputs):
    for metric, order in ((Compression(), sorted(outputs)), (Compression(order="given"), outputs)):
        joined = " ".join(order).encode()
        found = metric.score(of(outputs), Runtime())
        assert found.system == pytest.approx(len(joined) / len(gzip.compress(joined, 9)), abs=1e-9)


def test_compression_holds_for_texts_beyond_the_window_of_gzip():
    rng = np.random.default_rng(0)
    outputs = [" ".join(map(str, rng.integers(0, 900, 40))) for _ in range(500)]  # some 75 KB
    joined = " ".join(outputs).encode()
    found = Compression(order="given").score(of([*outputs, " "]), Runtime())
    assert found.system == pytest.approx(len(joined) / len(gzip.compress(joined, 9)), abs=1e-9)
    assert found.flags["wordless"].tolist() == [False] * 500 + [True]
    assert np.isnan(found.values[-1])


def test_a_system_without_anything_to_count_has_no_number():
    for metric, outputs in ((Distinct(ngram=3), ["a b", "c"]), (Distinct(), ["", " "]), (Compression(), ["", " "])):
        assert np.isnan(metric.score(of(outputs), Runtime()).system)


def test_what_repeats_adds_few_bytes():
    found = Compression().score(of(["the old ferry leaves the harbour at seven"] * 9 + ["zebra quiz"]), Runtime())
    assert found.values[0] > found.values[-1]


def test_a_note_says_that_outputs_are_not_judged():
    assert [metric.notes for metric in (Distinct(), SelfBleu(), Compression())] == [(diversity._ALONE,)] * 3


def test_no_outputs_are_no_failure():
    for metric in (Distinct(), SelfBleu(), Compression()):
        assert len(metric.score([], Runtime())) == 0


# --- Consensus

OUTPUTS = {"one": ["x y", "a dog sat", "p"], "two": ["x z", "a dog sat down", "q r"], "three": ["y", "the dog", "q"]}


def consensus(outputs, metric, **given):
    (found,) = ng.score(outputs, metrics=f"consensus:metric={quote(metric)}", **given).values()
    return found


def test_consensus_by_hand_on_three_outputs():
    # token F1 of x y and x z: 2 * 1 / 4; of x y and y: 2 * 1 / 3; of x z and y: 0
    found = consensus({"one": ["x y"], "two": ["x z"], "three": ["y"]}, "token_f1")
    assert found.values == pytest.approx([(1 / 2 + 2 / 3) / 2, 1 / 4, 1 / 3], abs=1e-12)
    assert found.higher_is_better


@pytest.mark.parametrize("metric", ["chrf:word_order=2", "ter", "bertscore", "bleu"])
def test_consensus_is_a_double_loop(metric):
    found = consensus(OUTPUTS, metric)
    for place, (system, item) in enumerate(zip(found.systems, found.items, strict=True)):
        own, others = OUTPUTS[system], [texts for name, texts in OUTPUTS.items() if name != system]
        at = int(item) - 1
        each = [ng.score([own[at]], [texts[at]], metrics=metric)[metric].values[0] for texts in others]
        # float32 in batches of other shapes for the encoder; the others add in one order
        assert found.values[place] == pytest.approx(np.mean(each), abs=1e-5 if metric == "bertscore" else 1e-12)
    assert found.higher_is_better == (metric != "ter")


def test_consensus_passes_on_what_its_metric_reads():
    found = consensus({"one": ["x y"], "two": ["x y"]}, "sari", srcs=["x z"])
    alone = ng.score(["x y"], ["x y"], srcs=["x z"], metrics="sari")["sari"]
    assert found.values == pytest.approx([alone.values[0]] * 2)
    with pytest.raises(ng.InputError, match="consensus needs source; segment 'one"):
        consensus(OUTPUTS, "sari")


def test_an_output_without_another_for_its_input_has_no_consensus():
    rows = [("1", "a", "x"), ("2", "a", "x"), ("3", "b", "x")]
    segments = [Segment(number, text, system=number, item=item) for number, item, text in rows]
    found = consensus(Dataset(segments), "token_f1")
    assert found.values == pytest.approx([1, 1, np.nan], nan_ok=True)
    assert found.flags["alone"].tolist() == [False, False, True]
    with pytest.raises(ng.InputError, match="no input has two of them; score the files of several systems in one run"):
        consensus(["x", "y"], "token_f1")


def test_consensus_takes_metrics_of_references_and_its_encoder_is_theirs():
    with pytest.raises(
        ng.SpecError, match="consensus:metric is 'distinct', expected a metric that reads references, and each"
    ):
        ng.metric("consensus:metric=distinct")
    assert on_encoder("consensus:metric=bertscore", "base") == "consensus:metric=bertscore:model=base"
    assert "consensus" not in embedded_metrics()
    check_shipped("consensus:metric=chrf")
    with pytest.raises(ng.SpecError, match="stands in a file"):
        check_shipped("consensus:metric=bleurt")
