"""Networks that read pairs: features by hand, padding without effect, dropout only where asked."""

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

import torch

from nlgauge.core.errors import InputError
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.locate import locate
from nlgauge.training.classifier import batch_inputs, head_network, probabilities, sequence_network
from nlgauge.training.data import LabelledPair, encode_pairs

PAIRS = [
    LabelledPair("the cat sat on the mat", "a cat", 0),
    LabelledPair("rain", "not snow today", 1),
    LabelledPair("a dog", "a dog fell", 2),
]
CPU = torch.device("cpu")


@pytest.fixture
def files(tiny_model):
    return locate(str(tiny_model("bert")))


@pytest.fixture
def pairs(files):
    return encode_pairs(PAIRS, PairTokenizer(files, 40))


def test_the_features_are_the_first_vector_and_the_mean_of_all(files, pairs):
    network = head_network(files, 2, 4.0, 0.0, 0, False).eval()
    with torch.no_grad():
        logits = network(**batch_inputs(pairs, [0, 1], 0, CPU))
        for row in (0, 1):
            states = network.encoder(**batch_inputs(pairs, [row], 0, CPU))[0][0]  # alone, without padding
            features = torch.cat([states[0], states.mean(0)])
            # one sum over padded and one over bare rows, in float32
            assert torch.allclose(logits[row], network.classifier(features), atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "distilbert", "xlnet", "t5, bytes"])
def test_a_pair_is_judged_alone_as_among_others(tiny_model, kind):
    files = locate(str(tiny_model(kind)))
    pairs = encode_pairs(PAIRS, PairTokenizer(files, 40))
    network = sequence_network(files, "lora", 2, 4.0, 0.1, 0, False)
    pad = files.config.get("pad_token_id") or 0
    together = probabilities(network, pairs, pad, "float32")
    assert together.sum(axis=1) == pytest.approx(np.ones(3))
    for i, pair in enumerate(PAIRS):
        alone = probabilities(network, encode_pairs([pair], PairTokenizer(files, 40)), pad, "float32")[0]
        assert alone == pytest.approx(together[i], abs=1e-5)  # float32 sums of other lengths
    assert network.training  # as it was


def test_a_batch_is_padded_to_its_longest_pair(pairs):
    inputs = batch_inputs(pairs, [1, 2], 9, CPU)
    assert inputs["input_ids"].shape == (
        2,
        8,
    )  # [CLS] rain [SEP] not snow today [SEP], and one more in [CLS] a dog [SEP] a dog fell [SEP]
    assert inputs["input_ids"][:, -1].tolist() == [9, 3]
    assert inputs["attention_mask"].tolist() == [[1] * 7 + [0], [1] * 8]
    assert inputs["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1]]


def test_dropout_acts_in_training_only(files, pairs):
    network = sequence_network(files, "full", 2, 4.0, 0.5, 0, False).train()
    inputs = batch_inputs(pairs, [0], 0, CPU)
    assert not torch.equal(network(**inputs), network(**inputs))
    network.eval()
    assert torch.equal(network(**inputs), network(**inputs))


def test_new_weights_are_made_by_the_seed(files):
    first, same, other = (head_network(files, 2, 4.0, 0.0, seed, False).classifier.weight for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_what_is_frozen_may_be_kept_narrow(files):
    network = head_network(files, 2, 4.0, 0.0, 0, True)
    assert {p.dtype for p in network.parameters() if p.requires_grad} == {torch.float32}
    assert {p.dtype for p in network.parameters() if not p.requires_grad} == {torch.bfloat16}


def test_a_model_that_reads_no_batch_is_refused(tiny_model):
    with pytest.raises(InputError, match=r"has no piece for padding, which a batch needs; name one as pad_token_id"):
        sequence_network(locate(str(tiny_model("gpt2"))), "full", 2, 4.0, 0.0, 0, False)
