import pytest

pytest.importorskip("torch")

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.unrelated import measure_unrelated
from nlgauge.runtime.runtime import Runtime


def test_a_measured_baseline_is_the_mean_of_unrelated_pairs():
    texts = [
        "The cat sleeps.",
        "Prices rose again.",
        "The cat sleeps.",
        " ",
        "long " * 32,
    ]  # two usable: the pair is theirs, either way round
    rows = measure_unrelated(texts, "embedded", Runtime(), pairs=40, seed=1)
    assert sorted(rows) == list(range(7))
    both = [Segment("a", texts[0], (texts[1],)), Segment("b", texts[1], (texts[0],))]
    scores = BertScore(layer=4).score(both, Runtime())
    low, high = sorted(scores.parts["precision"])
    assert low - 1e-6 <= rows[4][0] <= high + 1e-6
    assert rows[4][2] == pytest.approx(scores.parts["f1"].mean(), abs=1e-6)  # F is the same either way round


def test_a_baseline_needs_two_different_sentences():
    with pytest.raises(InputError, match="at least two different sentences of under 32 words, found 1"):
        measure_unrelated(["one", "one", " one "], "embedded", Runtime(), pairs=5, seed=0)


def test_a_sentence_that_the_model_cannot_read_does_not_undo_the_rest(tiny_model):
    # one NaN would make the whole table NaN
    texts = ["the cat sat", "a dog lay", "\U0001f642 \U0001f642"]
    rows = measure_unrelated(texts, str(tiny_model("bert")), Runtime(), pairs=12, seed=0)
    pair = [Segment("a", *texts[:1], (texts[1],)), Segment("b", texts[1], (texts[0],))]
    f1 = BertScore(model=str(tiny_model("bert")), layer=2).score(pair, Runtime()).parts["f1"]
    assert rows[2][2] == pytest.approx(f1.mean(), abs=1e-6)  # float32
    with pytest.raises(InputError, match=r"scores none of 4 pairs of these sentences; does it read them\?"):
        measure_unrelated(["\U0001f642", "\U0001f642 \U0001f642"], str(tiny_model("bert")), Runtime(), pairs=4, seed=0)
