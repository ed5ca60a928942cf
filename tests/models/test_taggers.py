"""The network of a head that marks words, against the plain forward pass; and heads that are damaged."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import save_file

from nlgauge.core.errors import InputError
from nlgauge.models.spans import load_spans, read_words
from nlgauge.models.taggers import OF_TEXT, TENSORS, pooled_units
from nlgauge.models.wordfeatures import FEATURES
from nlgauge.runtime.runtime import Runtime

WIDTH, HIDDEN = 32, 8


@pytest.fixture(scope="session")
def tiny_spans(tiny_model, tmp_path_factory):
    """A function from changes to a head of random weights over a tiny BERT that marks words."""

    def make(drop=(), width=WIDTH, units=None, **changes):
        encoder, path = tiny_model("bert"), tmp_path_factory.mktemp("spans") / "tiny.safetensors"
        random = torch.Generator().manual_seed(5)
        shapes = dict(zip(TENSORS, [(HIDDEN, 3 * width + 1 + FEATURES), (HIDDEN,), (4, HIDDEN), (4,)], strict=True))
        tensors = {name: torch.randn(shape, generator=random) for name, shape in shapes.items() if name not in drop}
        if units is not None:  # of whole texts
            own = {"text.weight": (1, 2 * units), "text.bias": (1,)}
            tensors |= {name: torch.randn(own[name], generator=random) for name in OF_TEXT if name not in drop}
        metadata = {
            "format": "nlgauge-head",
            "version": "1",
            "kind": "spans",
            "encoder": str(encoder),
            "encoder_sha256": hashlib.sha256((encoder / "model.safetensors").read_bytes()).hexdigest(),
            "max_tokens": "32",
            **changes,
        }
        save_file(tensors, path, metadata)
        return str(path)

    return make


PAIRS = [
    (("the", "cat", "sat"), ("the", "dog", "sat", "on", "a", "mat")),
    (("snow", "fell"), ("the", "snow", "fell")),
    ((), ("the", "cat")),
    (("the", "cat"), ()),
]


def flat(judged):
    return np.concatenate([np.concatenate([one.minor, one.major, one.missing, [one.text]]) for one in judged])


def units_of(loaded, encoder):
    """The places' units by the plain forward pass, shape (places, HIDDEN), pair by pair, with the head's tensors."""
    from transformers import AutoModel

    read = read_words(loaded.tokenizer, PAIRS)
    network = AutoModel.from_pretrained(str(encoder)).double().eval()
    layers, _ = loaded.found.tensors()
    weight, bias = (layers[name].double() for name in TENSORS[:2])
    for place in range(len(PAIRS)):
        ids, types = (torch.from_numpy(row)[None] for row in read.pairs.ids(place))
        with torch.no_grad():
            states = network(input_ids=ids, token_type_ids=types)[0][0]
        own, others = states[read.places[place]], states[: read.starts[place]]
        cosines = torch.nn.functional.cosine_similarity(own[:, None], others[None], dim=2)
        mean = torch.softmax(10 * cosines, dim=1) @ others
        told = torch.from_numpy(read.features[place]).double()
        vectors = torch.cat([own, mean, (own - mean).abs(), cosines.max(dim=1).values[:, None], told], dim=1)
        yield torch.nn.functional.gelu(vectors @ weight.T + bias), layers


def test_probabilities_are_those_of_transformers(tiny_spans, tiny_model):
    loaded = load_spans(tiny_spans(), "float64", Runtime())
    for one, (units, layers) in zip(loaded.judge(PAIRS), units_of(loaded, tiny_model("bert")), strict=True):
        out, last = (layers[name].double() for name in TENSORS[2:])
        logits = units @ out.T + last
        kinds = torch.softmax(logits[:, :3], dim=1)
        np.testing.assert_allclose(one.minor, kinds[:-1, 1], atol=1e-9)
        np.testing.assert_allclose(one.major, kinds[:-1, 2], atol=1e-9)
        np.testing.assert_allclose(one.missing, torch.sigmoid(logits[:, 3]), atol=1e-9)


def test_a_text_is_judged_by_the_mean_and_the_highest_of_each_unit(tiny_spans, tiny_model):
    loaded = load_spans(tiny_spans(units=HIDDEN), "float64", Runtime())
    for one, (units, layers) in zip(loaded.judge(PAIRS), units_of(loaded, tiny_model("bert")), strict=True):
        pooled = torch.cat([units.mean(dim=0), units.max(dim=0).values])
        logit = pooled @ layers["text.weight"][0].double() + layers["text.bias"][0].double()
        assert one.text == pytest.approx(float(torch.sigmoid(logit)), abs=1e-9)


def test_a_head_without_a_layer_for_texts_takes_all_for_faulty(tiny_spans):
    assert [one.text for one in load_spans(tiny_spans(), "float32", Runtime()).judge(PAIRS)] == [1.0] * 4


def test_padding_takes_no_part_in_what_is_pooled():
    hidden, mask = torch.randn(2, 5, 3), torch.tensor([[True] * 5, [True, True, False, False, False]])
    pooled = pooled_units(hidden, mask)
    torch.testing.assert_close(pooled[0], pooled_units(hidden[0]))
    torch.testing.assert_close(pooled[1], pooled_units(hidden[1, :2]))


@pytest.mark.parametrize("budget", [1, 24, None])
def test_they_do_not_hang_on_the_batch_or_the_order(tiny_spans, budget):
    head = tiny_spans(units=HIDDEN)
    alone = np.concatenate([flat(load_spans(head, "float32", Runtime()).judge([pair])) for pair in PAIRS])
    loaded = load_spans(head, "float32", Runtime(token_budget=budget))
    # Odds reach e^36 here: a float32 of 36 is exact to 2e-6, four roundings of it to 9e-6, and a probability moves by a
    # quarter of that at most.
    near = {"rtol": 0, "atol": 2.5e-6}
    np.testing.assert_allclose(flat(loaded.judge(PAIRS)), alone, **near)
    np.testing.assert_allclose(flat(loaded.judge(PAIRS[::-1])[::-1]), alone, **near)
    np.testing.assert_allclose(flat(loaded.judge(PAIRS * 2)[4:]), alone, **near)


def test_words_beyond_the_limit_are_not_judged(tiny_spans):
    loaded = load_spans(tiny_spans(), "float32", Runtime())
    words = ("the", "cat", "sat", "on", "a", "mat") * 5
    (one,) = loaded.judge([(words, words)])
    assert 0 < one.n_read < len(words)
    assert not one.minor[one.n_read :].any()
    assert one.minor[: one.n_read].all()


def test_nothing_to_judge_loads_nothing(tiny_spans):
    loaded = load_spans(tiny_spans(), "float32", Runtime())
    assert loaded.judge([]) == []
    assert "network" not in vars(loaded)


def test_progress_counts_every_pair(tiny_spans):
    told = []
    load_spans(tiny_spans(), "float32", Runtime()).judge(PAIRS * 2, told.append)
    assert sum(told) == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drop": ("out.bias",)}, "holds no out.bias"),
        ({"width": 4}, "its layers do not fit an encoder of width 32"),
        ({"units": 5}, "its layer for whole texts does not fit 8 units"),
        ({"units": HIDDEN, "drop": ("text.bias",)}, "its layer for whole texts does not fit 8 units"),
        ({"kind": "nli"}, "is for nli, expected one for spans"),
    ],
)
def test_a_damaged_head_is_refused(tiny_spans, changes, message):
    with pytest.raises(InputError, match=message):
        load_spans(tiny_spans(**changes), "float32", Runtime()).judge(PAIRS)
