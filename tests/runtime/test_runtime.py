"""`dtype=auto` is settled by the instructions of the device, once, and never appears in a signature."""

import copy
import json
import pickle
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.registry import METRICS
from nlgauge.models import fetch, heads, locate
from nlgauge.runtime import runtime as precision
from nlgauge.runtime.cache import ScoreCache
from nlgauge.runtime.runtime import (
    AUTO,
    DTYPES,
    ENCODER_BY,
    ENCODERS,
    Bar,
    Runtime,
    automatic,
    bars,
    by_length,
    margin,
    runs,
    silent,
    windows,
)

CASCADE_LAKE = "processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512_vnni md_clear\nbugs\t\t: spectre_v1\n"
ZEN_4 = CASCADE_LAKE.replace("avx512_vnni", "avx512_vnni avx512_bf16")
SAPPHIRE_RAPIDS = CASCADE_LAKE.replace("avx512_vnni", "avx512_bf16 amx_bf16 amx_tile amx_int8")


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Makes this an x86 machine with a text in /proc/cpuinfo and a version of torch."""

    def make(cpuinfo, torch="2.13.0+cpu", kind="x86_64"):
        path = tmp_path / "cpuinfo"
        path.write_text(cpuinfo)
        monkeypatch.setattr(precision, "_CPUINFO", path)
        monkeypatch.setattr(precision, "version", lambda package: torch)
        monkeypatch.setattr(precision.platform, "machine", lambda: kind)
        monkeypatch.setattr(precision.sys, "platform", "linux")
        automatic.cache_clear()

    yield make
    automatic.cache_clear()


@pytest.mark.parametrize(
    ("cpuinfo", "taken"), [(CASCADE_LAKE, "float32"), (ZEN_4, "bfloat16"), (SAPPHIRE_RAPIDS, "bfloat16")]
)
def test_a_processor_that_multiplies_bfloat16_takes_it(machine, monkeypatch, cpuinfo, taken):
    machine(cpuinfo)
    monkeypatch.setitem(sys.modules, "torch", None)  # where it can find no GPU, it is not imported
    assert automatic("cpu") == automatic("auto") == taken


def test_other_processors_and_devices_take_float32(machine):
    machine("Features\t: fp asimd bf16\n", kind="aarch64")
    assert automatic("cpu") == "float32"
    machine(SAPPHIRE_RAPIDS)
    assert automatic("mps") == "float32"
    machine("")
    precision._CPUINFO.write_bytes(b"model name\t: Xeon\xae\n" + SAPPHIRE_RAPIDS.encode())  # a name that is no UTF-8
    assert automatic("cpu") == "bfloat16"


@pytest.mark.parametrize(("available", "major", "taken"), [(True, 9, "bfloat16"), (True, 7, "float32")])
def test_a_gpu_takes_it_from_ampere_on(machine, monkeypatch, available, major, taken):
    cuda = SimpleNamespace(is_available=lambda: available, get_device_capability=lambda device: (major, 0))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    machine(CASCADE_LAKE, torch="2.13.0+cu130")
    assert automatic("auto") == automatic("cuda:1") == taken


def test_without_a_gpu_the_processor_decides(machine, monkeypatch):
    cuda = SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    machine(ZEN_4, torch="2.13.0")
    assert automatic("auto") == "bfloat16"
    assert automatic("cuda") == "float32"  # which ends with an error of its own


def test_a_runtime_settles_it_when_it_is_made(machine):
    machine(ZEN_4)
    assert Runtime(device="cpu", dtype="auto").dtype == "bfloat16"
    assert Runtime(device="cpu").dtype == "float32"
    runtime = Runtime(device="cpu", dtype="float64")
    assert [runtime.precision(dtype) for dtype in (None, "auto", "float16")] == ["float64", "bfloat16", "float16"]


def embedded_metrics():
    """Metrics with a `dtype` whose model is installed."""
    for name in METRICS.names():
        kind, fixed = METRICS.lookup(name)
        model = fixed.get("model", getattr(kind, "model", None))
        if model in {locate.NAME, *heads.SHIPPED} and "dtype" in getattr(kind, "__annotations__", ()):
            yield name


@pytest.mark.parametrize("cpuinfo", [CASCADE_LAKE, ZEN_4])
def test_signatures_name_the_precision_that_was_taken(machine, cpuinfo):
    pytest.importorskip("torch")
    machine(cpuinfo)
    taken = automatic("cpu")
    names = list(embedded_metrics())
    assert {"bertscore", "cosine"} <= set(names)
    for name in names:
        for spec, runtime in ((name, Runtime(device="cpu", dtype="auto")), (f"{name}:dtype=auto", Runtime("cpu"))):
            assert f"|dtype:{taken}|" in f"{signature_of(ng.metric(spec), runtime)}|", spec


lengths = st.lists(st.integers(0, 50), max_size=60)


def batches(*arguments):
    return [batch.tolist() for batch in by_length(*arguments)]


def test_batches_worked_by_hand():
    # by length: places 1 (1 token), 3 (2), 0 (3), 4 (3), 2 (9); under a budget of 6: 1 + 2 + 3, then 3, then 9 alone
    assert batches([3, 1, 9, 2, 3], 6) == [[1, 3, 0], [4], [2]]


@given(lengths, st.integers(1, 100))
def test_texts_come_by_length_in_batches_that_end_only_where_the_next_does_not_fit(tokens, budget):
    made = batches(tokens, budget)
    order = sorted(range(len(tokens)), key=lambda i: (tokens[i], i))  # those of one length in their order
    assert [i for batch in made for i in batch] == order
    assert all(batch for batch in made)
    assert all(len(batch) == 1 or sum(tokens[i] for i in batch) <= budget for batch in made)
    for batch, after in pairwise(made):
        assert sum(tokens[i] for i in batch) + tokens[after[0]] > budget


def test_windows_of_pairs_worked_by_hand():
    # texts of 3, 2, 4 and 1; at most 7: (0, 1) 5, (1, 0) nothing new, (3, 3) 6; (2, 1) would be 10 and begins anew: 6,
    # (3, 2) 7; (0, 0) would be 10
    pairs = np.array([[0, 1], [1, 0], [3, 3], [2, 1], [3, 2], [0, 0]])
    assert [window.tolist() for window in windows(pairs, [3, 2, 4, 1], 7)] == [[0, 1, 2], [3, 4], [5]]
    assert [window.tolist() for window in windows(pairs[:4], [3, 2, 4, 1], 1)] == [[0], [1], [2], [3]]
    assert list(windows(np.zeros((0, 2), dtype=np.int64), [3], 7)) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30), st.data(), st.integers(1, 60))
def test_every_pair_is_in_one_window_and_none_of_two_is_over_the_size(pairs, data, most):
    sizes = data.draw(st.lists(st.integers(0, 20), min_size=7, max_size=7))

    def size(places):
        return sum(sizes[text] for text in {text for place in places for text in pairs[place]})

    made = [window.tolist() for window in windows(np.array(pairs, dtype=np.int64).reshape(-1, 2), sizes, most)]
    assert [place for window in made for place in window] == list(range(len(pairs)))
    assert all(len(window) == 1 or size(window) <= most for window in made)
    assert all(size([*window, after[0]]) > most for window, after in pairwise(made))


@given(st.lists(st.integers(0, 3), max_size=30))
def test_runs_cover_everything_and_neighbouring_runs_differ(values):
    found = list(runs(np.array(values, dtype=np.int64)))
    assert [i for start, end in found for i in range(start, end)] == list(range(len(values)))
    assert all(len(set(values[start:end])) == 1 for start, end in found)
    assert all(values[end - 1] != values[end] for _, end in found[:-1])
    assert list(runs([5, 5, 2, 5, 5, 5])) == [(0, 2), (2, 3), (3, 6)]


def test_every_precision_has_a_margin_and_a_lower_one_no_smaller():
    margins = {dtype: margin(dtype) for dtype in DTYPES}
    assert margins["float64"] <= margins["float32"] < margins["float16"] < margins["bfloat16"] < 0.5


def test_what_was_loaded_once_is_shared():
    runtime, loads = Runtime(), []
    for load in (object, lambda: None):  # None is loaded once, too
        key = ("model", load)
        assert runtime.once(key, lambda load=load: loads.append(1) or load()) is runtime.once(key, object)
    assert len(loads) == 2
    # what is loaded may need what is shared itself
    assert (
        runtime.once("encoder", lambda: ("encoder", runtime.once("tokenizer", lambda: "tokenizer")))[1] == "tokenizer"
    )

    def fail():
        raise InputError("no such model")

    with pytest.raises(InputError):
        runtime.once("model", fail)
    assert runtime.once("model", lambda: "model") == "model"  # a load that fails is tried again


def test_threads_that_ask_at_once_share_one_copy():
    runtime, loads, found = Runtime(), [], []

    def load():
        loads.append(1)
        time.sleep(0.05)  # long enough for the others to ask meanwhile
        return object()

    threads = [threading.Thread(target=lambda: found.append(runtime.once("model", load))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(set(map(id, found))) == 1
    assert len(found) == 8


def test_runtimes_share_nothing_unless_made_from_each_other():
    one = Runtime()
    model = one.once("model", object)
    assert Runtime().once("model", object) is not model
    assert replace(one, token_budget=1).once("model", object) is model  # the same models under another budget


def test_another_process_gets_the_settings_and_a_copy_shares_the_models(tmp_path):
    one = Runtime(seed=3, cache=tmp_path / "scores.sqlite")
    one.once("model", object)
    other = pickle.loads(pickle.dumps(one))
    assert (other.seed, other.cache.path, other._models) == (3, tmp_path / "scores.sqlite", {})
    assert copy.deepcopy(one) is one
    waiting = Runtime(cache=lambda: ScoreCache(tmp_path / "scores.sqlite"))
    assert pickle.loads(pickle.dumps(waiting)).cache.path == tmp_path / "scores.sqlite"


def test_a_path_of_a_cache_is_opened(tmp_path):
    runtime = Runtime(cache=tmp_path / "scores.sqlite")
    assert isinstance(runtime.cache, ScoreCache)
    assert runtime.cache.path == tmp_path / "scores.sqlite"
    assert not (tmp_path / "scores.sqlite").exists()  # nothing is made before something is asked
    assert isinstance(Runtime(cache=str(tmp_path / "x")).cache, ScoreCache)
    assert Runtime(cache=runtime.cache).cache is runtime.cache
    assert Runtime().cache is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float8"}, r"^dtype is 'float8', expected one of auto, float32, bfloat16, float16, float64$"),
        ({"token_budget": 0}, r"^token_budget is 0, expected 1 or more$"),
    ],
)
def test_what_cannot_be_is_refused_at_once(options, message):
    with pytest.raises(InputError, match=message):
        Runtime(**options)


def test_what_stood_first_keeps_its_place():
    """Arguments may be given by position, so that a new one comes last."""
    names = [field.name for field in fields(Runtime) if not field.name.startswith("_")]
    first = ["device", "dtype", "token_budget", "seed", "cache", "progress", "pool"]
    assert names == [*first, "encoder"]


def test_the_encoder_is_that_of_the_environment_unless_one_is_given(monkeypatch):
    monkeypatch.delenv(ENCODER_BY, raising=False)
    assert Runtime().encoder == "embedded"
    monkeypatch.setenv(ENCODER_BY, "base")
    assert (Runtime().encoder, Runtime(encoder="embedded").encoder) == ("base", "embedded")
    assert replace(Runtime(encoder="embedded"), seed=1).encoder == "embedded"  # and stays
    monkeypatch.setenv(ENCODER_BY, "large")
    with pytest.raises(
        InputError, match=r"^NLGAUGE_ENCODER is 'large'; known: auto, base, embedded, multilingual; other"
    ):
        Runtime()
    with pytest.raises(InputError, match=r"^encoder is 'bsae'; did you mean 'base'\?; other models are named"):
        Runtime(encoder="bsae")
    with pytest.raises(InputError, match=r"^encoder is 1, expected "):
        Runtime(encoder=1)


def test_the_encoders_are_those_with_a_name():
    assert (*fetch.ENCODERS, AUTO) == ENCODERS


@pytest.fixture
def small(tiny_model, monkeypatch):
    """A small model stands in for `base`."""
    monkeypatch.setitem(heads._IN_PLACE, "base", {"embedded": str(tiny_model("mpnet"))})
    runtime = Runtime(encoder="base")
    return runtime, str(signature_of(ng.metric("cosine", model=str(tiny_model("mpnet"))), runtime))


def test_every_call_takes_the_encoder_of_its_runtime(small, tmp_path):
    runtime, signed = small
    hyps, refs = {"a": ["the cat", "a dog", "it is"], "b": ["a cat", "dogs", "was it"]}, ["the cat", "a dog", "it was"]
    meter = ng.Accumulator("cosine", runtime)
    meter.update(hyps["a"], refs)
    rows = [
        {"seg": str(i), "system": system, "hyp": hyp, "refs": [ref], "human": {"q": i + len(hyp)}}
        for system, texts in hyps.items()
        for i, (hyp, ref) in enumerate(zip(texts, refs, strict=True))
    ]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = ng.read(tmp_path / "data.jsonl")
    pairs = [
        Pair(id=str(i), phenomenon="p", better=hyps["a"][i], worse=hyps["b"][i], references=(f"{refs[i]} there",))
        for i in range(3)
    ]
    suite = Suite(tuple(pairs), name="three")
    results = [
        ng.compare(hyps, refs, metrics="cosine", runtime=runtime).result(),
        ng.meta_evaluate(data, "cosine", stats="pearson", runtime=runtime).result(),
        ng.sweep(data, suite, "cosine", "chrf", runtime=runtime).result(),
        ng.audit(suite, "cosine", runtime=runtime).result(),
    ]
    found = {str(ng.score(hyps["a"], refs, metrics="cosine", runtime=runtime)["cosine"].signature)}
    found |= {str(meter.compute()["cosine"].signature)}
    found |= {metric["signature"] for result in results for metric in result.metrics if metric["spec"] == "cosine"}
    assert found == {signed}


GERMAN = ["Der Zug war nicht da, und wir haben gewartet.", "Auf dem Dach ist eine Ziege, die nicht will."]


def test_every_call_settles_the_encoder_auto_by_its_texts(tiny_model, monkeypatch):
    other, english = (str(tiny_model(kind)) for kind in ("mpnet", "bert"))
    monkeypatch.setitem(heads._IN_PLACE, "multilingual", {"embedded": other})
    monkeypatch.setitem(heads._IN_PLACE, "base", {"embedded": english})
    monkeypatch.setenv(ENCODER_BY, "base")
    runtime = Runtime(encoder="auto")
    hyps, refs = {"a": GERMAN, "b": GERMAN[::-1]}, GERMAN
    segments = tuple(
        Segment(f"{system}{i}", text, (refs[i],), system=system, item=str(i), human={"q": i + (system == "a")})
        for system, texts in hyps.items()
        for i, text in enumerate(texts)
    )
    pairs = [Pair(id=str(i), phenomenon="p", better=GERMAN[i], worse=GERMAN[i][9:], references=refs) for i in (0, 1)]
    results = [
        ng.compare(hyps, refs, metrics="cosine", runtime=runtime).result(),
        ng.meta_evaluate(Dataset(segments), "cosine", stats="pearson", runtime=runtime).result(),
        ng.audit(Suite(tuple(pairs), name="two"), "cosine", runtime=runtime, design="preference").result(),
        ng.choose(Dataset(segments), "cosine", runtime=runtime).result(),
    ]
    scores = ng.score(GERMAN, refs, metrics="cosine", runtime=runtime)["cosine"]
    signed = str(signature_of(ng.metric("cosine", model=other), runtime))
    assert {str(scores.signature), *(result.metrics[0]["signature"] for result in results)} == {signed}
    for notes in (scores.notes, *(result.notes for result in results)):
        assert [note for note in notes if note.startswith("encoder auto took multilingual: ")], notes
    assert scores.notes[0] == "encoder auto took multilingual: 2 of 2 segments look German"
    command = next(row["text"] for row in results[-1].rows if row.get("said") == "command")
    assert "-m cosine --encoder multilingual" in command
    found = ng.score(["The cat sat there."], ["A cat was there."], metrics="cosine", runtime=runtime)["cosine"]
    assert str(found.signature) == str(signature_of(ng.metric("cosine", model=english), runtime))
    assert found.notes[0] == "encoder auto took base: the texts look English"
    assert "auto" not in str(ng.score(GERMAN, refs, metrics="chrf", runtime=runtime)["chrf"].notes)  # nothing to choose


def test_a_metric_inside_another_takes_it_too(small):
    runtime, signed = small
    found = ng.score(["is it?"], ["was it?"], metrics="qmetric:base=cosine", runtime=runtime)["qmetric:base=cosine"]
    inner = signed.rpartition("|nlgauge:")[0]
    assert f"base:({inner})" in str(found.signature)


def test_silent_progress_takes_counts_and_shows_nothing(capsys):
    with silent(10, "label") as advance:
        advance(3)
    assert capsys.readouterr() == ("", "")


def test_a_device_and_a_precision_of_torch_say_the_same_as_their_names():
    torch = pytest.importorskip("torch")
    runtime = Runtime(device=torch.device("cuda:1"), dtype=torch.bfloat16)
    assert (runtime.device, runtime.dtype) == ("cuda:1", "bfloat16")
    with pytest.raises(InputError, match=r"^dtype is 'int8', expected one of auto, float32"):
        Runtime(dtype=torch.int8)


@pytest.mark.parametrize(
    ("is_terminal", "is_notebook", "shows"), [(True, False, True), (False, True, True), (False,) * 3]
)
def test_a_line_shows_what_takes_long_where_somebody_sees_it(monkeypatch, capsys, is_terminal, is_notebook, shows):
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    if is_notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    clock = iter([0.0, 0.5, 2.0, 2.1, 3.0, 4.0])
    monkeypatch.setattr("nlgauge.runtime.runtime.time.monotonic", lambda: next(clock))
    with Runtime().progress(100, "bertscore") as advance:
        for _ in range(4):
            advance(10)
    # at .5 s it is too early, at 2.1 s it has just been told; at 2 s 20 of 100 are done, and 80 take four times as long
    lines = ["bertscore  20 of 100, 8 s left", "bertscore  40 of 100, 4 s left"]
    told = "".join(f"\r{line}" for line in lines) + f"\r{' ' * len(lines[0])}\r"
    assert capsys.readouterr().err == (told if shows else "")


class Shown:
    """Progress that remembers its bars."""

    def __init__(self):
        self.bars = []

    @contextmanager
    def __call__(self, total, label):
        moves = []
        self.bars.append((label, total, moves))
        yield moves.append


def test_a_bar_for_each_name_over_all_segments():
    shown = Shown()
    with bars({"chrf": "chrf", "": "bleu"}, 8, Runtime(progress=shown)) as open_bars:
        open_bars[""].done(3)
    assert shown.bars == [("chrf", 8, []), ("bleu", 8, [3])]


def test_nothing_is_shown_where_nobody_looks():
    runtime = Runtime()
    with bars({"chrf": "chrf"}, 8, runtime) as open_bars, open_bars["chrf"].part(runtime, 8) as watched:
        assert watched is runtime


@pytest.mark.parametrize(
    ("stages", "shown"),
    [
        ([(10, [5, 5])], [3, 3]),  # 10 texts are 6 segments
        ([(10, [5])], [3, 3]),  # the rest when the part is done
        ([(4, [4]), (4, [4])], [6]),  # a second bar does not go past the end
        ([(0, [])], [6]),
        ([], [6]),
    ],
)
def test_what_a_part_shows_moves_the_bar_by_its_share(stages, shown):
    moves = []
    runtime = Runtime()
    with Bar(moves.append).part(runtime, 6) as watched:
        for total, counts in stages:
            with watched.progress(total, "texts") as advance:
                for count in counts:
                    advance(count)
    assert moves == shown


def test_terms_of_a_sum_share_the_bar():
    moves = []
    with (
        Bar(moves.append).part(Runtime(), 6, stages=2) as watched,
        watched.progress(3, "one") as one,
        watched.progress(3, "other") as other,
    ):
        one(3)
        other(1)
    assert moves == [3, 1, 2]  # half, a sixth, and what is left


def test_a_part_shares_models_and_settings_with_the_whole():
    runtime = Runtime(device="cpu", dtype="float64", seed=4)
    runtime.once("model", lambda: "loaded")
    with Bar(lambda count: None).part(runtime, 1) as watched:
        assert watched.once("model", lambda: "loaded again") == "loaded"
        assert (watched.device, watched.dtype, watched.seed, watched.cache) == ("cpu", "float64", 4, None)


def test_an_error_leaves_the_bar_where_it_is():
    moves = []
    with pytest.raises(ValueError, match="stop"), Bar(moves.append).part(Runtime(), 6):
        raise ValueError("stop")
    assert moves == []
