"""Metrics of one call over the same encoder: each text is encoded once, and no value changes."""

from dataclasses import replace

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.metrics.embedding import sharing
from nlgauge.metrics.scoring.run import score_blocks, score_segments
from nlgauge.runtime.cache import ScoreCache
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")
ROUNDING = 1e-5  # float32, in batches of other shapes
TEXTS = [
    ("the cat sat on the mat", ("a dog lay on the rug", "the cat is on the mat")),
    ("a dog lay on the rug", ("the cat sat on the mat",)),
    ("rain fell in the night", ("the rain fell",)),
    ("the rain fell", ("rain fell in the night",)),
    ("", ("a dog",)),
]
SEGMENTS = [Segment(str(i), hyp, refs) for i, (hyp, refs) in enumerate(TEXTS)]
SPECS = (
    "bertscore", "bertscore:idf=true,layer=1", "cosine", "moverscore", "moverscore:variant=last,idf=true", "wmd",
    "greedy", "embedding-average:layer=2", "vector-extrema", "yisi1", "0.5*wmd:layer=1 + 0.5*cosine[norm=none]",
)  # fmt: skip


@pytest.fixture
def encoded(monkeypatch):
    """The sequences that the network was given, one entry each time."""
    from nlgauge.models.packing import PackedBert

    seen, forward = [], PackedBert._forward

    def watched(self, sequences, *rest):
        seen.extend(ids.tobytes() for ids in sequences)
        return forward(self, sequences, *rest)

    monkeypatch.setattr(PackedBert, "_forward", watched)
    return seen


def made(specs, folder):
    """The metrics over a model; `model=` is written into every term."""
    model = f"model={quote(folder)}"

    def one(spec):
        name, _, options = spec.partition(":")
        return ng.metric(f"{name}:{model}{',' if options else ''}{options}")

    return {
        spec: ng.metric(f"0.5*wmd:{model},layer=1 + 0.5*cosine:{model}[norm=none]") if "*" in spec else one(spec)
        for spec in specs
    }


@pytest.fixture
def metrics(tiny_model):
    return made(SPECS, str(tiny_model("bert")))


def same(found, expected):
    for name, scores in expected.items():
        assert found[name].values == pytest.approx(scores.values, abs=ROUNDING, nan_ok=True), name
        assert {k: v.tolist() for k, v in found[name].flags.items()} == {k: v.tolist() for k, v in scores.flags.items()}
        assert found[name].ids == scores.ids


def test_each_text_is_encoded_once_whatever_layers_are_asked_for(metrics, encoded):
    found = score_segments(metrics, SEGMENTS, Runtime(device="cpu"))
    texts = {text for hyp, refs in TEXTS for text in (hyp, *refs) if text and refs != ("a dog",)}
    assert len(encoded) == len(set(encoded)) == len(texts)
    same(found, {name: metric.score(SEGMENTS, Runtime(device="cpu")) for name, metric in metrics.items()})


def test_a_model_of_the_hub_takes_one_pass_for_all_metrics(tiny_model, monkeypatch):
    """No block sees a text twice, though the metrics read four layers, and one of them five."""
    from nlgauge.models.hub import HubNetwork

    counts, loaded = [], HubNetwork.__init__

    def counting(self, *args):
        loaded(self, *args)
        self._can_replay((0, 1))
        for block in getattr(self._owner, self._stack):
            block.register_forward_hook(lambda module, args, *_: counts.append((id(module), args[0].shape[:2].numel())))

    monkeypatch.setattr(HubNetwork, "_can_replay", lambda self, layers: True)  # its own check runs blocks, too
    monkeypatch.setattr(HubNetwork, "__init__", counting)
    built = made(SPECS, str(tiny_model("distilbert")))
    found = score_segments(built, SEGMENTS, Runtime(device="cpu"))
    seen = {module: sum(n for other, n in counts if other == module) for module, _ in counts}
    texts = {text for hyp, refs in TEXTS for text in (hyp, *refs) if text and refs != ("a dog",)}
    tokens = built["wmd"]._encoder(Runtime(device="cpu")).tokenizer.tokens(list(texts))
    assert set(seen.values()) == {sum(len(t.ids) for t in tokens)}
    counts.clear()
    same(found, {name: metric.score(SEGMENTS, Runtime(device="cpu")) for name, metric in built.items()})


def test_regressors_read_the_vectors_of_the_other_metrics(metrics, encoded, tiny_regressor, monkeypatch):
    """A frozen encoder is shared with all metrics over it; one with adapters, by the metrics over the same head."""
    adapted = tiny_regressor(layers="1,3")
    heads = {
        "mix": f"regressor:model={quote(str(tiny_regressor(layers='mix', adapted=False)))}",
        "one": f"regressor:model={quote(str(tiny_regressor(layers='2', adapted=False)))},references=best",
        "own": f"regressor:model={quote(str(adapted))}",
        "best": f"regressor:model={quote(str(adapted))},references=best",
    }
    built = {name: metrics[name] for name in ("bertscore", "cosine", "moverscore")}
    built |= {name: ng.metric(spec) for name, spec in heads.items()}
    found = score_segments(built, SEGMENTS, Runtime(device="cpu"))
    texts = {text for hyp, refs in TEXTS for text in (hyp, *refs) if text and refs != ("a dog",)}
    assert len(encoded) == 2 * len(texts)  # by two networks
    same(found, {name: metric.score(SEGMENTS, Runtime(device="cpu")) for name, metric in built.items()})


def test_metrics_over_one_nli_model_judge_each_pair_once(encoded, tiny_head, tmp_path):
    head = tiny_head()
    specs = ("nli:", "nli:formula=e-c,references=best,", "nli:direction=backward,", "summac:anchor=reference,")
    built = {spec: ng.metric(f"{spec}model={quote(str(head))}") for spec in specs}
    total = ng.metric(f"0.5*nli:model={quote(str(head))} + 0.5*nli:formula=-c,model={quote(str(head))}[norm=none]")
    found = score_segments({**built, "sum": total}, SEGMENTS, Runtime(device="cpu"))
    pairs = {pair for hyp, refs in TEXTS[:4] for ref in refs for pair in ((hyp, ref), (ref, hyp))}
    assert len(encoded) == len(pairs)
    alone = {name: metric.score(SEGMENTS, Runtime(device="cpu")) for name, metric in {**built, "sum": total}.items()}
    same(found, alone)
    encoded.clear()
    cached = score_segments(built, SEGMENTS, Runtime(device="cpu", cache=ScoreCache(tmp_path / "scores.sqlite")))
    same(cached, {spec: found[spec] for spec in specs})
    assert len(encoded) == len(pairs)


def test_a_text_is_cut_to_pieces_once(metrics, monkeypatch):
    from nlgauge.models.tokens import TextTokenizer

    seen, cut = [], TextTokenizer._tokens

    def watched(self, texts, long):
        seen.extend((text, self.max_tokens, long) for text in texts)
        return cut(self, texts, long)

    monkeypatch.setattr(TextTokenizer, "_tokens", watched)
    runtime = Runtime(device="cpu")
    score_segments(
        {name: metrics[name] for name in ("bertscore", "bertscore:idf=true,layer=1", "wmd", "yisi1")}, SEGMENTS, runtime
    )
    assert len(seen) == len(set(seen)) == len({text for hyp, refs in TEXTS for text in (hyp, *refs)})


def test_portions_bound_the_memory_and_change_no_value(metrics, encoded, monkeypatch):
    expected = score_segments(metrics, SEGMENTS, Runtime(device="cpu"))
    encoded.clear()
    monkeypatch.setattr(sharing, "_HELD_BYTES", 1)  # a segment at a time
    found = score_segments(metrics, SEGMENTS, Runtime(device="cpu"))
    same(found, expected)
    assert len(encoded) <= 2 * len(set(encoded))  # a text again where another segment has it, never per metric


def test_the_cache_and_blocks_share_as_well(metrics, encoded, tmp_path):
    expected = score_segments(metrics, SEGMENTS, Runtime(device="cpu"))
    once = len(encoded)
    encoded.clear()
    runtime = Runtime(device="cpu", cache=ScoreCache(tmp_path / "scores.sqlite"))
    ((_, found),) = score_blocks(metrics, [SEGMENTS[:2], SEGMENTS[2:]], runtime)
    same(found, expected)
    assert len(encoded) == once


def test_one_metric_alone_shares_nothing(metrics):
    runtime = Runtime(device="cpu")
    assert sharing.shared({"bertscore": metrics["bertscore"]}, runtime) == ([], {})
    readers, layers = sharing.shared({**metrics, "bleu": ng.metric("bleu")}, runtime)
    assert readers == list(SPECS)
    assert list(layers.values()) == [[1, 2, 3]]
    other = replace(metrics["wmd"], dtype="bfloat16")  # other vectors
    assert sharing.shared({"a": metrics["wmd"], "b": other}, runtime) == ([], {})


def test_portions_hold_every_segment_once(metrics, monkeypatch):
    monkeypatch.setattr(sharing, "_HELD_BYTES", 100)
    cut = list(sharing.portions(list(metrics.values()), SEGMENTS, 1))
    assert len(cut) > 1
    assert sorted(np.concatenate(cut).tolist()) == list(range(len(SEGMENTS)))
