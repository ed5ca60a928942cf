"""Likelihoods side by side with the loop of BARTScore's released code: batches of four, padded, in the given order.

    python benchmarks/generation.py                      16 systems, 12 inputs
    python benchmarks/generation.py --width 512          larger models

The models have random weights and the shape of BART and GPT-2, of six layers in all, over the embedded encoder's
vocabulary. Every input has a source of some 80 words, a reference and one hypothesis per system. On the clock is the
processor's time of scoring on one thread with a loaded model, of the best of three. Exits with 1 if a value differs by
more than 1e-5.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.models import fetch

BATCH = 4
Pairs = Sequence[tuple[str, str]]


def saved(kind: str, folder: Path, width: int) -> Path:
    """A model of random weights with a tokenizer that writes BERT's frame."""
    half = {"layers": 3, "attention_heads": 8, "ffn_dim": 4 * width}
    shapes: dict[str, dict[str, Any]] = {
        "bart": {f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in half.items()}
        | {"d_model": width, "decoder_start_token_id": 102},
        "gpt2": {"n_embd": width, "n_layer": 6, "n_head": 8},
    }
    special = {"bos_token_id": 101, "eos_token_id": 102, "pad_token_id": 0}
    config = transformers.AutoConfig.for_model(kind, vocab_size=30522, **shapes[kind], **special)
    torch.manual_seed(0)
    auto = transformers.AutoModelForSeq2SeqLM if kind == "bart" else transformers.AutoModelForCausalLM
    auto.from_config(config).save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(fetch.folder("embedded") / file, folder)
    return folder


def segments(n_items: int, n_systems: int) -> list[Segment]:
    """Texts that follow Zipf's law, with all systems of an input together."""
    draw = random.Random(0)
    vocabulary = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 6))) for _ in range(2000)]
    weights = [1 / rank for rank in range(1, 2001)]

    def text(least: int, most: int) -> str:
        return " ".join(draw.choices(vocabulary, weights, k=draw.randint(least, most)))

    inputs = [(text(60, 100), text(8, 30)) for _ in range(n_items)]
    return [
        Segment(f"{item} {system}", text(8, 30), (reference,), source=source)
        for item, (source, reference) in enumerate(inputs)
        for system in range(n_systems)
    ]


def loop(folder: Path, pairs: Pairs) -> Callable[[], list[float]]:
    """The released code's loop; a causal model reads the end alone, behind its begin token."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    paired = transformers.AutoConfig.from_pretrained(folder).is_encoder_decoder
    auto = transformers.AutoModelForSeq2SeqLM if paired else transformers.AutoModelForCausalLM
    model = auto.from_pretrained(folder).eval()

    def read(texts: list[str], **how: Any) -> Any:
        return tokenizer(texts, padding=True, truncation=True, max_length=512, return_tensors="pt", **how)

    def score() -> list[float]:
        found: list[float] = []
        for start in range(0, len(pairs), BATCH):
            given, texts = (list(side) for side in zip(*pairs[start : start + BATCH], strict=True))
            asked = read(texts)
            ids, mask = asked["input_ids"], asked["attention_mask"]
            with torch.inference_mode():
                if paired:
                    source = read(given)
                    logits = model(
                        input_ids=source["input_ids"], attention_mask=source["attention_mask"], labels=ids
                    ).logits
                else:  # [CLS] is the begin token, and [SEP] is no part of the text
                    mask = mask[:, 1:] * (ids[:, 1:] != tokenizer.sep_token_id)
                    logits, ids = model(input_ids=ids).logits[:, :-1], ids[:, 1:]
            chosen = logits.log_softmax(2).gather(2, ids[..., None])[..., 0] * mask
            found += (chosen.sum(1) / mask.sum(1)).tolist()
        return found

    return score


def best(score: Callable[[], Sequence[float]]) -> tuple[float, Sequence[float]]:
    """The shortest time of three, and the values."""
    times = []
    for _ in range(3):
        began = time.process_time()
        values = score()
        times.append(time.process_time() - began)
    return min(times), values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--systems", type=int, default=16)
    options = parser.parse_args()
    torch.set_num_threads(1)
    data, runtime, failed = segments(options.items, options.systems), ng.Runtime(device="cpu"), False
    source = "direction=hypothesis-given-source"
    print(f"{len(data)} segments, width {options.width}")
    print(f"{'metric':<12}{'nlgauge s':>10}{'loop s':>10}{'times':>7}  largest difference")
    with tempfile.TemporaryDirectory() as place:
        for name, kind, told in (("bartscore", "bart", f",{source}"), ("perplexity", "gpt2", "")):
            folder = saved(kind, Path(place) / kind, options.width)
            metric = ng.metric(f'{name}:model="{folder}"{told}')
            metric.score(data[:1], runtime)  # loads the model
            ours, found = best(lambda metric=metric: metric.score(data, runtime).values)
            theirs, values = best(loop(folder, [(s.source or "", s.hypothesis) for s in data]))
            logs = torch.tensor(list(found)).log().neg().tolist() if name == "perplexity" else list(found)
            difference = max(abs(a - b) for a, b in zip(logs, values, strict=True))
            failed |= difference > 1e-5
            print(f"{name:<12}{ours:>10.3f}{theirs:>10.3f}{theirs / ours:>7.1f}  {difference:.0e}")
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()
