"""Models of the Hugging Face hub: from a name to a folder, by the hub's cache or the network; listed, and removed."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.models.pickled import converted, sources_of

FOLDER_BY = "NLGAUGE_MODELS"
_SAFE, _SAFE_INDEX = "model.safetensors", "model.safetensors.index.json"
_SMALL = (".json", ".txt", ".model", ".spm")  # files of a repository's root that are read beside the weights
_WEIGHTS = (("model", ".safetensors"), ("pytorch_model", ".bin"))  # the forms of weights, the preferred one first
_BESIDE = ("README.md", "regressor.safetensors")  # the card, for its licence; the head of a model of ours
_TOKENIZERS = ("tokenizer.json", "vocab*", "*.model", "*.spm", "merges.txt")
# Models without an owner in their old names, which the hub still answers to -> the owner they moved to.
_MOVED = (
    ("FacebookAI", "(xlm-)?roberta-"),
    ("google-bert", "bert-"),
    ("google-t5", "t5-"),
    ("albert", "albert-"),
    ("distilbert", "distil(bert|roberta|gpt2)"),
    ("openai-community", "gpt2|openai-gpt"),
    ("xlnet", "xlnet-"),
)
_ANSWER = 10.0  # seconds that the hub has for the answer to one call
_LICENCE = re.compile(r"^license(?:_name)?:\s*['\"]?([\w.+-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Snapshot:
    """A model of the hub on disk.

    Attributes:
        folder: its files, with weights as safetensors.
        commit: the commit that they are of.
    """

    folder: Path
    commit: str


def home(name: str) -> Path:
    """A folder of ours: below `$NLGAUGE_MODELS`, else below the user's folder for data of programs."""
    own = os.environ.get(FOLDER_BY)
    if own:
        return Path(own) / name
    data = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return Path(data or os.path.expanduser("~/.local/share")) / "nlgauge" / "models" / name


def has_safetensors(folder: Path) -> bool:
    """Whether a folder has weights as safetensors; where it has none, pickles are read (`models.pickled`)."""
    return (folder / _SAFE).exists() or (folder / _SAFE_INDEX).exists()


@cache
def snapshot(model: str, revision: str | None = None, seconds: float = _ANSWER) -> Snapshot:
    """Find a model in the hub's cache, under its old name or its new one, else fetch it.

    What is fetched: configuration, the tokenizer's files, the card, and the weights in one form. Nothing is asked of
    the hub where the cache has all of this, nor with `HF_HUB_OFFLINE=1`.

    Args:
        model: its name, as OWNER/NAME.
        revision: branch, tag or commit; None is main.
        seconds: how long the hub may take to answer one call.

    Raises:
        InputError: it is not in the cache and cannot be fetched, or is not a model that is read here.
        MissingExtra: the hub's package is not installed.
    """
    try:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        raise MissingExtra(f"model {model!r}", "neural") from None
    try:
        found = next(_cached(model, revision), None)
    except HFValidationError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"model {model!r} is neither a folder nor a possible name on the hub, expected OWNER/NAME [{reason[:160]}]"
        ) from None
    if found is not None and any(path for kind in _TOKENIZERS for path in found.glob(kind)):
        return _ready(model, found)
    try:
        wanted = _listed(model, revision, seconds)
        with _with_timeouts(seconds), _bar():
            folder = snapshot_download(model, revision=revision, allow_patterns=wanted, etag_timeout=seconds)
    except InputError:
        raise
    except Exception as error:
        if found is not None:
            return _ready(model, found)  # a kind that needs no tokenizer's files, or its reader says what is missing
        raise InputError(_refusal(model, revision, error, seconds, constants)) from None
    return _ready(model, Path(folder))


def _cached(model: str, revision: str | None) -> Iterator[Path]:
    """Snapshots in the hub's cache that have a configuration and all weights."""
    from huggingface_hub import try_to_load_from_cache

    for name in names(model):
        path = try_to_load_from_cache(name, "config.json", revision=revision)
        if isinstance(path, str) and _is_whole(Path(path).parent):
            yield Path(path).parent


def names(model: str) -> Iterator[str]:
    """A name and, where the model moved, its other one."""
    yield model
    owner, _, name = model.rpartition("/")
    for moved, kind in _MOVED:
        if re.match(kind, name) and owner in ("", moved):
            yield name if owner else f"{moved}/{name}"


def _is_whole(folder: Path) -> bool:
    """Whether all weights of one form are there."""
    if (folder / _SAFE).exists():
        return True
    with suppress(OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
        if (folder / _SAFE_INDEX).exists():
            index = json.loads((folder / _SAFE_INDEX).read_text(encoding="utf-8"))
            return all((folder / str(shard)).exists() for shard in index["weight_map"].values())
        return bool(sources_of(folder))
    return False


def _listed(model: str, revision: str | None, seconds: float) -> list[str] | None:
    """The files of a model that are read, as the hub lists them; one line says that they come.

    Raises:
        InputError: it is no model that is read here.
    """
    from huggingface_hub import HfApi

    info = HfApi().model_info(model, revision=revision, timeout=seconds)
    files = [one.rfilename for one in info.siblings or ()]
    wanted, form = needed(files)
    if files and ("config.json" not in wanted or not form):
        lacks = "config.json" if "config.json" not in wanted else "model.safetensors, and no pytorch_model.bin"
        raise InputError(
            f"model {model!r} has no {lacks} on the hub; models are read that transformers' save_pretrained writes"
        )
    logging.getLogger("nlgauge").warning("fetching %s from the hub, once: %d files", model, len(wanted))
    return wanted or None


def needed(files: Sequence[str]) -> tuple[list[str], str]:
    """The files of a repository that are read, which are those of its root, and the form of its weights, empty if none.

    Args:
        files: all that the repository has.
    """
    root = [name for name in files if "/" not in name]
    small = [n for n in root if (n.endswith(_SMALL) and not n.endswith(".index.json")) or n in _BESIDE]
    for start, form in _WEIGHTS:
        whole, index = f"{start}{form}", f"{start}{form}.index.json"
        if whole in root:
            return [*small, whole], form
        if index in root:
            shards = [name for name in root if name.startswith(f"{start}-") and name.endswith(form)]
            return [*small, index, *shards], form
    return small, ""


def _ready(model: str, folder: Path) -> Snapshot:
    """A snapshot whose weights are safetensors; those that are pickles are written again, once."""
    commit = folder.name
    if not has_safetensors(folder) and sources_of(folder):
        folder = converted(folder, _twin(model, commit), {"repository": model, "commit": commit})
    return Snapshot(folder, commit)


def _twin(model: str, commit: str) -> Path:
    return home("pickled") / f"{model.replace('/', '--')}@{commit}"


# --- What the hub says, in time and in one line


@contextmanager
def _with_timeouts(seconds: float) -> Iterator[None]:
    """Give calls of the hub's client a limit of time, where a download asks for none, and no second try after it."""
    from huggingface_hub import get_session

    began: dict[str, float] = {}

    def limit(request: Any) -> None:
        url, now = str(request.url), monotonic()
        if now - began.setdefault(url, now) >= seconds and "/api/" in url:  # the client tries again by itself
            raise TimeoutError
        began[url] = now
        asked = request.extensions.get("timeout") or {}
        limits = {part: asked.get(part) or seconds for part in ("connect", "read", "write", "pool")}
        request.extensions["timeout"] = limits

    client: Any = get_session()
    hooks = getattr(client, "event_hooks", None)
    if hooks is None:  # a session of requests, as of older versions of the hub's package
        yield
        return
    client.event_hooks = {**hooks, "request": [*hooks.get("request", ()), limit]}
    try:
        yield
    finally:
        client.event_hooks = hooks


@contextmanager
def _bar() -> Iterator[None]:
    """The hub's bar of progress, on a terminal alone."""
    from huggingface_hub.utils import (  # type: ignore[attr-defined]  # exported late
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    quiet = are_progress_bars_disabled() or sys.stderr.isatty()
    if not quiet:
        disable_progress_bars()
    try:
        yield
    finally:
        if not quiet:
            enable_progress_bars()


def _is_timeout(error: Exception) -> bool:
    causes = (error, error.__cause__, error.__context__)
    # the class depends on which HTTP library the hub's client was made with
    return any("Timeout" in type(cause).__name__ for cause in causes)


def _refusal(model: str, revision: str | None, error: Exception, seconds: float, constants: Any) -> str:
    """Why a model cannot be had, and what to do."""
    kind, at = type(error).__name__, f" --revision {revision}" if revision else ""
    start, page = f"model {model!r} is neither a folder nor in the hub's cache", f"{constants.ENDPOINT}/{model}"
    if kind == "GatedRepoError":
        return f"{start}, and is gated: accept its terms on {page}, then run 'hf auth login'"
    if kind == "RevisionNotFoundError":
        return f"{start}, and the hub's has no revision {revision!r}; {page}/tree/main lists them"
    if kind == "RepositoryNotFoundError":
        return f"{start}, and the hub has none of this name, or a private one; then run 'hf auth login'"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"model {model!r}: no room in {constants.HF_HUB_CACHE}; HF_HOME names another folder"
    reason = str(error).strip().splitlines()[0] if str(error).strip() else kind
    if _is_timeout(error):
        reason = f"{constants.ENDPOINT} did not answer within {seconds:g} s"
    offline = " (HF_HUB_OFFLINE is set)" if constants.HF_HUB_OFFLINE else ""
    return (
        f"{start}, and cannot be fetched{offline}: run 'nlgauge fetch {model}{at.replace(' --revision ', '@')}' where"
        " there is a network, or name a folder with model=PATH, or for English use model=embedded"
        f" [{reason[:160]}]"
    )


# --- What is in the cache


@dataclass(frozen=True)
class Held:
    """A model in the hub's cache.

    Attributes:
        name: as OWNER/NAME.
        commits: those of which it has files.
        size: bytes, with the weights that were written again.
        licence: as its card says; empty where it has none.
    """

    name: str
    commits: tuple[str, ...]
    size: int
    licence: str


def held() -> list[Held]:
    """The models in the hub's cache, by name; empty without the hub's package."""
    try:
        from huggingface_hub import scan_cache_dir
        from huggingface_hub.errors import CacheNotFound
    except ImportError:
        return []
    try:
        repositories = [repo for repo in scan_cache_dir().repos if repo.repo_type == "model"]
    except (CacheNotFound, OSError):
        return []
    found = []
    for repo in repositories:
        commits = tuple(sorted(one.commit_hash for one in repo.revisions))
        twins = (path for commit in commits for path in _twin(repo.repo_id, commit).glob("*"))
        size = repo.size_on_disk + sum(path.stat().st_size for path in twins)
        licences = {_licence(one.snapshot_path) for one in repo.revisions} - {""}
        found.append(Held(repo.repo_id, commits, size, ", ".join(sorted(licences))))
    return sorted(found, key=lambda one: one.name)


def _licence(folder: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        said = _LICENCE.search((folder / "README.md").read_text(encoding="utf-8").partition("\n---")[0])
        return said[1] if said else ""
    return ""


def remove(model: str, revision: str | None = None) -> bool:
    """Delete a model from the hub's cache, with what was made of it; whether there was any.

    Args:
        model: its name, old or new.
        revision: a branch, tag or commit; None for all.
    """
    try:
        from huggingface_hub import scan_cache_dir
        from huggingface_hub.errors import CacheNotFound
    except ImportError:
        return False
    try:
        cached = scan_cache_dir()
    except CacheNotFound:
        return False
    known = set(names(model))
    gone = [
        (repo.repo_id, one.commit_hash)
        for repo in cached.repos
        if repo.repo_type == "model" and repo.repo_id in known
        for one in repo.revisions
        if revision is None or revision in one.refs or one.commit_hash == revision
    ]
    cached.delete_revisions(*(commit for _, commit in gone)).execute()
    for name, commit in gone:
        shutil.rmtree(_twin(name, commit), ignore_errors=True)
    snapshot.cache_clear()
    return bool(gone)
