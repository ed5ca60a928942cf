"""Which models write text, and what their configurations say of them."""

import json
import math
import shutil

import pytest

from nlgauge.core.errors import InputError
from nlgauge.models.generation.files import locate_generator

pytest.importorskip("torch")


def changed(folder, to, **config):
    shutil.copytree(folder, to)
    path = to / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **config}), encoding="utf-8")
    return str(to)


@pytest.mark.parametrize(("kind", "paired"), [("bart", True), ("t5", True), ("gpt2", False), ("llama", False)])
def test_encoder_decoders_and_causal_models_are_told_apart(tiny_denoiser, tiny_causal, kind, paired):
    folder = (tiny_denoiser if paired else tiny_causal)(kind)
    assert locate_generator(str(folder)).paired is paired


def test_an_encoder_writes_no_text(tiny_masked):
    with pytest.raises(InputError, match=r"is BertForMaskedLM, expected a model that writes text: an encoder-decoder"):
        locate_generator(str(tiny_masked("bert")))


def test_the_embedded_encoder_writes_no_text_and_is_not_offered():
    with pytest.raises(InputError, match="'embedded' is BertModel, expected a model that writes text"):
        locate_generator("embedded")
    with pytest.raises(InputError) as refused:
        locate_generator("no/such-model")
    assert "model=embedded" not in str(refused.value)


def test_the_worst_value_is_twice_a_guess_among_all_pieces(tiny_causal, tmp_path):
    assert locate_generator(changed(tiny_causal("gpt2"), tmp_path / "a", vocab_size=100)).worst == -2 * math.log(100)
    nested = changed(tiny_causal("gpt2"), tmp_path / "b", vocab_size=None, text_config={"vocab_size": 7})
    with pytest.raises(InputError, match="vocab_size is None"):
        _ = locate_generator(nested).n_pieces


def test_a_text_starts_with_the_begin_token_or_else_with_the_end_token(tiny_causal, tmp_path):
    folder = tiny_causal("gpt2")
    assert locate_generator(str(folder)).start == 0
    assert locate_generator(changed(folder, tmp_path / "a", bos_token_id=None, eos_token_id=[5, 6])).start == 5
    assert locate_generator(changed(folder, tmp_path / "b", bos_token_id=None, eos_token_id=None)).start is None


def test_positions_are_read_as_gpt2_writes_them(tiny_causal, tiny_denoiser):
    assert locate_generator(str(tiny_causal("gpt2"))).max_tokens == 48
    assert locate_generator(str(tiny_denoiser("t5"))).max_tokens is None
