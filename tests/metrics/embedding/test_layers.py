import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.embedding.layers import best_layer, depth_of
from nlgauge.models.locate import NAMED

TABLE = json.loads(files("nlgauge.data").joinpath("best_layers.json").read_text(encoding="utf-8"))["layers"]


@pytest.mark.parametrize(
    ("model", "depth", "layer"),
    [
        ("embedded", 6, 4),
        ("roberta-large", 24, 17),
        ("bert-base-uncased", 12, 9),
        ("FacebookAI/roberta-large", 24, 17),  # the owner is not in the table
        ("/models/roberta-large", 24, 17),
        ("google-bert/bert-base-uncased", 12, 9),
        ("microsoft/deberta-xlarge-mnli", 48, 40),
    ],
)
def test_known_models(model, depth, layer):
    assert best_layer(model, depth) == layer


@pytest.mark.parametrize(("depth", "layer"), [(12, 9), (24, 18), (6, 4), (4, 3), (3, 2), (2, 1), (1, 1), (0, 0)])
def test_an_unknown_model_is_matched_at_three_quarters_of_its_depth(depth, layer):
    # the paper found 9 of 12 for BERT base and 18 of 24 for BERT large; a model of one layer still runs it
    assert best_layer("someone/unknown", depth) == layer


@given(depth=st.integers(0, 100), model=st.sampled_from([*TABLE, "unknown"]))
def test_a_layer_is_always_one_that_the_model_has(depth, model):
    assert 0 <= best_layer(model, depth) <= depth


def test_a_folder_of_a_known_name_but_less_depth_follows_the_rule():
    assert best_layer("/distilled/roberta-large", 6) == 4


def test_the_table_is_bert_scores():
    theirs = pytest.importorskip("bert_score.utils").model2layers
    assert {name: layer for name, layer in TABLE.items() if name not in NAMED} == theirs


def test_the_depth_of_a_model_is_that_of_its_configuration(tiny_model):
    folder = tiny_model("bert")  # of three layers
    assert depth_of(str(folder)) == 3
