"""Files of data sets on the Hugging Face hub: `hf://datasets/OWNER/NAME/PATH` is fetched once, then a file as others.

Nothing but the file is fetched, and nothing in it is run.
"""

from __future__ import annotations

import os
import re
import shlex
from functools import lru_cache
from urllib.parse import unquote

from nlgauge.core.errors import InputError, MissingExtra

_HUB = "hf://"
_FILE = re.compile(r"hf://datasets/([^/@]+/[^/@]+)(?:@([^/]+))?/(.+)")
_ANSWER = 10.0  # seconds to wait for the hub
_COMMIT = re.compile("[0-9a-f]{40}")  # what it names never changes, so that nobody need be asked
_SNAPSHOT = re.compile(r".*[/\\]snapshots[/\\]([0-9a-f]{40})[/\\]")


@lru_cache(maxsize=64)
def fetched(path: str) -> tuple[str, str]:
    """A file of the hub as a path that names its commit, and where it lies on this machine.

    Any other path stays as it is, twice. A revision that is none stands for the branch `main`; the commit that it is
    now takes its place, so that the path means the same bytes tomorrow. If the hub does not answer, it is the commit
    that the cache has.

    Raises:
        InputError: the path is not that of a file in a data set, or the file is neither on this machine nor can be
            fetched.
        MissingExtra: huggingface_hub is not installed.
    """
    if not path.startswith(_HUB):
        return path, path
    known = _FILE.fullmatch(path)
    if known is None:
        raise InputError(f"{path}: expected hf://datasets/OWNER/NAME/PATH or hf://datasets/OWNER/NAME@REVISION/PATH")
    name, revision, inside = known.groups()
    try:
        from huggingface_hub import hf_hub_download, try_to_load_from_cache
    except ImportError:
        raise MissingExtra(f"the data set {name}", "hf") from None
    wanted = unquote(revision or "main")
    alone = False
    try:
        held = try_to_load_from_cache(name, inside, repo_type="dataset", revision=wanted)
        alone = (_COMMIT.fullmatch(wanted) is not None and isinstance(held, str)) or not _answers(name, wanted)
        place = hf_hub_download(name, inside, repo_type="dataset", revision=wanted, local_files_only=alone)
    except Exception as error:  # what the client of the hub raises differs between its versions
        asked = [inside, *(["--revision", wanted] if revision else [])]
        offline = " (HF_HUB_OFFLINE is set)" if os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0") else ""
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        reason = "no answer from the hub" if alone else reason  # the client says that it was told not to ask
        raise InputError(
            f"{path} is not in the hub's cache and cannot be fetched{offline}; run 'hf download --repo-type dataset"
            f" {name} {shlex.join(asked)}' where there is a network, or name a file of this machine [{reason[:160]}]"
        ) from None
    commit = _SNAPSHOT.match(place)
    return f"hf://datasets/{name}@{commit[1] if commit else revision or 'main'}/{inside}", place


def _answers(name: str, revision: str) -> bool:
    """Whether the hub answers, asked once; a download asks six times, with a line on standard error each time."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().dataset_info(name, revision=revision, timeout=_ANSWER)
    except (HfHubHTTPError, ValueError):  # an answer, or no possible name: the download finds out what is wrong
        return True
    except Exception:  # no network, no answer in time, offline: which class it is depends on the HTTP library
        return False
    return True
