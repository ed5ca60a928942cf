"""RUBER: both numbers worked by hand with models that say what they are told, and pooling in plain loops."""

import math

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned import ruber
from nlgauge.metrics.learned.ruber import Ruber
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.metric import SEGMENTS

pytest.importorskip("torch")

RELATED = "hyp,src,hyp*src,|hyp-src|"
QUERY = ({"speaker": "A", "text": "Do you like snow?"}, {"speaker": "B", "text": "Why?"})


@pytest.fixture
def told(monkeypatch, tiny_regressor):
    """A function from the cosine and the relatedness of each response to a RUBER that is told them, and its queries."""

    def make(cosines, related, **options):
        metric = Ruber(model=str(tiny_regressor(features=RELATED, low="0", high="1")), **options)
        queries = []

        def say(parts, segments, runtime):
            queries.extend([s.source for s in segments] for _ in parts)
            empty = np.array([not s.hypothesis.strip() for s in segments], dtype=bool)
            names = ("truncated", "unweighted", "unknown", "nonfinite")
            flags = {"empty": empty, **{flag: np.zeros(len(segments), dtype=bool) for flag in names}}
            values = {"referenced": cosines, "unreferenced": related}
            return {
                name: Scores(signature_of(part), ids(segments), np.array(values[name], dtype=np.float64), flags=flags)
                for name, part in parts.items()
            }

        monkeypatch.setattr(ruber, "score_segments", say)
        return metric, queries

    return make


def responses(*texts):
    return [Segment(str(i), text, ("It is white.",), context=QUERY) for i, text in enumerate(texts)]


# Cosines 0, 0.5 and 1 become 0, 0.5 and 1; relatedness 0.25, 0.75 and 0.5 becomes 0, 1 and 0.5.
@pytest.mark.parametrize(
    ("mix", "values"),
    [
        ("min", [0.0, 0.5, 0.5]),
        ("max", [0.0, 1.0, 1.0]),
        ("mean", [0.0, 0.75, 0.75]),
        ("geometric", [0.0, math.sqrt(0.5), math.sqrt(0.5)]),
    ],
)
def test_both_are_scaled_over_the_call_and_mixed(told, mix, values):
    metric, queries = told([0.0, 0.5, 1.0], [0.25, 0.75, 0.5], mix=mix)
    assert metric.pooled
    found = metric.score(responses("a", "b", "c"), Runtime())
    assert found.values == pytest.approx(values)
    assert found.parts["referenced"].tolist() == [0.0, 0.5, 1.0]
    assert found.parts["unreferenced"].tolist() == [0.25, 0.75, 0.5]
    assert queries[0] == ["Why?"] * 3  # the last turn


def test_without_a_pool_the_numbers_keep_their_own_scales(told):
    # (1 + cosine) / 2; and relatedness between the 0 and 1 of training
    metric, queries = told([0.0, 0.5, -1.0], [0.25, 1.5, 0.5], norm="none", mix="mean", turns=2)
    assert not metric.pooled
    assert metric.score(responses("a", "b", "c"), Runtime()).values == pytest.approx([0.375, 0.875, 0.25])
    assert queries[0] == ["Do you like snow? Why?"] * 3


def test_a_blank_side_gets_the_worst_value_and_does_not_count_in_the_scale(told):
    metric, _ = told([-1.0, 0.5, 1.0], [0.0, 0.75, 0.5], mix="max")
    found = metric.score(responses(" ", "b", "c"), Runtime())
    assert found.values.tolist() == [0.0, 1.0, 1.0]
    assert found.flags["empty"].tolist() == [True, False, False]
    metric, _ = told([-1.0], [0.0])
    assert metric.score(responses(""), Runtime()).values.tolist() == [0.0]
    metric, _ = told([0.5, 0.5], [0.25, 0.75])
    with pytest.raises(InputError, match=r"^ruber's referenced part is the same for all 2 segments of the call"):
        metric.score(responses("a", "b"), Runtime())


@pytest.mark.parametrize("pooling", ["max-min", "mean", "all"])
def test_the_vector_of_a_text_in_plain_loops(tiny_model, tiny_regressor, pooling):
    from transformers import AutoModel, AutoTokenizer

    folder = str(tiny_model("bert"))
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)

    def pooled(text):
        rows = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 1:-1].tolist()
        columns = list(zip(*rows, strict=True))
        highest, lowest = [max(c) for c in columns], [min(c) for c in columns]
        means = [sum(c) / len(c) for c in columns]
        return {"max-min": highest + lowest, "mean": means, "all": highest + lowest + means}[pooling]

    texts = "the cat sat on the mat", "a dog lay on the rug today"
    first, second = map(pooled, texts)
    product = sum(a * b for a, b in zip(first, second, strict=True))
    expected = product / math.sqrt(sum(a * a for a in first)) / math.sqrt(sum(b * b for b in second))
    metric = Ruber(
        model=str(tiny_regressor(features=RELATED)), encoder=folder, pooling=pooling, norm="none", anchor="source"
    )
    segment = Segment("s", texts[0], (texts[1],), source="rain fell")
    assert metric.score([segment], Runtime(device="cpu")).parts["referenced"] == pytest.approx([expected], abs=1e-6)


def test_relatedness_is_what_the_scorer_says_as_a_regressor(tiny_regressor, tiny_model):
    model = str(tiny_regressor(features=RELATED))
    segments = [Segment("s", "the cat sat", ("a dog",), source="heavy rain fell")]
    metric = Ruber(model=model, encoder=str(tiny_model("bert")), norm="none", anchor="source")
    alone = ng.metric("regressor", model=model).score(segments, Runtime(device="cpu"))
    found = metric.score(segments, Runtime(device="cpu"))
    assert found.parts["unreferenced"] == pytest.approx(alone.values, abs=1e-6)  # float32
    assert set(metric.facts(Runtime())) >= {"weights", "encoder_weights", "head"}


@pytest.mark.parametrize("options", [{"norm": "none", "mix": "mean"}, {"anchor": "source", "turns": 1}])
def test_ruber_keeps_the_contract_of_a_metric(tiny_regressor, tiny_model, options):
    model = str(tiny_regressor(features=RELATED, low="0", high="1"))
    metric = Ruber(model=model, encoder=str(tiny_model("bert")), **options)
    check_metric(metric, SEGMENTS[:8], Runtime(device="cpu"), tolerance=1e-6, alternatives={"layer": 1})


def test_what_is_no_scorer_of_replies_is_refused(tiny_regressor):
    with pytest.raises(
        InputError, match=r"^ruber: .* reads hyp, ref, expected hyp, src: a scorer of 'nlgauge train ruber'$"
    ):
        Ruber(model=str(tiny_regressor()))
    with pytest.raises(SpecError, match="ruber needs the option 'model'"):
        ng.metric("ruber")
    scorer = str(tiny_regressor(features=RELATED))
    with pytest.raises(
        InputError, match=r"^ruber needs context; .* has none; with the query as the source, use anchor"
    ):
        Ruber(model=scorer).score([Segment("s", "a", ("b",), source="c")], Runtime())


@pytest.mark.parametrize("options", [{"encoder": "absent"}, {"layer": 1}])
def test_options_of_encoders_are_refused_beside_word_vectors(tiny_regressor, tmp_path, options):
    (tmp_path / "v.txt").write_text("rain 1 0\n")
    with pytest.raises(SpecError, match=rf"^ruber:{next(iter(options))} is of encoders and changes nothing beside"):
        Ruber(model=str(tiny_regressor(features=RELATED)), vectors=str(tmp_path / "v.txt"), **options)


def test_the_signature_tells_the_setups_of_both_models(tiny_regressor, tiny_model):
    metric = Ruber(model=str(tiny_regressor(features=RELATED)), encoder=str(tiny_model("roberta")))
    facts = metric.facts(Runtime(device="cpu"))
    assert facts["encoder_setup"] != facts["setup"]
