import re
import shutil

import pytest

from nlgauge.core.errors import InputError
from nlgauge.models.heads import ON_BASE, ON_MULTILINGUAL, find_head, is_head

torch = pytest.importorskip("torch")


def test_a_head_says_what_it_is(tiny_head, tiny_model):
    path = tiny_head()
    head = find_head(str(path), "nli")
    assert head.items("labels") == ("entailment", "neutral", "contradiction")
    assert head.items("trained_on_phenomena") == ("negation", "number_error")
    assert head.items("nothing") == ()
    assert head.get("nothing") is None
    assert (head.whole("max_tokens"), head.whole("nothing")) == (32, None)
    assert head.encoder.folder == tiny_model("bert")
    assert re.fullmatch("sha256:[0-9a-f]{64}", head.identity)
    own, adapters = head.tensors()
    assert set(own) == {"classifier.weight", "classifier.bias"}
    assert all(tensor.dtype == torch.float32 for tensor in own.values())
    assert len(adapters) == 18  # six linear layers in each of three
    assert adapters["encoder.layer.2.output.dense"][0].shape == (2, 48)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format": None},
            (
                r"tiny\.safetensors is no head: its metadata has format None, expected 'nlgauge-head'; name a model's"
                r" folder$"
            ),
        ),
        ({"format": "pt"}, r"is no head: its metadata has format 'pt'"),
        ({"version": "2"}, r"has version 2, this nlgauge reads version 1; update nlgauge$"),
        ({"kind": "infill"}, r"is for infill, expected one for nli$"),
        (
            {"encoder_sha256": "ab12"},
            r"was made for weights of .* with SHA-256 ab12, found [0-9a-f]{64}; it fits no others$",
        ),
        ({"encoder": "/no/such/folder"}, r"model folder /no/such/folder does not exist$"),
    ],
)
def test_a_file_that_is_no_head_for_this_is_refused(tiny_head, changes, message):
    with pytest.raises(InputError, match=message):
        find_head(str(tiny_head(**changes)), "nli")


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x02}q\x00.", b"\x09\0\0\0\0\0\0\0not json!", b"\xff" * 20, b"\x02\0\0\0\0\0\0\0[]"]
)
def test_a_file_that_is_no_safetensors_is_told_in_one_line(tmp_path, content):
    (tmp_path / "head.safetensors").write_bytes(content)
    with pytest.raises(InputError, match=r"head\.safetensors is not a readable safetensors file: .+") as refused:
        find_head(str(tmp_path / "head.safetensors"), "nli")
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_told_with_the_nearest_name(tmp_path):
    with pytest.raises(
        InputError,
        match=r"^head file nli_robust\.safetensors does not exist; did you mean 'nli-robust-base' or 'nli-robust'\?$",
    ):
        find_head("nli_robust.safetensors", "nli")
    with pytest.raises(InputError, match=r"absent\.safetensors does not exist$"):
        find_head(str(tmp_path / "absent.safetensors"), "nli")


@pytest.mark.parametrize("name", ["~nobody/head.safetensors", "x" * 300 + ".safetensors"])
def test_a_path_that_the_system_does_not_take_is_no_file(name):
    with pytest.raises(InputError, match="does not exist"):
        find_head(name, "nli")


def test_a_number_that_is_none_is_refused(tiny_head):
    with pytest.raises(InputError, match=r"max_tokens is 'many', expected a whole number$"):
        find_head(str(tiny_head(max_tokens="many")), "nli").whole("max_tokens")


def test_half_an_adapter_is_refused(tiny_head):
    name = "encoder.layer.0.output.dense.lora_b"
    with pytest.raises(InputError, match=rf"holds no {re.escape(name)}; an adapter is a pair"):
        find_head(str(tiny_head(drop=[name])), "nli").tensors()


def test_a_head_that_changes_is_another(tiny_head, tmp_path):
    first = find_head(str(tiny_head()), "nli")
    shutil.copy(tiny_head(name="other"), tmp_path / "other.safetensors")
    assert find_head(str(tmp_path / "other.safetensors"), "nli").identity != first.identity


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("nli", True),
        ("nli-robust", True),
        ("nli-base", True),
        ("a/b.safetensors", True),
        ("embedded", False),
        ("roberta-large-mnli", False),
    ],
)
def test_which_names_mean_heads(name, head):
    assert is_head(name) is head


@pytest.mark.parametrize(("name", "kind"), {**ON_BASE, **ON_MULTILINGUAL}.items())
def test_a_head_says_how_to_get_its_encoder_where_it_lacks(name, kind, tmp_path, monkeypatch):
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path))
    monkeypatch.setattr("nlgauge.models.fetch._installed", lambda one: None)
    one, size = ("base", 404) if name in ON_BASE else ("multilingual", 72)
    with pytest.raises(
        InputError, match=rf"^the encoder '{one}' is not here; run: nlgauge fetch {one} \({size} MB, once\)$"
    ):
        find_head(name, kind)
