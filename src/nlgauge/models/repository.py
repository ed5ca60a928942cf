"""Models of the Hugging Face hub: from a name to a folder, by the hub's cache or the network; listed, and removed."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
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
# What to take in place of an encoder that cannot be had; readers of other models say theirs.
INSTEAD = (
    ", or use model=embedded for English, and for other languages model=multilingual ('nlgauge fetch multilingual' gets"
    " it)"
)
_ANSWER = 10.0  # seconds that the hub has for the answer to one call
_Check = Callable[[str, Path], object]
_LICENCE = re.compile(r"^license(?:_name)?:\s*['\"]?([\w.+-]+)", re.MULTILINE)


class OtherKind(InputError):
    """A repository without the files of the kind of model that was asked for."""


def home(name: str) -> Path:
    """A folder of ours: below `$NLGAUGE_MODELS`, else below the user's folder for data of programs."""
    own = os.environ.get(FOLDER_BY)
    data = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return Path(os.path.expanduser(own or f"{data or '~/.local/share'}/nlgauge/models")) / name


def has_safetensors(folder: Path) -> bool:
    """Whether a folder has weights as safetensors; where it has none, pickles are read (`models.pickled`)."""
    return (folder / _SAFE).exists() or (folder / _SAFE_INDEX).exists()


@cache
def snapshot(model: str, revision: str | None = None) -> tuple[Path, str]:
    """Find a model of transformers in the hub's cache, under its old name or its new one, else fetch it.

    What is fetched: configuration, the tokenizer's files, the card, and the weights in one form. Nothing is asked of
    the hub where the cache has all of this, nor with `HF_HUB_OFFLINE=1`.

    Args:
        model: its name, as OWNER/NAME.
        revision: branch, tag or commit; None is main.

    Returns:
        The folder of its files, with weights as safetensors, and the commit that they are of.

    Raises:
        InputError: it is not in the cache and cannot be fetched, or is not a model that is read here.
        MissingExtra: the hub's package is not installed.
    """
    return _ready(model, _found(_MODEL, model, revision))


@cache
def setup(model: str) -> Path:
    """The folder with the configuration and the tokenizer of a model of transformers; as `snapshot` for the rest."""
    return _found(_SETUP, model, None)


@cache
def checkpoint(model: str, revision: str | None, check: _Check) -> Path:
    """The folder with a checkpoint of unbabel-comet and its settings; as `snapshot` for the rest.

    `check` refuses a model by the file of its settings, before its weights are fetched.
    """
    return _found(_CHECKPOINT, model, revision, check)


def single(model: str, file: str, revision: str | None) -> Path:
    """One file of a repository, with its card beside it; as `snapshot` for the rest."""
    return _found(_of_files(file), model, revision) / file


@dataclass(frozen=True)
class _Kind:
    """A kind of model on the hub.

    Attributes:
        first: the file by which its folder is found in the cache.
        needed: function from the files of a repository to those that are read; empty where it is none of this kind.
        is_whole: whether a folder has them.
        will_do: whether a folder has what is enough where the hub gives no more, as a model without a tokenizer.
        lacks: what errors say that a repository of another kind lacks.
    """

    first: str
    needed: Callable[[Sequence[str]], Sequence[str]]
    is_whole: Callable[[Path], bool]
    will_do: Callable[[Path], bool]
    lacks: str


def needed(files: Sequence[str]) -> list[str]:
    """The files of a model of transformers that are read: those of the root, with weights in one form; empty if none.

    Args:
        files: all that its repository has.
    """
    root, small = {name for name in files if "/" not in name}, _small(files)
    for start, form in _WEIGHTS if "config.json" in small else ():
        whole, index = f"{start}{form}", f"{start}{form}.index.json"
        if whole in root:
            return [*small, whole]
        if index in root:
            return [*small, index, *sorted(one for one in root if one.startswith(f"{start}-") and one.endswith(form))]
    return []


def _small(files: Sequence[str]) -> list[str]:
    root = [name for name in files if "/" not in name and not name.endswith(".index.json")]
    return [name for name in root if name.endswith(_SMALL) or name in _BESIDE]


def _has_setup(folder: Path) -> bool:
    return any(path for kind in _TOKENIZERS for path in folder.glob(kind))


def _has_weights(folder: Path) -> bool:
    """Whether all weights of one form are there."""
    if (folder / _SAFE).exists():
        return True
    with suppress(OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
        if (folder / _SAFE_INDEX).exists():
            index = json.loads((folder / _SAFE_INDEX).read_text(encoding="utf-8"))
            return all((folder / str(shard)).exists() for shard in index["weight_map"].values())
        return bool(sources_of(folder))
    return False


SETTINGS, CHECKPOINT = "hparams.yaml", "checkpoints/model.ckpt"  # of unbabel-comet
_MODEL = _Kind(
    "config.json",
    needed,
    lambda folder: _has_setup(folder) and _has_weights(folder),
    _has_weights,
    "config.json with model.safetensors or pytorch_model.bin, which transformers' save_pretrained writes",
)
_SETUP = _Kind(
    "config.json",
    lambda files: _small(files) if "config.json" in files else [],
    _has_setup,
    _has_setup,
    "config.json",
)


def _of_files(*wanted: str) -> _Kind:
    """What has these files."""
    return _Kind(
        wanted[0],
        lambda files: [*wanted, *(name for name in _BESIDE if name in files)] if {*wanted} <= {*files} else [],
        lambda folder: (folder / wanted[-1]).exists(),
        lambda folder: False,
        " with ".join(wanted),
    )


_CHECKPOINT = _of_files(SETTINGS, CHECKPOINT)


def _found(kind: _Kind, model: str, revision: str | None, check: _Check | None = None) -> Path:
    try:
        from huggingface_hub import HfApi, constants, hf_hub_download, snapshot_download, try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        raise MissingExtra(f"model {model!r}", "neural") from None
    spare = None
    try:
        for name in names(model):
            if kind is _MODEL and isinstance(try_to_load_from_cache(name, SETTINGS, revision=revision), str):
                raise OtherKind(f"model {model!r} is a checkpoint of unbabel-comet, which comet and comet-qe read")
            path = try_to_load_from_cache(name, kind.first, revision=revision)
            if not isinstance(path, str):
                continue
            folder = Path(path).parent
            if kind.is_whole(folder) or (kind.will_do(folder) and _mark(folder).exists()):
                return folder
            if kind.will_do(folder):
                spare = folder
        info = HfApi().model_info(model, revision=revision, timeout=_ANSWER)
        wanted = kind.needed([one.rfilename for one in info.siblings or ()])
        if not wanted:
            raise OtherKind(f"model {model!r} is another kind of model: on the hub it has no {kind.lacks}")
        logging.getLogger("nlgauge").warning("fetching %s from the hub, once: %d files", model, len(wanted))
        with _with_timeouts(), _bar():
            if check is not None:
                check(model, Path(hf_hub_download(model, kind.first, revision=info.sha, etag_timeout=_ANSWER)))
            folder = Path(
                snapshot_download(model, revision=revision, allow_patterns=list(wanted), etag_timeout=_ANSWER)
            )
        if kind.will_do(folder) and not kind.is_whole(folder):
            with suppress(OSError):  # a cache that may only be read
                _mark(folder).parent.mkdir(parents=True, exist_ok=True)
                _mark(folder).touch()
        return folder
    except InputError:
        raise
    except HFValidationError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"model {model!r} is neither a folder nor a possible name on the hub, expected OWNER/NAME, and a branch,"
            f" tag or commit as revision=... [{reason[:160]}]"
        ) from None
    except Exception as error:  # what the client of the hub raises differs between its versions
        if spare is not None:
            return spare
        refusal = _refusal(model, revision, error, constants)
        raise InputError(refusal if kind is _MODEL else refusal.replace(INSTEAD, "")) from None


def split(model: str) -> tuple[str, str | None]:
    """The name of a model of the hub, and its revision, from NAME@REVISION."""
    name, at, revision = model.partition("@")
    return name, revision if at else None


def _mark(folder: Path) -> Path:
    """Where the hub's client keeps that a commit has no tokenizer, so that it need not be asked for again."""
    return folder.parents[1] / ".no_exist" / folder.name / "tokenizer.json"


def names(model: str) -> Iterator[str]:
    """A name and, where the model moved, its other one."""
    yield model
    owner, _, name = model.rpartition("/")
    for moved, kind in _MOVED:
        if re.match(kind, name) and owner in ("", moved):
            yield name if owner else f"{moved}/{name}"


def _ready(model: str, folder: Path) -> tuple[Path, str]:
    """A folder whose weights are safetensors; those that are pickles are written again, once."""
    commit = folder.name
    if not has_safetensors(folder) and sources_of(folder):
        folder = converted(folder, _twin(model, commit), {"repository": model, "commit": commit})
    return folder, commit


def _twin(model: str, commit: str) -> Path:
    return home("pickled") / f"{model.replace('/', '--')}@{commit}"


# --- What the hub says, in time and in one line


@contextmanager
def _with_timeouts() -> Iterator[None]:
    """Give calls of the hub's client a limit of time, where a download asks for none, and no second try after it."""
    from huggingface_hub import get_session

    began: dict[str, float] = {}

    def limit(request: Any) -> None:
        url, now = str(request.url), monotonic()
        if now - began.setdefault(url, now) >= _ANSWER and "/api/" in url:  # the client tries again by itself
            raise TimeoutError
        began[url] = now
        asked = request.extensions.get("timeout") or {}
        limits = {part: asked.get(part) or _ANSWER for part in ("connect", "read", "write", "pool")}
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


def _refusal(model: str, revision: str | None, error: Exception, constants: Any) -> str:
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
        reason = f"{constants.ENDPOINT} did not answer within {_ANSWER:g} s"
    offline = " (HF_HUB_OFFLINE is set)" if constants.HF_HUB_OFFLINE else ""
    return (
        f"{start}, and cannot be fetched{offline}: run 'nlgauge fetch {model}{at.replace(' --revision ', '@')}' where"
        f" there is a network, or name a folder with model=PATH{INSTEAD} [{reason[:160]}]"
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
        from huggingface_hub import constants, scan_cache_dir
        from huggingface_hub.errors import CacheNotFound
    except ImportError:
        return []
    try:
        repositories = [repo for repo in scan_cache_dir(constants.HF_HUB_CACHE).repos if repo.repo_type == "model"]
    except (CacheNotFound, OSError):
        return []
    found = []
    for repo in repositories:
        commits = tuple(sorted(one.commit_hash for one in repo.revisions))
        twins = (path for commit in commits for path in _twin(repo.repo_id, commit).rglob("*"))
        size = repo.size_on_disk + sum(path.stat().st_size for path in twins)
        licences = {_licence(one.snapshot_path) for one in repo.revisions} - {""}
        found.append(Held(repo.repo_id, commits, size, ", ".join(sorted(licences))))
    return sorted(found, key=lambda one: one.name)


def holder(digest: str) -> str | None:
    """The model in the hub's cache that has a file of this SHA-256, by which the cache calls large files."""
    try:
        from huggingface_hub import constants
    except ImportError:
        return None
    found = sorted(Path(constants.HF_HUB_CACHE).glob(f"models--*/blobs/{digest}"))
    return found[0].parent.parent.name.removeprefix("models--").replace("--", "/") if found else None


def _licence(folder: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        said = _LICENCE.search((folder / "README.md").read_text(encoding="utf-8").partition("\n---")[0])
        return said[1] if said else ""
    return ""


def is_held(model: str) -> bool:
    """Whether the hub's cache has a model of transformers, whole, under its old name or its new one."""
    try:
        from huggingface_hub import constants
    except ImportError:
        return False
    places = (f"models--{name.replace('/', '--')}/snapshots/*" for name in names(model))
    return any(_MODEL.is_whole(folder) for place in places for folder in Path(constants.HF_HUB_CACHE).glob(place))


def remove(model: str, revision: str | None = None) -> bool:
    """Delete a model from the hub's cache, with what was made of it; whether there was any.

    Args:
        model: its name, old or new.
        revision: a branch, tag or commit; None for all.
    """
    try:
        from huggingface_hub import constants, scan_cache_dir
        from huggingface_hub.errors import CacheNotFound
    except ImportError:
        return False
    try:
        cached = scan_cache_dir(constants.HF_HUB_CACHE)
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
    for found in (snapshot, setup, checkpoint):
        found.cache_clear()
    return bool(gone)
