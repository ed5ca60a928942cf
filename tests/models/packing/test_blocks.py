"""The blocks of a GPU, run on a CPU, against the kernels of a CPU."""

import functools

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import nlgauge as ng
from nlgauge.models.encoder import load_encoder
from nlgauge.models.locate import ModelFiles
from nlgauge.models.packing import blocks
from nlgauge.models.packing.packed import PackedBert
from nlgauge.runtime.runtime import Runtime

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
    blocks.compiled_finish.cache_clear()
    try:
        found = vectors(tiny_model("bert"), as_gpu=True, compiled=True)
    finally:
        blocks.compiled_finish.cache_clear()
    assert made == [{"dynamic": True}]
    for one, other in zip(found, vectors(tiny_model("bert"), as_gpu=True), strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


@pytest.mark.slow
def test_torch_can_trace_what_is_compiled(tiny_model, monkeypatch):
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager", fullgraph=True))
    blocks.compiled_finish.cache_clear()
    try:
        found = vectors(tiny_model("bert"), as_gpu=True, compiled=True)
    finally:
        blocks.compiled_finish.cache_clear()
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
