"""BERTScore on a GPU side by side with bert-score: pairs a second, share of the card's peak, equality with the CPU.

    python benchmarks/gpu.py                  the embedded encoder, one of base and one of large size
    python benchmarks/gpu.py --device cpu     tries the same steps on a processor: tiny models, few texts, "no GPU"

Nothing is downloaded. The base- and large-size encoders are built from a configuration with random weights, beside the
tokenizer of the embedded one: speed does not depend on what weights say. Texts are generated, 5 to 45 words each.

Both sides load the model before the clock starts, and tokenize, encode and match on it. bert-score runs in float32, the
one precision it has, with the fastest of several batch sizes. Runs alternate, and the fastest of each side counts. The
share is what the linear layers and attention of the distinct texts need (no padding), divided by the seconds of the
whole run and by the rate of a large matrix product on the same device in the same precision.

Exits with 1 if scores in float32 differ from those of the processor by more than 1e-4. With `--device cpu` nlgauge uses
the blocks that a GPU runs, and they are compared with the processor's own.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, partialmethod
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from bert_score import BERTScorer
from bertscore import features, generated
from transformers import BertConfig, BertModel
from transformers.utils import logging

import nlgauge as ng
from nlgauge import Runtime
from nlgauge.core.spec import quote
from nlgauge.models.locate import locate
from nlgauge.models.packing import PackedBert
from nlgauge.models.tokens import TextTokenizer

SAME = 1e-4  # of a score in float32, on a GPU and on a processor
CHECKED = 200  # pairs that the processor scores as well
BATCHES = {"cuda": (64, 256, 1024), "cpu": (16,)}
PEAK_SIZE = {"cuda": 8192, "cpu": 1024}


@dataclass(frozen=True)
class Size:
    """An encoder of BERT's family: blocks, width, heads, inner width, and the layer that is read."""

    blocks: int
    width: int
    heads: int
    inner: int
    layer: int


SIZES = {"base": Size(12, 768, 12, 3072, 9), "large": Size(24, 1024, 16, 4096, 18)}
TINY = {"base": Size(3, 64, 4, 128, 2), "large": Size(4, 96, 6, 192, 3)}
EMBEDDED_LAYER = 4


def built(size: Size, folder: Path) -> str:
    """The folder of an encoder with random weights and the embedded encoder's tokenizer."""
    shutil.copytree(locate("embedded").folder, folder, ignore=shutil.ignore_patterns("*.safetensors", "config.json"))
    vocabulary = locate("embedded").config["vocab_size"]
    config = BertConfig(
        vocab_size=vocabulary,
        num_hidden_layers=size.blocks,
        hidden_size=size.width,
        num_attention_heads=size.heads,
        intermediate_size=size.inner,
    )
    torch.manual_seed(0)
    BertModel(config).save_pretrained(folder)
    return str(folder)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a run to its end on the device, and its result."""
    start = time.perf_counter()
    found = run()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start, found


def peak(dtype: torch.dtype, device: str) -> float:
    """Operations a second of a large matrix product; the best of several."""
    size = PEAK_SIZE[torch.device(device).type]
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    return max(2 * size**3 / timed(lambda: a @ b)[0] for _ in range(8))


def operations(model: str, layer: int, texts: Sequence[str]) -> float:
    """What the layers need for the distinct texts: two operations a multiplication with its addition."""
    files = locate(model)
    width, inner = files.config["hidden_size"], files.config["intermediate_size"]
    tokens = TextTokenizer(files).tokens(sorted({text.strip() for text in texts}))
    lengths = np.array([len(t.ids) for t in tokens], dtype=np.float64)
    return float(layer * (2 * (4 * width**2 + 2 * width * inner) * lengths.sum() + 4 * width * (lengths**2).sum()))


def ours(spec: str, runtime: Runtime, texts: tuple[list[str], list[str]]) -> np.ndarray:
    """nlgauge's precision, recall and F1, shape (3, n)."""
    scores = ng.score(texts[0], refs=texts[1], metrics=spec, runtime=runtime)[spec]
    return np.stack([scores.parts[part] for part in ("precision", "recall", "f1")])


def theirs(scorer: BERTScorer, batch: int, texts: tuple[list[str], list[str]]) -> np.ndarray:
    """bert-score's precision, recall and F1, shape (3, n)."""
    return np.stack([column.numpy() for column in scorer.score(*texts, batch_size=batch)])


def compared(name: str, model: str, layer: int, texts: tuple[list[str], list[str]], options: Any) -> bool:
    """Time one encoder, print a line for each side; whether float32 equals the processor."""
    spec, device = f"bertscore:model={quote(model)},layer={layer}", options.device
    own = {f"nlgauge {dtype}": Runtime(device=device, dtype=dtype) for dtype in ("float32", "bfloat16")}
    scorer = BERTScorer(model_type=str(locate(model).folder), num_layers=layer, device=device, use_fast_tokenizer=True)
    runs: dict[str, Callable[[], np.ndarray]] = {k: partial(ours, spec, runtime, texts) for k, runtime in own.items()}
    few = tuple(side[: options.pairs // 8 + 1] for side in texts)
    batches = {
        size: min(timed(partial(theirs, scorer, size, few))[0] for _ in range(2))
        for size in BATCHES[torch.device(device).type]
    }
    batch = min(batches, key=lambda size: batches[size])
    runs[f"bert-score, batches of {batch}"] = partial(theirs, scorer, batch, texts)
    for runtime in own.values():
        for _ in range(
            2 if runtime.device.startswith("cuda") else 1
        ):  # the first pass loads, the second meets the sizes of the last batches
            ours(spec, runtime, texts)
    seconds: dict[str, list[float]] = {key: [] for key in runs}
    found = {}
    for _ in range(options.repeats):
        for key, run in runs.items():
            took, found[key] = timed(run)
            seconds[key].append(took)
    slowest, needed = list(runs)[-1], operations(model, layer, [*texts[0], *texts[1]])
    print(f"\n{name}, layer {layer}: {needed / 1e12:.3g} T operations for {options.pairs} pairs")
    for key in runs:
        dtype = torch.bfloat16 if "bfloat16" in key else torch.float32
        best, gap = min(seconds[key]), np.abs(found[key] - found[slowest]).max()
        print(
            f"  {key:32}{options.pairs / best:12,.0f} pairs a second{min(seconds[slowest]) / best:8.2f} times"
            f"   share of the peak {needed / best / peak(dtype, device):.3f}   from bert-score {gap:.1e}"
        )
    return equal(name, spec, own["nlgauge float32"], texts)


def equal(name: str, spec: str, runtime: Runtime, texts: tuple[list[str], list[str]]) -> bool:
    """Whether scores are those of the processor's own kernels."""
    few = texts[0][:CHECKED], texts[1][:CHECKED]
    with mock.patch.object(PackedBert, "__init__", PLAIN):
        expected = ours(spec, Runtime(device="cpu"), few)
    gap = float(np.abs(ours(spec, runtime, few) - expected).max())
    print(f"  from the processor in float32: {gap:.1e}, expected at most {SAME:.0e}")
    return gap <= SAME


PLAIN = PackedBert.__init__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--models", nargs="+", default=["embedded", *SIZES], choices=["embedded", *SIZES])
    parser.add_argument("--pairs", type=int, help="20,000 on a GPU, 32 on a processor")
    parser.add_argument("--repeats", type=int, help="3 on a GPU, 1 on a processor")
    options = parser.parse_args()
    has_gpu = options.device.startswith("cuda")
    if has_gpu and not torch.cuda.is_available():
        raise SystemExit("no GPU: torch sees none; --device cpu tries the same steps on tiny models")
    options.pairs = options.pairs or (20_000 if has_gpu else 32)
    options.repeats = options.repeats or (3 if has_gpu else 1)
    logging.disable_progress_bar()
    print(", ".join(f"{name} {version(name)}" for name in ("nlgauge", "bert-score", "torch", "transformers")))
    print(torch.cuda.get_device_name(options.device) if has_gpu else f"no GPU; processor with {features()}", end="; ")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    texts = generated(options.pairs, random.Random(0))
    if not has_gpu:
        PackedBert.__init__ = partialmethod(PLAIN, as_gpu=True)  # type: ignore[method-assign, assignment]
    same = True
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            size = None if name == "embedded" else (SIZES if has_gpu else TINY)[name]
            model = "embedded" if size is None else built(size, Path(folder) / name)
            shown = name if has_gpu or size is None else f"{name}, tiny"
            same &= compared(shown, model, EMBEDDED_LAYER if size is None else size.layer, texts, options)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
