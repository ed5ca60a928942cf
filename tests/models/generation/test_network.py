"""Log-probabilities of pieces, against the loss that transformers computes of one pair at a time."""

import numpy as np
import pytest

from nlgauge.models.generation.files import locate_generator
from nlgauge.models.generation.rows import CausalRows, PairedRows
from nlgauge.models.locate import locate

torch = pytest.importorskip("torch")
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

    from nlgauge.models.generation.network import PairedNetwork

    folder = tiny_denoiser(kind)
    reader = PairedRows(locate_generator(str(folder)), None, None)
    rows = reader.rows(PAIRS, reader)
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
    from nlgauge.models.generation.network import PairedNetwork

    reader = PairedRows(locate_generator(str(tiny_denoiser("bart"))), None, None)
    rows = reader.rows(PAIRS[:2] * 3, reader)
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

    from nlgauge.models.generation.network import CausalNetwork

    folder = tiny_causal(kind)
    rows = CausalRows(locate_generator(str(folder)), None).rows([*PAIRS, (None, "the cat sat")])
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
    from nlgauge.models.generation.network import CausalNetwork

    folder = tiny_causal("gpt2")
    rows = CausalRows(locate_generator(str(folder)), None).rows(PAIRS)
    with torch.inference_mode():
        half, whole = (
            CausalNetwork(locate(str(folder)), kind, torch.device("cpu")).log_probabilities(rows, 1000)
            for kind in (torch.bfloat16, torch.float32)
        )
    for one, other in zip(half, whole, strict=True):
        assert one == pytest.approx(other, abs=0.5)
        assert one.dtype == np.float64
