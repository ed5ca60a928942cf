"""BERTScore side by side with bert-score: same model, layer, texts and threads, in one process.

    NLGAUGE_DATA=PATH python benchmarks/bertscore.py       3,000 segments of WMT16; eleven systems of 600
    python benchmarks/bertscore.py --quick                 a minute or two, over generated text
    ... --threads 1 --clock processor                      on a machine with other work
    python benchmarks/bertscore.py --parts --dtype bfloat16   where our own time goes, without bert-score
    ... --parts --metric nli                               of another metric with a model of BERT's family
    ... --random deberta-v3 --random mpnet --threads 1     encoders of base size with random weights, one system
    ... --model base --segments 1000                       another encoder with its own weights, one system
    ... --model multilingual --segments 600                the same; both sides read a copy of the weights in float32

Both sides load the model before the clock starts, and tokenize, encode and match on it. bert-score runs in float32, the
one precision it has, and with the batch size that is fastest for it here. Repetitions alternate (ours, theirs, ours,
...), so that other work on the machine falls on both; `best` compares the fastest of each side, `median` is the median
of neighbours' ratios. Other work slows bert-score more, whose two threads wait for each other in every operation: on a
busy machine take one thread and processor seconds.

The share of the peak is what the linear layers and attention of the distinct texts need (no padding, two operations a
multiplication with its addition), divided by the seconds of the whole run and by the rate of a large matrix product on
the same threads.

`--random` makes a model of base size (12 layers, 768 numbers a vector) by transformers' default configuration, or that
of the published DeBERTa, with the tokenizer of the embedded encoder, and compares vectors of layer 9. Both sides take
as long as with trained weights, and should find the same scores.

`--parts` prints processor seconds of matrix products (with bias, GELU and, in bfloat16, the residual inside), of each
other part, and of everything, which is also given as seconds of the clock. Each is the least of all repetitions.
Several `--dtype` alternate.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from bert_score import BERTScorer
from safetensors.torch import load_file, save_file
from torch.nn import functional
from transformers import AutoConfig, AutoModel
from transformers.utils import logging

import nlgauge as ng
from nlgauge import Runtime
from nlgauge.metrics.embedding.vectors import best_layer
from nlgauge.models import attention, matching, packing
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.narrow import BYTES, SCALES
from nlgauge.models.packing import NarrowRows
from nlgauge.models.tokens import TextTokenizer

LAYER = 4
SPEC = f"bertscore:layer={LAYER}"
BATCHES = (8, 16, 32, 64, 128, 256)
TARGETS = {
    "one system, float32": 1.4,
    "one system, bfloat16": 4,
    "eleven systems, float32": 2.6,
    "eleven systems, bfloat16": 7,
    "warm cache": 100,
    "share, float32": 0.8,
    "share, bfloat16": 0.5,
}
DEBERTA = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
}
SHARED = {"position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": True}
RANDOM = {
    "bert": ("bert", {}),
    "mpnet": ("mpnet", {}),
    "deberta": ("deberta", DEBERTA),
    "deberta-v3": ("deberta-v2", {**DEBERTA, **SHARED}),
}
RANDOM_LAYER = 9
SYLLABLES = (
    "ka",
    "re",
    "tion",
    "ing",
    "mo",
    "s",
    "ed",
    "lu",
    "ment",
    "shi",
    "y",
    "al",
    "be",
    "ly",
    "tor",
    "an",
    "ness",
    "po",
    "ri",
    "e",
)


def generated(n: int, rng: random.Random) -> tuple[list[str], list[str]]:
    """Hypotheses and references of 5 to 45 words, of which a fifth is changed."""
    vocabulary = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(5000)]
    references = [" ".join(rng.choices(vocabulary, k=rng.randint(5, 45))) for _ in range(n)]
    return [changed(r, vocabulary, rng) for r in references], references


def changed(text: str, vocabulary: Sequence[str], rng: random.Random) -> str:
    """The text with a fifth of its words dropped or replaced."""
    words = [rng.choice(vocabulary) if rng.random() < 0.1 else word for word in text.split() if rng.random() > 0.1]
    return " ".join(words) or text


def texts(n: int) -> tuple[list[str], list[str], str]:
    """Hypotheses, references and their origin."""
    path = Path(os.environ.get("NLGAUGE_DATA", "")) / "wmt16-da-seg" / "segments.jsonl.gz"
    if not os.environ.get("NLGAUGE_DATA") or not path.is_file():
        return *generated(n, random.Random(0)), "generated"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [r["hyp"] for r in rows[:n]], [r["refs"][0] for r in rows[:n]], "WMT16, to English"


def systems(hypotheses: Sequence[str], number: int) -> dict[str, list[str]]:
    """Systems alike in length and vocabulary: the hypotheses, and copies with words dropped and replaced."""
    rng = random.Random(1)
    vocabulary = " ".join(hypotheses).split()
    return {
        f"system {i}": list(hypotheses) if i == 0 else [changed(h, vocabulary, rng) for h in hypotheses]
        for i in range(number)
    }


clock: Callable[[], float] = time.perf_counter


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = clock()
    given = run()
    return clock() - start, given


def alternate(runs: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds of each run, one of each kind after another, and what each gave last."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    given: dict[str, Any] = {}
    for _ in range(repeats):
        for name, run in runs.items():
            took, given[name] = timed(run)
            seconds[name].append(took)
    return seconds, given


def compare(seconds: dict[str, list[float]], theirs: str, reached: dict[str, float], title: str) -> None:
    for name, own in seconds.items():
        line = f"  {name:42} best {min(own):8.2f} s  all {' '.join(f'{s:.2f}' for s in own)}"
        if name.startswith("nlgauge"):
            best = min(seconds[theirs]) / min(own)
            median = statistics.median(t / o for t, o in zip(seconds[theirs], own, strict=True))
            line += f"   {best:.2f} times (best), {median:.2f} (median)"
            reached[f"{title}, {name.split()[-1]}"] = best
        print(line)


class Theirs:
    """bert-score with its model loaded and its fastest batch size."""

    def __init__(
        self,
        hypotheses: Sequence[str],
        references: Sequence[str],
        batches: Sequence[int],
        folder: Path | None = None,
        layer: int = LAYER,
    ) -> None:
        logging.disable_progress_bar()
        self.scorer = BERTScorer(
            model_type=str(folder or locate("embedded").folder), num_layers=layer, device="cpu", use_fast_tokenizer=True
        )
        self(hypotheses[:64], references[:64], 64)  # the first pass allocates
        found = {
            size: min(timed(lambda s=size: self(hypotheses, references, s))[0] for _ in range(2)) for size in batches
        }
        self.batch = min(found, key=lambda size: found[size])
        print(
            "bert-score's seconds by batch size: "
            + ", ".join(f"{b}: {s:.2f}" for b, s in found.items())
            + f"; taken: {self.batch}"
        )

    def __call__(self, hypotheses: Sequence[str], references: Sequence[str], batch: int | None = None) -> np.ndarray:
        return np.stack(
            [c.numpy() for c in self.scorer.score(list(hypotheses), list(references), batch_size=batch or self.batch)]
        )


def ours(runtime: Runtime, hypotheses: Any, references: Sequence[str], spec: str = SPEC) -> np.ndarray:
    scores = ng.score(hypotheses, refs=references, metrics=spec, runtime=runtime)[spec]
    return np.stack([scores.parts[part] for part in ("precision", "recall", "f1")])


def operations(*lists: Sequence[str]) -> float:
    """What the linear layers and attention need for the distinct texts.

    24 d^2 a token and 4 d L^2 a text, in each layer.
    """
    files = locate("embedded")
    config = files.config
    width, inner = config["hidden_size"], config["intermediate_size"]
    tokens = TextTokenizer(files).tokens(sorted({text.strip() for texts in lists for text in texts}))
    lengths = np.array([len(t.ids) for t in tokens], dtype=np.float64)
    return float(LAYER * (2 * (4 * width**2 + 2 * width * inner) * lengths.sum() + 4 * width * (lengths**2).sum()))


def peak(dtype: torch.dtype, size: int = 2048) -> float:
    """Operations a second of a large matrix product; the best of several."""
    a, b = (torch.randn(size, size).to(dtype) for _ in range(2))
    return max(2 * size**3 / timed(lambda: a @ b)[0] for _ in range(8))


def features() -> str:
    try:
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    except OSError:
        return "unknown"
    return (
        ", ".join(f for f in ("avx2", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16") if f in flags)
        or "none of interest"
    )


def one_system(
    hypotheses: list[str], references: list[str], theirs: Theirs, repeats: int, reached: dict[str, float]
) -> float:
    """Returns bert-score's best seconds."""
    print(f"\n(a) one system, {len(hypotheses)} segments")
    runtimes = {name: Runtime(device="cpu", dtype=name) for name in ("float32", "bfloat16")}
    for runtime in runtimes.values():
        ours(runtime, hypotheses[:64], references[:64])
    seconds, given = alternate(
        {
            "nlgauge float32": lambda: ours(runtimes["float32"], hypotheses, references),
            "bert-score": lambda: theirs(hypotheses, references),
            "nlgauge bfloat16": lambda: ours(runtimes["bfloat16"], hypotheses, references),
        },
        repeats,
    )
    compare(seconds, "bert-score", reached, "one system")
    gaps = {name: np.abs(given[f"nlgauge {name}"] - given["bert-score"]).max() for name in runtimes}
    print(
        f"  largest difference to bert-score's scores: float32 {gaps['float32']:.1e}, bfloat16 {gaps['bfloat16']:.1e}"
    )
    needed = operations(hypotheses, references)
    for name in runtimes:
        best = max(peak(getattr(torch, name)) for _ in range(3))
        share = needed / min(seconds[f"nlgauge {name}"]) / best
        print(
            f"(d) {name}: {needed / 1e9:.0f} G operations, large product {best / 1e9:.0f} G a second, share {share:.2f}"
        )
        reached[f"share, {name}"] = share
    return min(seconds["bert-score"])


def many_systems(
    named: dict[str, list[str]], references: list[str], theirs: Theirs, repeats: int, reached: dict[str, float]
) -> None:
    print(f"\n(b) {len(named)} systems of {len(references)} segments against one set of references")
    runtimes = {name: Runtime(device="cpu", dtype=name) for name in ("float32", "bfloat16")}
    for runtime in runtimes.values():
        ours(runtime, references[:64], references[:64])
    everything = [h for texts in named.values() for h in texts]
    seconds, _ = alternate(
        {
            "nlgauge float32": lambda: ours(runtimes["float32"], named, references),
            "bert-score, a call a system": lambda: [theirs(texts, references) for texts in named.values()],
            "nlgauge bfloat16": lambda: ours(runtimes["bfloat16"], named, references),
            "bert-score, one call": lambda: theirs(everything, references * len(named)),
        },
        repeats,
    )
    compare(seconds, "bert-score, a call a system", reached, "eleven systems")
    best = {name: min(seconds["bert-score, one call"]) / min(seconds[f"nlgauge {name}"]) for name in runtimes}
    print(
        f"  against one call with all systems joined by hand: float32 {best['float32']:.2f} times, bfloat16"
        f" {best['bfloat16']:.2f} (best)"
    )


def warm_cache(
    hypotheses: list[str], references: list[str], theirs: float, repeats: int, reached: dict[str, float]
) -> None:
    print(f"\n(c) the same {len(hypotheses)} segments again, from the score cache")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.sqlite"
        runtime = Runtime(device="cpu", cache=path)
        cold, first = timed(lambda: ours(runtime, hypotheses, references))
        warm = [timed(lambda: ours(runtime, hypotheses, references)) for _ in range(repeats)]
        assert all(np.array_equal(first, again) for _, again in warm)
        best = min(seconds for seconds, _ in warm)
        print(
            f"  filling it {cold:.2f} s, from it {best:.4f} s: {theirs / best:.0f} times bert-score's run,"
            f" {cold / best:.0f} times our own"
        )
        reached["warm cache"] = theirs / best
        data = Path(folder) / "texts.json"
        data.write_text(json.dumps([hypotheses, references]), encoding="utf-8")
        code = (
            "import json, sys, time; import nlgauge as ng; start = time.perf_counter();h, r ="
            f" json.load(open({str(data)!r})); runtime = ng.Runtime(device='cpu', cache={str(path)!r});ng.score(h,"
            f" refs=r, metrics={SPEC!r}, runtime=runtime);print(f'{{time.perf_counter() - start:.2f}}',"
            " sorted({'torch', 'transformers', 'tokenizers'} & set(sys.modules)))"
        )
        start = time.perf_counter()
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        took, loaded = ran.stdout.split(" ", 1)
        whole = time.perf_counter() - start
        print(
            f"  a new process: {whole:.2f} s from start to end, {took} s scoring; of torch, transformers, tokenizers"
            f" loaded: {loaded.strip()}"
        )
        if loaded.strip() != "[]":
            raise SystemExit("a warm cache must not load the model's packages")


def random_model(name: str, folder: Path) -> None:
    """Write an encoder of base size with random weights and the tokenizer of the embedded one."""
    kind, shape = RANDOM[name]
    for file in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        if (source := locate("embedded").folder / file).exists():
            shutil.copy(source, folder)
    torch.manual_seed(0)
    model = AutoModel.from_config(AutoConfig.for_model(kind, vocab_size=30_527, **shape))
    model.save_pretrained(folder)


def random_models(
    names: Sequence[str], hypotheses: list[str], references: list[str], repeats: int, quick: bool
) -> None:
    """One system with each of several encoders, side by side."""
    for name in names:
        with tempfile.TemporaryDirectory() as made:
            random_model(name, Path(made))
            title = f"{name}, base size, random weights"
            one_model(title, Path(made), RANDOM_LAYER, hypotheses, references, repeats, quick)


def readable(files: ModelFiles, made: Path) -> Path:
    """The folder of a model; of one in four bits, which transformers does not read, a copy in float32."""
    narrow = {name: tensor for path in files.weight_files() for name, tensor in load_file(path).items()}
    wide = {name: tensor for name, tensor in narrow.items() if not name.endswith((BYTES, SCALES))}
    if len(wide) == len(narrow):
        return files.folder
    for name in (name.removesuffix(BYTES) for name in narrow if name.endswith(BYTES)):
        wide[name] = NarrowRows(narrow[name + BYTES], narrow[name + SCALES], torch.float32).rows(slice(None))
    for path in files.folder.glob("*.json"):
        shutil.copy(path, made)
    save_file(wide, made / "model.safetensors")
    return made


def one_model(
    title: str, folder: Path, layer: int, hypotheses: list[str], references: list[str], repeats: int, quick: bool
) -> None:
    """One system with the encoder in a folder, side by side."""
    runtimes = {name: Runtime(device="cpu", dtype=name) for name in ("float32", "bfloat16")}
    print(f"\n{title}, layer {layer}, {len(hypotheses)} segments")
    spec = f'bertscore:model="{folder}",layer={layer}'
    theirs = Theirs(hypotheses[:200], references[:200], (16, 64) if quick else (8, 16, 32, 64), folder, layer)
    for runtime in runtimes.values():
        ours(runtime, hypotheses[:64], references[:64], spec)
    seconds, given = alternate(
        {
            "nlgauge float32": lambda: ours(runtimes["float32"], hypotheses, references, spec),
            "bert-score": lambda: theirs(hypotheses, references),
            "nlgauge bfloat16": lambda: ours(runtimes["bfloat16"], hypotheses, references, spec),
        },
        repeats,
    )
    compare(seconds, "bert-score", {}, title)
    gaps = {kind: np.abs(given[f"nlgauge {kind}"] - given["bert-score"]).max() for kind in runtimes}
    print(
        f"  largest difference to bert-score's scores: float32 {gaps['float32']:.1e}, bfloat16 {gaps['bfloat16']:.1e}"
    )


class Parts:
    """Processor seconds of the parts of a run, counted where the package calls them, on whichever thread."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock, self._inside = threading.Lock(), threading.local()
        for name in ("linear", "residual"):
            setattr(attention, name, self._counting_products(getattr(attention, name)))
        attention.kernel_attention = self._counted("attention", attention.kernel_attention)
        layer_norm = self._counted("layer norm", functional.layer_norm)
        packing.functional = SimpleNamespace(embedding=functional.embedding, layer_norm=layer_norm)
        # These two wait for threads of their own, while nothing else runs.
        TextTokenizer.tokens = self._counted("tokenizing", TextTokenizer.tokens, time.process_time)
        matching.greedy = self._counted("matching", matching.greedy, time.process_time)

    def run(self, work: Callable[[], Any]) -> dict[str, float]:
        """Seconds of each part of `work`, and what they leave of the whole."""
        self.seconds = {}
        wall, start = time.perf_counter(), time.process_time()
        work()
        whole, wall = time.process_time() - start, time.perf_counter() - wall
        rest = whole - self.seconds["products"]
        other = whole - sum(self.seconds.values())
        return {**self.seconds, "other": other, "all but products": rest, "whole": whole, "whole, by the clock": wall}

    def _counted(self, name: str, work: Callable[..., Any], now: Callable[[], float] = time.thread_time) -> Any:
        def counted(*given: Any, **options: Any) -> Any:
            if getattr(self._inside, "a_part", False):  # one of the parts calls another
                return work(*given, **options)
            self._inside.a_part, start = True, now()
            try:
                return work(*given, **options)
            finally:
                self._inside.a_part = False
                with self._lock:
                    self.seconds[name] = self.seconds.get(name, 0.0) + now() - start

        return counted

    def _counting_products(self, make: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **options: self._counted("products", make(*given, **options))


def where_time_goes(segments: int, dtypes: Sequence[str], repeats: int, spec: str) -> None:
    """Print the seconds of each part, for each precision."""
    hypotheses, references, origin = texts(segments)
    print(f"{spec}, {len(hypotheses)} segments, {origin}; torch {version('torch')}; {features()}")
    parts = Parts()
    runtimes = {dtype: Runtime(device="cpu", dtype=dtype) for dtype in dtypes}
    least: dict[str, dict[str, float]] = {dtype: {} for dtype in dtypes}

    def score(runtime: Runtime, n: int) -> Any:
        return ng.score(hypotheses[:n], refs=references[:n], metrics=spec, runtime=runtime)

    for runtime in runtimes.values():
        score(runtime, 64)
    for _ in range(repeats):
        for dtype, runtime in runtimes.items():
            for name, took in parts.run(lambda used=runtime: score(used, segments)).items():
                least[dtype][name] = min(least[dtype].get(name, math.inf), took)
    for dtype, seconds in least.items():
        print(f"\n{dtype}, seconds")
        for name, took in seconds.items():
            print(f"  {name:20}{took:8.3f}  {took / seconds['whole']:4.0%}")


def main() -> None:
    global clock
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segments", type=int, default=3000)
    parser.add_argument("--systems", type=int, default=11)
    parser.add_argument("--items", type=int, default=600, help="segments of each system in (b)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument(
        "--quick", action="store_true", help="300 segments, three systems of 100, two repetitions, two batch sizes"
    )
    parser.add_argument("--random", action="append", choices=sorted(RANDOM), help="may be repeated; no more runs")
    parser.add_argument("--model", help="an encoder by name or folder; no more runs")
    parser.add_argument("--parts", action="store_true", help="our own seconds, part by part, and nothing else")
    parser.add_argument("--dtype", action="append", choices=("float32", "bfloat16"), help="of --parts; may be repeated")
    parser.add_argument("--metric", default=SPEC, help="of --parts")
    options = parser.parse_args()
    if options.parts:
        torch.set_num_threads(options.threads)
        where_time_goes(options.segments, options.dtype or ["float32", "bfloat16"], options.repeats, options.metric)
        return
    if options.quick:
        options.segments, options.systems, options.items, options.repeats = 300, 3, 100, 2
    if options.clock == "processor":
        clock = time.process_time
    torch.set_num_threads(options.threads)
    hypotheses, references, origin = texts(options.segments)
    names = ("nlgauge", "bert-score", "torch", "transformers", "tokenizers")
    print(", ".join(f"{name} {version(name)}" for name in names))
    print(
        f"{options.threads} threads of {os.cpu_count()} cores, {options.clock} seconds; {features()}; load"
        f" {os.getloadavg()[0]:.1f} before"
    )
    print(f"texts: {origin}")
    if options.random:
        random_models(options.random, hypotheses, references, options.repeats, options.quick)
    if options.model:
        files = locate(options.model)
        layer = best_layer(options.model, files.depth)
        with tempfile.TemporaryDirectory() as made:
            folder = readable(files, Path(made))
            one_model(options.model, folder, layer, hypotheses, references, options.repeats, options.quick)
    if options.random or options.model:
        return
    part = slice(None, None, max(1, len(hypotheses) // 600))  # a spread of lengths, 600 of them
    theirs = Theirs(hypotheses[part], references[part], (32, 64) if options.quick else BATCHES)
    reached: dict[str, float] = {}
    seconds = one_system(hypotheses, references, theirs, options.repeats, reached)
    named = systems(hypotheses[: options.items], options.systems)
    many_systems(named, references[: options.items], theirs, max(2, options.repeats // 2), reached)
    warm_cache(hypotheses, references, seconds, options.repeats, reached)
    if not options.quick:
        print()
        for name, aim in TARGETS.items():
            print(
                f"{name:28}{reached[name]:9.2f}   aim {aim:6.2f}   {'' if reached[name] >= aim else 'missed'}".rstrip()
            )


if __name__ == "__main__":
    main()
