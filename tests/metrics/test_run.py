"""Metrics of one call over the same encoder: each text is encoded once, and no value changes."""

import sqlite3
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids, join
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.metrics import run
from nlgauge.metrics.registry import metric
from nlgauge.metrics.run import score_blocks, score_segments
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
    monkeypatch.setattr(run, "_HELD_BYTES", 1)  # a segment at a time
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
    assert run.shared({"bertscore": metrics["bertscore"]}, runtime) == ([], {})
    readers, layers = run.shared({**metrics, "bleu": ng.metric("bleu")}, runtime)
    assert readers == list(SPECS)
    assert list(layers.values()) == [[1, 2, 3]]
    other = replace(metrics["wmd"], dtype="bfloat16")  # other vectors
    assert run.shared({"a": metrics["wmd"], "b": other}, runtime) == ([], {})


@dataclass(frozen=True)
class Lengths(BaseMetric):
    """Letters of the hypothesis over letters of the first reference; `seen` is every list it was asked to score."""

    weight: float = 1.0
    seen: list = field(init=False, default_factory=list, compare=False)
    fails_after: ClassVar[int | None] = None
    info: ClassVar = MetricInfo("lengths", range=(0.0, np.inf), cached=True, higher_is_better=False)

    def score(self, segments, runtime):
        if self.fails_after is not None and len(self.seen) >= self.fails_after:
            raise KeyboardInterrupt
        self.seen.append([s.id for s in segments])
        hyp = np.array([len(s.hypothesis) for s in segments], dtype=float)
        ref = np.array([len(s.references[0]) for s in segments], dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(ref > 0, self.weight * hyp / ref, np.nan)
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {"letters": hyp},
            flags={"empty": ref == 0},
            higher_is_better=False,
        )


@dataclass(frozen=True)
class Free(Lengths):
    """Reads no reference."""

    info: ClassVar = MetricInfo("free", needs=(), range=(0.0, np.inf), cached=True, higher_is_better=False)

    def score(self, segments, runtime):
        return super().score([replace(s, references=("x",)) for s in segments], runtime)


@dataclass(frozen=True)
class Uncached(Lengths):
    info: ClassVar = MetricInfo("uncached", range=(0.0, np.inf), higher_is_better=False)


@dataclass(frozen=True)
class Pooled(Lengths):
    pooled: ClassVar = True

    def score(self, segments, runtime):
        found = super().score(segments, runtime)
        return replace(found, values=found.values - np.nanmean(found.values))


def segments_of(n, references=3):
    return [Segment(f"s{i}", "h" * (i + 1), ("r" * (i % references + 1),)) for i in range(n)]


@pytest.fixture
def runtime(tmp_path):
    runtime = Runtime(cache=tmp_path / "scores.sqlite")
    yield runtime
    runtime.cache.close()


def run_same(one, other):
    assert (one.ids, str(one.signature), one.higher_is_better) == (
        other.ids,
        str(other.signature),
        other.higher_is_better,
    )
    np.testing.assert_array_equal(one.values, other.values)
    assert list(one.parts) == list(other.parts)
    assert list(one.flags) == list(other.flags)
    for name in one.parts:
        np.testing.assert_array_equal(one.parts[name], other.parts[name])
    for name in one.flags:
        assert one.flags[name].dtype == other.flags[name].dtype == np.bool_
        np.testing.assert_array_equal(one.flags[name], other.flags[name])


def test_every_metric_is_checked_before_the_first_is_run():
    metric, free = Lengths(), Free()
    with pytest.raises(InputError, match=r"^lengths needs references; segment 'lacking' has none$"):
        score_segments({"a": free, "b": metric}, [*segments_of(2), Segment("lacking", "h")], Runtime())
    assert metric.seen == free.seen == []


class TestCache:
    def test_what_comes_back_is_what_went_in(self, runtime):
        segments = [*segments_of(5), Segment("undefined", "h", ("",))]
        plain = Lengths().score(segments, Runtime())
        first, again = Lengths(), Lengths()
        run_same(score_segments({"m": first}, segments, runtime)["m"], plain)
        run_same(score_segments({"m": again}, segments, runtime)["m"], plain)
        assert len(first.seen) == 1
        assert again.seen == []
        assert plain.n_undefined == 1

    def test_a_text_that_occurs_twice_is_scored_once(self, runtime):
        metric, segments = Lengths(), segments_of(3)
        twice = [*segments, *(replace(s, id=f"{s.id} again", system="other") for s in segments)]
        found = score_segments({"m": metric}, twice, runtime)["m"]
        assert list(chain(*metric.seen)) == ["s0", "s1", "s2"]
        run_same(found, Lengths().score(twice, Runtime()))
        assert runtime.cache.count() == 3

    def test_only_what_is_new_is_scored(self, runtime):
        metric, segments = Lengths(), segments_of(6)
        score_segments({"m": metric}, segments[:4], runtime)
        found = score_segments({"m": metric}, segments[::-1], runtime)["m"]
        assert Counter(list(chain(*metric.seen))) == Counter(s.id for s in segments)
        run_same(found, Lengths().score(segments[::-1], Runtime()))

    def test_rows_without_a_flag_that_is_now_counted_are_scored_again(self, runtime):
        @dataclass(frozen=True)
        class Flagged(Lengths):
            info: ClassVar = replace(Lengths.info, flags={"empty", "unknown"})

            def score(self, segments, runtime):
                found = super().score(segments, runtime)
                return replace(found, flags={**found.flags, "unknown": found.parts["letters"] > 2})

        segments, metric, again = segments_of(4), Flagged(), Flagged()
        score_segments({"m": Lengths()}, segments, runtime)  # what an older release wrote, under the same signature
        found = score_segments({"m": metric}, segments[:3], runtime)["m"]
        assert found.flags["unknown"].tolist() == [False, False, True]
        run_same(score_segments({"m": again}, segments[:3], runtime)["m"], found)
        assert (len(metric.seen), again.seen) == (1, [])
        assert runtime.cache.count() == 3  # of the fourth there was only an old row

    def test_a_damaged_row_is_scored_again(self, runtime):
        segments, again = segments_of(5), Lengths()
        score_segments({"m": Lengths()}, segments, runtime)
        runtime.cache.close()
        with sqlite3.connect(runtime.cache.path) as connection:
            connection.execute("UPDATE scores SET row = zeroblob(24) WHERE key = (SELECT MIN(key) FROM scores)")
        connection.close()
        run_same(score_segments({"m": again}, segments, runtime)["m"], Lengths().score(segments, Runtime()))
        assert len(list(chain(*again.seen))) == 1
        assert runtime.cache.check().damaged == 0

    def test_rows_with_other_columns_are_scored_again(self, runtime):
        @dataclass(frozen=True)
        class Plainer(Lengths):
            def score(self, segments, runtime):
                return replace(super().score(segments, runtime), parts={})

        segments, plainer = segments_of(4), Plainer()
        score_segments({"m": Lengths()}, segments[:3], runtime)
        found = score_segments({"m": plainer}, segments, runtime)["m"]
        assert sorted(chain(*plainer.seen)) == [s.id for s in segments]
        run_same(found, Plainer().score(segments, Runtime()))

    def test_a_cache_that_steps_aside_costs_no_score(self, runtime, tmp_path):
        (tmp_path / "file").write_text("")
        notes, metric, segments = [], Lengths(), segments_of(600)
        cache = ScoreCache(tmp_path / "file" / "c", optional=True, tell=notes.append)
        found = score_segments({"m": metric}, segments, Runtime(cache=cache))["m"]
        run_same(found, Lengths().score(segments, Runtime()))
        assert len(notes) == 1

    @pytest.mark.parametrize("metric", [Uncached, Pooled])
    def test_what_counts_quickly_or_depends_on_the_call_is_never_stored(self, runtime, metric):
        built, segments = metric(), segments_of(4)
        found = score_segments({"m": built}, segments, runtime)["m"]
        alone = score_segments({"m": built}, segments[:2], runtime)["m"]
        assert not runtime.cache.path.exists()
        assert [len(asked) for asked in built.seen] == [4, 2]
        assert (found.values[:2] == alone.values).all() == (metric is Uncached)

    def test_without_a_cache_nothing_is_stored(self, tmp_path, monkeypatch):
        monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path))
        score_segments({"m": Lengths()}, segments_of(2), Runtime())
        assert list(tmp_path.iterdir()) == []

    def test_no_segments_are_no_reason_to_open_it(self, runtime):
        assert len(score_segments({"m": Lengths()}, [], runtime)["m"]) == 0
        assert not runtime.cache.path.exists()

    @pytest.mark.parametrize("kind", [Lengths, Free])
    @pytest.mark.parametrize("references", [1, 3, 100])
    def test_a_killed_run_goes_on_where_it_stopped_with_the_same_numbers(self, tmp_path, monkeypatch, kind, references):
        monkeypatch.setattr(run, "_STORE_EVERY", 10)
        segments = segments_of(65, references)
        whole = kind().score(segments, Runtime())
        path = tmp_path / "scores.sqlite"
        killed, goes_on = kind(), kind()
        monkeypatch.setattr(kind, "fails_after", 2)
        with pytest.raises(KeyboardInterrupt):
            score_segments({"m": killed}, segments, Runtime(cache=path))
        done = {name for asked in killed.seen for name in asked}
        # two writes of 10 to 20 each, however many segments share a reference or have none
        assert 20 <= len(done) <= 40
        monkeypatch.setattr(kind, "fails_after", None)
        run_same(score_segments({"m": goes_on}, segments, Runtime(cache=path))["m"], whole)
        assert {name for asked in goes_on.seen for name in asked} == {s.id for s in segments} - done

    def test_segments_that_share_a_reference_are_scored_together(self, runtime, monkeypatch):
        monkeypatch.setattr(run, "_STORE_EVERY", 4)
        metric, segments = Lengths(), segments_of(9)
        score_segments({"m": metric}, segments, runtime)
        asked = [{segments[int(name[1:])].references for name in part} for part in metric.seen]
        assert [len(part) for part in metric.seen] == [6, 3]  # three references three times: 4 would part the second
        assert set.intersection(*asked) == set()

    @pytest.mark.parametrize(("seconds", "sizes"), [(1000.0, [512, 64, 64, 60]), (5.0, [512, 188]), (0.0, [512, 188])])
    def test_a_slow_metric_is_stored_more_often(self, runtime, monkeypatch, seconds, sizes):
        clock = iter(range(100))
        monkeypatch.setattr(run, "monotonic", lambda: next(clock) * seconds)  # so long for every part
        metric = Lengths()
        score_segments({"m": metric}, segments_of(700, 700), runtime)
        assert [len(part) for part in metric.seen] == sizes

    def test_a_cache_is_shared_by_metrics_and_runs(self, tmp_path):
        cache = ScoreCache(tmp_path / "scores.sqlite")
        segments = segments_of(3)
        score_segments({"a": Lengths(), "b": Lengths(weight=3.0)}, segments, Runtime(cache=cache))
        later = Lengths(weight=3.0)
        score_segments({"c": later}, segments, Runtime(cache=tmp_path / "scores.sqlite"))
        assert later.seen == []
        cache.close()


class TestBlocks:
    @given(st.lists(st.integers(1, 9), max_size=4))
    def test_blocks_joined_are_the_whole(self, cuts):
        segments = segments_of(10)
        edges = [0, *sorted(set(cuts)), 10]
        blocks = [segments[a:b] for a, b in pairwise(edges)]
        metrics = {"lengths": Lengths(), "bleu": ng.metric("bleu")}
        found = list(score_blocks(metrics, blocks, Runtime()))
        assert [list(block) for block, _ in found] == blocks
        for name, built in metrics.items():
            whole, joined = (
                score_segments({name: built}, segments, Runtime())[name],
                join([scores[name] for _, scores in found]),
            )
            run_same(joined, whole)
            # BLEU's statistics are counts, whose sums are exact; a mean of ten numbers is added in another order
            assert joined.system == pytest.approx(whole.system, rel=1e-15)

    def test_a_pooled_metric_is_given_everything_at_once(self):
        segments = segments_of(6)
        metrics = {"lengths": Lengths(), "pooled": Pooled()}
        found = list(score_blocks(metrics, [segments[:2], segments[2:]], Runtime()))
        assert len(found) == 1
        assert list(found[0][0]) == segments
        run_same(found[0][1]["pooled"], Pooled().score(segments, Runtime()))

    def test_blocks_are_read_one_at_a_time(self):
        read = []

        def blocks():
            for i in range(3):
                read.append(i)
                yield segments_of(2)

        scored = score_blocks({"m": Lengths()}, blocks(), Runtime())
        assert read == []
        next(scored)
        assert read == [0]


class Shown:
    """Progress that remembers its bars: label -> total and how far it got."""

    def __init__(self):
        self.bars = {}

    @contextmanager
    def __call__(self, total, label):
        assert label not in self.bars, "a bar began again"
        self.bars[label] = [total, 0.0]

        def advance(count):
            self.bars[label][1] += count

        yield advance


@pytest.mark.parametrize("cached", [False, True])
def test_one_bar_per_metric_over_all_blocks_and_portions(tmp_path, monkeypatch, cached):
    monkeypatch.setattr(run, "_STORE_EVERY", 2)
    shown = Shown()
    runtime = Runtime(progress=shown, cache=tmp_path / "c.sqlite" if cached else None)
    segments = [Segment(str(i), "a" * (i % 5), ("b",)) for i in range(10)]
    metrics = {"lengths": Lengths(), "sum": metric("0.5*chrf + 0.5*bleu[norm=none]")}
    for _ in score_blocks(metrics, [segments[:4], segments[4:]], runtime, 10):
        pass
    assert {label: (total, round(reached, 6)) for label, (total, reached) in shown.bars.items()} == {
        "lengths": (10, 10.0),
        "sum": (10, 10.0),
    }
