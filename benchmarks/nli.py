"""NLI judgements side by side with a plain transformers loop: same weights, pairs, head and threads, in one process.

    NLGAUGE_DATA=PATH python benchmarks/nli.py       1,500 segments of WMT16, both directions
    python benchmarks/nli.py --quick                 300, generated text where there is no data
    ... --head FILE                                  another head than `nli` (random weights if `nli` is absent)
    ... --threads 1 --clock processor                on a machine with other work

The loop is what one writes first: pairs in batches of 32 in their order, padded to the longest, float32, transformers'
BertModel with the adapters merged, the head's two features and its classifier behind it. Both sides load before the
clock starts and tokenize on it. Repetitions alternate, so that other work on the machine falls on both; `best` compares
the fastest of each side, `median` is the median of neighbours' ratios.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

import nlgauge as ng
from nlgauge import InputError, Runtime
from nlgauge.core.spec import quote
from nlgauge.models import fetch, locate
from nlgauge.models.entailment import locate_nli
from nlgauge.models.heads import Head

BATCH = 32
TARGETS = {"float32": 1.5, "bfloat16": 2.5}
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


def texts(n: int) -> tuple[list[str], list[str], str]:
    """Hypotheses, references and their origin."""
    path = Path(os.environ.get("NLGAUGE_DATA", "")) / "wmt16-da-seg" / "segments.jsonl.gz"
    if os.environ.get("NLGAUGE_DATA") and path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        rows = random.Random(0).sample(rows, n)
        return [r["hyp"] for r in rows], [r["refs"][0] for r in rows], "WMT16, to English"
    rng = random.Random(0)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(5000)]
    references = [" ".join(rng.choices(words, k=rng.randint(5, 45))) for _ in range(n)]
    return (
        [" ".join(w if rng.random() > 0.2 else rng.choice(words) for w in r.split()) for r in references],
        references,
        "generated",
    )


def random_head(folder: str) -> str:
    """A head without sense: speed does not depend on what it says."""
    rng = torch.Generator().manual_seed(0)
    width, inner = 384, 1536
    shapes = {f"attention.self.{part}": (width, width) for part in ("query", "key", "value")}
    shapes |= {
        "attention.output.dense": (width, width),
        "intermediate.dense": (width, inner),
        "output.dense": (inner, width),
    }
    tensors = {"classifier.weight": torch.randn(3, 2 * width, generator=rng) * 0.05, "classifier.bias": torch.zeros(3)}
    for layer in range(6):
        for name, (d_in, d_out) in shapes.items():
            tensors[f"encoder.layer.{layer}.{name}.lora_a"] = torch.randn(16, d_in, generator=rng) * 0.02
            tensors[f"encoder.layer.{layer}.{name}.lora_b"] = torch.randn(d_out, 16, generator=rng) * 0.02
    metadata = {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "nli",
        "encoder": locate.NAME,
        "encoder_sha256": fetch.ENCODERS["embedded"].sha256,
    }
    path = str(Path(folder) / "random.safetensors")
    save_file(tensors, path, {**metadata, "labels": "entailment,neutral,contradiction", "max_tokens": "256"})
    return path


class Plain:
    """The loop, its model loaded and merged."""

    def __init__(self, head: Head) -> None:
        folder = str(fetch.folder("embedded"))
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()
        own, adapters = head.tensors()
        modules = dict(self.model.named_modules())
        with torch.no_grad():
            for name, (down, up) in adapters.items():
                modules[name].weight += up.float() @ down.float()
        self.weight, self.bias = own["classifier.weight"], own["classifier.bias"]
        self.hidden = (own["hidden.weight"], own["hidden.bias"]) if "hidden.weight" in own else None
        self.limit = head.whole("max_tokens")

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        found = []
        with torch.inference_mode():
            for start in range(0, len(pairs), BATCH):
                first, second = (list(side) for side in zip(*pairs[start : start + BATCH], strict=True))
                batch = self.tokenizer(
                    first, second, padding=True, truncation=True, max_length=self.limit, return_tensors="pt"
                )
                states = self.model(**batch).last_hidden_state
                mask = batch["attention_mask"].unsqueeze(-1)
                features = torch.cat([states[:, 0], (states * mask).sum(1) / mask.sum(1)], dim=1)
                if self.hidden is not None:
                    features = torch.tanh(features @ self.hidden[0].T + self.hidden[1])
                found.append(torch.softmax(features @ self.weight.T + self.bias, dim=1))
        return torch.cat(found).numpy()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--segments", type=int, default=1500)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments.add_argument("--clock", choices=("wall", "processor"), default="wall")
    arguments.add_argument("--head", default="nli")
    arguments.add_argument("--quick", action="store_true")
    options = arguments.parse_args()
    if options.quick:
        options.segments, options.repeats = 300, 2
    logging.disable_progress_bar()
    torch.set_num_threads(options.threads)
    clock: Callable[[], float] = time.process_time if options.clock == "processor" else time.perf_counter
    hypotheses, references, origin = texts(options.segments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            locate_nli(options.head)
            path = options.head
        except InputError:
            path = random_head(folder)
        head = locate_nli(path).head
        assert head is not None
        plain, runtime = Plain(head), Runtime(device="cpu")
        print(", ".join(f"{name} {version(name)}" for name in ("nlgauge", "torch", "transformers", "tokenizers")))
        print(
            f"{options.threads} threads of {os.cpu_count()} cores, {options.clock} seconds; load"
            f" {os.getloadavg()[0]:.1f} before"
        )
        print(
            f"{len(hypotheses)} segments, both directions: {origin}; head {'random' if path != options.head else path}"
        )
        pairs = [*zip(references, hypotheses, strict=True), *zip(hypotheses, references, strict=True)]

        def ours(dtype: str) -> np.ndarray:
            spec = f"nli:model={quote(path)},dtype={dtype}"
            parts = ng.score(hypotheses, references, metrics=spec, runtime=runtime)[spec].parts
            return np.stack([parts[name] for name in "enc"], axis=1)

        runs: dict[str, Callable[[], np.ndarray]] = {
            "transformers loop, float32": lambda: plain(pairs),
            "nlgauge, float32": lambda: ours("float32"),
            "nlgauge, bfloat16": lambda: ours("bfloat16"),
        }
        plain(pairs[:BATCH])
        for dtype in TARGETS:
            spec = f"nli:model={quote(path)},dtype={dtype}"
            ng.score(
                hypotheses[:BATCH], references[:BATCH], metrics=spec, runtime=runtime
            )  # the first pass reads the weights
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        given: dict[str, np.ndarray] = {}
        for _ in range(options.repeats):
            for name, run in runs.items():
                start = clock()
                given[name] = run()
                seconds[name].append(clock() - start)
    theirs = "transformers loop, float32"
    expected = given[theirs].reshape(2, -1, 3).mean(axis=0)
    for name, own in seconds.items():
        line = f"  {name:28} best {min(own):7.2f} s, {len(pairs) / min(own):7.0f} pairs a second"
        if name != theirs:
            best = min(seconds[theirs]) / min(own)
            median = statistics.median(t / o for t, o in zip(seconds[theirs], own, strict=True))
            aim = TARGETS[name.split()[-1]]
            line += (
                f"   {best:.2f} times (best), {median:.2f} (median), aim {aim}   probabilities within"
                f" {np.abs(given[name] - expected).max():.1e}"
            )
        print(line)


if __name__ == "__main__":
    main()
