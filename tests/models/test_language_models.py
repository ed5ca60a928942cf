"""Masked language models as networks.

Our forward pass and transformers' agree, whole vocabulary, whoever shares the batch.
"""

import numpy as np
import pytest
from tests.models.conftest import changed

from nlgauge.core.errors import InputError
from nlgauge.models import language_models
from nlgauge.models.generation import CausalRows, paired_rows
from nlgauge.models.heads import find_head
from nlgauge.models.language_models import HubMasked, PackedMasked, headed_mask, masked_network
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer

torch = pytest.importorskip("torch")


CPU = torch.device("cpu")
IDS = [np.array(row, dtype=np.int64) for row in ([2, 4, 3], [2, 5, 4, 3], [2, 4, 7, 3], [2, 6, 4, 8, 9, 3])]
PLACES = [1, 2, 1, 2]


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
def test_the_packed_pass_is_transformers_own(tiny_masked, kind):
    files = locate(str(tiny_masked(kind)))
    packed = masked_network(files, torch.float32, CPU)
    assert isinstance(packed, PackedMasked)
    with torch.inference_mode():
        ours, theirs = packed.at(IDS, PLACES), HubMasked(files, torch.float32, CPU).at(IDS, PLACES)
    assert torch.allclose(ours, theirs, atol=1e-4)  # float32, sums in another order
    assert torch.allclose(ours.exp().sum(1), torch.ones(len(IDS)), atol=1e-5)


@pytest.mark.parametrize("kind", ["distilbert", "electra", "albert", "mpnet", "deberta-v2"])
def test_only_masks_are_held_against_the_vocabulary(tiny_masked, kind):
    network = HubMasked(locate(str(tiny_masked(kind))), torch.float32, CPU)
    seen = []
    network.model.get_output_embeddings().register_forward_hook(
        lambda module, given, out: seen.append(tuple(given[0].shape[:2]))
    )
    with torch.inference_mode():
        network.at(IDS, PLACES)
    assert seen == [(1, 1), (2, 1), (1, 1)]  # three lengths, one place of each sequence


def test_a_mask_does_not_depend_on_how_many_there_are(tiny_masked, monkeypatch):
    packed = masked_network(locate(str(tiny_masked("bert"))), torch.float32, CPU)
    with torch.inference_mode():
        together = packed.at(IDS, PLACES)
        monkeypatch.setattr(language_models, "_ROWS", 3)  # two blocks, the last filled up
        assert torch.allclose(packed.at(IDS, PLACES), together, atol=1e-5)
        alone = torch.cat([packed.at([ids], [place]) for ids, place in zip(IDS, PLACES, strict=True)])
    assert torch.allclose(alone, together, atol=1e-5)


def test_word_vectors_of_their_own_go_through_transformers(tiny_masked, tmp_path):
    folder = changed(tiny_masked("bert"), tmp_path / "untied", {"tie_word_embeddings": False})
    with pytest.raises(
        InputError, match=r"the weights hold no .*decoder"
    ):  # tied ones were saved: there are no others to load
        masked_network(locate(str(folder)), torch.float32, CPU)


def _head(tiny_head, **options):
    return find_head(str(tiny_head(kind="infill", **options)), "infill")


def test_a_head_that_lacks_a_part_is_refused(tiny_head):
    with pytest.raises(InputError, match=r"holds no dense\.weight"):
        headed_mask(_head(tiny_head), torch.float32, CPU)


# --- Log-probabilities of pieces, against the loss that transformers computes of one pair at a time

CLOSE = 1e-5  # sums of float32 in another order
PAIRS = [
    ("the cat sat on the mat", "a cat lay on the rug"),
    ("the cat sat on the mat", "rain"),
    ("rain fell", "heavy rain fell today"),
    ("rain fell today", "not good"),
]


@pytest.mark.parametrize("kind", ["bart", "mbart", "t5"])
def test_an_encoder_decoder_says_of_a_text_what_its_loss_says(tiny_denoiser, kind):
    from transformers import AutoModelForSeq2SeqLM

    from nlgauge.models.language_models import PairedNetwork

    folder = tiny_denoiser(kind)
    reader = TextTokenizer(locate(str(folder)), space=False)
    rows = paired_rows(PAIRS, reader, reader)
    network = PairedNetwork(locate(str(folder)), torch.float32, torch.device("cpu"))
    plain = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    plain.config.decoder_start_token_id = plain.generation_config.decoder_start_token_id or 2
    with torch.inference_mode():
        jobs = network.jobs(rows, 1000)
        assert sorted(i for job in jobs for i in job) == [0, 1, 2, 3]
        assert [len({len(rows[i].given) for i in job}) for job in jobs] == [1] * len(jobs)
        found = {
            int(i): values
            for job in jobs
            for i, values in zip(job, network.log_probabilities([rows[j] for j in job], 1000), strict=True)
        }
        for i, row in enumerate(rows):
            given, labels = (torch.from_numpy(ids)[None] for ids in (row.given, row.text))
            assert found[i].shape == row.text.shape
            assert found[i].mean() == pytest.approx(-plain(input_ids=given, labels=labels).loss.item(), abs=CLOSE)


def test_what_is_given_is_read_once(tiny_denoiser):
    from nlgauge.models.language_models import PairedNetwork

    reader = TextTokenizer(locate(str(tiny_denoiser("bart"))), space=False)
    rows = paired_rows(PAIRS[:2] * 3, reader, reader)
    network = PairedNetwork(locate(str(tiny_denoiser("bart"))), torch.float32, torch.device("cpu"))
    read = []
    network.model.get_encoder().register_forward_pre_hook(
        lambda module, args, named: read.append(len(named["input_ids"])), with_kwargs=True
    )
    (job,) = network.jobs(rows, 1)
    with torch.inference_mode():
        network.log_probabilities([rows[i] for i in job], 1)
    assert read == [1]


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_causal_model_says_of_a_text_what_its_loss_says(tiny_causal, kind):
    from transformers import AutoModelForCausalLM

    from nlgauge.models.language_models import CausalNetwork

    folder = tiny_causal(kind)
    rows = CausalRows(locate(str(folder)), None).rows([*PAIRS, (None, "the cat sat")])
    network = CausalNetwork(locate(str(folder)), torch.float32, torch.device("cpu"))
    plain = AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        found = network.log_probabilities(rows, 1000)  # of five lengths, filled up on the right
        for row, values in zip(rows, found, strict=True):
            ids = torch.from_numpy(np.concatenate([row.given, row.text]))[None]
            labels = ids.clone()
            labels[:, : len(row.given)] = -100  # transformers leaves these out of its loss
            assert values.shape == row.text.shape
            assert values.mean() == pytest.approx(-plain(input_ids=ids, labels=labels).loss.item(), abs=CLOSE)


def test_half_precision_is_added_up_in_float32(tiny_causal):
    from nlgauge.models.language_models import CausalNetwork

    folder = tiny_causal("gpt2")
    rows = CausalRows(locate(str(folder)), None).rows(PAIRS)
    with torch.inference_mode():
        half, whole = (
            CausalNetwork(locate(str(folder)), kind, torch.device("cpu")).log_probabilities(rows, 1000)
            for kind in (torch.bfloat16, torch.float32)
        )
    for one, other in zip(half, whole, strict=True):
        assert one == pytest.approx(other, abs=0.5)
        assert one.dtype == np.float64
