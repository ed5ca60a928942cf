"""Where the families differ: which models are read, the names of their tensors, and distances of MPNet."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.models.packing.families import FAMILIES, buckets, distance_parts, is_read

BERT = {"model_type": "bert", "hidden_size": 8}
DEBERTA = {
    "model_type": "deberta-v2",
    "hidden_size": 8,
    "num_attention_heads": 2,
    "relative_attention": True,
    "pos_att_type": "p2c|c2p",
}


def test_buckets_by_hand():
    found = buckets(140)
    of = {distance: int(found[140 + distance]) for distance in range(-140, 141)}
    assert [of[-n] for n in range(9)] == [0, 1, 2, 3, 4, 5, 6, 7, 8]  # before: one each below 8
    assert [of[n] for n in range(1, 9)] == [17, 18, 19, 20, 21, 22, 23, 24]  # after: the upper half
    # borders at 8 * 2 ** (k / 2): 11.3, 16, 22.6, 32, 45.3, 64, 90.5; beyond all share the last
    borders = {11: 8, 12: 9, 15: 9, 16: 10, 22: 10, 23: 11, 31: 11, 32: 12, 45: 12, 46: 13, 63: 13, 64: 14, 90: 14}
    assert {n: of[-n] for n in borders} == borders
    assert (of[-91], of[-128], of[-140], of[140]) == (15, 15, 15, 31)


def test_buckets_are_those_of_transformers():
    torch = pytest.importorskip("torch")
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    distances = np.arange(-600, 601)
    theirs = MPNetEncoder.relative_position_bucket(torch.from_numpy(distances), num_buckets=32)
    differing = distances[theirs.numpy() != buckets(600)]
    # at a power of two their logarithm stands on the border, where float32 may fall to either side
    assert set(np.abs(differing)) <= {16, 32, 64, 128}


@pytest.mark.parametrize("kind", [kind for kind in FAMILIES if not kind.startswith("deberta")])
def test_families_are_read(kind):
    assert is_read({**BERT, "model_type": kind})


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "deberta"},
        {"model_type": "deberta", "pos_att_type": ["c2p"], "type_vocab_size": 2, "position_biased_input": False},
        {"model_type": "deberta-v2"},
        {"model_type": "deberta-v2", "position_buckets": 256, "share_att_key": True, "norm_rel_ebd": "layer_norm"},
        {"model_type": "deberta-v2", "conv_kernel_size": 3, "conv_act": "gelu", "attention_head_size": 4},
    ],
)
def test_published_debertas_are_read(config):
    assert is_read({**DEBERTA, **config})


@pytest.mark.parametrize(
    "more",
    [
        {"relative_attention": False},
        {"pos_att_type": None},
        {"pos_att_type": "c2p|p2p"},
        {"pos_att_type": ["c2p", "c2p"]},
        {"talking_head": True},
        {"type_vocab_size": 1},
        {"embedding_size": 4},
        {"hidden_act": "relu"},
        {"max_relative_positions": "many", "max_position_embeddings": "many"},
        {"position_buckets": 33},
        {"position_buckets": 2},
        {"position_buckets": 64, "max_relative_positions": 33},
        {"position_buckets": "many"},
        {"conv_kernel_size": 2},
        {"conv_kernel_size": 3, "conv_groups": 2},
        {"conv_kernel_size": 3, "conv_act": "relu"},
        {"attention_head_size": 8},
    ],
)
def test_other_debertas_stay_with_transformers(more):
    assert not is_read({**DEBERTA, **more})


def test_what_a_deberta_has_is_its_own_choice():
    first, second = FAMILIES["deberta"], FAMILIES["deberta-v2"]
    assert first.tables({}) == (True, False)
    assert second.tables({"position_biased_input": False, "type_vocab_size": 2}) == (False, True)
    assert FAMILIES["bert"].tables({}) == (True, True)
    assert second.convolves({"conv_kernel_size": 3})
    assert not first.convolves({"conv_kernel_size": 3})


@pytest.mark.parametrize(
    "more",
    [
        {"model_type": "electra"},
        {"hidden_act": "gelu_new"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
        {"type_vocab_size": 0},
        {"embedding_size": 4},
        {"model_type": "mpnet", "relative_attention_num_buckets": 64},
    ],
)
def test_what_is_seldom_stays_with_transformers(more):
    assert not is_read({**BERT, **more})


def test_names():
    assert FAMILIES["bert"].named("attention.self.query.weight") == "attention.self.query.weight"
    assert FAMILIES["mpnet"].named("attention.self.query.weight") == "attention.attn.q.weight"
    assert FAMILIES["mpnet"].named("attention.output.LayerNorm.bias") == "attention.LayerNorm.bias"
    assert FAMILIES["mpnet"].named("intermediate.dense.bias") == "intermediate.dense.bias"


@pytest.mark.parametrize("odd", [None, 5, 2.5, "x", [], ["c2p", 1], [["c2p"]], {"c2p": 1}, True])
@pytest.mark.parametrize(
    "name",
    [
        "pos_att_type",
        "max_relative_positions",
        "position_buckets",
        "attention_head_size",
        "conv_kernel_size",
        "conv_act",
    ],
)
def test_a_configuration_of_other_types_is_no_fault_of_ours(name, odd):
    """It stays with transformers, which says what it expects."""
    config = {**DEBERTA, name: odd}
    assert is_read(config) in (True, False)
    assert all(isinstance(part, str) for part in distance_parts(config))
