"""The blocks of a GPU, run on a CPU, against the kernels of a CPU; these against transformers."""

import functools
import json
import shutil

import numpy as np
import pytest
from tests.models.conftest import changed, encoder, forward, states

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.models import packing
from nlgauge.models.encoder import load_encoder
from nlgauge.models.hub import HubNetwork, side_by_side
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.packing import PackedBert, PackedModernBert, beside, rotations, turn
from nlgauge.runtime.runtime import Runtime

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


def test_all_blocks_share_what_is_compiled_once(tiny_model, monkeypatch):
    made = []

    def noted(function, **how):
        made.append(how)
        return function

    monkeypatch.setattr(torch, "compile", noted)
    packing.compiled_finish.cache_clear()
    try:
        found = vectors(tiny_model("bert"), as_gpu=True, compiled=True)
    finally:
        packing.compiled_finish.cache_clear()
    assert made == [{"dynamic": True}]
    for one, other in zip(found, vectors(tiny_model("bert"), as_gpu=True), strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


@pytest.mark.slow
def test_torch_can_trace_what_is_compiled(tiny_model, monkeypatch):
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager", fullgraph=True))
    packing.compiled_finish.cache_clear()
    try:
        found = vectors(tiny_model("bert"), as_gpu=True, compiled=True)
    finally:
        packing.compiled_finish.cache_clear()
    for one, other in zip(found, vectors(tiny_model("bert")), strict=True):
        torch.testing.assert_close(one, other, atol=SAME, rtol=0)


def test_the_runtime_says_whether_to_compile(tiny_model):
    for asked in (False, True):
        runtime = Runtime(device="cpu", compile=asked)
        network = load_encoder(str(tiny_model("bert")), None, "float32", runtime).network
        assert network._compiled is asked
        assert network._as_gpu is False  # a CPU has its own kernels


def test_compile_says_where_it_changes_nothing(tiny_model):
    """Not in silence: the first call that loads the encoder warns."""
    runtime = Runtime(device="cpu", compile=True)
    metric = f'bertscore:model="{tiny_model("bert")}",layer=1'
    with pytest.warns(ng.ScoreWarning, match=r"compile=True changes nothing for .*: it is for encoders of BERT's"):
        ng.score(["a cat"], ["a dog"], metrics=metric, runtime=runtime)


FAMILIES = ["bert", "roberta", "xlm-roberta", "mpnet"]
LAYERS = [0, 1, 2, 3]
# Vectors of norm about 6: products of another shape, or of weights that lie elsewhere in memory, may add in another
# order.
COMPANY = 3e-6


def sequences(lengths, vocabulary, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(5, vocabulary, size=n) for n in lengths]


def packed(folder, dtype=torch.float32):
    from nlgauge.models.packing import PackedBert

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
    from nlgauge.models.packing import PackedBert

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


# --- ModernBERT

REACH = 4  # of the tiny model, whose window is 8
# One token; around the window, the length up to which a text is one strip (128), and the edges of strips of 64; at the
# limit of the model and beyond it.
MIXED = [1, 1, 2, 4, 5, 5, 5, 6, 9, 47, 48, 127, 128, 129, 192, 193, 300]
MANNERS = [
    {},
    {"attention_bias": True, "mlp_bias": True, "norm_bias": True},
    {"global_attn_every_n_layers": 2, "global_rope_theta": 50.0, "local_rope_theta": 7.0, "local_attention": 9},
    {"layer_types": ["sliding_attention", "sliding_attention", "full_attention"], "norm_eps": 0.01},
    {"local_attention": 1000},
]
NEAR = 1e-5  # vectors of norm about 6 in float32: from those in float64, transformers' are up to 2.5e-6


@pytest.fixture(scope="session")
def modern(tmp_path_factory):
    """A function from entries of a configuration to a ModernBERT, with larger weights than those of `tiny_model`."""
    from tests.conftest import ROTARY, SHAPE
    from transformers import ModernBertConfig, ModernBertModel

    @functools.cache
    def make(entries):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = ModernBertModel(ModernBertConfig(vocab_size=40, **SHAPE, **{**ROTARY, **json.loads(entries)}))
            for parameter in model.parameters():
                # norms stay around 1 and biases around 0
                parameter.data += torch.randn_like(parameter) * (0.5 if parameter.dim() == 1 else 0.15)
        folder = tmp_path_factory.mktemp("modern")
        model.save_pretrained(folder)
        return folder

    return lambda **entries: make(json.dumps(entries))


def modern_packed(folder, dtype=torch.float32):
    return PackedModernBert(ModelFiles("tiny", folder, ""), dtype)


def by_transformers(folder, dtype=torch.float32):
    return HubNetwork(ModelFiles("tiny", folder, ""), dtype, CPU)


@pytest.mark.parametrize("entries", MANNERS)
def test_a_modernbert_has_the_vectors_of_transformers_at_every_layer(modern, entries):
    texts = sequences(MIXED, 40)
    found, expected = modern_packed(modern(**entries)), by_transformers(modern(**entries))
    for layer in LAYERS:
        theirs = forward(expected, texts, layer)
        torch.testing.assert_close(forward(found, texts, layer), theirs, atol=NEAR, rtol=0)
    assert found.width == expected.width == 32
    with torch.inference_mode(), found.cut_each((3, 0, 2)) as run:
        for layer, vectors in zip((3, 0, 2), run(texts), strict=True):
            torch.testing.assert_close(vectors, forward(expected, texts, layer), atol=NEAR, rtol=0)


def test_a_modernbert_in_float64_is_that_of_transformers_up_to_the_float32_of_its_positions(modern):
    texts = sequences(MIXED, 40)
    folder = modern(**MANNERS[1])
    found, expected = (forward(read(folder, torch.float64), texts, 3) for read in (modern_packed, by_transformers))
    # transformers turns queries and keys in float32, whatever the precision: 6e-8 of each number
    torch.testing.assert_close(found, expected, atol=2e-6, rtol=0)
    assert found.dtype == torch.float64


@pytest.mark.parametrize(("dtype", "far"), [(torch.bfloat16, 0.03), (torch.float16, 0.004)])
def test_half_precision_turns_the_vectors_of_a_modernbert_by_little(tiny_model, dtype, far):
    texts = sequences(MIXED, 40)
    folder = tiny_model("modernbert")
    expected = forward(by_transformers(folder), texts, 3)
    found = forward(modern_packed(folder, dtype), texts, 3)
    assert found.dtype == dtype
    # as of BERT, and once more where the two halves of the MLP meet
    assert float((found.float() - expected).abs().max() / expected.abs().max()) < far
    theirs = forward(by_transformers(folder, dtype), texts, 3)
    ours, others = ((one.float() - expected).norm() for one in (found, theirs))
    assert ours < 1.5 * others  # about as far as transformers, which rounds more often


def test_two_threads_find_what_one_finds(modern):
    network = modern_packed(modern())
    jobs = [sequences(MIXED[first:], 40, seed=first) for first in range(8)]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with network.cut(3) as run:
            found = list(side_by_side(run, jobs, CPU))
    finally:
        torch.set_num_threads(before)
    for texts, vectors in zip(jobs, found, strict=True):
        torch.testing.assert_close(vectors, forward(network, texts, 3), atol=NEAR, rtol=0)


def test_a_text_of_a_modernbert_does_not_depend_on_its_company(modern):
    network = modern_packed(modern())
    texts = sequences(MIXED, 40)
    alone = torch.cat([forward(network, [ids], 3) for ids in texts])
    torch.testing.assert_close(alone, forward(network, texts, 3), atol=NEAR, rtol=0)


@pytest.mark.parametrize("length", [30, 200])
def test_a_token_sees_its_neighbourhood_and_no_more(modern, length):
    """After one local block a changed token shows at most half a window away, and there it shows."""
    network = modern_packed(modern(layer_types=["sliding_attention"] * 3))
    (text,) = sequences([length], 39)
    other = text.copy()
    other[20] = 39
    moved = (forward(network, [text], 1) - forward(network, [other], 1)).abs().amax(dim=1).numpy()
    seen = np.arange(20 - REACH, 21 + REACH)
    assert moved[seen].min() > 0.01
    assert np.delete(moved, seen).max() < NEAR


def test_turns_by_hand():
    """A head of size 4 and theta 100 has angles p and p / 10; its numbers 1 and 3 are one vector, 2 and 4 another."""
    turns = rotations(100.0, 4, 8, torch.float64)
    assert turns.shape == (8, 2)
    torch.testing.assert_close(turns[3].angle(), torch.tensor([3.0, 0.3], dtype=torch.float64), atol=1e-7, rtol=0)
    torch.testing.assert_close(turns.abs(), torch.ones(8, 2, dtype=torch.float64), atol=1e-7, rtol=0)
    # two heads of query, key and value in one row; the value stays as it is
    row = torch.tensor(
        [[1.0, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9]], dtype=torch.float64
    )
    joined = beside(row.T, 2).T.contiguous()
    assert joined[0, :8].tolist() == [1, 3, 2, 4, 5, 7, 6, 8]
    turn(joined, turns[3][None, None, None], 2)
    c, s, near, far = np.cos(3.0), np.sin(3.0), np.cos(0.3), np.sin(0.3)
    by_hand = [c - 3 * s, s + 3 * c, 2 * near - 4 * far, 2 * far + 4 * near]
    assert joined[0, :4].tolist() == pytest.approx(by_hand, abs=1e-6)
    assert joined[0, 8:16].tolist() == pytest.approx([0, 0, near, far, 0, 0, -far, near], abs=1e-6)
    assert joined[0, 16:].tolist() == [9] * 8


def test_a_modernbert_below_a_head_is_read(modern, tmp_path):
    head = {"decoder.bias": torch.zeros(40), "head.dense.weight": torch.zeros(32, 32)}
    folder = changed(modern(), tmp_path / "masked", rename=lambda key: f"model.{key}", more=head)
    texts = sequences(MIXED, 40)
    found, expected = (forward(modern_packed(one), texts, 3) for one in (folder, modern()))
    torch.testing.assert_close(found, expected, atol=NEAR, rtol=0)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"hidden_size": 48}, r"hidden_size is 48 in config\.json, expected 32 by the weights"),
        ({"num_attention_heads": 32}, r"num_attention_heads is 32 in config\.json, expected a divisor of half of 32"),
        ({"norm_eps": "x"}, r"cannot be loaded from"),
        ({"norm_eps": 5}, r"norm_eps is 5 in config\.json, expected a small number"),
        ({"vocab_size": 41}, r"vocab_size is 41 in config\.json, expected at most 40 by the weights"),
        ({"norm_bias": True}, r"hold no embeddings\.norm\.bias"),
        ({"mlp_bias": True}, r"hold no layers\.0\.mlp\.Wi\.bias"),
        ({"intermediate_size": 50}, r"layers\.0\.mlp\.Wi\.weight has shape 96 x 32 in the weights, expected 100 x 32"),
    ],
)
def test_a_modernbert_of_another_configuration_is_refused(modern, tmp_path, changes, says):
    folder = changed(modern(), tmp_path / "model", changes)
    with pytest.raises(InputError, match=says) as told:
        forward(modern_packed(folder), sequences([3], 40), 1)
    assert "\n" not in str(told.value)


def test_a_bias_that_the_configuration_does_not_know_of_is_refused(modern, tmp_path):
    folder = changed(modern(), tmp_path / "model", more={"layers.1.attn.Wo.bias": torch.ones(32)})
    network = modern_packed(folder)
    forward(network, sequences([3], 40), 1)
    with pytest.raises(
        InputError, match=r"hold layers\.1\.attn\.Wo\.bias, and by attention_bias in config\.json there"
    ):
        forward(network, sequences([3], 40), 2)
