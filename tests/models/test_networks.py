import json
import shutil

import numpy as np
import pytest
from safetensors.torch import save_file
from tests.models.conftest import changed

from nlgauge.core.errors import InputError
from nlgauge.models import networks
from nlgauge.models.generation import CausalRows, paired_rows
from nlgauge.models.heads import find_head
from nlgauge.models.locate import locate
from nlgauge.models.networks import HubMasked, PackedMasked, headed_mask, masked_network
from nlgauge.models.tokens import TextTokenizer

torch = pytest.importorskip("torch")


CPU = torch.device("cpu")
FAMILIES = [
    "bert", "roberta", "xlm-roberta", "distilbert", "albert", "electra", "mpnet", "deberta", "deberta-v2", "bart",
    "mbart", "gpt2", "llama",
]  # fmt: skip
OWN = ["bert", "roberta", "xlm-roberta", "deberta", "deberta-v2"]
LENGTHS = [2, 5, 5, 5, 9, 30, 48]


def inputs(seed=0, end=None):
    """Sequences sorted by length, their types 0 then 1; with one end token at the end, or two in every second."""
    rng = np.random.default_rng(seed)
    ids = [rng.integers(5, 40, size=n) for n in LENGTHS]
    types = [(np.arange(n) >= n // 2).astype(np.int64) for n in LENGTHS]
    if end is not None:
        for i, row in enumerate(ids):
            row[-1] = end
            row[0] = end if i % 2 else row[0]
    return ids, types


def theirs(folder, ids, types, dtype=torch.float64, typed=True):
    """transformers' own logits, one sequence at a time, shape (n, 3)."""
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=dtype).eval()
    extra = [{"token_type_ids": torch.from_numpy(t)[None]} if typed else {} for t in types]
    with torch.inference_mode():
        return torch.cat(
            [model(input_ids=torch.from_numpy(i)[None], **e).logits for i, e in zip(ids, extra, strict=True)]
        )


def ours(folder, ids, types, dtype=torch.float64):
    from nlgauge.models.networks import classifier

    with torch.inference_mode():
        return classifier(locate(str(folder)), dtype, CPU).logits(ids, types)


# by day those whose heads, types and ends differ
DAILY = {"bert", "roberta", "distilbert", "mpnet", "deberta-v2", "bart", "gpt2"}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in DAILY else [pytest.mark.slow]) for kind in FAMILIES]
)
def test_logits_are_those_of_transformers(tiny_nli, kind):
    folder = tiny_nli(kind)
    end = json.loads((folder / "config.json").read_text()).get("eos_token_id") if kind in ("bart", "mbart") else None
    ids, types = inputs(end=end)
    # GPT-2 would take types for words, and its tokenizer makes none
    typed = kind not in ("distilbert", "mpnet", "bart", "mbart", "deberta", "deberta-v2", "gpt2", "llama")
    expected = theirs(folder, ids, types, typed=typed)
    assert expected.std(dim=0).max() > 0.01  # the sequences differ, or nothing would be shown
    # transformers rounds to float32 in the norms of the first DeBERTa, whatever the precision
    near = 1e-6 if kind == "deberta" else 1e-10
    torch.testing.assert_close(ours(folder, ids, types), expected, atol=near, rtol=0)


def test_a_decoder_starts_where_another_file_of_its_folder_says(tiny_nli):
    folder = tiny_nli("t5, bytes")
    assert json.loads((folder / "config.json").read_text()).get("decoder_start_token_id") is None
    ids, types = inputs(end=1)
    assert torch.isfinite(ours(folder, ids, types)).all()


@pytest.mark.parametrize("kind", OWN)
def test_families_of_bert_take_the_packed_forward_pass(tiny_nli, kind):
    from nlgauge.models.networks import PackedClassifier, classifier

    assert isinstance(classifier(locate(str(tiny_nli(kind))), torch.float32, CPU), PackedClassifier)


@pytest.mark.parametrize("kind", ["bert", "deberta-v2"])
def test_half_precision_moves_logits_by_little_and_the_head_is_computed_in_float32(tiny_nli, kind):
    ids, types = inputs()
    found = ours(tiny_nli(kind), ids, types, torch.bfloat16)
    assert found.dtype == torch.float32
    expected = theirs(tiny_nli(kind), ids, types, typed=kind == "bert")
    # a bfloat16 has 8 bits: roundings of 0.004 of a number, some tens of them on the way
    assert (found - expected).abs().max() < 0.1 * expected.abs().max()


def test_a_head_is_the_encoder_with_merged_adapters_and_two_features(tiny_head, tiny_model):
    from safetensors.torch import load_file
    from transformers import AutoModel

    from nlgauge.models.networks import headed

    path = tiny_head()
    tensors = {name: tensor.double() for name, tensor in load_file(path).items()}
    model = AutoModel.from_pretrained(tiny_model("bert"), dtype=torch.float64).eval()
    for name, parameter in model.named_parameters():
        layer = name.removesuffix(".weight")
        if f"{layer}.lora_a" in tensors:
            parameter.data += tensors[f"{layer}.lora_b"] @ tensors[f"{layer}.lora_a"]
    ids, types = inputs()
    expected = []
    with torch.inference_mode():
        for i, t in zip(ids, types, strict=True):
            states = model(
                input_ids=torch.from_numpy(i)[None], token_type_ids=torch.from_numpy(t)[None]
            ).last_hidden_state[0]
            expected.append(
                tensors["classifier.weight"] @ torch.cat([states[0], states.mean(dim=0)]) + tensors["classifier.bias"]
            )
        found = headed(find_head(str(path), "nli"), torch.float64, CPU).logits(ids, types)
    torch.testing.assert_close(found, torch.stack(expected), atol=1e-10, rtol=0)


def test_a_hidden_layer_of_a_head_has_tanh_behind_it(tiny_head):
    from safetensors.torch import load_file

    from nlgauge.models.networks import PackedClassifier, headed

    path = tiny_head(hidden=True)
    ids, types = inputs()
    tensors = {name: tensor.double() for name, tensor in load_file(path).items()}
    with torch.inference_mode():
        network = headed(find_head(str(path), "nli"), torch.float64, CPU)
        found = network.logits(ids, types)
        eye = torch.eye(64, dtype=torch.float64), torch.zeros(64, dtype=torch.float64)
        features = PackedClassifier(network.network, 3, (), eye, mean=True).logits(ids, types)
    hidden = torch.tanh(features @ tensors["hidden.weight"].T + tensors["hidden.bias"])
    torch.testing.assert_close(
        found, hidden @ tensors["classifier.weight"].T + tensors["classifier.bias"], atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("name", ["classifier.weight", "classifier.bias"])
def test_a_head_without_its_classifier_is_refused(tiny_head, name):
    from nlgauge.models.networks import headed

    with pytest.raises(InputError, match=f"tiny.safetensors holds no {name}$"):
        headed(find_head(str(tiny_head(drop=[name])), "nli"), torch.float32, CPU)


def test_an_adapter_of_another_shape_is_refused(tiny_head, tmp_path):
    from safetensors import safe_open
    from safetensors.torch import load_file

    from nlgauge.models.networks import headed

    path = tiny_head()
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(path)
    tensors["encoder.layer.1.intermediate.dense.lora_a"] = torch.zeros(2, 31).half()
    save_file(tensors, tmp_path / "odd.safetensors", metadata)
    ids, types = inputs()
    with pytest.raises(
        InputError,
        match=(
            r"an adapter of shape 48 x 31 for encoder\.layer\.1\.intermediate\.dense\.weight of shape 48 x 32; it was"
        ),
    ):
        headed(find_head(str(tmp_path / "odd.safetensors"), "nli"), torch.float32, CPU).logits(ids, types)


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2", "bart"])
def test_an_encoder_without_a_classifier_is_refused(tiny_model, tiny_nli, tmp_path, kind):
    """transformers would make one up at random."""
    folder = tmp_path / "headless"
    shutil.copytree(tiny_nli(kind), folder)
    shutil.copy(tiny_model(kind) / "model.safetensors", folder / "model.safetensors")
    with pytest.raises(InputError, match=r"the weights hold no .*(classifi|pooler|dense|out_proj)"):
        ours(folder, *inputs())


# --- Masked language models as networks
#
# Our forward pass and transformers' agree, whole vocabulary, whoever shares the batch.

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
        monkeypatch.setattr(networks, "_ROWS", 3)  # two blocks, the last filled up
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
TEXT_PAIRS = [
    ("the cat sat on the mat", "a cat lay on the rug"),
    ("the cat sat on the mat", "rain"),
    ("rain fell", "heavy rain fell today"),
    ("rain fell today", "not good"),
]


@pytest.mark.parametrize("kind", ["bart", "mbart", "t5"])
def test_an_encoder_decoder_says_of_a_text_what_its_loss_says(tiny_denoiser, kind):
    from transformers import AutoModelForSeq2SeqLM

    from nlgauge.models.networks import PairedNetwork

    folder = tiny_denoiser(kind)
    reader = TextTokenizer(locate(str(folder)), space=False)
    rows = paired_rows(TEXT_PAIRS, reader, reader)
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
    from nlgauge.models.networks import PairedNetwork

    reader = TextTokenizer(locate(str(tiny_denoiser("bart"))), space=False)
    rows = paired_rows(TEXT_PAIRS[:2] * 3, reader, reader)
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

    from nlgauge.models.networks import CausalNetwork

    folder = tiny_causal(kind)
    rows = CausalRows(locate(str(folder)), None).rows([*TEXT_PAIRS, (None, "the cat sat")])
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
    from nlgauge.models.networks import CausalNetwork

    folder = tiny_causal("gpt2")
    rows = CausalRows(locate(str(folder)), None).rows(TEXT_PAIRS)
    with torch.inference_mode():
        half, whole = (
            CausalNetwork(locate(str(folder)), kind, torch.device("cpu")).log_probabilities(rows, 1000)
            for kind in (torch.bfloat16, torch.float32)
        )
    for one, other in zip(half, whole, strict=True):
        assert one == pytest.approx(other, abs=0.5)
        assert one.dtype == np.float64
