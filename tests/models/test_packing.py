"""The attention of a GPU, run on a CPU, against the kernels of a CPU; these against transformers."""

import shutil

import numpy as np
import pytest
from tests.models.conftest import changed, encoder, forward, states

from nlgauge.core.errors import InputError
from nlgauge.models import packing
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.packing import PackedBert

torch = pytest.importorskip("torch")
safe_open = pytest.importorskip("safetensors").safe_open


CPU = torch.device("cpu")
SAME = 1e-5  # vectors of norm about 6 in float32: other kernels add in another order
LENGTHS = [1, 2, 2, 5, 5, 5, 9, 30, 48]


def vectors(folder, layers=(0, 1, 3), types=False, **how):
    network = PackedBert(ModelFiles("tiny", folder, ""), torch.float32, CPU, **how)
    rng = np.random.default_rng(0)
    texts = [rng.integers(5, 40, size=n) for n in LENGTHS]
    with torch.inference_mode():
        if types:
            with network.cut(3) as forward:
                return [forward(texts, [np.arange(n) % 2 for n in LENGTHS])]
        with network.cut_each(layers) as forward:
            return forward(texts)


@pytest.mark.parametrize("kind", ["bert", "roberta", "mpnet"])
def test_vectors_are_those_of_the_cpu(tiny_model, kind):
    folder = tiny_model(kind)
    for types in (False, kind == "bert"):
        for one, other in zip(vectors(folder, types=types, as_gpu=True), vectors(folder, types=types), strict=True):
            torch.testing.assert_close(one, other, atol=SAME, rtol=0)


FAMILIES = ["bert", "roberta", "xlm-roberta", "mpnet"]
LAYERS = [0, 1, 2, 3]
# Vectors of norm about 6: products of another shape, or of weights that lie elsewhere in memory, may add in another
# order.
COMPANY = 3e-6


def sequences(lengths, vocabulary, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(5, vocabulary, size=n) for n in lengths]


def packed(folder, dtype=torch.float32):
    return PackedBert(ModelFiles("tiny", folder, ""), dtype, CPU)


@pytest.mark.parametrize("kind", FAMILIES)
def test_in_float64_nothing_but_rounding_is_left(tiny_model, kind):
    folder = tiny_model(kind)
    texts = sequences(LENGTHS, 40)
    expected = states(encoder(folder, torch.float64), texts)
    network = packed(folder, torch.float64)
    for layer in LAYERS:
        torch.testing.assert_close(forward(network, texts, layer), expected[layer], atol=1e-12, rtol=0)


def test_the_embedded_model_is_that_of_transformers():
    files = locate("embedded")
    texts = sequences([3, 12, 12, 40, 512], 30_000)
    expected = states(encoder(files.folder), texts)
    network = PackedBert(files, torch.float32, CPU)
    for layer in (0, 1, 4, 6):
        torch.testing.assert_close(forward(network, texts, layer), expected[layer], atol=1e-5, rtol=0)


@pytest.mark.parametrize(("dtype", "far"), [(torch.bfloat16, 0.02), (torch.float16, 0.002)])
def test_half_precision_turns_vectors_by_little(tiny_model, dtype, far):
    folder = tiny_model("bert")
    texts = sequences(LENGTHS, 40)
    expected = states(encoder(folder), texts)[3]
    found = forward(packed(folder, dtype), texts, 3)
    assert found.dtype == dtype
    # bfloat16 keeps 8 bits: a rounding is up to 0.004 of a number, some ten of them stand between text and vector;
    # float16 keeps 11
    cosine = torch.nn.functional.cosine_similarity(found.float(), expected)
    assert float(1 - cosine.min()) < far**2
    assert float((found.float() - expected).abs().max() / expected.abs().max()) < far


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_texts_vectors_do_not_depend_on_its_company(tiny_model, kind):
    network = packed(tiny_model(kind))
    texts = sequences(LENGTHS, 40)
    together = forward(network, texts, 3)
    alone = torch.cat([forward(network, [ids], 3) for ids in texts])
    twice = forward(network, [ids for ids in texts for _ in range(2)], 3)
    ends = np.cumsum([n for n in LENGTHS for _ in range(2)])
    first = torch.cat([twice[e - 2 * n : e - n] for e, n in zip(ends[1::2], LENGTHS, strict=True)])
    torch.testing.assert_close(alone, together, atol=COMPANY, rtol=0)
    torch.testing.assert_close(first, together, atol=COMPANY, rtol=0)


def test_one_text_more_than_a_batch_holds_changes_nothing(tiny_model):
    network = packed(tiny_model("bert"))
    texts = sequences([48] * (network.batch_tokens // 48 + 2), 40)
    assert sum(map(len, texts)) > network.batch_tokens
    torch.testing.assert_close(forward(network, texts, 3)[-48:], forward(network, texts[-1:], 3), atol=COMPANY, rtol=0)


@pytest.mark.parametrize("kind", ["roberta", "mpnet"])
def test_the_padding_piece_inside_a_text_is_not_counted(tiny_model, kind):
    texts = [np.array(ids) for ids in ([1], [7, 8], [1, 7, 1, 8], [7, 8, 9, 9, 1])]
    folder = tiny_model(kind)
    expected = states(encoder(folder, torch.float64), texts)
    torch.testing.assert_close(forward(packed(folder, torch.float64), texts, 3), expected[3], atol=1e-12, rtol=0)


def test_positions_of_roberta_count_from_the_padding_index_on(tiny_model, tmp_path):
    texts = sequences([2, 7], 40)
    folder = changed(tiny_model("roberta"), tmp_path / "moved", {"pad_token_id": 4})
    found = forward(packed(folder), texts, 3)
    torch.testing.assert_close(found, states(encoder(folder), texts)[3], atol=5e-6, rtol=0)
    assert (
        found - forward(packed(tiny_model("roberta")), texts, 3)
    ).abs().max() > 0.01  # other positions, other vectors


def test_names_of_old_checkpoints_are_read(tiny_model, tmp_path):
    # gamma and beta, as converted from TensorFlow; the prefix of a model with a head; a head
    def old(key):
        return "bert." + key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")

    head = {"cls.predictions.decoder.weight": torch.ones(3), "cls.predictions.transform.LayerNorm.gamma": torch.ones(3)}
    folder = changed(tiny_model("bert"), tmp_path / "old", rename=old, more=head)
    texts = sequences(LENGTHS, 40)
    torch.testing.assert_close(
        forward(packed(folder), texts, 3), forward(packed(tiny_model("bert")), texts, 3), atol=COMPANY, rtol=0
    )


@pytest.mark.parametrize(("kind", "prefix"), [("roberta", "roberta."), ("xlm-roberta", "model.encoder.roberta.")])
def test_any_prefix_before_the_names_is_read(tiny_model, tmp_path, kind, prefix):
    texts = sequences(LENGTHS, 40)
    folder = changed(tiny_model(kind), tmp_path / "prefixed", rename=lambda key: prefix + key)
    torch.testing.assert_close(
        forward(packed(folder), texts, 3), forward(packed(tiny_model(kind)), texts, 3), atol=COMPANY, rtol=0
    )


def test_shards_are_one_model(tiny_model, tmp_path):
    from transformers import AutoModel

    model = AutoModel.from_pretrained(tiny_model("bert"))
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(ModelFiles("tiny", tmp_path, "").weight_files()) > 2
    texts = sequences(LENGTHS, 40)
    torch.testing.assert_close(
        forward(packed(tmp_path), texts, 3), forward(packed(tiny_model("bert")), texts, 3), atol=COMPANY, rtol=0
    )


def test_a_file_of_weights_is_opened_once_however_many_tensors_it_has(tiny_model, monkeypatch):
    opened = []

    def counted(path, **how):
        opened.append(path)
        return safe_open(path, **how)

    monkeypatch.setattr(packing, "safe_open", counted)
    folder = tiny_model("bert")
    forward(packed(folder), sequences(LENGTHS, 40), 3)
    assert opened == [str(path) for path in ModelFiles("tiny", folder, "").weight_files()]  # each maps all of it


def test_layers_above_the_one_asked_for_are_never_read(tiny_model, tmp_path):
    folder = changed(tiny_model("bert"), tmp_path / "short", keep=lambda key: "layer.2." not in key)
    texts = sequences([3], 40)
    network = packed(folder)
    torch.testing.assert_close(
        forward(network, texts, 2), forward(packed(tiny_model("bert")), texts, 2), atol=COMPANY, rtol=0
    )
    with pytest.raises(InputError, match=r"'tiny': the weights hold no encoder\.layer\.2\."):
        forward(network, texts, 3)


def test_weights_of_another_model_are_refused(tiny_model, tmp_path):
    folder = changed(tiny_model("bert"), tmp_path / "other", keep=lambda key: "position" not in key)
    with pytest.raises(
        InputError, match=r"hold no embeddings\.position_embeddings\.weight; is config\.json of this model"
    ):
        packed(folder)


def test_a_file_that_is_no_safetensors_is_told_in_one_line(tiny_model, tmp_path):
    folder = tmp_path / "broken"
    shutil.copytree(tiny_model("bert"), folder)
    (folder / "model.safetensors").write_bytes(b"\x80\x02}q\x00.")  # a pickle under the wrong name
    with pytest.raises(InputError, match=r"model\.safetensors is not a readable safetensors file") as refused:
        packed(folder)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"hidden_size": -5}, r"hidden_size is -5 in config\.json, expected 32 by the weights"),
        ({"hidden_size": "wide"}, r"cannot be loaded from"),
        ({"num_attention_heads": 5}, r"num_attention_heads is 5 in config\.json, expected a divisor of 32"),
        ({"num_attention_heads": None}, r"num_attention_heads is None in config\.json, expected a divisor of 32"),
        ({"num_attention_heads": 4.0}, r"num_attention_heads is 4\.0 in config\.json, expected a divisor of 32"),
        ({"layer_norm_eps": "x"}, r"layer_norm_eps is 'x' in config\.json, expected a small number"),
        ({"layer_norm_eps": float("nan")}, r"layer_norm_eps is nan in config\.json, expected a small number"),
        ({"vocab_size": 10**6}, r"vocab_size is 1000000 in config\.json, expected at most \d+ by the weights"),
        ({"max_position_embeddings": 512}, r"max_position_embeddings is 512 in config\.json, expected at most 48"),
    ],
)
def test_a_configuration_that_is_not_of_the_weights_is_refused_at_once(tiny_model, tmp_path, changes, says):
    folder = changed(tiny_model("bert"), tmp_path / "model", changes)
    with pytest.raises(InputError, match=says) as told:
        packed(folder)
    assert "\n" not in str(told.value)
