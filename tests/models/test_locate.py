import hashlib
import json
import math
import pickle
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.errors import InputError, MissingExtra, SpecError
from nlgauge.core.spec import quote
from nlgauge.models import fetch, locate, repository
from nlgauge.models.encoder import load_encoder
from nlgauge.models.heads import find_head
from nlgauge.models.locate import (
    FAMILIES,
    LazyModel,
    ModelFiles,
    buckets,
    distance_parts,
    is_read,
)
from nlgauge.models.locate import locate as locate_model
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")
files = pytest.importorskip("safetensors.torch")
DIGEST = fetch.ENCODERS["embedded"].sha256


def test_the_weights_are_the_ones_this_package_was_tested_with():
    fetch.check("embedded", fetch.folder("embedded"))


def test_the_digest_is_checked_before_a_weight_is_read(tiny_model, monkeypatch):
    # a sound model in the embedded one's place: only its digest gives it away
    files = ModelFiles("embedded", tiny_model("bert"), f"sha256:{DIGEST}")
    monkeypatch.setattr("nlgauge.models.encoder.locate", lambda model, revision: files)
    with pytest.raises(InputError, match=r"^the encoder 'embedded': .*config.json has SHA-256"):
        load_encoder("embedded", None, "float32", Runtime())


def test_without_the_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(locate, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="neural"):
        locate_model("embedded")


# --- Weights that are no numbers are refused when they are loaded, wherever they come from


def poison(path, value):
    """Put a value into the first tensor of floats of a file; its name."""
    with open(path, "rb") as file:
        about = json.loads(file.read(int.from_bytes(file.read(8), "little"))).get("__metadata__")
    tensors = files.load_file(path)
    name = next(name for name, tensor in sorted(tensors.items()) if tensor.is_floating_point())
    tensors[name].flatten()[0] = value
    files.save_file(tensors, path, about)
    return name


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_a_model_with_a_weight_that_is_no_number_is_refused(tiny_model, tmp_path, kind, value):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model(kind), folder)
    name = poison(folder / "model.safetensors", value)
    with pytest.raises(ng.InputError) as told:
        ng.score(["a b"], ["a c"], metrics=f"bertscore:model={quote(str(folder))}")
    assert "hold NaN or infinity, expected finite numbers; load or train it again" in str(told.value)
    assert name.rpartition(".")[2] in str(told.value)
    assert str(folder) in str(told.value)


def test_a_head_with_a_weight_that_is_no_number_is_refused(tiny_head):
    path = tiny_head()
    name = poison(path, math.nan)
    with pytest.raises(ng.InputError) as told:
        find_head(str(path), "nli").tensors()
    assert f"tiny.safetensors: the weights {name} hold NaN or infinity" in str(told.value)


# --- The network of a model is loaded once, and not before it is asked


def test_the_network_is_loaded_once_and_only_when_asked():
    loaded = []

    def load():
        loaded.append("network")
        return "network"

    model = LazyModel("files", "tokenizer", load, None)
    assert (model.found, model.tokenizer, loaded) == ("files", "tokenizer", [])
    assert model.network == model.network == "network"
    assert loaded == ["network"]


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def write(folder, config=None, weights=b"weights", name="model.safetensors"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps({"num_hidden_layers": 2} if config is None else config), encoding="utf-8"
    )
    if weights is not None:
        (folder / name).write_bytes(weights)
    return folder


def sharded(folder, shards):
    write(folder, weights=None)
    for name, content in shards.items():
        if content is not None:
            (folder / name).write_bytes(content)
    index = {"weight_map": {f"tensor {i}": name for i, name in enumerate(shards)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """An empty cache of the hub, and no way to the hub; a function puts a model into the cache."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    repository.snapshot.cache_clear()

    def put(name, revision="main", weights=b"weights"):
        store = tmp_path / "hub" / f"models--{name.replace('/', '--')}"
        (store / "refs").mkdir(parents=True)
        (store / "refs" / revision).write_text(COMMIT, encoding="utf-8")
        return write(store / "snapshots" / COMMIT, weights=weights)

    yield put
    repository.snapshot.cache_clear()


def test_the_embedded_model_is_pinned_by_the_digest_it_must_have():
    files = locate_model("embedded")
    assert files.identity == f"sha256:{DIGEST}"
    assert files.depth == 6
    with pytest.raises(InputError, match="no revisions"):
        locate_model("embedded", "main")


def test_a_folder_is_pinned_by_its_weights(tmp_path):
    folder = write(tmp_path / "model")
    # printf weights | sha256sum
    assert locate_model(str(folder)).identity == "sha256:" + hashlib.sha256(b"weights").hexdigest()
    before = locate_model(str(folder)).identity
    (folder / "model.safetensors").write_bytes(b"weights of another training run")
    assert locate_model(str(folder)).identity != before


@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "spiece.model"],
)
def test_a_folder_is_pinned_by_its_configuration_and_tokenizer_too(tmp_path, name):
    # another limit, another norm's epsilon or another vocabulary gives other scores from the same weights
    folder = write(tmp_path / "model")
    before = locate_model(str(folder))
    (folder / name).write_text('{"num_hidden_layers": 2, "changed": true}', encoding="utf-8")
    after = locate_model(str(folder))
    assert after.identity == before.identity
    assert after.setup != before.setup
    (folder / "README.md").write_text("what was trained how", encoding="utf-8")
    assert locate_model(str(folder)).setup == after.setup


def test_shards_are_pinned_together_whatever_order_the_index_names_them_in(tmp_path):
    one = sharded(tmp_path / "one", {"model-1.safetensors": b"first", "model-2.safetensors": b"second"})
    two = sharded(tmp_path / "two", {"model-2.safetensors": b"second", "model-1.safetensors": b"first"})
    swapped = sharded(tmp_path / "swapped", {"model-1.safetensors": b"second", "model-2.safetensors": b"first"})
    assert [p.name for p in locate_model(str(two)).weight_files()] == ["model-1.safetensors", "model-2.safetensors"]
    assert locate_model(str(one)).identity == locate_model(str(two)).identity != locate_model(str(swapped)).identity


@pytest.mark.parametrize("shard", ["../outside.safetensors", "/outside.safetensors", "in/../../outside.safetensors", 7])
def test_a_shard_is_looked_for_in_the_models_own_folder_alone(tmp_path, shard):
    (tmp_path / "outside.safetensors").write_bytes(b"of another")
    folder = sharded(tmp_path / "model", {"model-1.safetensors": b"first"})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": shard, "b": "model-1"}}))
    with pytest.raises(InputError, match=r"in its weight_map, expected the name of a file in the same folder"):
        locate_model(str(folder))


def test_a_missing_shard_is_named(tmp_path):
    folder = sharded(tmp_path / "model", {"model-1.safetensors": b"first", "model-2.safetensors": None})
    with pytest.raises(InputError, match=r"names model-2\.safetensors, which is not in"):
        locate_model(str(folder))


def test_an_index_without_a_map_is_refused(tmp_path):
    folder = sharded(tmp_path / "model", {"model-1.safetensors": b"first"})
    (folder / "model.safetensors.index.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="no weight_map"):
        locate_model(str(folder))


def test_pickled_weights_are_refused_unopened(tmp_path):
    folder = write(tmp_path / "model", weights=None)
    proof = tmp_path / "opened"

    class Trap:
        def __reduce__(self):
            return open, (str(proof), "w")

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match=r"pytorch_model\.bin is no file of torch\.save; expected tensors") as refused:
        locate_model(str(folder))
    assert "\n" not in str(refused.value)
    assert not proof.exists()
    pickle.loads((folder / "pytorch_model.bin").read_bytes())
    assert proof.exists()  # the trap works


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot read"),
        ("[1, 2]", "holds list, expected a JSON object"),
        ("\udcff", "cannot read"),
        ('{"architectures": 1}', "architectures is 1, expected a list"),
        ('{"model_type": ["bert"]}', r"model_type is \['bert'\], expected a text"),
        ('{"type_vocab_size": "x"}', "type_vocab_size is 'x', expected a whole number"),
    ],
)
def test_a_broken_configuration_is_refused_by_its_path(tmp_path, content, message):
    folder = write(tmp_path / "model")
    (folder / "config.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=message) as refused:
        _ = locate_model(str(folder)).config
    assert "config.json" in str(refused.value)


def test_a_folder_without_configuration_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no config\.json; expected a folder written by save_pretrained"):
        locate_model(str(tmp_path))


@pytest.mark.parametrize("name", ["/no/such/model", "./model", "~/no-such-model", "~nobody/m", "a/b/c"])
def test_what_can_only_be_a_folder_is_never_looked_for_on_the_hub(name, monkeypatch):
    monkeypatch.setattr(repository, "snapshot", lambda *names: pytest.fail("asked the hub"))
    with pytest.raises(InputError, match="does not exist"):
        locate_model(name)


@pytest.mark.parametrize(
    ("config", "depth"),
    [
        ({"num_hidden_layers": 12}, 12),  # BERT and most others
        ({"n_layers": 6}, 6),  # DistilBERT, XLM
        ({"encoder_layers": 4, "decoder_layers": 2, "num_hidden_layers": 4}, 4),  # BART
        ({"num_encoder_layers": 3, "num_decoder_layers": 5}, 3),  # ProphetNet
        ({"num_layers": 8, "num_decoder_layers": 2}, 8),  # T5
        ({"n_layer": 24}, 24),  # XLNet, GPT-2
    ],
)
def test_every_family_names_its_layers_in_its_own_way(tmp_path, config, depth):
    assert locate_model(str(write(tmp_path / "model", config))).depth == depth


def test_a_model_without_layers_is_refused(tmp_path):
    with pytest.raises(InputError, match="names no number of layers"):
        _ = ModelFiles("model", write(tmp_path / "model", {"vocab_size": 5}), "").depth


def test_a_model_in_the_hubs_cache_is_found_without_a_network_and_pinned_by_its_commit(hub):
    folder = hub("someone/encoder")
    files = locate_model("someone/encoder")
    assert files.folder == folder
    assert files.identity == f"revision:{COMMIT}"


def test_a_revision_is_looked_up_by_name_and_by_commit(hub):
    folder = hub("someone/encoder", revision="v2")
    assert locate_model("someone/encoder", "v2").folder == folder
    assert locate_model("someone/encoder", COMMIT).identity == f"revision:{COMMIT}"
    with pytest.raises(InputError, match="neither a folder nor in the hub's cache"):
        locate_model("someone/encoder")  # main was never fetched


def test_offline_no_connection_is_opened(hub, monkeypatch):
    hub("someone/encoder")
    monkeypatch.setattr(socket, "socket", lambda *how, **more: pytest.fail("opened a socket"))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *how, **more: pytest.fail("asked for an address"))
    assert locate_model("someone/encoder").identity == f"revision:{COMMIT}"
    with pytest.raises(InputError, match="cannot be fetched"):
        locate_model("no-such/model")


def test_without_a_network_one_line_names_the_files_and_the_command(hub):
    with pytest.raises(InputError) as refused:
        locate_model("roberta-large", "abc")
    message = str(refused.value)
    assert "'roberta-large'" in message
    assert "run 'nlgauge fetch roberta-large@abc'" in message
    assert "model=PATH" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["a..b", "a b/c d", "x" * 97, "a--b", "-a", "x" * 300, "a\0b"])
def test_a_name_that_the_hub_cannot_have_is_one_line(hub, name):
    with pytest.raises(
        InputError, match=r"neither a folder nor a possible name on the hub, expected OWNER/NAME"
    ) as told:
        locate_model(name)
    assert "\n" not in str(told.value)


def test_a_hub_that_keeps_silent_is_named_after_its_time(hub, monkeypatch):
    from huggingface_hub import constants

    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes calls, and never answers
        at = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", at)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(repository, "_ANSWER", 0.2)
        began = time.monotonic()
        with pytest.raises(InputError, match=rf"cannot be fetched.*\[{at} did not answer within 0\.2 s\]"):
            repository.snapshot("no-such/model")
        assert time.monotonic() - began < 8


def test_a_hub_that_falls_silent_later_is_named_too(hub, monkeypatch):
    """A server that answers the first call and then keeps silent: the model's commit is known, its files are not."""
    from huggingface_hub import constants

    files = [{"rfilename": name} for name in ("config.json", "model.safetensors")]
    about = json.dumps({"id": "no-such/model", "sha": "a" * 40, "siblings": files}).encode()
    calls = []

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if "/models/" in self.path:
                calls.append(self.path)
            if len(calls) > 1:
                finished.wait(20)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(about)))
            self.end_headers()
            self.wfile.write(about)

        def log_message(self, *_):
            pass

    finished = threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(constants, "ENDPOINT", at)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(repository, "_ANSWER", 0.2)
        began = time.monotonic()
        try:
            with pytest.raises(InputError, match=rf"cannot be fetched.*\[{at} did not answer within 0\.2 s\]"):
                repository.snapshot("no-such/model")
            assert time.monotonic() - began < 8
        finally:
            finished.set()
            server.shutdown()


def test_what_the_hub_says_ends_the_line(hub, monkeypatch):
    import huggingface_hub

    def fails(*names, **options):
        raise OSError("first line\nsecond line")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fails)
    with pytest.raises(InputError, match=r"\[first line\]$"):
        locate_model("someone/encoder")


def test_an_unreachable_hub_is_one_line_and_exit_code_2_at_the_command(hub, tmp_path, capsys):
    (tmp_path / "texts").write_text("a text\n", encoding="utf-8")
    given = ["--hyp", str(tmp_path / "texts"), "--ref", str(tmp_path / "texts")]
    assert main(["score", *given, "-m", "paper/bertscore", "--no-cache"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert "HF_HUB_OFFLINE is set" in line
    assert "nlgauge fetch roberta-large" in line


def test_signatures_are_made_without_torch_and_scores_without_transformers(tmp_path):
    write(tmp_path / "model")
    code = (
        "import sys, nlgauge as ng; from nlgauge import metric; from nlgauge.core.metric import signature_of; from"
        " nlgauge.runtime.runtime import Runtime;[print(signature_of(metric(spec), Runtime())) for spec in"
        " sys.argv[1:]];print(sorted({'torch', 'transformers', 'tokenizers', 'safetensors'} & set(sys.modules)));"
        "ng.score(['a cat'], refs=['a dog'], metrics='bertscore');"
        "print([m for m in sys.modules if m.startswith('gt_all') or 'transformers' in m])"
    )
    specs = ["bertscore:rescale=true", f"bertscore:model={quote(str(tmp_path / 'model'))}"]
    ran = subprocess.run([sys.executable, "-c", code, *specs], capture_output=True, text=True, check=True)
    own, folder, loaded, after_a_score = ran.stdout.splitlines()
    assert f"|weights:sha256:{DIGEST[:16]}|" in own
    assert f"|weights:sha256:{hashlib.sha256(b'weights').hexdigest()[:16]}|" in folder
    assert loaded == "[]"
    assert after_a_score == "[]"  # nor the package that holds the weights


def test_a_layer_beyond_the_model_is_refused_before_it_is_loaded(tmp_path):
    from nlgauge.metrics.embedding.bertscore import BertScore
    from nlgauge.runtime.runtime import Runtime

    folder = write(tmp_path / "model")
    with pytest.raises(SpecError, match=r"layer is 3, but model .* has layers 0 to 2"):
        BertScore(model=str(folder), layer=3).facts(Runtime())


def test_where_a_folder_lies_is_not_in_the_facts(tmp_path, monkeypatch):
    write(tmp_path / "model")
    write(tmp_path / "again")
    monkeypatch.chdir(tmp_path)
    facts = [locate_model(name).facts() for name in ("model", "./model", str(tmp_path / "model"), "again")]
    assert facts == [facts[0]] * 4
    assert facts[0]["model"] == "folder"
    with pytest.raises(InputError, match="model folder model has no revisions; leave revision out"):
        locate_model("model", "main")
    assert "model" not in locate_model("embedded").facts()


def test_code_that_a_model_brings_is_never_run_and_noted(tmp_path):
    config = {"model_type": "bert", "num_hidden_layers": 2, "auto_map": {"AutoModel": "modeling.Own"}}
    (note,) = locate_model(str(write(tmp_path / "model", config))).notes
    assert (
        "brings code of its own (auto_map in config.json), which is never run; it is read as model type 'bert'" in note
    )


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"model_type": "llama"}, True),
        ({"model_type": "gpt2", "architectures": ["GPT2Model"]}, True),
        ({"model_type": "new", "architectures": ["NewForCausalLM"]}, True),
        ({"model_type": "bert", "is_decoder": True}, True),
        ({"model_type": "bert", "is_decoder": False, "architectures": ["BertModel"]}, False),
        ({"model_type": "gemma3_text", "use_bidirectional_attention": True}, False),
        ({"model_type": "t5", "is_encoder_decoder": True}, False),
        ({"model_type": "mpnet"}, False),
    ],
)
def test_a_model_that_reads_from_left_to_right_says_so(tmp_path, config, says):
    (note,) = locate_model(str(write(tmp_path / "model", config))).notes or ("",)
    assert note.startswith(f"{tmp_path / 'model'} reads from left to right (model type ") == says


# --- Where the families differ: which models are read, the names of their tensors, and distances of MPNet

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
        {"model_type": "deberta-v2", "conv_kernel_size": 0, "attention_head_size": 4},
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
        {"conv_kernel_size": 3},
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


@pytest.mark.parametrize(
    "more",
    [
        {"model_type": "electra"},
        {"model_type": "camembert"},
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
    ["pos_att_type", "max_relative_positions", "position_buckets", "attention_head_size", "conv_kernel_size"],
)
def test_a_configuration_of_other_types_is_no_fault_of_ours(name, odd):
    """It stays with transformers, which says what it expects."""
    config = {**DEBERTA, name: odd}
    assert is_read(config) in (True, False)
    assert all(isinstance(part, str) for part in distance_parts(config))
