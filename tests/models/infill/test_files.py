"""Which files a model for gaps is made of, found without loading it."""

from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.models.heads import find_head
from nlgauge.models.infill.files import locate_infill

pytest.importorskip("transformers")


def test_the_shipped_head_stands_on_its_encoder_and_fills_with_words():
    found, head = locate_infill(), find_head("infill", "infill")
    assert (found.name, found.head, found.files, found.phrases) == ("infill", head, head.encoder, False)


def test_an_encoder_decoder_fills_with_phrases_and_a_masked_language_model_with_words(tiny_masked, tiny_model):
    assert locate_infill(str(tiny_model("t5"))).phrases
    assert not locate_infill(str(tiny_masked("bert"))).phrases


def test_what_pins_it_says_the_head_first():
    assert list(locate_infill().facts()) == ["head", "weights", "tokenizers", "torch"]


def test_names_that_are_no_filler_are_refused(tiny_model, tiny_nli, tiny_head, tiny_masked, tmp_path):
    with pytest.raises(InputError, match=r"expected a masked language model \(BERT, RoBERTa, ...\) or a denoising"):
        locate_infill(str(tiny_nli("bert")))
    with pytest.raises(InputError, match="expected a masked language model"):
        locate_infill(str(tiny_model("gpt2")))
    with pytest.raises(InputError, match="the embedded encoder alone fills no gaps; 'infill' is the head"):
        locate_infill("embedded")
    with pytest.raises(InputError, match=r"is for nli, expected one for infill"):
        locate_infill(str(tiny_head()))
    with pytest.raises(InputError, match="has no revisions"):
        locate_infill("infill", "main")
    with pytest.raises(InputError, match="does not exist"):
        locate_infill(str(tmp_path / "none"))
